"""R-25: the breaker of a repository, as a table of what goes in and what comes out."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.course.breaker import PAUSE, PAUSE_AT_MOST, TRIES_WITHIN, Breaker, Came, came_of, cause_of, said
from bot.course.breakers import BreakerStore
from bot.course.parking import Parking
from bot.forge.types import RepositoryRef
from bot.run import RunState
from memory.types import DropCause
from stages.errors import ParkCause
from tests.bot.course.test_texts import a_run
from tests.bot.engine.kit import open_book
from tests.fakes import NOW

TOKEN: Final = ParkCause.TOKEN.value
THREE: Final = 3


def failing(*tickets: int, cause: str = TOKEN) -> Breaker:
    breaker = Breaker()
    for ticket in tickets:
        breaker = breaker.failed(cause, ticket, ticket, NOW, THREE)
    return breaker


@pytest.mark.parametrize(("tickets", "paused"), [((1, 2), False), ((1, 2, 1, 2), False), ((1, 2, 3), True)], ids=str)
def test_r25_so_many_tickets_in_a_row_that_fail_alike_begin_a_pause_and_one_ticket_is_one(
    tickets: tuple[int, ...], paused: bool
) -> None:
    breaker = failing(*tickets)

    assert (breaker.paused, breaker.until) == (paused, NOW + PAUSE if paused else None)
    assert breaker.by == (3 if paused else 0)


def test_r25_another_cause_begins_the_count_anew() -> None:
    breaker = failing(1, 2).failed(ParkCause.DISK.value, 3, 3, NOW, THREE)

    assert (breaker.cause, breaker.tickets, breaker.paused) == (ParkCause.DISK.value, (3,), False)


def test_r25_in_a_pause_one_job_tries_when_its_time_has_come_and_no_second_one() -> None:
    breaker = failing(1, 2, 3)

    early = breaker.tried_by(8, NOW, asked=False)
    first = breaker.tried_by(8, NOW + PAUSE, asked=False)
    second = first.tried_by(9, NOW + PAUSE, asked=False)

    assert (early.probe, first.probe, second.probe) == (None, 8, 8)


def test_r25_a_person_may_have_it_tried_at_once() -> None:
    assert failing(1, 2, 3).tried_by(8, NOW, asked=True).probe == 8


def test_r25_a_try_that_is_never_heard_of_again_is_followed_by_another_one() -> None:
    lost = failing(1, 2, 3).tried_by(8, NOW, asked=True)

    assert lost.tried_by(9, NOW + TRIES_WITHIN, asked=False).probe == 9


def test_r25_a_try_that_says_nothing_lets_the_next_one_try() -> None:
    trying = failing(1, 2, 3).tried_by(8, NOW, asked=True)

    assert trying.let_go(8, NOW).tried_by(9, NOW, asked=False).probe == 9
    assert trying.let_go(9, NOW) == trying


def test_r25_what_fails_in_a_pause_without_being_the_try_counts_not() -> None:
    breaker = failing(1, 2, 3)

    assert breaker.failed(TOKEN, 4, 4, NOW, THREE) == breaker


@given(st.integers(min_value=1, max_value=40))
def test_r25_each_try_that_fails_doubles_the_pause_up_to_a_bound(tries: int) -> None:
    breaker, pauses = failing(1, 2, 3), []

    for _ in range(tries):
        breaker = breaker.tried_by(8, NOW, asked=True).failed(TOKEN, 8, 8, NOW, THREE)
        assert breaker.until
        pauses.append(breaker.until - NOW)

    assert pauses[0] == PAUSE * 2
    assert all(after in (before * 2, PAUSE_AT_MOST) for before, after in pairwise(pauses))
    assert max(pauses) <= PAUSE_AT_MOST
    assert breaker.probe is None


@pytest.mark.parametrize(
    ("parking", "cause"),
    [
        (Parking(cause=ParkCause.TOKEN, reason=""), "token"),
        (Parking(cause=ParkCause.ENVIRONMENT, reason=""), "environment"),
        (Parking(cause=ParkCause.BRANCH, reason=""), ""),
        (Parking(cause=ParkCause.BUDGET, reason=""), ""),
        (Parking(cause=ParkCause.PERMISSION, reason=""), "permission"),
        (Parking(cause=ParkCause.PERMISSION, reason="", personal=True), ""),
    ],
)
def test_r25_what_keeps_one_ticket_back_alone_says_nothing_of_the_others(parking: Parking, cause: str) -> None:
    assert cause_of(parking) == cause


@pytest.mark.parametrize(
    ("state", "outcome", "came"),
    [
        (RunState.PUBLISHED, "", Came.THROUGH),
        (RunState.ENDED, "hold: check", Came.THROUGH),
        (RunState.ENDED, "not-ours: duplicate", Came.THROUGH),
        (RunState.ENDED, "drop: not-reproducible", Came.THROUGH),
        (RunState.ENDED, "drop: empty-patch", Came.THROUGH),
        (RunState.ENDED, "drop: budget", Came.THROUGH),
        (RunState.ENDED, "drop: model-format", "drop: model-format"),
        (RunState.ENDED, "drop: stopped", Came.NOWHERE),
        (RunState.ENDED, "drop: closed-by-human", Came.NOWHERE),
        (RunState.WORKING, "", Came.NOWHERE),
    ],
)
def test_r25_an_honest_ending_is_no_failure_and_what_a_person_ended_says_nothing(
    state: RunState, outcome: str, came: Came | str
) -> None:
    assert came_of(a_run(state, outcome=outcome)) == came


def test_r25_every_ending_by_a_drop_is_judged() -> None:
    judged = {cause: came_of(a_run(RunState.ENDED, outcome=f"drop: {cause}")) for cause in DropCause}

    assert {cause for cause, came in judged.items() if isinstance(came, str)} == {DropCause.MODEL_FORMAT}


@pytest.mark.parametrize("cause", [*ParkCause, "NoModel"])
def test_r25_each_cause_is_said_in_words(cause: str) -> None:
    assert said(cause) != cause
    assert "_" not in said(cause)


def test_r25_the_operator_is_told_whether_one_is_tried_just_now(tmp_path: Path) -> None:
    store = BreakerStore(open_book(tmp_path))
    ref = RepositoryRef(installation=3, id=70, full_name="shop/till")

    store.change(ref, lambda one: failing(1, 2, 3))
    waiting = store.paused()
    store.change(ref, lambda one: one.tried_by(8, NOW, asked=True))
    (trying,) = store.paused()

    assert [one.name for one in waiting] == ["repository 70"], "nobody has heard of its name"
    assert "one is tried at " in waiting[0].said()
    assert "one is tried just now" in trying.said()
    assert store.of(ref) == trying.breaker
