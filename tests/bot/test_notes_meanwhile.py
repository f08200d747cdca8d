"""Notes that come while another process works on the run: no patch goes out past one that sends it back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.commands.common import finish
from bot.run import RunState
from stages.errors import ParkCause, Parked
from stages.prompt import EntryPoint
from stages.workspace import Workspace
from tests.bot.kit import Act, Bed, Script, bed, silent, told, writes
from tests.bot.lines import line


def beside_a_note(ground: Bed, act: Act) -> Act:
    """Answer so, while another process sends the ticket back with a note."""

    def noted(workspace: Workspace) -> Mapping[str, object]:
        typed = line(ground.folder)
        (run,) = typed.runs()
        said = typed.type("runs", "requeue", run["id"], "A line break is missing.", "--author", "mira", *typed.by())
        assert f"Kept: the process that works on run {run['id']} reads it" in said.stderr
        assert callable(act)
        return act(workspace)

    return noted


def test_a_note_that_comes_while_an_attempt_is_made_is_read_before_anything_is_published(tmp_path: Path) -> None:
    ground = bed(tmp_path)
    script = Script.of(develop=beside_a_note(ground, writes()), refix=writes(text="3\n\n"))
    app = ground.app(script)

    run = ground.fix(app)

    assert (run.state, run.attempt) == (RunState.PUBLISHED, 2)
    assert told(app, run) == ["hold: finding", "refix", "pass-after-hold"]
    (refix,) = script.bodies(EntryPoint.REFIX)
    assert "| mira: A line break is missing." in refix
    assert "Held: at the review, attempt 1, cause finding" in refix
    assert ground.git("branch", "--list", "ticketsmith/*").count("ticketsmith/") == 1
    (note,) = app.stores.notes.of(run.scope, run.ticket.id)
    assert (note.read_by, note.read_in_attempt) == (run.id, 2)


def test_a_run_that_died_after_a_note_held_its_patch_goes_on_with_the_note(tmp_path: Path) -> None:
    ground = bed(tmp_path)
    down = Parked(cause=ParkCause.MODEL, reason="down")
    app = ground.app(Script.of(develop=beside_a_note(ground, writes()), refix=down))
    parked = ground.fix(app)
    script = Script.of(refix=writes(text="3\n\n"))
    again = ground.app(script)

    run = again.pursue(parked, silent())

    assert (parked.state, run.state, run.attempt) == (RunState.PARKED, RunState.PUBLISHED, 2)
    assert "| mira: A line break is missing." in script.bodies(EntryPoint.REFIX)[0]


def test_a_note_that_comes_too_late_for_the_patch_is_told_of_at_the_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ground = bed(tmp_path)
    app = ground.app(Script.of(summarise=beside_a_note(ground, lambda _: {"text": "Done."})))

    run = ground.fix(app)

    assert (run.state, finish(app, run)) == (RunState.PUBLISHED, 0)
    said = " ".join(capsys.readouterr().out.split())
    assert "unread 1 note came too late for this patch:" in said
    assert f"runs requeue {run.id} NOTE goes on" in said


def test_a_remark_of_somebody_holds_no_patch(tmp_path: Path) -> None:
    ground = bed(tmp_path)

    def remarked(workspace: Workspace) -> Mapping[str, object]:
        (run,) = app.stores.runs.list()
        app.stores.notes.add(run.scope, run.ticket.id, "Thanks!", "eve")
        workspace.write("price.txt", b"3\n")
        return {"summary": "Three."}

    app = ground.app(Script.of(develop=remarked))

    run = ground.fix(app)

    assert (run.state, run.attempt, told(app, run)) == (RunState.PUBLISHED, 1, [])
