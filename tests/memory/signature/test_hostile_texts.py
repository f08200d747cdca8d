"""Texts that were made to make parsers slow, or to make them fall over."""

from __future__ import annotations

import re
import sys
from time import thread_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.signature import signatures
from memory.signature.cleaning import CHARACTERS_AT_MOST, LINE_AT_MOST, LINES_AT_MOST, clean
from tests.machine import at_most
from tests.memory.signature import made
from tests.memory.signature.hostile import HOSTILE, KILO

AT_MOST_SECONDS = 0.5
OF_64_KB_SECONDS = 0.05
MADE_KILO = 16  # of a text that is made of one pattern: what is slow there is read at full length
SUSPECT_SECONDS = 0.04
# Coverage takes several times as long as the program itself.
SLOWER = 6 if sys.gettrace() is not None or "coverage" in sys.modules else 1
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


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_read_in_half_a_second(name: str) -> None:
    begun = thread_time()

    signatures(name, HOSTILE[name])

    assert thread_time() - begun < at_most(AT_MOST_SECONDS * SLOWER)


@pytest.mark.parametrize("name", HOSTILE)
def test_64_kilobytes_of_a_hostile_text_are_read_in_50_milliseconds(name: str) -> None:
    signatures("", "warm: up")

    taken = _seconds(f"{name}\n{HOSTILE[name][: 64 * KILO]}", tries=8)

    assert taken < at_most(OF_64_KB_SECONDS * SLOWER)


def test_64_kilobytes_made_of_any_pattern_of_the_parsers_are_read_in_50_milliseconds() -> None:
    slow: dict[str, float] = {}
    signatures("", "warm: up")

    for name, (pattern, hints) in made.patterns().items():
        for at, short in enumerate(made.texts(pattern, hints, MADE_KILO * KILO)):
            if _seconds(short, tries=1) * 64 / MADE_KILO >= SUSPECT_SECONDS * SLOWER:
                slow[f"{name} {at}"] = _seconds((f"{short}\n" * (64 // MADE_KILO))[: 64 * KILO], tries=8)

    limit = at_most(OF_64_KB_SECONDS * SLOWER)
    assert {name: taken for name, taken in slow.items() if taken >= limit} == {}


def test_a_pattern_that_reads_a_line_again_at_each_character_is_seen_in_its_texts() -> None:
    slow, quick = re.compile(r"\w{1,300}:\d: end"), re.compile(r"(?<!\w)\w{1,300}+:\d: end")

    taken = [
        min(_searched(pattern, text) for text in made.texts(pattern, "end", 64 * KILO) for _ in range(3))
        for pattern in (slow, quick)
    ]

    assert taken[0] > 10 * taken[1]


def _seconds(text: str, tries: int) -> float:
    """The best of `tries`, or the first that is quick enough."""
    best = float("inf")
    for _ in range(tries):
        begun = thread_time()
        signatures("", text)
        best = min(best, thread_time() - begun)
        if best < OF_64_KB_SECONDS * SLOWER:
            break
    return best


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
