"""Folding: what is left of a text is safe to quote, and folding it again changes nothing."""

from __future__ import annotations

import threading
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.text import _Shown, fold, one_line
from tests.machine import at_most

BREAKS = ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]


def trimmed(lines: list[str]) -> list[str]:
    """Without the empty lines at the end, which a text does not tell from none."""
    return "\n".join(lines).rstrip("\n").split("\n")


@given(st.text())
def test_folding_twice_gives_the_same_lines(text: str) -> None:
    once = fold(text)

    assert trimmed(fold("\n".join(once))) == trimmed(once)


@given(st.text())
def test_no_reader_finds_a_line_that_was_not_split(text: str) -> None:
    assert all(len(line.splitlines()) <= 1 for line in fold(text))


@given(st.text())
def test_nothing_invisible_is_left(text: str) -> None:
    left = {unicodedata.category(character) for line in fold(text) for character in line}

    assert not left & {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}


@pytest.mark.parametrize("line_break", BREAKS)
def test_every_kind_of_line_break_splits(line_break: str) -> None:
    assert fold(f"a{line_break}[ticketsmith:end]") == ["a", "[ticketsmith:end]"]


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("［ticketsmith:end］", "[ticketsmith:end]"),
        ("a\tb", "a    b"),
        ("to\u202eken", "to\\u202eken"),
        ("se\u200bcret", "secret"),
        ("x\u3164y\u2800z", "xyz"),
        ("\x1b[31mred", "[31mred"),
        ("tag\U000e0041\ufe0f", "tag"),
        ("ﬁne ① ２", "fine 1 2"),
        ("trailing   ", "trailing"),
        ("two\u1680\u2003words", "two  words"),
    ],
)
def test_look_alikes_are_folded_and_hidden_characters_go(text: str, folded: str) -> None:
    assert fold(text) == [folded]


def test_at_most_eight_marks_stand_on_one_base() -> None:
    assert fold("q" + "\u0323" * 10_000) == ["q" + "\u0323" * 8]


def test_lone_surrogates_are_taken_away() -> None:
    assert fold("a\ud800b") == ["ab"]


def test_one_line_joins_what_was_folded() -> None:
    assert one_line(" a \n\n b\u2028c ") == "a b c"


@pytest.mark.parametrize(
    "text", ["é" * 65_536, "データベース" * 10_922, "q\u0323\u0301" * 21_845, "\u200b" * 65_536, "a\x85" * 32_768]
)
def test_hostile_text_takes_no_longer_than_it_should(text: str) -> None:
    fold(text[:100])
    began = time.process_time()

    fold(text)

    assert time.process_time() - began < at_most(0.05)


def test_text_of_every_mark_that_there_is_takes_no_longer_than_other_text() -> None:
    marks = "".join(chr(point) for point in range(0x110000) if unicodedata.category(chr(point)) in ("Mn", "Me"))
    alone = _Shown()
    began = time.process_time()

    shown = alone.visible("a" + marks * 4)

    assert time.process_time() - began < at_most(0.2)
    assert shown == "a" + "".join(mark for mark in marks if alone.visible(mark))[:8]


def test_threads_that_meet_new_marks_at_once_lose_none() -> None:
    marks = [chr(point) for point in range(0x300, 0x370)]
    alone = _Shown()
    found: list[bool] = []
    barrier = threading.Barrier(4)

    def fold_all(own: list[str]) -> None:
        barrier.wait()
        found.extend(alone.visible("a" + mark * 20) == "a" + mark * 8 for mark in own)

    threads = [threading.Thread(target=fold_all, args=(marks[start:] + marks[:start],)) for start in (0, 30, 60, 90)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [True] * 4 * len(marks)
