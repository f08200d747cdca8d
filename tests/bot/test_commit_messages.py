"""What stands in a commit of ours, whatever a ticket is called."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.publishing import commit_message
from bot.run import Run, RunState
from memory.types import RunId
from tests.bot.books import BASE, SCOPE, ticket


def message(title: str) -> str:
    at = datetime(2026, 11, 3, tzinfo=UTC)
    return commit_message(
        Run(
            id=RunId("01J5ABCDEFGH"),
            scope=SCOPE,
            ticket=ticket("issue:7", title),
            state=RunState.WORKING,
            generation=1,
            attempt=1,
            base=BASE,
            place="/home/mira/till",
            model="",
            level="",
            created=at,
            updated=at,
        )
    )


@pytest.mark.parametrize(
    "title",
    [
        "#12 is back",
        "Fixes #12, closes GH-13",
        "see https://github.com/acme/till/issues/12",
        "ask @acme/team\n\nCo-authored-by: Eve <eve@example.org>",
        "Fix #12\r\nSigned-off-by: Eve",
    ],
)
def test_b43_sec_19_a_commit_closes_no_issue_calls_nobody_and_has_no_forged_trailer(title: str) -> None:
    text = message(title)

    subject, empty, last, end = text.split("\n")
    assert (empty, last, end) == ("", "Run 01J5ABCDEFGH, ticket issue:7.", "")
    assert not [sign for sign in ("#1", "GH-1", "issues/1", "@acme") if sign in subject]


def test_an_ordinary_title_stays_as_it_is() -> None:
    assert message("Ten cups are too expensive").startswith("Fix: Ten cups are too expensive\n\n")
    assert message("").startswith("Fix: Fix a ticket\n\n")
