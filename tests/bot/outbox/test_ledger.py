"""The ledger, the marker and the lane by themselves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from threading import Thread

import pytest

from bot.book import Book, upgrade_runs
from bot.forge.errors import RateLimited
from bot.forge.types import RepositoryRef
from bot.outbox.lane import AN_HOUR_AT_MOST, Lane
from bot.outbox.ledger import Effect, Kind, Ledger, State
from bot.outbox.marker import Markers, carries_marker, key_in, marked
from memory.database import open_database
from memory.scrub import Scrubber
from tests.empty_database import lay_empty

REF = RepositoryRef(installation=71, id=1, full_name="acme/till")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    engine = open_database(lay_empty(tmp_path / "runs.sqlite", upgrade_runs), busy_seconds=10)
    return Ledger(Book(engine, Scrubber(())))


def effect(key: str = "a" * 32, run: str = "01J5") -> Effect:
    return Effect(key=key, run=run, step="status", kind=Kind.COMMENT, ref=REF, subject="7")


def test_sec_5_7_what_was_intended_is_known_before_it_is_done(ledger: Ledger) -> None:
    first = ledger.intend(effect())
    second = ledger.intend(effect())
    ledger.done(effect(), 99, "text")
    third = ledger.intend(effect())

    assert (first.fresh, second.fresh, third.fresh) == (True, False, False)
    assert (second.state, third.state, third.artefact) == (State.INTENDED, State.DONE, "99")
    assert third.digest
    assert third.done is not None


def test_what_was_taken_away_is_intended_again(ledger: Ledger) -> None:
    ledger.intend(effect())
    ledger.done(effect(), 99, "text")

    ledger.lost(effect())

    again = ledger.intend(effect())
    assert (again.state, again.artefact, again.done) == (State.INTENDED, "", None)


def test_a_run_has_its_own_effects(ledger: Ledger) -> None:
    ledger.intend(effect())
    ledger.intend(effect("b" * 32))
    ledger.intend(effect("c" * 32, "01J6"))

    assert {one.effect.key for one in ledger.of_run("01J5")} == {"a" * 32, "b" * 32}


def test_two_processes_intend_one_effect_once(ledger: Ledger) -> None:
    seen: list[bool] = []
    threads = [Thread(target=lambda: seen.append(ledger.intend(effect()).fresh)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(seen) == [False] * 7 + [True]


# --- The marker ----------------------------------------------------------------------------------------------------


def test_sec_10_a_key_is_bound_to_all_that_it_stands_for() -> None:
    markers = Markers("secret")
    other = RepositoryRef(installation=71, id=2, full_name="acme/till")
    keys = {
        markers.key("01J5", "status", REF, "7"),
        markers.key("01J6", "status", REF, "7"),
        markers.key("01J5", "say", REF, "7"),
        markers.key("01J5", "status", other, "7"),
        markers.key("01J5", "status", REF, "8"),
        markers.key("01J5", "status", REF, "7", 1),
        Markers("another secret").key("01J5", "status", REF, "7"),
    }

    assert len(keys) == 7
    assert markers.key("01J5", "status", REF, "7") in keys
    assert "secret" not in repr(markers)


@pytest.mark.parametrize("ends", ["", "\n", "\r\n", "  \n\n"])
def test_a_marker_is_read_from_the_last_line_alone(ends: str) -> None:
    key = "a1" * 16
    body = marked("Text", key)

    assert key_in(body + ends) == key
    assert key_in(body.replace("\n", "\r\n") + ends) == key
    assert key_in(f"{body}\nmore") == ""
    assert key_in("Text") == ""
    assert key_in("") == ""


def test_r9_a_text_with_a_marker_is_known_wherever_it_stands() -> None:
    assert carries_marker(f"> {marked('Text', 'a1' * 16)}\nwhat?")
    assert not carries_marker("ticketsmith: hello")


# --- The lane ------------------------------------------------------------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.at, self.slept = datetime(2026, 11, 3, 9, 0, tzinfo=UTC), 0.0

    def __call__(self) -> datetime:
        return self.at

    def sleep(self, seconds: float) -> None:
        self.slept += seconds
        self.at += timedelta(seconds=seconds)


def test_r26_eighty_writes_take_a_minute_and_more_have_to_wait() -> None:
    clock = Clock()
    lane, sent = Lane(clock, clock.sleep), []
    for _ in range(200):
        with lane.turn(71):
            sent.append(clock())

    gaps = [(after - before).total_seconds() for before, after in pairwise(sent)]
    assert min(gaps) >= 1.0
    assert all((sent[n + 80] - sent[n]).total_seconds() >= 60 for n in range(120))


def test_r26_after_five_hundred_in_an_hour_a_run_waits_and_not_a_worker() -> None:
    clock = Clock()
    lane, begun = Lane(clock, clock.sleep), clock()
    for _ in range(AN_HOUR_AT_MOST):
        with lane.turn(71):
            pass
    slept = clock.slept

    with pytest.raises(RateLimited) as limited, lane.turn(71):
        pass

    assert clock.slept == slept
    assert limited.value.until == begun + timedelta(hours=1)
    with lane.turn(72):
        pass  # another installation does not wait
    clock.at = limited.value.until
    with lane.turn(71):
        pass


def test_f51_a_clock_that_is_set_back_keeps_nobody_waiting() -> None:
    clock = Clock()
    lane = Lane(clock, clock.sleep)
    with lane.turn(71):
        pass
    clock.at -= timedelta(hours=1)

    with lane.turn(71):
        pass

    assert clock.slept <= 1.0


def test_a_write_that_fails_takes_its_turn_all_the_same() -> None:
    clock = Clock()
    lane = Lane(clock, clock.sleep)
    with pytest.raises(OSError, match="broken"), lane.turn(71):
        raise OSError("broken")

    with lane.turn(71):
        pass

    assert clock.slept == 1.0
