"""A work folder that somebody clears away under a run, and an environment that cannot run its tests."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bot.outside import Outside
from bot.run import Run, RunState
from stages.errors import ParkCause
from stages.prompt import EntryPoint
from stages.workspace import Workspace
from tests.bot.kit import SETTINGS, Act, Bed, Script, ScriptedApp, bed, endings, silent, writes
from tests.bot.test_dependencies import settings as install


def clearing(ground: Bed, then: Act) -> Act:
    """An answer before which the system takes all work folders away, as it does with what is old."""

    def act(workspace: Workspace) -> object:
        shutil.rmtree(ground.home / "work")
        return then(workspace) if callable(then) else then

    return act  # type: ignore[return-value]


def taken_up(app: ScriptedApp, run: Run) -> Run:
    return app.pursue(app.retried(run), silent()) if run.state is RunState.PARKED else run


@pytest.mark.parametrize("point", [EntryPoint.DIAGNOSE, EntryPoint.REVIEW, EntryPoint.SUMMARISE])
def test_f54_a_folder_that_is_cleared_away_under_a_run_costs_no_patch(point: EntryPoint, tmp_path: Path) -> None:
    ground = bed(tmp_path)
    plain = Script.of().answers[point][0]
    script = Script.of(**{point.value: [clearing(ground, plain), plain]})
    app = ground.app(script)

    run = taken_up(app, ground.fix(app))

    assert run.state is RunState.PUBLISHED
    assert "+3" in run.patch
    assert script.asked.count(EntryPoint.DEVELOP) == 1, "the patch was made once"
    assert ground.git("show", f"{run.branch}:price.txt") == "3"


def test_f54_a_folder_that_is_cleared_away_while_a_patch_is_written_is_made_anew(tmp_path: Path) -> None:
    ground = bed(tmp_path)
    script = Script.of(develop=[clearing(ground, writes()), writes()])
    app = ground.app(script)

    run = taken_up(app, ground.fix(app))

    assert run.state is RunState.PUBLISHED
    assert ground.git("show", f"{run.branch}:price.txt") == "3"
    assert ground.git("status", "--porcelain") == "", "nothing was written elsewhere"


@pytest.mark.parametrize("why", ["no tests", "a program that is missing", "a registry that is closed"])
def test_r44_before_any_model_is_asked_the_base_is_installed_and_tested(why: str, tmp_path: Path) -> None:
    files, says = {
        "no tests": ({".github/ticketsmith.toml": ""}, "shows no check"),
        "a program that is missing": (
            {".github/ticketsmith.toml": SETTINGS.replace('"sh"', '"no-such-program"')},
            "no-such-program",
        ),
        "a registry that is closed": (install("127.0.0.1:9"), "no host is named for it"),
    }[why]
    script, ground = Script.of(), bed(tmp_path, files, outside=Outside())
    app = ground.app(script)

    run = ground.fix(app)

    assert (run.state, run.park_cause) in {
        (RunState.PARKED, ParkCause.ENVIRONMENT),
        (RunState.PARKED, ParkCause.SANDBOX),
    }
    assert says in run.park_reason
    assert (script.asked, run.spent.calls, endings(app, run)) == ([], 0, [])
