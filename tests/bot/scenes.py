"""Every way in which an attempt or a run can end on this machine: one scene each, played by the runner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Final, TypeAlias

from bot.app import App
from bot.book import utc_now
from bot.run import Run
from memory.types import (
    DropCause,
    EndingKind,
    HoldCause,
    NotOursCause,
    TicketId,
    VerifyOutcome,
    Where,
)
from stages.agents.limits import Limits
from stages.ticket import Ticket
from tests.bot.kit import DIAGNOSED, NOTHING, SETTINGS, TICKET, TRACE, Bed, Script, ScriptedApp, bed, silent, writes
from tests.bot.laid import laid, merged, published

Reached: TypeAlias = tuple[EndingKind, StrEnum | None]
Play: TypeAlias = Callable[[Path], tuple[App, Run]]

ON_GITHUB_ONLY: Final[frozenset[Reached]] = frozenset(
    {
        (EndingKind.DROP, DropCause.CLOSED_BY_HUMAN),
        (EndingKind.DROP, DropCause.MOVED),
        (EndingKind.DROP, DropCause.DELETED),
        (EndingKind.HOLD, Where.CI),
        (EndingKind.HOLD, Where.STAGING),
    }
)
LOUD: Final = {"trace.txt": TRACE}
BREAKS_SANE: Final = "3\n4\n"
TRACED: Final = replace(TICKET, id=TicketId("local:traced"), title="Reading a price fails", body=TRACE)
AGAIN: Final = replace(TRACED, id=TicketId("local:again"), title="It fails once more", author="jonas")


@dataclass(frozen=True, kw_only=True)
class Scene:
    """What is played, which endings it must reach, and all endings of its run in short."""

    play: Play
    reaches: tuple[Reached, ...]
    told: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.play.__name__


SCENES: Final[list[Scene]] = []


def scene(*told: str, reaches: tuple[Reached, ...]) -> Callable[[Play], Play]:
    def add(play: Play) -> Play:
        SCENES.append(Scene(play=play, reaches=reaches, told=told))
        return play

    return add


def secret() -> str:
    """A token of the shape that GitHub gives; put together here, so that no scanner finds one in this file."""
    return "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def one_attempt(folder: Path, script: Script, **more: str) -> tuple[App, Run]:
    ground = bed(folder, more, attempts=1)
    app = ground.app(script)
    return app, ground.fix(app)


def later(app: ScriptedApp, days: int) -> ScriptedApp:
    app.book.now = lambda: utc_now() + timedelta(days=days)
    return app


# --- Attempts ------------------------------------------------------------------------------------------------------


@scene(
    "hold: check",
    "refix",
    "pass-after-hold",
    reaches=((EndingKind.HOLD, HoldCause.CHECK), (EndingKind.REFIX, None), (EndingKind.PASS_AFTER_HOLD, None)),
)
def a_second_attempt_passes(folder: Path) -> tuple[App, Run]:
    ground = bed(folder)
    app = ground.app(Script.of(develop=writes(text=BREAKS_SANE)))
    return app, ground.fix(app)


@scene("hold: check", "refix", "hold: check", "final hold: check", reaches=((EndingKind.HOLD, Where.GATE),))
def all_attempts_are_held(folder: Path) -> tuple[App, Run]:
    ground = bed(folder, attempts=2)
    app = ground.app(Script.of(develop=writes(text="2\n"), refix=writes(text=BREAKS_SANE)))
    return app, ground.fix(app)


@scene("hold: protected", "final hold: protected", reaches=((EndingKind.HOLD, HoldCause.PROTECTED),))
def a_patch_touches_a_workflow(folder: Path) -> tuple[App, Run]:
    return one_attempt(folder, Script.of(develop=writes(".github/workflows/price.yml", "on: push\n")))


@scene("hold: too-big", "final hold: too-big", reaches=((EndingKind.HOLD, HoldCause.TOO_BIG),))
def a_patch_is_too_big(folder: Path) -> tuple[App, Run]:
    small = f"{SETTINGS}\n[size]\nbytes = 40\n"
    return one_attempt(folder, Script.of(), **{".github/ticketsmith.toml": small})


@scene("hold: leak", "final hold: leak", reaches=((EndingKind.HOLD, HoldCause.LEAK),))
def a_patch_holds_a_secret(folder: Path) -> tuple[App, Run]:
    return one_attempt(folder, Script.of(develop=writes(text=f"3\n{secret()}\n")))


@scene("hold: tests-weakened", "final hold: tests-weakened", reaches=((EndingKind.HOLD, HoldCause.TESTS_WEAKENED),))
def a_patch_weakens_a_test(folder: Path) -> tuple[App, Run]:
    test = (
        "def test_price():\n    text = open('price.txt').read()\n    assert text == '3\\n'\n    assert text != '4\\n'\n"
    )
    weaker = test.replace("    assert text != '4\\n'\n", "")
    script = Script.of(
        diagnose={**dict_of(DIAGNOSED), "reproduction": "tests/test_price.py::test_price"},
        develop=writes("tests/test_price.py", weaker),
    )
    files = {".github/ticketsmith.toml": '[checks.pytest]\npytest = ["tests"]\n', "tests/test_price.py": test}
    return one_attempt(folder, script, **files)


@scene("hold: finding", "final hold: finding", reaches=((EndingKind.HOLD, HoldCause.FINDING),))
def a_review_names_a_test_that_fails_alone(folder: Path) -> tuple[App, Run]:
    files = {
        ".github/ticketsmith.toml": f"{SETTINGS}\n[checks.unit]\npytest = []\n",
        "till.py": "OPENED = []\n\n\ndef ready():\n    return True\n",
        "tests/test_till.py": (
            "import till\n\n\ndef test_opens():\n    till.OPENED.append(1)\n    assert till.OPENED\n\n\n"
            "def test_ready():\n    assert till.ready()\n"
        ),
    }

    def develop(workspace: object) -> dict[str, object]:
        lazy = files["till.py"].replace("True", "bool(OPENED)")
        for path, text in (("price.txt", "3\n"), ("till.py", lazy)):
            workspace.write(path, text.encode())  # type: ignore[attr-defined]
        return {"summary": "Both."}

    finding = {"path": "till.py", "line": 5, "check": "tests/test_till.py::test_ready", "text": "Who opened it?"}
    return one_attempt(folder, Script.of(develop=develop, review={"findings": [finding]}), **files)


@scene(
    "hold: finding",
    "refix",
    "pass-after-hold",
    reaches=((EndingKind.HOLD, Where.REVIEW),),
)
def a_person_sends_the_patch_back(folder: Path) -> tuple[App, Run]:
    ground, run = published(folder)
    app = ground.app(Script.of(refix=writes(text="3\n\n")))
    return app, app.pursue(app.requeue(run, "A line break is missing.", "mira"), silent())


# --- Given up ------------------------------------------------------------------------------------------------------


@scene("final drop: not-reproducible", reaches=((EndingKind.DROP, DropCause.NOT_REPRODUCIBLE),))
def no_test_shows_the_failure(folder: Path) -> tuple[App, Run]:
    return one_attempt(folder, Script.of(diagnose={"cause": "Who knows.", "files": []}))


@scene("final drop: budget", reaches=((EndingKind.DROP, DropCause.BUDGET),))
def the_budget_is_used_up(folder: Path) -> tuple[App, Run]:
    ground = bed(folder, limits=Limits(calls=2))
    app = ground.app()
    return app, ground.fix(app)


@scene("final drop: empty-patch", reaches=((EndingKind.DROP, DropCause.EMPTY_PATCH),))
def the_model_changes_nothing(folder: Path) -> tuple[App, Run]:
    return one_attempt(folder, Script.of(develop=NOTHING))


@scene("final drop: model-format", reaches=((EndingKind.DROP, DropCause.MODEL_FORMAT),))
def the_model_answers_nonsense(folder: Path) -> tuple[App, Run]:
    return one_attempt(folder, Script.of(triage={"ownership": "perhaps"}))


@scene("final drop: stopped", reaches=((EndingKind.DROP, DropCause.STOPPED),))
def a_person_stops_a_published_run(folder: Path) -> tuple[App, Run]:
    ground, run = published(folder)
    app = ground.app()
    return app, app.stop(run)


@scene("final drop: superseded", reaches=((EndingKind.DROP, DropCause.SUPERSEDED),))
def another_run_takes_its_place(folder: Path) -> tuple[App, Run]:
    ground, run = published(folder)
    app = ground.app()
    app.supersede(run.scope, run.ticket.id)
    return app, app.stores.runs.get(run.id)


# --- Afterwards ----------------------------------------------------------------------------------------------------


@scene("final verify: worked", reaches=((EndingKind.VERIFY, VerifyOutcome.WORKED),))
def the_merged_patch_holds(folder: Path) -> tuple[App, Run]:
    ground, run = merged(folder)
    app = ground.app()
    return app, app.verify(run, None, silent())


@scene("final verify: recurred", reaches=((EndingKind.VERIFY, VerifyOutcome.RECURRED),))
def the_failure_is_there_with_the_patch(folder: Path) -> tuple[App, Run]:
    ground, run = published(folder)
    app = ground.app()
    break_again(ground, run)
    return app, app.verify(run, None, silent())


@scene("final verify: recurred", reaches=((EndingKind.VERIFY, VerifyOutcome.RECURRED),))
def another_ticket_brings_the_failure_back(folder: Path) -> tuple[App, Run]:
    place, run = laid(_traced, folder)
    ground = bed(place)
    app = ground.app()
    break_again(ground, run)
    ground.fix(ground.app(Script.of(develop=NOTHING)), AGAIN)
    return app, app.stores.runs.get(run.id)


@scene("final verify: unverified", reaches=((EndingKind.VERIFY, VerifyOutcome.UNVERIFIED),))
def nobody_merges_it_for_fourteen_days(folder: Path) -> tuple[App, Run]:
    ground, run = published(folder)
    app = later(ground.app(), days=15)
    return app, app.verify(run, None, silent())


# --- Not ours ------------------------------------------------------------------------------------------------------


@scene("final not-ours: no-frame-here", reaches=((EndingKind.NOT_OURS, NotOursCause.NO_FRAME_HERE),))
def the_failure_lies_elsewhere(folder: Path) -> tuple[App, Run]:
    return elsewhere(folder, "not-here")


@scene("final not-ours: not-a-bug", reaches=((EndingKind.NOT_OURS, NotOursCause.NOT_A_BUG),))
def the_ticket_asks_for_no_repair(folder: Path) -> tuple[App, Run]:
    return elsewhere(folder, "not-a-bug")


@scene("final not-ours: already-fixed", reaches=((EndingKind.NOT_OURS, NotOursCause.ALREADY_FIXED),))
def the_test_that_the_ticket_names_passes(folder: Path) -> tuple[App, Run]:
    test = "tests/test_price.py::test_price"
    files = {
        ".github/ticketsmith.toml": f"{SETTINGS}\n[checks.unit]\npytest = []\n",
        "tests/test_price.py": "def test_price():\n    assert open('price.txt').read() == '3\\n'\n",
        "price.txt": "3\n",
    }
    ground = bed(folder, files)
    app = ground.app(Script.of(diagnose={**DIAGNOSED, "reproduction": test}))
    return app, ground.fix(app, replace(TICKET, body=f"{test} is red for me."))


@scene("final not-ours: duplicate", reaches=((EndingKind.NOT_OURS, NotOursCause.DUPLICATE),))
def an_open_run_fixes_the_same_failure(folder: Path) -> tuple[App, Run]:
    ground = bed(laid(_traced, folder)[0])
    app = ground.app()
    return app, ground.fix(app, AGAIN)


def _traced(folder: Path) -> Run:
    ground = bed(folder, LOUD)
    return ground.fix(ground.app(), TRACED)


def elsewhere(folder: Path, ownership: str) -> tuple[App, Run]:
    ground = bed(folder)
    app = ground.app(Script.of(triage={"ownership": ownership, "reason": "See the text."}))
    ticket = Ticket(id=TicketId("local:bank"), title="The bank is slow", body="Transfers take three days.")
    return app, ground.fix(app, ticket)


def break_again(ground: Bed, run: Run) -> None:
    """Merge the patch, and have the same check fail for another reason."""
    ground.merge(run.branch)
    ground.commit({"broken": "yes\n"})


def dict_of(act: object) -> dict[str, object]:
    assert isinstance(act, dict)
    return act
