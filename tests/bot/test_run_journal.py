"""What happens in a run is written down: scrubbed, cut, in order, and its transcripts only for a time."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import get_args

import pytest
from pydantic import TypeAdapter

from bot import witness
from bot.book import Book
from bot.events import CHARACTERS_AT_MOST, EventStore
from bot.facts import KINDS, Asked, Checked, Decided, Ended, Fact, Found, Judged, NoteRead, Summarised
from bot.journal import RunJournal
from bot.run import Run, RunState
from bot.runs import RunStore
from bot.steps import StepStore
from memory.index import FtsSearch
from memory.recall import Recall
from memory.types import (
    CheckId,
    Drop,
    DropCause,
    Edit,
    Ending,
    Evidence,
    Hold,
    HoldCause,
    Lesson,
    LessonId,
    LessonStatus,
    NotOurs,
    NotOursCause,
    PassAfterHold,
    Refix,
    RunEnding,
    RunId,
    Verify,
    VerifyOutcome,
    Where,
)
from stages.gate import Held, Passed
from stages.journal import ModelAnswered, ModelSaid, ToolUsed
from stages.patch import FileChange, Patch
from stages.prompt import EntryPoint, Prompt
from stages.report import CheckReport, Outcome, TestOutcome
from tests.bot.books import BASE, MORNING, SCOPE, SECRET, Clock, make_book, opening
from tests.memory.recall_kit import ShelfOf, asking, version

DIFF = "diff --git a/till.py b/till.py\n--- a/till.py\n+++ b/till.py\n@@ -1 +1 @@\n-a\n+b\n"
PATCH = Patch(diff=DIFF, files=(FileChange(path="till.py", status="M", old_mode="100644", new_mode="100644"),))


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return make_book(tmp_path)


@pytest.fixture
def run(book: Book) -> Run:
    return RunStore(book).create(opening())


@pytest.fixture
def events(book: Book) -> EventStore:
    return EventStore(book)


@pytest.fixture
def journal(events: EventStore, run: Run) -> RunJournal:
    return RunJournal(events, run.id, now=lambda: MORNING)


def used(result: str = "| till.py") -> ToolUsed:
    return ToolUsed(tool="list", arguments="{}", result=result, refused=False)


def prompt_asked(body: str = "# Triage: is it ours?\n") -> Asked:
    notes = ("notes looked for: cup",)
    return Asked(entry_point="triage", section="[ticketsmith:end]\n", body=body, hash="9f" * 32, version=3, notes=notes)


def test_facts_come_back_as_they_were_in_their_steps_and_in_order(
    journal: RunJournal, events: EventStore, run: Run
) -> None:
    told: list[Fact] = [
        prompt_asked(),
        ModelAnswered(model="offline/repair", tokens_in=9, tokens_out=1, price=0.0, seconds=0.1),
        used(),
        ModelSaid(text="hm"),
        Found(what="ownership", fields={"ownership": "ours"}),
        Decided(what="ours", because="till.py exists"),
        Judged(attempt=1, cause="check", edits=(Edit(path="till.py", line=4, digest="7b1d90c2aa41"),)),
        NoteRead(author="mira", text="again", written=MORNING),
    ]

    journal.at("triage")
    journal.record(*told[:4])
    journal.at("gate", attempt=2)
    journal.record(*told[4:])

    kept = events.of(run.id)
    assert [event.fact for event in kept] == told
    assert [event.seq for event in kept] == list(range(1, 9))
    assert [(event.step, event.attempt) for event in kept] == [("triage", 1)] * 4 + [("gate", 2)] * 4


def test_every_kind_of_fact_has_a_name() -> None:
    assert set(KINDS.values()) == set(get_args(Fact))


def test_a_conversation_is_written_together_within_a_second(events: EventStore, run: Run) -> None:
    clock = Clock()
    journal = RunJournal(events, run.id, now=lambda: clock.at)

    journal.happened(used())
    before = len(events.of(run.id))
    clock.at += timedelta(seconds=1)
    journal.happened(used())

    assert (before, len(events.of(run.id))) == (0, 2)


def test_a_fast_conversation_is_written_before_it_grows(journal: RunJournal, events: EventStore, run: Run) -> None:
    for _ in range(64):
        journal.happened(used())

    assert len(events.of(run.id)) == 64


def test_nothing_to_write_writes_nothing(journal: RunJournal, events: EventStore, run: Run) -> None:
    journal.flush()

    assert events.of(run.id) == ()


def test_a_watcher_is_told_at_once(events: EventStore, run: Run) -> None:
    seen = list[Fact]()
    journal = RunJournal(events, run.id, watcher=seen.append)

    journal.happened(used())

    assert seen == [used()]


def test_a_run_that_is_resumed_does_not_decide_twice(journal: RunJournal, events: EventStore, run: Run) -> None:
    ours = Decided(what="ours", because="till.py exists")

    for step in ("triage", "triage", "diagnose"):
        journal.at(step)
        journal.record(ours, used())

    kept = [event.fact for event in events.of(run.id)]
    assert kept == [ours, used(), used(), ours, used()]


def test_secrets_and_broken_characters_are_not_written(journal: RunJournal, events: EventStore, run: Run) -> None:
    journal.record(prompt_asked(f"{SECRET} \ud800"), Found(what="diagnosis", fields={"cause": SECRET}), used(SECRET))

    kept = repr(events.of(run.id))
    assert SECRET not in kept
    assert kept.count("[secret]") == 3


def test_long_texts_are_cut_in_the_middle(journal: RunJournal, events: EventStore, run: Run) -> None:
    journal.record(used("a" * CHARACTERS_AT_MOST + "b" * 100))

    (event,) = events.of(run.id)
    assert isinstance(event.fact, ToolUsed)
    assert event.fact.result.endswith("a\n(cut: 100 characters)\n" + "a" * (CHARACTERS_AT_MOST // 2 - 100) + "b" * 100)


def test_old_transcripts_are_blanked_and_what_code_saw_stays(book: Book, run: Run) -> None:
    events = EventStore(book)
    old = RunJournal(events, run.id, now=lambda: MORNING)
    new = RunJournal(events, run.id, now=lambda: MORNING + timedelta(days=40))
    told: tuple[Fact, ...] = (
        prompt_asked("a canary"),
        used("a canary"),
        ModelSaid(text="a canary"),
        Found(what="diagnosis", fields={"cause": "a canary"}),
    )
    old.record(*told, Decided(what="ours"), Summarised(text="It was repaired."))
    new.record(used("fresh"))

    blanked = events.prune(MORNING + timedelta(days=30))

    kept = [event.fact for event in events.of(run.id)]
    assert blanked == 4
    assert "canary" not in repr(kept)
    assert isinstance(kept[0], Asked)
    assert kept[0].hash == "9f" * 32
    assert kept[4:] == [Decided(what="ours"), Summarised(text="It was repaired."), used("fresh")]
    assert events.prune(MORNING + timedelta(days=30)) == 0


def test_results_of_steps_go_with_the_transcripts_once_their_run_is_over(book: Book, run: Run) -> None:
    steps, kind = StepStore(book), TypeAdapter(str)
    steps.finish(run.id, "diagnose", kind, "a canary")
    later = MORNING + timedelta(days=30)

    EventStore(book).prune(later)
    still = steps.recorded(run.id, "diagnose", kind)
    RunStore(book).set_state(run.id, RunState.ENDED)
    EventStore(book).prune(later)

    assert still is not None
    assert steps.recorded(run.id, "diagnose", kind) is None
    assert [step.name for step in steps.of(run.id)] == ["diagnose"]


# --- From what code saw to facts -----------------------------------------------------------------------------------


def test_a_report_becomes_its_figures() -> None:
    outcomes = (Outcome.PASSED, Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED, Outcome.XFAILED)
    report = CheckReport(
        check=CheckId("pytest"),
        exit_status=1,
        seconds=0.5,
        outcomes=tuple(TestOutcome(id=CheckId(f"t.py::t{n}"), outcome=of) for n, of in enumerate(outcomes)),
        level="landlock",
    )

    assert witness.checked(report, "the base commit") == Checked(
        check=CheckId("pytest"),
        on="the base commit",
        exit_status=1,
        passed=2,
        failed=1,
        skipped=2,
        failing=(CheckId("t.py::t2"),),
        seconds=0.5,
        level="landlock",
    )


def test_a_verdict_is_kept_with_its_patch() -> None:
    held = Held(cause=HoldCause.CHECK, failing=(CheckId("t.py::t"),), exit_status=1, why=("t.py::t is red.",))

    refused = witness.judged(1, held, PATCH)
    passed = witness.judged(2, Passed(fixed=(CheckId("t.py::t"),)), PATCH)

    assert (refused.cause, refused.exit_status, refused.why) == ("check", 1, ("t.py::t is red.",))
    assert (passed.cause, passed.fixed) == ("", ("t.py::t",))
    assert refused.diff == passed.diff == DIFF
    assert refused.edits == PATCH.edits


def run_ending(ending: Ending, evidence: Evidence = Evidence.NONE) -> RunEnding:
    return RunEnding(
        scope=SCOPE,
        run=RunId("DC6A2FCE4NMV"),
        ticket=opening().ticket.id,
        author="mira",
        ending=ending,
        final=isinstance(ending, Drop),
        commit=BASE,
        at=MORNING,
        evidence=evidence,
    )


@pytest.mark.parametrize(
    ("ending", "outcome"),
    [
        (Hold(where=Where.GATE, cause=HoldCause.CHECK, attempt=1), "hold: check"),
        (Refix(attempt=2, edits=()), "refix"),
        (PassAfterHold(attempt=2, answers=(), edits=()), "pass-after-hold"),
        (Drop(cause=DropCause.BUDGET), "drop: budget"),
        (Verify(outcome=VerifyOutcome.WORKED), "verify: worked"),
        (NotOurs(cause=NotOursCause.ALREADY_FIXED), "not-ours: already-fixed"),
    ],
)
def test_an_ending_has_an_outcome_in_words(ending: Ending, outcome: str) -> None:
    assert witness.outcome_of(ending) == outcome


def test_an_ending_is_kept_with_its_lesson() -> None:
    hold = Hold(where=Where.GATE, cause=HoldCause.CHECK, attempt=1)
    ending = run_ending(hold, Evidence.EXIT_STATUS)
    lesson = Lesson(
        id=LessonId("a1b2c3d4e5f6"),
        scope=SCOPE,
        ending=hold,
        status=LessonStatus.VALIDATED,
        run=ending.run,
        ticket=ending.ticket,
        commit=BASE,
        signatures=(),
        count=2,
        first_seen=MORNING,
        last_seen=MORNING,
    )

    taught = witness.ended(ending, version=4, lesson=lesson, lines=("hold",))
    silent = witness.ended(run_ending(Drop(cause=DropCause.STOPPED)), version=4, lesson=None)

    assert taught == Ended(
        kind="hold",
        cause="check",
        final=False,
        evidence="exit-status",
        version=4,
        lesson="a1b2c3d4e5f6",
        status="validated",
        count=2,
        lines=("hold",),
    )
    assert silent == Ended(kind="drop", cause="stopped", final=True, evidence="", version=4)


def test_an_agent_tells_its_prompt_with_its_section(
    journal: RunJournal, events: EventStore, run: Run, tmp_path: Path
) -> None:
    shelf = ShelfOf(rules=("Whole cents.",))
    context = Recall(shelf, FtsSearch(tmp_path))(asking("Ten cups"), version(number=5))
    prompt = Prompt(entry_point=EntryPoint.DIAGNOSE, context=context, body="# Diagnose: find it.\n| Ten cups\n")

    journal.asked(prompt)

    (event,) = events.of(run.id)
    assert event.fact == Asked(
        entry_point="diagnose",
        section=prompt.section,
        body=prompt.body,
        hash=prompt.hash,
        version=5,
        notes=("notes looked for: ten, cups", "rule coverage, 0 notes searched: there are none"),
    )
