"""A run that a later version worked on, and that an older one finds: it waits, and nothing of it is guessed."""

from __future__ import annotations

import ast
from pathlib import Path

from pydantic import TypeAdapter

from bot import steps
from bot.run import RunState
from stages.errors import ParkCause, Parked
from stages.prompt import EntryPoint
from tests.bot.kit import Script, bed, endings, silent

TEXT = TypeAdapter(str)
BOT = Path(steps.__file__).parent


def test_f53_a_step_that_this_version_does_not_know_parks_the_run(tmp_path: Path) -> None:
    ground = bed(tmp_path)
    run = ground.fix(ground.app(Script.of(develop=Parked(cause=ParkCause.MODEL, reason="down"))))
    script = Script.of()
    app = ground.app(script)
    app.stores.steps.finish(run.id, "simulate", TEXT, "what a later version found")

    parked = app.pursue(app.retried(run), silent())

    assert (parked.state, parked.park_cause) == (RunState.PARKED, ParkCause.PROGRAM)
    assert "later version of ticketsmith worked on it (step simulate)" in parked.park_reason
    assert (script.asked, endings(app, run)) == ([], [])
    assert app.stores.steps.recorded(run.id, "simulate", TEXT), "it is still there for the version that knows it"


def test_f53_without_that_step_the_same_run_goes_on(tmp_path: Path) -> None:
    ground = bed(tmp_path)
    run = ground.fix(ground.app(Script.of(develop=Parked(cause=ParkCause.MODEL, reason="down"))))
    app = ground.app(script := Script.of())

    assert app.pursue(app.retried(run), silent()).state is RunState.PUBLISHED
    assert script.asked[0] is EntryPoint.DEVELOP


def test_f53_every_step_that_the_program_takes_is_known() -> None:
    taken = {
        call.args[0].value
        for path in BOT.glob("*.py")
        for call in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "once"
        and call.args
        and isinstance(call.args[0], ast.Constant)
    }

    assert {"baseline", "memory", "gate", "publish", "triage"} <= taken
    assert taken | set(EntryPoint) | steps.SAID == set(steps.KNOWN)
