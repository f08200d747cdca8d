"""Traces as strangers paste them: read in time, always in the same way, and never a reason to fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from memory.signature import signatures
from tests.machine import measured

MOST_SECONDS: Final = 0.05
PYTHON: Final = """\
Traceback (most recent call last):
  File "/app/shop/cart.py", line 3, in total
    sum(rows)
KeyError: 'cup'
"""
OTHER: Final = (
    'Traceback (most recent call last):\n  File "/app/shop/till.py", line 9, in pay\n    x / 0\n'
    "ZeroDivisionError: division by zero\n"
)
JAVASCRIPT: Final = (
    "TypeError: Cannot read properties of undefined (reading 'id')\n    at total (/app/src/cart.js:3:7)\n"
    "    at pay (/app/src/till.js:9:1)\n"
)
GO: Final = (
    "panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\n"
    "main.total(...)\n\t/app/cart.go:3\nmain.main()\n\t/app/main.go:9 +0x1d\n"
)
JAPANESE: Final = (
    'Traceback (most recent call last):\n  File "/app/shop/\u30ab\u30fc\u30c8.py", line 3, in \u5408\u8a08\n'
    "    \u5024\u6bb5()\nValueError: \u5024\u6bb5\u304c\u898b\u3064\u304b\u308a\u307e\u305b\u3093\n"
)
TEXTS: Final = {
    "two exceptions": (f"{PYTHON}\nand then\n\n{OTHER}", 1),
    "chained": (
        f"{PYTHON}\nDuring handling of the above exception, another exception occurred:\n\n{OTHER}",
        1,
    ),
    "japanese": (JAPANESE, 1),
    "javascript": (JAVASCRIPT, 1),
    "go panic": (GO, 1),
    "empty": ("", 0),
    "blank": (" \n\t\n", 0),
    "no trace": ("Since Tuesday the shop is slow.", 0),
    "head of a trace alone": ("Traceback (most recent call last):\n", 0),
}
TIMES: Final = """
import json, sys
from memory.signature import signatures
from tests.machine import best_of
signatures("", "warm: up")
times = [best_of(5, lambda: [signatures("", one) for one in pair]) for pair in json.load(sys.stdin)]
print(json.dumps(times))
"""
OF_A_NEW_PROCESS: Final = """
import json, sys
from memory.signature import signatures
print(json.dumps([[dict(one.keys) for one in signatures("", text)] for text in json.load(sys.stdin)]))
"""


def test_b53_frames_that_end_in_nothing_are_read_in_50_ms() -> None:
    frame, ends = '  File "a", line 1, in b', ("X", "X" * 5_000, '  File "a')
    texts = [(frame * count + end, f"{frame}\n" * count + end) for count in (6, 20, 50, 100) for end in ends]

    taken, slower = measured(TIMES, texts)

    assert len(taken) == len(texts)
    assert max(taken) < MOST_SECONDS * slower


@pytest.mark.parametrize("name", TEXTS)
def test_b57_a_text_has_signatures_or_none_and_is_never_an_error(name: str) -> None:
    text, at_least = TEXTS[name]

    found = signatures("", text)

    assert found == signatures("", text)
    assert len(found) >= at_least
    assert at_least or not found
    assert all(one.keys for one in found)


def test_b57_another_process_reads_the_same_keys() -> None:
    texts = [text for text, _ in TEXTS.values()]

    said = [
        subprocess.run(
            [sys.executable, "-c", OF_A_NEW_PROCESS],
            input=json.dumps(texts),
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parents[3],
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]

    ours = [[dict(one.keys) for one in signatures("", text)] for text in texts]
    assert [json.loads(one) for one in said] == [ours, ours]
