"""Rows of bad inputs in what is sent to GitHub: a status, a pull request, a title that quotes a stranger."""

from __future__ import annotations

import pytest

from bot.course.markdown import plain, quoted
from bot.outbox.marker import carries_marker
from bot.outbox.words import BODY_AT_MOST, TITLE_AT_MOST, Words
from memory.scrub import Scrubber
from memory.text import one_line
from tests.bot.outbox.test_words import CLOSES, MENTION, REF, shown
from tests.stages.test_text_of_strangers import ROWS

WORDS = Words(Scrubber())
IN_MODELS_TEXT = {
    "b43 mention": "Thanks to @org/everyone and @ada.",
    "b43 keyword": "Fixes #1, closes org/x#2",
    "b43 trailer": "Done.\n\nCo-authored-by: Eve @eve <eve@example.org>",
}
EVERY = {row: text for row, (text, _) in ROWS.items()} | IN_MODELS_TEXT


@pytest.mark.parametrize("row", EVERY)
def test_b14_to_b48_sent_to_people_a_text_calls_closes_loads_and_hides_nothing(row: str) -> None:
    text = EVERY[row]

    sent = WORDS.body("\n".join(["## Change", "", *quoted(text), "", plain(text[:20_000])]), REF, 7, "comment")
    title = WORDS.line(one_line(text[:20_000]), "title")

    assert len(sent) <= BODY_AT_MOST
    assert len(title) <= TITLE_AT_MOST
    assert len(title.splitlines()) <= 1
    for one in (sent, title):
        assert not any(sign in one for sign in "\x00\x07\x1b\ud800\u202e\u2066")
        assert not MENTION.search(shown(one))
        assert not [number for number in CLOSES.findall(shown(one)) if number != "7"]
    assert "<!--" not in sent
    assert "![" not in sent
    assert not carries_marker(sent)
    sent.encode("utf-8")
