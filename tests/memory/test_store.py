"""Endings, lessons, versions and the audit: written in one transaction, read at one version."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import event

from memory.lesson_table import ForeignVersion
from memory.lessons import identity, render
from memory.recording import SecondFinalEnding
from memory.slots import EndingRefused
from memory.store import MemoryStore
from memory.types import (
    CommitId,
    DropCause,
    Edit,
    Eligible,
    Ending,
    EndingId,
    Evidence,
    LeftOut,
    Lesson,
    LessonId,
    LessonStatus,
    MemoryVersion,
    NoteFile,
    PassAfterHold,
    Record,
    Refix,
    RepositoryId,
    RunEnding,
    RunId,
    Scope,
    Sources,
    Verify,
    VerifyOutcome,
    Where,
)
from tests.memory.store_kit import (
    AT,
    DAY,
    DROP,
    EDIT,
    EVERY_KIND,
    HOLD,
    NOT_OURS,
    PASS,
    RECURRED,
    REFIX,
    SHOP,
    SIGNATURE,
    WORKED,
    ended,
    injection,
    key,
    make_store,
    query,
    signature,
    tables,
)

RUN = RunId("run1")
OTHER_SHOP = Scope(installation="1", repository=RepositoryId("github.com/acme/shop-fork"))
OTHER_INSTALLATION = replace(SHOP, installation="2")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memory.sqlite"


@pytest.fixture
def store(file: Path) -> MemoryStore:
    return make_store(file)


def shown(store: MemoryStore, version: MemoryVersion | None = None, *, ticket: str = "shop#9") -> list[Lesson]:
    asked = query(ticket, signatures=(SIGNATURE,))
    return [lesson for lesson, _ in store.eligible_lessons(asked, version or store.current(SHOP)).lessons]


# --- Recording -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", EVERY_KIND.values(), ids=EVERY_KIND)
def test_every_kind_is_written_with_its_lesson_and_a_version_that_shows_it(store: MemoryStore, ending: Refix) -> None:
    written = ended(ending)

    recorded = store.record(written)

    assert recorded.version == store.current(SHOP)
    assert recorded.version.number == 1
    assert recorded.lesson == store.lesson(SHOP, identity(written))
    (kept,) = store.endings(SHOP, RUN)
    assert (kept.id, kept.lesson, kept.version) == (recorded.ending, identity(written), 1)
    assert kept.ending.ending == ending
    assert kept.ending.at == AT


def test_a_lesson_gives_back_its_signature_without_text(store: MemoryStore) -> None:
    store.record(ended(HOLD))

    (lesson,) = store.lessons(SHOP)

    assert lesson.signatures == (replace(SIGNATURE, type="", template=""),)
    assert lesson.ending == HOLD


def test_a_lesson_that_does_not_exist_is_none(store: MemoryStore) -> None:
    assert store.lesson(SHOP, LessonId("0" * 12)) is None


def test_the_same_ending_of_another_run_is_one_lesson_with_a_count(store: MemoryStore) -> None:
    store.record(ended(HOLD))

    again = store.record(ended(HOLD, run="run2", ticket="shop#2", at=AT + DAY)).lesson

    assert again == store.lessons(SHOP)[0]
    assert (again.count, again.first_seen, again.last_seen) == (2, AT, AT + DAY)
    assert len(store.lessons(SHOP)) == 1


def test_writing_the_same_ending_again_gives_what_was_written(store: MemoryStore, file: Path) -> None:
    first = store.record(ended(HOLD))
    store.record(ended(DROP))
    before = tables(file)

    second = store.record(ended(HOLD, at=AT + DAY))

    assert second == first
    assert tables(file) == before


def test_another_attempt_or_another_judge_of_the_same_attempt_is_another_ending(store: MemoryStore) -> None:
    for hold in (HOLD, replace(HOLD, attempt=2), replace(HOLD, where=Where.CI), replace(HOLD, where=Where.REVIEW)):
        store.record(ended(hold))
    for ending in (REFIX, PASS):
        store.record(ended(ending))

    assert len(store.endings(SHOP, RUN)) == 6


def test_endings_come_in_the_order_in_which_they_were_written(store: MemoryStore) -> None:
    for ending in (HOLD, REFIX, PASS, WORKED):
        store.record(ended(ending, at=AT))

    kinds = [type(one.ending.ending) for one in store.endings(SHOP, RUN)]

    assert kinds == [type(ending) for ending in (HOLD, REFIX, PASS, WORKED)]


@pytest.mark.parametrize("second", [WORKED, NOT_OURS, replace(DROP, cause=DropCause.STOPPED)])
def test_a_run_ends_once(store: MemoryStore, file: Path, second: Verify) -> None:
    store.record(ended(DROP))
    before = tables(file)

    with pytest.raises(SecondFinalEnding, match=r"run1 has ended already \(drop\)"):
        store.record(ended(second))

    assert tables(file) == before


def test_one_final_ending_per_run_is_a_rule_of_the_database_too(store: MemoryStore, file: Path) -> None:
    store.record(ended(DROP))

    with sqlite3.connect(file) as connection, pytest.raises(sqlite3.IntegrityError, match=r"UNIQUE .*ending\.run"):
        connection.execute(
            "INSERT INTO ending SELECT 99, 'other', installation, repository, run, ticket, author, 'verify', 'other', "
            "1, body, commit_id, at, evidence, environment, signatures, paths, NULL, NULL, 1 FROM ending"
        )


def test_a_final_hold_refers_and_teaches_nothing(store: MemoryStore) -> None:
    held = store.record(ended(HOLD))

    final = store.record(ended(HOLD, final=True, refers_to=held.ending))

    assert final.lesson is None
    assert final.version == held.version == store.current(SHOP)
    assert [lesson.count for lesson in store.lessons(SHOP)] == [1]
    assert held.lesson is not None
    assert store.endings(SHOP, RUN)[1].lesson == held.lesson.id
    assert store.record(ended(HOLD, final=True, refers_to=held.ending)) == final


@pytest.mark.parametrize("wrong", ["nothing", "another run", "no hold"])
def test_a_final_hold_refers_to_a_hold_of_its_run(store: MemoryStore, wrong: str) -> None:
    ids = {
        "nothing": EndingId("0" * 16),
        "another run": store.record(ended(HOLD, run="run2")).ending,
        "no hold": store.record(ended(REFIX)).ending,
    }

    with pytest.raises(EndingRefused, match="refers to a hold of the same run"):
        store.record(ended(HOLD, final=True, refers_to=ids[wrong]))


def test_a_row_changes_only_by_the_end_of_its_life(store: MemoryStore, file: Path) -> None:
    store.record(ended(HOLD))
    (first,) = tables(file)["lesson"]

    store.record(ended(HOLD, run="run2"))

    before, after = tables(file)["lesson"]
    assert before[:-2] == first[:-2]  # the last one is what it is signed with
    assert (first[-2], before[-2]) == (None, 2)
    assert (after[-3], after[-2]) == (2, None)


def test_ids_of_rows_are_never_used_again(store: MemoryStore, file: Path) -> None:
    store.record(ended(HOLD))
    with sqlite3.connect(file) as connection:
        connection.execute("DELETE FROM lesson")

    store.record(ended(REFIX))

    assert [row[0 if isinstance(row[0], int) else 2] for row in tables(file)["lesson"]] == [2]


def test_two_people_agree_though_other_tests_proved_it(store: MemoryStore) -> None:
    store.record(ended(NOT_OURS))

    agreed = store.record(ended(replace(NOT_OURS, proof=()), run="run2", ticket="shop#2", author="bob")).lesson

    assert agreed is not None
    assert (agreed.status, agreed.count) == (LessonStatus.VALIDATED, 2)


# --- Status --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [DROP, NOT_OURS])
def test_a_negative_lesson_is_pending_until_another_ticket_of_another_author_agrees(
    store: MemoryStore, ending: Refix
) -> None:
    store.record(ended(ending))
    store.record(ended(ending, run="run2", ticket="shop#2", author="ada"))
    alone = store.lessons(SHOP)[0].status

    store.record(ended(ending, run="run3", ticket="shop#3", author="bob", at=AT + DAY))

    assert alone is LessonStatus.PENDING
    assert store.lessons(SHOP)[0].status is LessonStatus.VALIDATED


def test_a_maintainer_is_enough(store: MemoryStore) -> None:
    recorded = store.record(ended(DROP, evidence=Evidence.MAINTAINER))

    assert recorded.lesson is not None
    assert recorded.lesson.status is LessonStatus.VALIDATED


def test_a_failure_that_came_back_invalidates_the_runs_pass_and_supersedes_what_worked(store: MemoryStore) -> None:
    held = store.record(ended(HOLD)).lesson
    passed = store.record(ended(PASS)).lesson
    worked = store.record(ended(WORKED)).lesson
    other = store.record(ended(replace(PASS, edits=()), run="run2")).lesson
    pinned = store.current(SHOP)
    assert held is not None
    assert passed is not None
    assert worked is not None
    assert other is not None

    recurred = store.record(ended(RECURRED, final=False, at=AT + DAY)).lesson

    assert recurred is not None
    assert recurred.supersedes == worked.id
    statuses = {lesson.id: lesson.status for lesson in store.lessons(SHOP)}
    assert statuses[passed.id] is statuses[worked.id] is LessonStatus.INVALIDATED
    assert statuses[held.id] is statuses[other.id] is statuses[recurred.id] is LessonStatus.VALIDATED
    assert {lesson.id for lesson in shown(store)} == {held.id, other.id, recurred.id}
    assert {lesson.id for lesson in shown(store, pinned)} == {held.id, passed.id, worked.id, other.id}


def test_the_same_fix_of_another_run_is_superseded_too(store: MemoryStore) -> None:
    worked = store.record(ended(WORKED)).lesson
    different = store.record(ended(replace(WORKED, edits=()), run="run2")).lesson
    store.record(ended(Verify(outcome=VerifyOutcome.UNVERIFIED), run="run4"))

    recurred = store.record(ended(RECURRED, run="run3", ticket="shop#3")).lesson

    assert worked is not None
    assert different is not None
    assert recurred is not None
    assert recurred.supersedes == worked.id
    lesson = store.lesson(SHOP, different.id)
    assert lesson is not None
    assert lesson.status is LessonStatus.VALIDATED


def test_a_recurrence_without_a_fix_contradicts_nothing(store: MemoryStore) -> None:
    recurred = store.record(ended(RECURRED)).lesson

    assert recurred is not None
    assert recurred.supersedes is None


def test_a_superseded_lesson_is_never_shown_even_when_it_is_still_validated(store: MemoryStore, file: Path) -> None:
    worked = store.record(ended(WORKED)).lesson
    recurred = store.record(ended(RECURRED, final=False)).lesson
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE lesson SET status = 'validated'")
    store.take_over(SHOP)

    assert worked is not None
    assert recurred is not None
    assert [lesson.id for lesson in shown(store)] == [recurred.id]


# --- What a query may see ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("levels", "why"),
    [
        ("xfct", "same signature es1:x:999999999999"),
        ("fct", "same signature es1:f:999999999999"),
        ("ct", "same signature es1:c:999999999999"),
    ],
)
def test_a_lesson_of_an_equal_strong_key_is_shown_with_the_strongest(store: MemoryStore, levels: str, why: str) -> None:
    store.record(ended(HOLD))

    found = store.eligible_lessons(query(signatures=(signature(levels),)), store.current(SHOP))

    assert [reason for _, reason in found.lessons] == [why]


@pytest.mark.parametrize("asked", [(signature("t"),), (signature(digit="8"),), ()])
def test_a_message_only_key_or_another_key_admits_nothing(store: MemoryStore, asked: tuple[()]) -> None:
    store.record(ended(HOLD))

    assert store.eligible_lessons(query(signatures=asked), store.current(SHOP)) == Eligible()


def test_a_key_that_was_stored_for_one_level_admits_nothing_as_another(store: MemoryStore) -> None:
    odd = replace(signature(), keys={"t": key("t"), "x": key("t")})
    store.record(ended(HOLD, signatures=(odd,)))

    assert store.eligible_lessons(query(signatures=(odd,)), store.current(SHOP)) == Eligible()


def test_the_same_ticket_is_shown_without_a_signature_and_named_first(store: MemoryStore) -> None:
    store.record(ended(HOLD))
    store.record(ended(HOLD, run="run2", ticket="shop#2"))

    for ticket in ("shop#1", "shop#2"):
        found = store.eligible_lessons(query(ticket, signatures=(SIGNATURE,)), store.current(SHOP))
        assert [why for _, why in found.lessons] == ["same ticket"]


@pytest.mark.parametrize("scope", [OTHER_SHOP, OTHER_INSTALLATION])
def test_lessons_of_another_repository_or_installation_never_appear(store: MemoryStore, scope: Scope) -> None:
    store.record(ended(HOLD))
    store.record(ended(REFIX, scope=scope))

    found = store.eligible_lessons(query("shop#1", signatures=(SIGNATURE,), scope=scope), store.current(scope))

    assert [lesson.ending for lesson, _ in found.lessons] == [REFIX]
    assert store.current(scope).number == 1


def test_a_version_of_another_repository_is_refused(store: MemoryStore) -> None:
    with pytest.raises(ForeignVersion, match=r"says nothing about github\.com/acme/shop\.$"):
        store.eligible_lessons(query(), store.current(OTHER_SHOP))


def test_an_expired_lesson_is_not_shown(store: MemoryStore) -> None:
    store.record(ended(DROP))
    version = store.current(SHOP)

    days = [store.eligible_lessons(query("shop#1", at=AT + n * DAY), version).count for n in (0, 29, 30, 31)]

    assert days == [1, 1, 0, 0]


def test_the_newest_of_each_kind_comes_first_then_the_rest_by_date_validated_before_pending(
    store: MemoryStore,
) -> None:
    def edits(n: int) -> tuple[Edit, ...]:
        return (replace(EDIT, digest=f"{n:012}"),)

    written: list[tuple[Ending, int, Evidence]] = [
        (replace(HOLD, edits=edits(1)), 1, Evidence.EXIT_STATUS),
        (replace(HOLD, edits=edits(2)), 2, Evidence.NONE),
        (replace(HOLD, edits=edits(3)), 2, Evidence.EXIT_STATUS),
        (replace(HOLD, edits=edits(4)), 5, Evidence.NONE),
        (replace(REFIX, edits=edits(5)), 0, Evidence.EXIT_STATUS),
        (replace(REFIX, edits=edits(6)), 3, Evidence.EXIT_STATUS),
        (PassAfterHold(attempt=9, answers=(), edits=edits(7)), 0, Evidence.NONE),
    ]
    for n, (ending, days, evidence) in enumerate(written):
        store.record(ended(ending, run=f"run{n}x", at=AT + days * DAY, evidence=evidence))

    order = [int(lesson.ending.edits[0].digest) for lesson in shown(store)]  # type: ignore[union-attr]

    assert order == [4, 6, 7, 3, 2, 1, 5]


def test_the_first_twenty_are_read_and_all_are_counted(store: MemoryStore) -> None:
    for n in range(23):
        hold = replace(HOLD, attempt=n, edits=(replace(EDIT, digest=f"{n:012}"),))
        store.record(ended(hold, run=f"run{n}", at=AT + n * DAY))

    found = store.eligible_lessons(query(signatures=(SIGNATURE,)), store.current(SHOP))

    assert [lesson.run for lesson, _ in found.lessons] == [f"run{n}" for n in range(22, 2, -1)]
    assert found.count == 23


# --- Versions ------------------------------------------------------------------------------------------------------

NOTE = NoteFile(path="deploy/redis.md", text="# Redis\nFail over by hand only when it is safe.", changed="2026-10-11")


def sources(*notes: NoteFile, tuning: str = "", commit: str = "a" * 40) -> Sources:
    return Sources(commit=CommitId(commit), notes=notes, tuning=tuning)


def test_before_anything_was_published_there_is_an_empty_version_zero(store: MemoryStore) -> None:
    version = store.current(SHOP)

    assert (version.number, version.commit) == (0, None)
    assert not any((store.notes(version), store.chunks(version), store.tuning(version), store.lessons(SHOP)))


def test_notes_and_tuning_are_published_together_and_read_back(store: MemoryStore) -> None:
    version = store.publish_sources(SHOP, sources(NOTE, tuning="- Run the linter.\n\n* Never edit migrations.\n"), AT)

    assert (version.number, version.commit) == (1, "a" * 40)
    assert store.notes(version) == (NOTE,)
    assert [chunk.note for chunk in store.chunks(version)] == ["deploy/redis.md"]
    assert store.tuning(version) == ("Run the linter.", "Never edit migrations.")


def test_what_did_not_change_is_not_published_again(store: MemoryStore, file: Path) -> None:
    first = store.publish_sources(SHOP, sources(NOTE, tuning="a"), AT)
    before = tables(file)

    second = store.publish_sources(SHOP, sources(NOTE, tuning="a", commit="b" * 40), AT + DAY)

    assert second == first
    assert tables(file) == before


def test_a_changed_note_leaves_the_others_and_a_removed_one_is_gone_from_the_next_version(
    store: MemoryStore, file: Path
) -> None:
    other = replace(NOTE, path="other.md")
    first = store.publish_sources(SHOP, sources(NOTE, other), AT)

    second = store.publish_sources(SHOP, sources(replace(NOTE, text="# Redis\nNever.")), AT)
    third = store.publish_sources(SHOP, sources(NOTE, other, tuning="now"), AT)
    fourth = store.publish_sources(SHOP, sources(NOTE, other, replace(NOTE, shared=True), tuning="then"), AT)

    assert [len(store.notes(version)) for version in (first, second, third, fourth)] == [2, 1, 2, 3]
    assert store.notes(second)[0].text == "# Redis\nNever."
    assert [store.tuning(version) for version in (first, second, third, fourth)] == [(), (), ("now",), ("then",)]
    assert {chunk.note for chunk in store.chunks(fourth)} == {NOTE.path, "other.md", f"shared:{NOTE.path}"}
    assert len(tables(file)["note"]) == 6


def test_equal_content_has_an_equal_digest_and_names_one_index(store: MemoryStore) -> None:
    first = store.publish_sources(SHOP, sources(NOTE), AT)
    store.publish_sources(SHOP, sources(), AT)
    third = store.publish_sources(SHOP, sources(NOTE), AT)
    other = store.publish_sources(OTHER_SHOP, sources(NOTE), AT)

    assert first.digest == third.digest == other.digest
    assert store.record(ended(HOLD)).version.digest == third.digest


def test_secrets_in_notes_and_tuning_are_not_written(file: Path) -> None:
    token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    store = make_store(file, "exact-value-of-the-operator")

    store.publish_sources(
        SHOP,
        sources(replace(NOTE, text=f"Use {token} there."), tuning="Say exact-value-of-the-operator."),
        AT,
    )

    written = repr(tables(file))
    assert token not in written
    assert "exact-value-of-the-operator" not in written
    assert store.tuning(store.current(SHOP)) == ("Say [secret].",)


def test_a_run_reads_one_version_whatever_another_connection_publishes(store: MemoryStore, file: Path) -> None:
    store.publish_sources(SHOP, sources(NOTE, tuning="old"), AT)
    first = store.record(ended(HOLD)).lesson
    pinned = store.current(SHOP)
    before = what_is_read(store, pinned)
    other = make_store(file)

    other.record(ended(HOLD, run="run2", ticket="shop#2", at=AT + DAY))
    other.record(ended(REFIX, run="run2", ticket="shop#2", at=AT + DAY))
    other.publish_sources(SHOP, sources(replace(NOTE, text="new"), tuning="new"), AT)

    assert what_is_read(store, pinned) == before
    assert what_is_read(store, store.current(SHOP)) != before
    assert [lesson.count for lesson in shown(store, pinned)] == [1]
    assert shown(store, pinned) == [first]
    assert shown(store, pinned, ticket="shop#2")[0].count == 1


def what_is_read(store: MemoryStore, version: MemoryVersion) -> object:
    asked = query(signatures=(SIGNATURE,))
    return (
        store.lessons(SHOP, version),
        store.eligible_lessons(asked, version),
        store.notes(version),
        store.chunks(version),
        store.tuning(version),
    )


def test_what_a_ticket_taught_later_is_not_of_that_ticket_in_an_earlier_version(store: MemoryStore) -> None:
    store.record(ended(HOLD))
    pinned = store.current(SHOP)
    store.record(ended(HOLD, run="run2", ticket="shop#2", signatures=(SIGNATURE, signature(digit="8"))))

    by_ticket = store.eligible_lessons(query("shop#2"), pinned)
    by_key = store.eligible_lessons(query(signatures=(signature(digit="8"),)), pinned)

    assert by_ticket == by_key == Eligible()
    assert store.eligible_lessons(query("shop#2"), store.current(SHOP)).count == 1
    assert store.eligible_lessons(query(signatures=(signature(digit="8"),)), store.current(SHOP)).count == 1


# --- All or nothing ------------------------------------------------------------------------------------------------


def at_statement(store: MemoryStore, number: int, act: Callable[[], None]) -> list[str]:
    """Calls `act` before the statement of that number, and before the commit that follows the last one."""
    seen: list[str] = []

    def before(statement: str) -> None:
        seen.append(statement)
        if len(seen) == number:
            act()

    @event.listens_for(store._engine, "before_cursor_execute")
    def _statement(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        before(statement)

    @event.listens_for(store._engine, "commit")
    def _commit(_: object) -> None:
        before("COMMIT")

    return seen


def prepare(store: MemoryStore) -> RunEnding:
    """A run whose last ending touches every table: it repeats, invalidates and supersedes."""
    for ending in (HOLD, PASS, WORKED):
        store.record(ended(ending))
    store.record(ended(RECURRED, run="run0", ticket="shop#0"))
    return ended(RECURRED, final=False, at=AT + DAY, signatures=(SIGNATURE, signature(digit="7")))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RunEnding, int]:
    """A database, the ending that comes next, and the number of statements that write it."""
    file = tmp_path_factory.mktemp("prepared") / "memory.sqlite"
    store = make_store(file)
    ending = prepare(store)
    store._engine.dispose()
    copy = Path(shutil.copy(file, file.with_name("count.sqlite")))
    seen = at_statement(counted := make_store(copy), -1, lambda: None)
    counted.record(ending)
    assert seen[-1] == "COMMIT"
    assert len(seen) > 15
    return file, ending, len(seen)


def test_f65_a_fault_at_any_step_leaves_nothing_and_the_ending_can_be_written_again(
    tmp_path: Path, prepared: tuple[Path, RunEnding, int]
) -> None:
    original, ending, steps = prepared
    before = tables(original)

    def fail() -> None:
        raise OSError("pulled out")

    for number in range(2, steps + 1):  # the first one begins the transaction
        file = Path(shutil.copy(original, tmp_path / f"{number}.sqlite"))
        faulty = make_store(file)
        at_statement(faulty, number, fail)

        with pytest.raises(OSError, match="pulled out"):
            faulty.record(ending)

        assert tables(file) == before, f"step {number}"
        assert make_store(file).record(ending).lesson is not None


def test_f65_a_kill_at_any_step_leaves_both_ending_and_lesson_or_neither(
    tmp_path: Path, prepared: tuple[Path, RunEnding, int]
) -> None:
    original, ending, steps = prepared
    before = tables(original)

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    for number in range(1, steps + 1):
        file = Path(shutil.copy(original, tmp_path / f"{number}.sqlite"))

        child = fork(partial(killed_record, file, number, ending, die))
        status = os.waitpid(child, 0)[1]

        assert os.WTERMSIG(status) == signal.SIGKILL
        assert tables(file) == before, f"step {number}"
        again = make_store(file)
        assert again.record(ending) == again.record(ending)
        assert len(again.endings(SHOP, RUN)) == 4


def killed_record(file: Path, number: int, ending: RunEnding, die: Callable[[], None]) -> None:
    store = make_store(file)
    at_statement(store, number, die)
    store.record(ending)


def fork(work: Callable[[], object]) -> int:
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        work()
        status = 0
    finally:
        os._exit(status)


def test_two_writers_in_two_processes_lose_nothing(file: Path) -> None:
    make_store(file)._engine.dispose()

    children = [fork(partial(write_twenty, file, name)) for name in ("a", "b", "c")]
    statuses = [os.waitpid(child, 0)[1] for child in children]

    store = make_store(file)
    assert statuses == [0, 0, 0]
    assert store.current(SHOP).number >= 60
    assert sorted(lesson.count for lesson in store.lessons(SHOP)) == [1] * 30 + [30]
    assert len(tables(file)["ending"]) == 60
    assert len(store.notes(store.current(SHOP))) == 1


def write_twenty(file: Path, name: str) -> None:
    store = make_store(file)
    for n in range(10):
        store.record(ended(HOLD, run=f"{name}{n}"))
        store.record(ended(replace(REFIX, attempt=2), run=f"{name}{n}", ticket=f"{name}{n}", signatures=()))
        store.publish_sources(SHOP, sources(replace(NOTE, text=f"{name} {n}")), AT)


# --- Audit ---------------------------------------------------------------------------------------------------------


def test_the_audit_keeps_ids_scores_and_reasons_in_order_and_no_lines(file: Path) -> None:
    store = make_store(file, "exact-secret")
    shown_records = (
        Record(id="tuning:1", lines=("Run the linter.",)),
        Record(id="deploy/redis.md#failover", lines=("text",), score=2.5, why="redis, exact-secret"),
    )
    out = (LeftOut(id="notes/other.md", why="below the threshold", score=0.5), LeftOut(id="l", why="budget"))

    store.audit(injection(RUN, shown=shown_records, left_out=out))
    store.audit(replace(injection(RUN), entry_point="develop"))
    store.audit(injection(RunId("run2")))

    first, second = store.injections(SHOP, RUN)
    assert [record.lines for record in first.shown] == [(), ()]
    assert [(record.id, record.score) for record in first.shown] == [
        ("tuning:1", None),
        ("deploy/redis.md#failover", 2.5),
    ]
    assert first.shown[1].why == "redis, [secret]"
    assert first.left_out == out
    assert (first.prompt_hash, first.version, first.rule, first.at) == ("0" * 64, 1, "coverage", AT)
    assert (second.entry_point, second.shown) == ("develop", ())


def test_a_lesson_of_the_store_renders_as_the_section_shows_it(store: MemoryStore) -> None:
    store.record(ended(HOLD))

    ((lesson, why),) = store.eligible_lessons(query(signatures=(SIGNATURE,)), store.current(SHOP)).lessons

    assert "\n".join(render(lesson, why)).splitlines() == [
        f"hold · 2026-11-03 · run run1 · validated · {why} · at the gate, attempt 1, cause check ·",
        "tests/test_cart.py::test_empty failed (exit 1) · edits src/cart.py:41 #7b1d90c2aa41 · commit 4be1f0a",
    ]
