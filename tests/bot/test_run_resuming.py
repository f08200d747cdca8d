"""A process that dies anywhere leaves a run that another one takes to the same end."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from bot.errors import BeingWorkedOn, NothingToRetry
from bot.run import Run, RunState
from bot.runs import RunStore
from memory.store import MemoryStore
from memory.types import RunId
from stages.errors import ParkCause, Parked
from tests.bot.boundaries import opened, pursue, script
from tests.bot.children import in_child
from tests.bot.kit import TICKET, Bed, Script, bed, endings, silent, told, writes
from tests.bot.laid import published
from tests.bot.scenes import BREAKS_SANE

SECONDS_AT_MOST: Final = 60.0


@pytest.mark.parametrize("state", ["after record", "after set_state"])
def test_a_final_ending_that_was_written_is_written_once(state: str, tmp_path: Path) -> None:
    ground = bed(tmp_path, attempts=1)
    run = opened(ground)

    def die_at_the_end() -> None:
        store, name = (MemoryStore, "record") if state == "after record" else (RunStore, "set_state")
        real = getattr(store, name)

        def call(one: object, *given: Any, **more: Any) -> Any:
            result = real(one, *given, **more)
            if "ended" in str(result) or getattr(given[0], "final", False):
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        setattr(store, name, call)
        pursue(ground, run)

    assert in_child(die_at_the_end) == signal.SIGKILL

    app = ground.app()
    found = app.stores.runs.get(run)
    if state == "after record":
        found = app.pursue(app.retried(found), silent())
    assert (found.state, found.outcome) == (RunState.ENDED, "hold: check")
    assert told(app, found) == ["hold: check", "final hold: check"]
    with pytest.raises(NothingToRetry, match="hold: check"):
        app.retried(found)


def test_stopping_a_run_that_died_after_its_end_keeps_that_end(tmp_path: Path) -> None:
    ground = bed(tmp_path, attempts=1)
    app = ground.app(script())
    run = ground.fix(app)
    with app.book.writing() as session:  # as it stood before the process could close the run
        from bot.tables import RunRow

        row = session.get(RunRow, run.id)
        assert row is not None
        row.state, row.outcome = RunState.WORKING.value, ""

    assert app.stop(run).outcome == "hold: check"


def test_the_frozen_test_is_in_the_branch_of_a_resumed_run(tmp_path: Path) -> None:
    ground = bed(tmp_path, {".github/ticketsmith.toml": '[checks.pytest]\npytest = ["tests"]\n',
                            "tests/test_there.py": "def test_there():\n    assert True\n"})  # fmt: skip
    text = "def test_price():\n    assert open('price.txt').read() == '3\\n'\n"
    diagnosis = {"cause": "Wrong.", "files": ["price.txt"], "test_path": "tests/test_new.py", "test_text": text}
    stopped = Script.of(diagnose=diagnosis, summarise=KeyboardInterrupt())
    app = ground.app(stopped)
    run = app.open_run(TICKET, ground.repository, ground.repository.resolve())
    with pytest.raises(KeyboardInterrupt):
        app.pursue(run, silent())
    again = ground.app(Script.of(diagnose=diagnosis, verify={"check": "pytest"}))

    published = again.pursue(again.stores.runs.get(run.id), silent())

    assert ground.git("show", f"{published.branch}:tests/test_new.py") == text.strip()
    ground.merge(published.branch)
    assert again.verify(published, None, silent()).outcome == "verify: worked"


def test_an_interrupted_run_goes_on_from_its_last_step(tmp_path: Path) -> None:
    ground = bed(tmp_path)
    app = ground.app(Script.of(review=KeyboardInterrupt()))
    run = app.open_run(TICKET, ground.repository, ground.repository.resolve())
    with pytest.raises(KeyboardInterrupt):
        app.pursue(run, silent())
    script = Script.of()
    again = ground.app(script)

    run = again.pursue(again.retried(again.stores.runs.get(run.id)), silent())

    assert run.state is RunState.PUBLISHED
    assert [point.value for point in script.asked] == ["review", "summarise"]
    assert not list((ground.home / "work").glob(f"{run.id}-*"))


# --- Two processes -------------------------------------------------------------------------------------------------


@contextmanager
def working(ground: Bed, run: RunId, script: Script) -> Iterator[int]:
    """Another process that works on the run until the block is left."""
    pid = os.fork()
    if pid == 0:
        try:
            app = ground.app(script)
            app.pursue(app.stores.runs.get(run), silent())
        finally:
            os._exit(0)  # a child must not go on as a second test run
    try:
        yield pid
    finally:
        try:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass


def until(true: Callable[[], object]) -> None:
    end = time.monotonic() + SECONDS_AT_MOST
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def test_a_run_is_worked_on_by_one_process(tmp_path: Path) -> None:
    ground = bed(tmp_path)
    run = opened(ground)
    flag = tmp_path / "asked"

    def wait(_: object) -> dict[str, object]:
        flag.touch()
        time.sleep(SECONDS_AT_MOST)
        return {}

    with working(ground, run, Script.of(triage=wait)):
        until(flag.exists)
        app = ground.app()
        found = app.stores.runs.get(run)

        orders: tuple[Callable[[], object], ...] = (
            lambda: app.pursue(found, silent()),
            lambda: app.verify(found, None, silent()),
            lambda: app.supersede(found.scope, found.ticket.id),
        )
        for order in orders:
            with pytest.raises(BeingWorkedOn, match=run):
                order()

    assert app.pursue(found, silent()).state is RunState.PUBLISHED  # the lock went with the process


def test_stopping_a_run_ends_the_command_that_runs_in_it(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    ground = bed(tmp_path, {".github/ticketsmith.toml": f"""\
[checks.slow]
command = ["sh", "-c", "sleep 50 & echo $! > {pid_file}; wait"]
"""})  # fmt: skip
    tmp_path.chmod(0o777)
    run = opened(ground)
    with working(ground, run, Script.of()) as worker:
        until(lambda: pid_file.exists() and pid_file.read_text().strip())

        stopped = ground.app().stop(ground.app().stores.runs.get(run))
        os.waitpid(worker, 0)

    app = ground.app()
    assert stopped.open
    assert (app.stores.runs.get(run).outcome, told(app, stopped)) == ("drop: stopped", ["final drop: stopped"])
    assert gone(int(pid_file.read_text()))


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_parked_run_is_stopped_at_once(tmp_path: Path) -> None:
    ground = bed(tmp_path)
    app = ground.app(Script.of(triage=Parked(cause=ParkCause.MODEL, reason="down")))
    run = ground.fix(app)

    stopped = app.stop(run)

    assert (stopped.state, stopped.outcome) == (RunState.ENDED, "drop: stopped")
    assert endings(app, run)[0].ending.signatures == ()


def test_what_a_killed_process_left_is_taken_away_when_its_run_is_stopped(tmp_path: Path) -> None:
    ground = bed(tmp_path)
    run = opened(ground)

    def killed(_: object) -> dict[str, object]:
        os.kill(os.getpid(), signal.SIGKILL)
        return {}

    def die() -> None:
        app = ground.app(Script.of(triage=killed))
        app.pursue(app.stores.runs.get(run), silent())

    assert in_child(die) == signal.SIGKILL
    assert (ground.home / "work" / f"{run}-work").exists()

    ground.app().stop(ground.app().stores.runs.get(run))

    assert not list((ground.home / "work").glob(f"{run}-*"))


# --- Sent back -----------------------------------------------------------------------------------------------------


def test_a_patch_that_was_sent_back_is_tried_again_with_the_note(tmp_path: Path) -> None:
    ground, sent_back = published(tmp_path)
    script = Script.of(refix=[writes(text=BREAKS_SANE), writes(text="3\n\n")])
    app = ground.app(script)

    run = app.pursue(app.requeue(sent_back, "A line break is missing.", "mira"), silent())

    assert (run.id, run.state, run.attempt) == (sent_back.id, RunState.PUBLISHED, 3)
    assert told(app, run) == ["hold: finding", "refix", "hold: check", "refix", "pass-after-hold"]
    first, second = script.bodies(script.asked[-1].REFIX)
    for body in (first, second):
        assert "| mira: A line break is missing." in body
    assert "Held: at the review, attempt 1, cause finding" in first
    (note,) = app.stores.notes.of(run.scope, run.ticket.id)
    assert (note.read_by, note.read_in_attempt) == (run.id, 2)


def test_a_requeued_run_that_was_interrupted_still_knows_the_note(tmp_path: Path) -> None:
    ground, sent_back = published(tmp_path)
    app = ground.app(Script.of(refix=Parked(cause=ParkCause.MODEL, reason="down")))
    run = app.pursue(app.requeue(sent_back, "A line break is missing.", "mira"), silent())
    script = Script.of(refix=writes(text="3\n\n"))
    again = ground.app(script)

    assert again.pursue(run, silent()).state is RunState.PUBLISHED
    assert "| mira: A line break is missing." in script.bodies(script.asked[0])[0]


def test_the_ticket_of_an_ended_run_gets_a_new_one_that_reads_the_note(tmp_path: Path) -> None:
    ground = bed(tmp_path, attempts=1)
    first = ground.fix(ground.app(Script.of(develop=writes(text="2\n"))))
    script = Script.of()
    app = ground.app(script)

    run = app.pursue(app.requeue(first, "Look at the price list.", "jonas"), silent())

    assert (run.id != first.id, run.generation, run.state) == (True, 2, RunState.PUBLISHED)
    assert "| jonas: Look at the price list." in script.bodies(script.asked[0])[0]


def test_a_run_that_waits_reads_a_note_that_came_meanwhile(tmp_path: Path) -> None:
    ground = bed(tmp_path)
    app = ground.app(Script.of(develop=Parked(cause=ParkCause.MODEL, reason="down")))
    parked: Run = ground.fix(app)
    script = Script.of()
    again = ground.app(script)

    run = again.pursue(again.requeue(parked, "It is in price.txt.", "mira"), silent())

    assert (run.id, run.state) == (parked.id, RunState.PUBLISHED)
    assert "| mira: It is in price.txt." in script.bodies(script.asked[0])[0]
