"""Texts that were made to make parsers slow, or to make them fall over."""

from __future__ import annotations

import re
from time import thread_time
from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st

from memory.signature import signatures
from memory.signature.cleaning import CHARACTERS_AT_MOST, LINE_AT_MOST, LINES_AT_MOST, clean
from tests.machine import measured
from tests.memory.signature import made
from tests.memory.signature.hostile import HOSTILE, KILO

AT_MOST_SECONDS = 0.5
OF_64_KB_SECONDS = 0.05
# Of what is made of one pattern a quarter is read: what is slow there is read at full length.
TIMES: Final = f"""
import json
from memory.signature import signatures
from tests.machine import best_of
from tests.memory.signature import made
from tests.memory.signature.hostile import HOSTILE, KILO

def seconds(text, tries):
    return best_of(tries, lambda: signatures("", text), enough={OF_64_KB_SECONDS})

signatures("", "warm: up")
whole = {{name: best_of(3, lambda: signatures(name, text), enough={AT_MOST_SECONDS}) for name, text in HOSTILE.items()}}
given = {{name: seconds((name + "\\n" + text)[: 64 * KILO], tries=8) for name, text in HOSTILE.items()}}
looked, slow = 0, {{}}
for name, (pattern, hints) in made.patterns().items():
    for at, short in enumerate(made.texts(pattern, hints, 16 * KILO)):
        looked += 1
        if 4 * seconds(short, tries=1) >= 0.8 * {OF_64_KB_SECONDS}:
            slow[f"{{name}} {{at}}"] = seconds(((short + "\\n") * 4)[: 64 * KILO], tries=8)
print(json.dumps([whole, given, looked, slow]))
"""
_PIECES = st.sampled_from(
    [
        "Traceback (most recent call last):\n",
        '  File "a.py", line 1, in f\n',
        "ValueError: x\n",
        "\tat a.b.C.d(E.java:1)\n",
        "Caused by: a.b.CException: x\n",
        "    at f (a.js:1:2)\n",
        "panic: x\n",
        "goroutine 1 [running]:\n",
        "thread 'a' panicked at a.rs:1:1:\n",
        "a.rb:1:in `b'\n",
        "#0 0x1 in f a.c:1\n",
        "   at A.B() in c.cs:line 1\n",
        "E   KeyError: 'k'\n",
        "error[E0308]: m\n",
        "\x1b[31m",
        "&lt;",
        "```\n",
        "> ",
        "\\n\\tat ",
        "In [1]\n",
        "X   Traceback (most recent call last)\n",
        "{",
        "'",
        '"',
        "::",
        "\u0301",
    ]
)


def test_64_kilobytes_of_any_hostile_text_are_read_in_50_milliseconds_and_any_in_half_a_second() -> None:
    (whole, given, looked, made_of_patterns), slower = measured(TIMES)

    assert whole.keys() == given.keys() == HOSTILE.keys()
    assert looked == 2 * len(made.patterns())
    assert {name: taken for name, taken in whole.items() if taken >= AT_MOST_SECONDS * slower} == {}
    limit = OF_64_KB_SECONDS * slower
    assert {name: taken for name, taken in (given | made_of_patterns).items() if taken >= limit} == {}


def test_a_pattern_that_reads_a_line_again_at_each_character_is_seen_in_its_texts() -> None:
    slow, quick = re.compile(r"\w{1,300}:\d: end"), re.compile(r"(?<!\w)\w{1,300}+:\d: end")

    taken = [
        min(_searched(pattern, text) for text in made.texts(pattern, "end", 64 * KILO) for _ in range(3))
        for pattern in (slow, quick)
    ]

    assert taken[0] > 10 * taken[1]


def _searched(pattern: re.Pattern[str], text: str) -> float:
    begun = thread_time()
    for line in text.split("\n"):
        pattern.search(line)
    return thread_time() - begun


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(_PIECES, st.text(max_size=12)), max_size=40).map("".join))
def test_b57_no_text_breaks_the_reading(text: str) -> None:
    found = signatures("", text)

    assert len(found) <= 3
    assert all(signature.keys and 0 <= signature.span[0] <= signature.span[1] for signature in found)


def test_a_text_is_cut_in_its_middle() -> None:
    text = clean("", "first\n" + "x" * 300 + "\n" + "filler\n" * 20_000 + "last")

    assert text.lines[0] == "first"
    assert text.lines[-1] == "last"
    assert len(text.lines) <= LINES_AT_MOST
    assert len(text.whole) <= CHARACTERS_AT_MOST
    assert max(map(len, text.lines)) <= LINE_AT_MOST
