"""Only what code saw counts: nothing is published, taught or contradicted on the word of a model or of a ticket."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bot.budget import budget_of
from bot.run import RunState
from memory.types import Evidence, Hold, LessonStatus, Refix, TicketId
from stages.agents.limits import Limits, Spent
from stages.errors import ParkCause, Parked
from stages.workspace import Workspace
from tests.bot.kit import TICKET, TRACE, Bed, Script, bed, endings, lessons, silent, told, writes

TOKEN = "ghp_" + "a1B2" * 9
TRACED = replace(TICKET, id=TicketId("local:traced"), title="Reading a price fails", body=TRACE, author="ada")
LOUD = {"trace.txt": TRACE}


def test_a_patch_that_is_made_anew_on_resuming_is_judged_anew(tmp_path: Path) -> None:
    """A token in the diff is scrubbed from the table, so the step cannot be taken from there."""
    made = bed(tmp_path, {"price.txt": f"1\n# {TOKEN}\n"})
    away = Parked(cause=ParkCause.MODEL, reason="the model is away")
    right = f"3\n# {TOKEN}\n"
    app = made.app(Script.of(develop=writes(text=right), review=[away]))
    parked = made.fix(app)
    again = made.app(Script.of(develop=writes(text=f"99\n# {TOKEN}\n"), refix=writes(text=right)))

    run = again.pursue(parked, silent())

    assert parked.state is RunState.PARKED
    assert "hold: check" in told(again, run)
    assert made.git("show", f"{run.branch}:price.txt").startswith("3")


def test_a_refix_that_was_not_run_teaches_no_passing_check(tmp_path: Path) -> None:
    made = bed(tmp_path)
    app = made.app(
        Script.of(develop=writes(text="2\n"), refix=writes(path=".github/workflows/x.yml", text="on: push\n")),
        attempts=2,
    )

    run = made.fix(app)

    refixes = [one.ending for one in endings(app, run) if isinstance(one.ending.ending, Refix)]
    assert [one.ending.now_passing for one in refixes if isinstance(one.ending, Refix)] == [()]
    assert [one.evidence for one in refixes] == [Evidence.NONE]


def test_no_attempt_is_spent_on_a_reproduction_that_is_not_red(tmp_path: Path) -> None:
    """What a model's own runs left in the tree made it red."""
    made = bed(tmp_path, {"price.txt": "3\n"})

    def dirty(workspace: Workspace) -> dict[str, object]:
        (workspace.tree / "broken").write_text("left by a run of the model")
        return {"cause": "The number is wrong.", "files": ["price.txt"], "reproduction": "price"}

    app = made.app(Script.of(diagnose=dirty))

    run = made.fix(app)

    assert [one for one in told(app, run) if one.startswith("hold")] == []
    assert run.state is RunState.ENDED


def published(made: Bed) -> object:
    app = made.app()
    run = made.fix(app, TRACED)
    made.merge(run.branch)
    return app.verify(run, None, silent())


def test_a_pasted_trace_contradicts_no_fix_that_holds(tmp_path: Path) -> None:
    made = bed(tmp_path, LOUD)
    published(made)
    made.commit({"other.txt": "x\n", ".github/ticketsmith.toml": OTHER})
    app = made.app(
        Script.of(
            diagnose={"cause": "Another thing.", "files": ["other.txt"], "reproduction": "other"},
            develop=writes(path="other.txt", text="y\n"),
        )
    )

    made.fix(app, replace(TRACED, id=TicketId("local:pasted"), author="eve"))

    worked = [one for one in app.stores.memory.lessons(app.scope(made.repository)) if str(one.id)]
    assert LessonStatus.INVALIDATED not in {one.status for one in worked}


OTHER = """\
environment = "shop"

[checks.price]
command = ["sh", "-c", "grep -qx 3 price.txt"]

[checks.other]
command = ["sh", "-c", "grep -qx y other.txt"]
"""


def test_an_old_red_test_does_not_keep_a_fix_from_being_verified(tmp_path: Path) -> None:
    old = """\
[checks.price]
command = ["sh", "-c", "grep -qx 3 price.txt"]

[checks.old]
command = ["false"]
"""
    made = bed(tmp_path, {".github/ticketsmith.toml": old})
    app = made.app(Script.of(verify={"check": "old"}))
    run = made.fix(app)
    made.merge(run.branch)

    verified = app.verify(run, None, silent())

    assert verified.outcome == "verify: worked"


def test_a_resumed_run_keeps_what_it_spent_on_calls_that_failed(tmp_path: Path) -> None:
    made = bed(tmp_path)
    app = made.app()
    run = app.open_run(TICKET, made.repository, made.repository.resolve())
    run = app.stores.runs.save_spent(run.id, Spent(calls=50, tokens=900, money=4.9, minutes=1.0))

    budget = budget_of(run, "scripted", Limits(), (), lambda: False)

    assert budget.spent.calls == 50
    assert budget.spent.money == 4.9


def test_a_resumed_run_keeps_the_attempts_that_its_call_allowed(tmp_path: Path) -> None:
    made = bed(tmp_path)
    away = Parked(cause=ParkCause.MODEL, reason="the model is away")
    parked = made.fix(made.app(Script.of(develop=[away]), attempts=1))
    again = made.app(Script.of(develop=writes(text="2\n")))

    run = again.pursue(parked, silent())

    assert told(again, run) == ["hold: check", "final hold: check"]


def test_a_stop_that_comes_while_a_patch_is_published_ends_the_run(tmp_path: Path) -> None:
    made = bed(tmp_path)
    script = Script.of()
    app = made.app(script)
    run = app.open_run(TICKET, made.repository, made.repository.resolve())

    def stop_then(workspace: Workspace) -> dict[str, object]:
        app.stores.runs.request_stop(run.id)
        return {"text": "The price is 3 now."}

    script.answers[list(script.answers)[-1]] = [stop_then]

    stopped = app.pursue(run, silent())

    assert stopped.outcome == "drop: stopped"


def test_what_the_policy_says_of_a_diff_leaves_its_lesson_pending(tmp_path: Path) -> None:
    made = bed(tmp_path)
    app = made.app(Script.of(develop=writes(path=".github/workflows/x.yml", text="on: push\n")), attempts=1)

    run = made.fix(app)

    held = [one for one in lessons(app, run) if isinstance(one.ending, Hold)]
    assert [one.status for one in held] == [LessonStatus.PENDING]
