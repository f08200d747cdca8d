"""A step that is finished is not done again, whoever asks; a note is read by one attempt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from pydantic import TypeAdapter

from bot.book import Book, upgrade_runs
from bot.errors import NoSuchRun
from bot.requeue import RequeueNotes
from bot.run import Run, RunState
from bot.runs import RunStore
from bot.steps import StepStore
from bot.tables import BotTable
from memory.database import DatabaseNewer, open_database, upgrade_memory
from memory.types import Edit, RepositoryId, RunId, Scope, TicketId
from stages.patch import FileChange, Patch
from tests.bot.books import SCOPE, SECRET, make_book, opening

PATCH = TypeAdapter(Patch)
TEXT = TypeAdapter(str)
NOTHING = TypeAdapter(None)


@dataclass(frozen=True, kw_only=True)
class Work:
    """Work that remembers how often it was done."""

    results: Iterator[str]
    done: list[str]

    def __call__(self) -> str:
        self.done.append(next(self.results))
        return self.done[-1]


def work(*results: str) -> Work:
    return Work(results=iter(results), done=[])


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return make_book(tmp_path)


@pytest.fixture
def run(book: Book) -> Run:
    return RunStore(book).create(opening())


@pytest.fixture
def steps(book: Book) -> StepStore:
    return StepStore(book)


def test_a_finished_step_is_read_and_not_done_again(steps: StepStore, run: Run) -> None:
    counted = work("first", "second")

    given = [steps.once(run.id, "triage", TEXT, counted) for _ in range(3)]

    assert given == ["first"] * 3
    assert counted.done == ["first"]


def test_another_process_goes_on_after_the_finished_step(tmp_path: Path) -> None:
    first = make_book(tmp_path)
    run = RunStore(first).create(opening())
    StepStore(first).once(run.id, "triage", TEXT, work("ours"))

    assert StepStore(make_book(tmp_path)).once(run.id, "triage", TEXT, work()) == "ours"


def test_a_step_that_was_interrupted_is_done_again(steps: StepStore, run: Run) -> None:
    def interrupted() -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        steps.once(run.id, "triage", TEXT, interrupted)

    (left,) = steps.of(run.id)
    assert left.finished is None
    assert steps.once(run.id, "triage", TEXT, work("again")) == "again"


def test_a_step_may_give_nothing_and_is_finished_all_the_same(steps: StepStore, run: Run) -> None:
    counted = list[int]()

    for _ in range(2):
        steps.once(run.id, "sources", NOTHING, lambda: counted.append(1))

    assert counted == [1]


def test_each_attempt_has_a_step_of_its_own(steps: StepStore, run: Run) -> None:
    given = [steps.once(run.id, "develop", TEXT, work(f"patch {n}"), attempt=n) for n in (1, 2)]

    assert given == ["patch 1", "patch 2"]


def test_a_new_generation_does_every_step_anew(steps: StepStore, run: Run, book: Book) -> None:
    steps.once(run.id, "triage", TEXT, work("before"))

    RunStore(book).advance(run.id)

    assert steps.recorded(run.id, "triage", TEXT) is None
    assert steps.once(run.id, "triage", TEXT, work("after")) == "after"
    assert [step.generation for step in steps.of(run.id)] == [1, 2]


def test_a_result_comes_back_as_the_same_value(steps: StepStore, run: Run) -> None:
    patch = Patch(
        diff="diff --git a/ü b/ü\n@@ -1 +1 @@\n-a\n+b\n",
        files=(FileChange(path="ü", status="M", old_mode="100644", new_mode="100644", added=1, removed=1),),
    )

    steps.finish(run.id, "develop", PATCH, patch)

    done = steps.recorded(run.id, "develop", PATCH)
    assert done is not None
    assert done.value == patch
    assert isinstance(done.value.edits[0], Edit)


def test_a_result_that_scrubbing_changed_is_not_taken_for_what_the_step_gave(
    steps: StepStore, run: Run, book: Book
) -> None:
    steps.finish(run.id, "develop", TEXT, f"+KEY = '{SECRET}'")

    assert steps.recorded(run.id, "develop", TEXT) is None
    assert SECRET not in _dump(book)


def test_finishing_again_keeps_the_newer_result(steps: StepStore, run: Run) -> None:
    steps.finish(run.id, "publish", TEXT, "branch")
    steps.finish(run.id, "publish", TEXT, "branch-2")

    assert steps.once(run.id, "publish", TEXT, work()) == "branch-2"


def test_beginning_a_step_again_forgets_what_it_gave(steps: StepStore, run: Run) -> None:
    steps.finish(run.id, "publish", TEXT, "branch")

    steps.start(run.id, "publish")

    assert steps.recorded(run.id, "publish", TEXT) is None


def test_a_step_of_an_unknown_run_is_refused(steps: StepStore) -> None:
    with pytest.raises(NoSuchRun):
        steps.start(RunId("000000000000"), "triage")


# --- Requeue notes -------------------------------------------------------------------------------------------------


@pytest.fixture
def notes(book: Book) -> RequeueNotes:
    return RequeueNotes(book)


def test_a_note_is_read_by_the_next_attempt_and_known_to_later_ones_of_the_run(notes: RequeueNotes, run: Run) -> None:
    notes.add(SCOPE, run.ticket.id, "Try the discount.", "mira")
    notes.add(SCOPE, run.ticket.id, f"And not {SECRET}.", "jonas")

    second = notes.take(SCOPE, run.ticket.id, run.id, 2)
    third = notes.take(SCOPE, run.ticket.id, run.id, 3)
    earlier = notes.take(SCOPE, run.ticket.id, run.id, 1)

    assert [(note.author, note.text) for note in second] == [
        ("mira", "Try the discount."),
        ("jonas", "And not [secret]."),
    ]
    assert third == second
    assert {note.read_in_attempt for note in third} == {2}
    assert earlier == ()


def test_an_attempt_that_is_resumed_reads_its_notes_again(notes: RequeueNotes, run: Run) -> None:
    notes.add(SCOPE, run.ticket.id, "Try the discount.", "mira")

    first = notes.take(SCOPE, run.ticket.id, run.id, 2)

    assert notes.take(SCOPE, run.ticket.id, run.id, 2) == first
    assert [(note.read_by, note.read_in_attempt) for note in notes.of(SCOPE, run.ticket.id)] == [(run.id, 2)]


def test_notes_of_other_tickets_and_repositories_are_not_read(notes: RequeueNotes, run: Run) -> None:
    notes.add(SCOPE, TicketId("local:other"), "not here", "mira")
    other = Scope(installation="local", repository=RepositoryId("github.com/acme/other"))
    notes.add(other, run.ticket.id, "nor here", "mira")

    assert notes.take(SCOPE, run.ticket.id, run.id, 1) == ()


# --- Schema --------------------------------------------------------------------------------------------------------


def test_the_migrations_make_the_tables_that_the_code_knows(tmp_path: Path) -> None:
    engine = open_database(tmp_path / "new.sqlite")
    upgrade_runs(engine)
    ours = set(BotTable.metadata.tables)

    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection,
            opts={"compare_type": True, "include_name": lambda name, kind, _: kind != "table" or name in ours},
        )
        differences = compare_metadata(context, BotTable.metadata)

    assert differences == []


def test_memory_and_runs_share_a_file_and_upgrade_twice(tmp_path: Path) -> None:
    engine = open_database(tmp_path / "new.sqlite")

    for _ in range(2):
        upgrade_memory(engine)
        upgrade_runs(engine)

    run = RunStore(make_book(tmp_path)).create(opening())
    assert run.state is RunState.WORKING


def test_f50_runs_of_a_newer_version_are_refused(book: Book) -> None:
    with book.writing() as session:
        session.connection().exec_driver_sql("UPDATE bot_schema SET version_num = 'm9999'")

    with pytest.raises(DatabaseNewer, match="m9999"):
        upgrade_runs(book.engine)


def _dump(book: Book) -> str:
    with book.reading() as session:
        tables = ("run", "step", "event", "requeue_note")
        rows = [session.connection().exec_driver_sql(f"SELECT * FROM {table}").all() for table in tables]
    return repr(rows)
