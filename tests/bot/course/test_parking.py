"""What a run waits for when GitHub does not let it go on."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.course.errors import NoLongerAllowed
from bot.course.parking import parking_of, wake_of
from bot.errors import RunIsOver
from bot.forge.errors import Archived, Forbidden, RateLimited, Rejected, Unauthorised, Unreachable
from bot.outbox.errors import Leaks
from memory.errors import Told
from stages.errors import ParkCause
from stages.remote import RemoteMissing, RemoteRefused, RemoteUnreachable
from tests.fakes import NOW

LATER = NOW + timedelta(minutes=40)


@pytest.mark.parametrize(
    ("fault", "cause", "until"),
    [
        (RateLimited(until=LATER, said="slow down"), ParkCause.RATE_LIMIT, LATER),
        (Unreachable(said="502"), ParkCause.RATE_LIMIT, NOW + timedelta(minutes=2)),
        (RemoteUnreachable(url="u", said="reset"), ParkCause.RATE_LIMIT, NOW + timedelta(minutes=2)),
        (Unauthorised(said="no"), ParkCause.TOKEN, NOW + timedelta(minutes=10)),
        (RemoteRefused(url="u", said="no"), ParkCause.TOKEN, NOW + timedelta(minutes=10)),
        (Forbidden(permission="contents: write", said="no"), ParkCause.PERMISSION, None),
        (NoLongerAllowed(login="mira"), ParkCause.PERMISSION, None),
        (Archived(), ParkCause.PERMISSION, None),
        (RemoteMissing(url="u", said="no"), ParkCause.PERMISSION, None),
        (Rejected(said="no"), ParkCause.PROGRAM, None),
        (Leaks(what="comment"), ParkCause.PROGRAM, None),
    ],
)
def test_f13_a_fault_of_github_parks_the_run_with_its_cause_and_wake_time(
    fault: Told, cause: ParkCause, until: object
) -> None:
    parking = parking_of(fault, NOW)

    assert parking is not None
    assert (parking.cause, parking.until) == (cause, until)


def test_f36_the_missing_permission_is_named() -> None:
    parking = parking_of(Forbidden(permission="contents: write", said="Resource not accessible"), NOW)

    assert parking is not None
    assert "contents: write" in parking.reason


def test_an_error_of_ours_parks_nothing() -> None:
    assert parking_of(RunIsOver(run="r", outcome="x"), NOW) is None


@pytest.mark.parametrize(
    ("cause", "wakes"),
    [(ParkCause.MEMORY, True), (ParkCause.RATE_LIMIT, True), (ParkCause.RULESET, False), (None, False)],
)
def test_f63_what_passes_by_itself_is_taken_up_again(cause: ParkCause | None, wakes: bool) -> None:
    assert (wake_of(cause, NOW) is not None) is wakes
