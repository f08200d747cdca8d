"""A reader who knows nothing of a run can follow why each thing happened."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.events import EventStore
from bot.facts import (
    Asked,
    Checked,
    Decided,
    Ended,
    EventRecord,
    Fact,
    Found,
    Judged,
    NoteRead,
    Published,
    Summarised,
    Waits,
)
from bot.journal import RunJournal
from bot.record import RunRecord, read_record, record_json
from bot.requeue import RequeueNotes
from bot.run import Run, RunState, StepRecord
from bot.run_table import runs_json, show_runs
from bot.runs import RunStore
from bot.show import run_text, show_run
from bot.telling import tell
from bot.terminal import Terminal
from bot.wording import count, duration, listed, money
from memory.types import CheckId, CommitId, Edit, RunId
from stages.agents.limits import Spent
from stages.errors import ParkCause
from stages.journal import ModelAnswered, ModelSaid, ToolUsed
from tests.bot.books import BASE, MORNING, SCOPE, SECRET, make_book, opening, ticket

SECTION = (
    "[ticketsmith:context v1] Chosen by code.\n[ticketsmith:lessons] 1 of 1\n| - hold · run 01J5\n[ticketsmith:end]\n"
)
DIFF = (
    "diff --git a/till.py b/till.py\nindex 1..2 100644\n--- a/till.py\n+++ b/till.py\n@@ -1,2 +1,2 @@\n     x\n-a\n+b\n"
)
HELD = Judged(
    attempt=1,
    cause="check",
    failing=(CheckId("t.py::test_voucher"),),
    exit_status=1,
    why=("t.py::test_voucher passed on the base and fails with the patch.",),
    edits=(Edit(path="till.py", line=16, digest="7b1d90c2aa41"),),
    diff=DIFF,
)
TAUGHT = Ended(
    kind="hold",
    cause="check",
    final=False,
    evidence="exit-status",
    version=4,
    lesson="a1b2c3d4e5f6",
    status="validated",
    count=2,
    lines=("hold · 2026-11-03 · run 01J5 ·", "t.py::test_voucher failed"),
)


def asked(entry_point: str = "triage", section: str = SECTION) -> Asked:
    return Asked(
        entry_point=entry_point, section=section, body="# Triage: ours?\n| one\n| two\n", hash="9f" * 32, version=3
    )


def answered(price: float = 0.0) -> ModelAnswered:
    return ModelAnswered(model="offline/repair", tokens_in=1200, tokens_out=10, price=price, seconds=0.25)


def used(tool: str, result: str = "| till.py", *, refused: bool = False) -> ToolUsed:
    return ToolUsed(tool=tool, arguments='{"path": "till.py"}', result=result, refused=refused)


def a_run(state: RunState = RunState.WORKING, **changes: object) -> Run:
    run = Run(
        id=RunId("DC6A2FCE4NMV"),
        scope=SCOPE,
        ticket=ticket(),
        state=state,
        generation=1,
        attempt=1,
        base=BASE,
        place="/home/mira/till",
        model="offline/repair",
        level="bubblewrap",
        created=MORNING,
        updated=MORNING,
        memory_version=3,
        spent=Spent(calls=12, tokens=3400, money=0.25, minutes=1.7),
    )
    return replace(run, **changes)  # type: ignore[arg-type]


def record_of(*told: tuple[str, int, Fact], run: Run | None = None, steps: tuple[StepRecord, ...] = ()) -> RunRecord:
    events = tuple(
        EventRecord(seq=seq, generation=1, step=step, attempt=attempt, at=MORNING + timedelta(seconds=seq), fact=fact)
        for seq, (step, attempt, fact) in enumerate(told, 1)
    )
    return RunRecord(run=run or a_run(), events=events, steps=steps)


def lines(record: RunRecord, *, verbose: bool = False) -> list[str]:
    """The tree's lines without its guides."""
    return [line.lstrip("│├└─ ") for line in run_text(record, verbose=verbose).splitlines()]


# --- The head ------------------------------------------------------------------------------------------------------


def test_the_first_line_says_outcome_time_cost_and_level() -> None:
    assert lines(record_of())[0] == (
        "Run DC6A2FCE4NMV: working · 1 min 42 s · $0.25 · 12 model calls · 3,400 tokens · sandbox bubblewrap"
    )


def test_an_ended_run_says_how_it_ended_and_has_nothing_next() -> None:
    shown = lines(record_of(run=a_run(RunState.ENDED, outcome="drop: budget", level="")))

    assert shown[0].startswith("Run DC6A2FCE4NMV: drop: budget · ")
    assert "sandbox" not in shown[0]
    assert not any(line.startswith("Next") for line in shown)


def test_ticket_repository_model_and_memory_are_named() -> None:
    shown = lines(record_of())

    assert shown[1] == "Ticket local:cart by mira: Ten cups are too expensive"
    assert shown[2] == (
        "Repository github.com/acme/till at 4be1f0a2c4d6 · model offline/repair · memory version 3 · "
        "begun 2026-11-03 09:30 UTC"
    )


@pytest.mark.parametrize(
    ("run", "told"),
    [
        (a_run(memory_version=None, model=""), "model none · memory not pinned yet"),
        (a_run(ticket=replace(ticket(), author="")), "Ticket local:cart: Ten cups are too expensive"),
        (a_run(stop_requested=True), "Asked to stop"),
        (a_run(), "`ticketsmith runs retry DC6A2FCE4NMV` goes on from its last step"),
        (
            a_run(RunState.PARKED, park_cause=ParkCause.TOKEN, park_reason="set OPENAI_API_KEY"),
            "Parked (token): set OPENAI_API_KEY",
        ),
        (a_run(RunState.PARKED), "mend what it waits for, then `ticketsmith runs retry DC6A2FCE4NMV`"),
        (a_run(RunState.PUBLISHED, branch="ticketsmith/x"), "merge ticketsmith/x, then `ticketsmith runs verify DC6A"),
        (a_run(RunState.PUBLISHED), "merge the patch, then"),
    ],
)
def test_the_state_tells_what_a_person_can_do(run: Run, told: str) -> None:
    assert told in run_text(record_of(run=run))


# --- Steps ---------------------------------------------------------------------------------------------------------


def step(name: str, began: int, took: int | None = 1, *, attempt: int = 1, generation: int = 1) -> StepRecord:
    started = MORNING + timedelta(seconds=began)
    finished = None if took is None else started + timedelta(seconds=took)
    return StepRecord(name=name, attempt=attempt, generation=generation, started=started, finished=finished)


def test_steps_stand_in_the_order_in_which_they_began_with_what_they_are_for() -> None:
    shown = lines(record_of(steps=(step("gate", 9), step("baseline", 1, 62), step("own-step", 5))))

    assert shown[3:6] == [
        "1 Baseline – what the checks say before anything is changed · 1 min 2 s",
        "2 Own step · 1.0 s",
        "3 Gate, attempt 1 – code judges the patch by exit statuses and the diff · 1.0 s",
    ]


@pytest.mark.parametrize(("state", "told"), [(RunState.WORKING, "not finished"), (RunState.PARKED, "interrupted")])
def test_a_step_without_an_end_says_so(state: RunState, told: str) -> None:
    assert f"· {told}" in run_text(record_of(run=a_run(state), steps=(step("triage", 1, None),)))


def test_generations_are_told_apart_once_there_are_several() -> None:
    shown = lines(record_of(steps=(step("triage", 9, generation=2), step("triage", 1))))

    assert [line.split(" – ")[0] for line in shown[3:5]] == ["1 Triage (generation 1)", "2 Triage (generation 2)"]


def test_facts_without_a_step_are_shown_too() -> None:
    assert "1 Run" in lines(record_of(("", 1, Decided(what="begun"))))


# --- Prompts and conversations -------------------------------------------------------------------------------------


def test_a_prompt_shows_its_context_section_and_the_head_of_its_body() -> None:
    shown = lines(record_of(("triage", 1, asked()), ("triage", 1, answered())))

    assert shown[4:] == [
        "Prompt triage, 9f9f9f9f9f9f, memory version 3",
        "context section, chosen by code:",
        *SECTION.splitlines(),
        "body: # Triage: ours? (+2 lines)",
        "1 call of offline/repair, 1,200 tokens in, 10 out, $0.00, 0.2 s",
        shown[-1],
    ]


def test_the_same_section_is_not_shown_again_unless_all_is_asked_for() -> None:
    record = record_of(("triage", 1, asked()), ("diagnose", 1, asked("diagnose")), ("diagnose", 1, asked("rediagnose")))

    folded, whole = run_text(record), run_text(record, verbose=True)

    assert folded.count("[ticketsmith:end]") == 1
    assert folded.count("the same as in the prompt before") == 2
    assert whole.count("[ticketsmith:end]") == 3


def test_another_section_is_shown() -> None:
    other = SECTION.replace("1 of 1", "2 of 2")

    text = run_text(record_of(("triage", 1, asked()), ("diagnose", 1, asked("diagnose", other))))

    assert text.count("[ticketsmith:end]") == 2


def test_tool_calls_are_counts_until_all_is_asked_for() -> None:
    talk = [used("read"), used("edit", "refused: no", refused=True), used("read", "\n".join(map(str, range(30))))]
    record = record_of(
        ("develop", 1, asked()), *(("develop", 1, one) for one in talk), ("develop", 1, ModelSaid(text="I\ntry"))
    )

    folded, whole = lines(record), lines(record, verbose=True)

    assert "3 tool calls: read 2, edit 1; 1 refused" in folded
    assert "I" not in folded
    assert 'edit {"path": "till.py"}' in whole
    assert "refused: no" in whole
    assert "(+6 lines)" in whole
    assert whole[whole.index("the model said:") + 1 :][:2] == ["I", "try"]
    assert "| two" in whole


def test_a_conversation_stands_below_the_prompt_that_began_it() -> None:
    text = run_text(
        record_of(
            ("triage", 1, asked()),
            ("triage", 1, answered(0.002)),
            ("triage", 1, Decided(what="ours", because="till.py exists")),
        )
    )

    assert "│   │   └── 1 call of offline/repair, 1,200 tokens in, 10 out, $0.0020, 0.2 s\n" in text
    assert "│   └── → ours, because till.py exists\n" in text


def test_a_conversation_without_its_prompt_is_shown_all_the_same() -> None:
    assert "1 tool call: list 1" in run_text(record_of(("triage", 1, used("list"))))


def test_what_is_older_than_transcripts_are_kept_says_so() -> None:
    text = run_text(record_of(("triage", 1, asked(section="")), ("triage", 1, Found(what="ownership"))))

    assert text.count("older than transcripts are kept") == 2


# --- What code saw -------------------------------------------------------------------------------------------------


def checked(**changes: object) -> Checked:
    check = Checked(check=CheckId("pytest"), on="the base commit", exit_status=0, passed=12, seconds=0.42)
    return replace(check, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        (checked(), "✓ pytest on the base commit: exit 0, 12 tests: 12 passed, 0 failed (0.4 s)"),
        (
            checked(exit_status=1, failed=1, skipped=2, failing=(CheckId("t.py::t"),), level="landlock"),
            "✗ pytest on the base commit: exit 1, 15 tests: 12 passed, 1 failed, 2 skipped (0.4 s, sandbox landlock)",
        ),
        (
            checked(exit_status=None, passed=0, timed_out=True, complete=False),
            "✗ pytest on the base commit: killed, timed out (0.4 s)",
        ),
        (
            checked(complete=False, passed=1),
            "✗ pytest on the base commit: exit 0, 1 test: 1 passed, 0 failed, incomplete (0.4 s)",
        ),
        (Decided(what="refix"), "→ refix"),
        (Waits(cause="token", reason="set OPENAI_API_KEY"), "Parked (token): set OPENAI_API_KEY"),
        (
            Published(branch="ticketsmith/x", commit=CommitId("ab" * 20), patch_file="/x.patch"),
            "Published: branch ticketsmith/x at abababababab, patch file /x.patch",
        ),
        (Published(branch="ticketsmith/x", commit=BASE), "Published: branch ticketsmith/x at 4be1f0a2c4d6"),
        (NoteRead(author="", text="again", written=MORNING), "Requeue note of somebody, 2026-11-03"),
        (Judged(attempt=2, fixed=(CheckId("t.py::t"),)), "Attempt 2 passes"),
        (HELD, "Attempt 1 is held: cause check, exit 1"),
        (TAUGHT, "Ending: hold (check), evidence: exit-status"),
        (
            Ended(kind="refix", cause="", final=True, evidence="", version=4),
            "Ending: refix, the run's final one",
        ),
        (asked(), "Prompt triage, 9f9f9f9f9f9f"),
        (used("list"), 'list {"path": "till.py"}'),
        (answered(), "1 call of offline/repair, 1,200 tokens in, 10 out, $0.00, 0.2 s"),
    ],
)
def test_each_fact_has_a_line_that_says_it(fact: Fact, text: str) -> None:
    assert tell(fact, verbose=False).text == text


def test_a_held_attempt_shows_why_and_its_edits_with_the_diff() -> None:
    assert lines(record_of(("gate", 1, HELD)))[5:-1] == [
        "t.py::test_voucher passed on the base and fails with the patch.",
        "failing: t.py::test_voucher",
        "its edits: till.py:16 #7b1d90c2aa41",
        "--- a/till.py",
        "+++ b/till.py",
        "@@ -1,2 +1,2 @@",
        "x",
        "-a",
        "+b",
    ]


def test_a_long_diff_is_cut_until_all_is_asked_for() -> None:
    record = record_of(("gate", 1, replace(HELD, diff=DIFF + "+c\n" * 50)))

    assert "(+32 lines)" in run_text(record)
    assert run_text(record, verbose=True).count("+c\n") == 50


def test_an_ending_shows_the_lesson_that_it_taught() -> None:
    shown = lines(record_of(("gate", 1, TAUGHT), ("gate", 1, replace(TAUGHT, lesson="", lines=()))))

    assert shown[5:8] == ["lesson a1b2c3d4e5f6, validated, seen 2 times, in memory version 4:", *TAUGHT.lines]
    assert "teaches nothing of its own" in shown


def test_many_failing_tests_are_counted() -> None:
    tests = tuple(CheckId(f"t.py::t{n}") for n in range(9))

    text = run_text(record_of(("baseline", 1, checked(exit_status=1, failing=tests))))

    assert text.count("failed t.py") == 5
    assert "(+4 lines)" in text


def test_the_models_words_are_shown_as_the_models() -> None:
    found = Found(what="diagnosis", fields={"cause": "one\ntwo", "files": "till.py", "long": "x\n" * 20})

    shown = lines(record_of(("diagnose", 1, found), ("summarise", 1, Summarised(text="It was\nrepaired."))))

    assert shown[4:8] == ["The model's diagnosis", "cause:", "one", "two"]
    assert "files: till.py" in shown
    assert "(+14 lines)" in shown
    assert shown[-4:-1] == ["Summary for people", "It was", "repaired."]


# --- The terminal --------------------------------------------------------------------------------------------------


@given(st.text(max_size=40))
def test_no_text_reaches_the_screen_with_control_characters(text: str) -> None:
    hostile = f"{text}\x1b]52;c;aGk=\x07\u202e[red]x[/red]"
    record = record_of(
        ("triage", 1, Decided(what=hostile)),
        ("triage", 1, used("run", hostile)),
        run=a_run(ticket=replace(ticket(), title=hostile)),
    )

    shown = run_text(record, verbose=True)

    assert all(line.isprintable() for line in shown.split("\n"))
    assert "[red]x[/red]" in shown


def test_a_terminal_gets_colours_and_lines_that_fit() -> None:
    screen = io.StringIO()

    show_run(record_of(("gate", 1, HELD)), Terminal(screen, live=True, width=60))

    assert "\x1b[31m" in screen.getvalue()
    assert "\x1b[1m" in screen.getvalue()


def test_a_pipe_gets_no_colours_and_no_broken_lines() -> None:
    text = run_text(record_of(("triage", 1, Decided(what="word " * 100))))

    assert "\x1b" not in text
    assert any(line.count("word") == 100 for line in text.splitlines())


def test_a_screen_without_unicode_is_served(tmp_path: Path) -> None:
    with (tmp_path / "screen").open("w", encoding="ascii") as screen:
        show_run(record_of(("gate", 1, HELD)), Terminal(screen))

    assert "its edits: till.py:16" in (tmp_path / "screen").read_text()


def test_the_table_of_runs_says_state_ticket_and_cost() -> None:
    screen = io.StringIO()
    runs = (
        a_run(RunState.PARKED, park_cause=ParkCause.SANDBOX, ticket=replace(ticket(), title="x" * 80)),
        a_run(RunState.ENDED, outcome="verify: worked"),
        a_run(RunState.PARKED),
    )

    show_runs(runs, Terminal(screen))

    text = screen.getvalue()
    assert "parked (sandbox)" in text
    assert "x" * 57 + "..." in text
    assert "verify: worked" in text
    assert text.count("$0.25") == 3


def test_no_runs_are_one_line_with_the_way_to_begin() -> None:
    screen = io.StringIO()

    show_runs((), Terminal(screen))

    assert screen.getvalue() == "No runs. `ticketsmith fix TICKET` begins one.\n"


# --- From the tables, and as JSON ----------------------------------------------------------------------------------


def test_a_record_holds_all_that_is_known_of_a_run(tmp_path: Path) -> None:
    book = make_book(tmp_path)
    run = RunStore(book).create(opening())
    RunJournal(EventStore(book), run.id).record(Decided(what="ours"))
    RequeueNotes(book).add(SCOPE, run.ticket.id, f"Not {SECRET}.\nAgain.", "mira")

    record = read_record(book, run.id[:6])

    assert record.run == run
    assert [event.fact for event in record.events] == [Decided(what="ours")]
    assert "Requeue note of mira, not read yet:" in lines(record)
    assert "Not [secret]." in lines(record)


def test_a_note_that_was_read_is_shown_where_it_was_read_only(tmp_path: Path) -> None:
    book = make_book(tmp_path)
    run, notes = RunStore(book).create(opening()), RequeueNotes(book)
    notes.add(SCOPE, run.ticket.id, "Again.", "mira")
    notes.take(SCOPE, run.ticket.id, run.id, 1)

    assert "not read yet" not in run_text(read_record(book, run.id))


def test_json_of_a_run_names_each_event_by_kind() -> None:
    value = json.loads(record_json(record_of(("gate", 1, HELD), steps=(step("gate", 1),))))

    assert value["run"]["id"] == "DC6A2FCE4NMV"
    assert value["steps"][0]["name"] == "gate"
    assert (value["events"][0]["kind"], value["events"][0]["fact"]["cause"]) == ("judged", "check")
    assert value["notes"] == []


def test_json_of_a_list_leaves_out_long_texts() -> None:
    (value,) = json.loads(runs_json([a_run(patch="diff")]))

    assert value["ticket"] == {"id": "local:cart", "title": "Ten cups are too expensive", "number": None}
    assert value["spent"] == {"calls": 12, "tokens": 3400, "money": 0.25, "minutes": 1.7}
    assert "patch" not in value


# --- Words ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-1, "0.0 s"), (0.84, "0.8 s"), (9.96, "10 s"), (59.6, "1 min 0 s"), (102, "1 min 42 s"), (7510, "2 h 5 min")],
)
def test_times_are_said_in_words(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(("dollars", "text"), [(0, "$0.00"), (0.0042, "$0.0042"), (1234.5, "$1,234.50")])
def test_money_is_said_in_dollars(dollars: float, text: str) -> None:
    assert money(dollars) == text


def test_counts_and_lists_are_said_in_words() -> None:
    assert (count(1, "call"), count(1200, "call"), count(2, "try", "tries")) == ("1 call", "1,200 calls", "2 tries")
    assert listed("abcdefg") == "a, b, c, d, e, +2"
