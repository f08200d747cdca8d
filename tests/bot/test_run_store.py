"""Runs outlive their process, a ticket has one open run, and ids can be written short."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.exc import IntegrityError

from bot.book import Book
from bot.errors import AlreadyOpen, AmbiguousRun, BotError, NoSuchRun, RunIsOver
from bot.run import Run, RunState
from bot.run_id import ALPHABET, LENGTH, new_run_id, read_run_id
from bot.runs import RunStore
from memory.types import CommitId, RepositoryId, RunId, Scope, TicketId
from stages.agents.limits import Spent
from stages.errors import ParkCause
from stages.ticket import Comment, Ticket
from tests.bot.books import MORNING, SCOPE, SECRET, Clock, make_book, opening, ticket


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return make_book(tmp_path)


@pytest.fixture
def runs(book: Book) -> RunStore:
    return RunStore(book)


def test_a_new_run_works_in_its_first_generation(runs: RunStore) -> None:
    run = runs.create(opening())

    assert (run.state, run.generation, run.attempt, run.open) == (RunState.WORKING, 1, 0, True)
    assert run.ticket == ticket()
    assert run.memory_version is None


def test_another_process_reads_the_run_as_it_was_written(tmp_path: Path) -> None:
    written = RunStore(make_book(tmp_path)).create(opening())

    assert RunStore(make_book(tmp_path)).get(written.id) == written


def test_a_ticket_has_one_open_run(runs: RunStore) -> None:
    first = runs.create(opening())

    with pytest.raises(AlreadyOpen) as told:
        runs.create(opening())

    assert first.id in str(told.value)
    assert told.value.exit_status == 2


@pytest.mark.parametrize("state", [RunState.WORKING, RunState.PARKED, RunState.PUBLISHED])
def test_every_state_but_the_last_is_open(runs: RunStore, state: RunState) -> None:
    run = runs.create(opening())

    runs.set_state(run.id, state)

    assert runs.open_run(SCOPE, run.ticket.id) == runs.get(run.id)
    with pytest.raises(AlreadyOpen):
        runs.create(opening())


def test_after_the_end_a_ticket_gets_a_new_run_in_the_next_generation(runs: RunStore) -> None:
    runs.set_state(runs.create(opening()).id, RunState.ENDED, outcome="drop: stopped")

    again = runs.create(opening())

    assert again.generation == 2
    assert runs.open_run(SCOPE, again.ticket.id) == again


def test_generations_count_on_from_a_run_that_was_sent_back(runs: RunStore) -> None:
    first = runs.create(opening())
    runs.advance(first.id)
    runs.set_state(first.id, RunState.ENDED)

    assert runs.create(opening()).generation == 3


def test_the_same_ticket_of_another_repository_has_a_run_of_its_own(runs: RunStore) -> None:
    runs.create(opening())
    other = Scope(installation="local", repository=RepositoryId("github.com/acme/other"))

    run = runs.create(opening(scope=other))

    assert run.generation == 1
    assert runs.list(scope=other) == (run,)


def test_of_many_that_begin_a_run_at_once_one_succeeds(tmp_path: Path) -> None:
    stores = [RunStore(make_book(tmp_path)) for _ in range(4)]
    begun, refused = list[Run](), list[AlreadyOpen]()

    def begin(store: RunStore) -> None:
        try:
            begun.append(store.create(opening()))
        except AlreadyOpen as error:
            refused.append(error)

    threads = [threading.Thread(target=begin, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (len(begun), len(refused)) == (1, 3)


def test_the_table_itself_refuses_a_second_open_run(book: Book) -> None:
    run = RunStore(book).create(opening())
    columns = "installation, repository, ticket, ticket_json, place, state, park_reason, generation, attempt, base, "
    columns += "model, level, branch, patch, patch_intact, outcome, stop_requested, calls, tokens, money, minutes, "
    columns += "created, updated"

    with pytest.raises(IntegrityError), book.writing() as session:
        session.connection().exec_driver_sql(f"INSERT INTO run (id, {columns}) SELECT 'TWIN', {columns} FROM run")

    assert RunStore(book).list() == (run,)


def test_secrets_and_what_a_table_cannot_hold_stay_out_of_the_ticket(runs: RunStore) -> None:
    of = Ticket(
        id=TicketId("local:leak"),
        title=f"Key {SECRET}",
        body="NUL \0, lone \ud800",
        comments=(Comment(author="jo", text=f"try {SECRET}"),),
    )

    run = runs.create(opening(of))

    assert SECRET not in repr(run.ticket)
    assert run.ticket.body == "NUL \ufffd, lone \ufffd"
    assert runs.get(run.id) == run


def test_a_parked_run_keeps_its_cause_until_it_works_again(runs: RunStore) -> None:
    run = runs.create(opening())

    parked = runs.set_state(run.id, RunState.PARKED, cause=ParkCause.TOKEN, reason=f"no key ({SECRET})")
    working = runs.set_state(run.id, RunState.WORKING)

    assert (parked.park_cause, parked.park_reason) == (ParkCause.TOKEN, "no key ([secret])")
    assert (working.park_cause, working.park_reason) == (None, "")


@pytest.mark.parametrize(
    "change",
    [
        lambda runs, run: runs.set_state(run, RunState.WORKING),
        lambda runs, run: runs.advance(run),
        lambda runs, run: runs.begin_attempt(run, 2),
        lambda runs, run: runs.request_stop(run),
    ],
    ids=["set_state", "advance", "begin_attempt", "request_stop"],
)
def test_an_ended_run_stays_ended(runs: RunStore, change: Callable[[RunStore, RunId], object]) -> None:
    run = runs.create(opening())
    runs.set_state(run.id, RunState.ENDED, outcome="hold: check")

    same = runs.set_state(run.id, RunState.ENDED)

    assert same.outcome == "hold: check"
    with pytest.raises(RunIsOver, match="hold: check"):
        change(runs, run.id)


def test_beginning_an_attempt_again_counts_it_once(runs: RunStore) -> None:
    run = runs.create(opening())

    runs.begin_attempt(run.id, 2)

    assert runs.begin_attempt(run.id, 2).attempt == 2
    assert runs.begin_attempt(run.id, 1).attempt == 2


def test_what_a_run_has_spent_found_and_published_is_kept(runs: RunStore) -> None:
    run = runs.create(opening())

    runs.pin(run.id, 7)
    runs.save_level(run.id, "landlock")
    runs.save_spent(run.id, Spent(calls=3, tokens=900, money=0.25, minutes=1.5))
    runs.save_patch(run.id, "diff --git a/x b/x\n")
    runs.save_branch(run.id, "ticketsmith/local-cart", CommitId("ab" * 20))

    kept = runs.get(run.id)
    assert (kept.memory_version, kept.level, kept.spent.money) == (7, "landlock", 0.25)
    assert (kept.patch, kept.patch_intact) == ("diff --git a/x b/x\n", True)
    assert (kept.branch, kept.commit) == ("ticketsmith/local-cart", "ab" * 20)
    assert kept.updated > run.updated


def test_a_patch_that_scrubbing_changed_says_that_it_is_not_whole(runs: RunStore) -> None:
    run = runs.create(opening())

    kept = runs.save_patch(run.id, f"+KEY = '{SECRET}'\n")

    assert (kept.patch, kept.patch_intact) == ("+KEY = '[secret]'\n", False)


def test_a_person_can_ask_a_run_to_stop(tmp_path: Path) -> None:
    runs, other = RunStore(make_book(tmp_path)), RunStore(make_book(tmp_path))
    run = runs.create(opening())

    before = runs.stop_requested(run.id)
    other.request_stop(run.id)

    assert (before, runs.stop_requested(run.id)) == (False, True)


def test_lists_begin_with_the_newest_run(tmp_path: Path) -> None:
    runs = RunStore(make_book(tmp_path, Clock()))
    old, new = runs.create(opening(ticket("local:a"))), runs.create(opening(ticket("local:b")))
    runs.set_state(old.id, RunState.PARKED)

    assert [run.id for run in runs.list()] == [new.id, old.id]
    assert [run.id for run in runs.list(RunState.PARKED)] == [old.id]


# --- Ids -----------------------------------------------------------------------------------------------------------


def test_ids_sort_by_time() -> None:
    ids = [new_run_id(datetime(year, 5, 1, tzinfo=UTC)) for year in (2026, 2027, 2040, 2100)]

    assert ids == sorted(ids)
    assert {len(run) for run in ids} == {LENGTH}


@given(st.integers(0, 4_000_000_000))
def test_an_id_can_be_read_back_however_it_is_written(seconds: int) -> None:
    run = new_run_id(datetime.fromtimestamp(seconds, UTC))

    assert set(run) <= set(ALPHABET)
    assert read_run_id(f" {run.lower().replace('1', 'l').replace('0', 'o')} ") == run


def test_an_id_that_is_taken_is_not_given_again(tmp_path: Path) -> None:
    book = make_book(tmp_path)
    book.now = lambda: MORNING
    drawn = iter([5, 5, 5, 6])
    runs = RunStore(book, chance=lambda _: next(drawn))

    first, second = (runs.create(opening(ticket(f"local:{name}"))) for name in "ab")

    assert first.id[:-1] == second.id[:-1]
    assert (first.id[-1], second.id[-1]) == ("5", "6")


def test_the_beginning_of_an_id_finds_its_run(runs: RunStore) -> None:
    run = runs.create(opening())

    assert runs.get(run.id[:5].lower()) == run


def test_a_beginning_of_several_ids_names_them(runs: RunStore) -> None:
    ids = [runs.create(opening(ticket(f"local:{n}"))).id for n in range(7)]

    with pytest.raises(AmbiguousRun, match=r"and 2 more\. Write more of it\.") as told:
        runs.get(ids[0][:3])

    assert ids[-1] in str(told.value)


def test_an_unknown_id_names_the_one_that_is_near(runs: RunStore) -> None:
    run = runs.create(opening())
    typo = run.id[:-1] + ("0" if run.id[-1] != "0" else "1")

    with pytest.raises(NoSuchRun, match=f"Near it: {run.id}"):
        runs.get(typo)


@pytest.mark.parametrize("given", ["", "  ", "%", "_", "UUUU", "'; drop table run", "Z" * 13, "ZZZZ", "\ud800"])
def test_what_is_no_id_finds_no_run_and_names_the_newest(runs: RunStore, given: str) -> None:
    run = runs.create(opening())

    with pytest.raises(NoSuchRun, match=f"The newest: {run.id}") as told:
        runs.get(given)

    assert told.value.exit_status == 2


def test_without_any_run_the_way_to_begin_one_is_told(runs: RunStore) -> None:
    with pytest.raises(NoSuchRun, match="no runs yet"):
        runs.get("01J5")


def test_a_change_of_an_unknown_run_is_refused(runs: RunStore) -> None:
    with pytest.raises(BotError):
        runs.pin(RunId("000000000000"), 1)
