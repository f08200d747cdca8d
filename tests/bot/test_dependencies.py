"""What a run installs, what its record says of it, and what no patch can make it install (requirements S 33)."""

from __future__ import annotations

from pathlib import Path

from bot.facts import Decided
from bot.outside import Outside
from bot.run import Run, RunState
from stages.sandbox import Level
from stages.workspace import Workspace
from tests.bot.kit import Script, ScriptedApp, bed, facts_of, silent
from tests.stages.sandbox.registry import serving
from tests.stages.sandbox.ways import PYTHON, Way, usable

FETCH = (
    "import os, sys, urllib.request; os.mkdir('deps'); "
    "open('deps/got', 'wb').write(urllib.request.urlopen(sys.argv[1]).read() + open('deps.txt', 'rb').read())"
)


def settings(host: str) -> dict[str, str]:
    text = f"""
[install]
command = ["{PYTHON}", "-I", "-S", "-c", "{FETCH}", "http://{host}/x"]
files = ["deps.txt"]
keeps = ["deps"]

[checks.price]
command = ["sh", "-c", "grep -qx good1 deps/got && grep -qx 3 price.txt"]
installed = ["deps"]
"""
    return {".github/ticketsmith.toml": text, "deps.txt": "1\n"}


def decided(app: ScriptedApp, run: Run) -> list[Decided]:
    return [fact for fact in facts_of(app, run) if isinstance(fact, Decided) and "dependencies" in fact.what]


def changes_what_is_installed(workspace: Workspace) -> dict[str, object]:
    workspace.write("price.txt", b"3\n")
    workspace.write("deps.txt", b"2\n")
    return {"summary": "Wrote both."}


def test_b50_sec_33_a_run_installs_for_its_base_once_and_no_patch_changes_that(tmp_path: Path) -> None:
    usable(Way(level=Level.BUBBLEWRAP))
    with serving({"/x": b"good"}) as (host, asked):
        ground = bed(tmp_path, settings(host), outside=Outside(install_hosts=(host,)))
        app = ground.app(Script.of(develop=changes_what_is_installed), sandbox="bubblewrap")

        run = ground.fix(app)
        ground.merge(run.branch)
        verified = app.verify(run, None, silent())

    first, again = decided(app, run)
    assert (run.state, run.attempt) == (RunState.PUBLISHED, 1), "the gate's checks stood on the base's install"
    assert first.what == "installed dependencies"
    assert f"from {host}, in" in first.because
    assert again.what == "dependencies were installed before"
    assert verified.state is RunState.ENDED
    assert len(asked) == 1


def test_r44_a_run_whose_install_is_not_open_waits_with_the_way_out(tmp_path: Path) -> None:
    ground = bed(tmp_path, settings("127.0.0.1:9"))

    run = ground.fix(ground.app())

    assert run.state is RunState.PARKED
    assert "no host is named for it: list those of your registries" in run.park_reason
    assert "[install] in the operator's ticketsmith.toml" in run.park_reason


def test_lock_files_that_nobody_opened_a_registry_for_are_told_and_no_hindrance(tmp_path: Path) -> None:
    ground = bed(tmp_path, {"requirements.txt": "thing==1.0\n"})
    app = ground.app()

    run = ground.fix(app)

    assert run.state is RunState.PUBLISHED
    (fact,) = decided(app, run)
    assert fact.what == "dependencies are not installed"
    assert fact.because.startswith("pip install of requirements.txt cannot be done: no host is named")
