"""A pytest that stays loaded ends with its phase, with a run that must end and with us; and who may use one."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from stages.errors import Stopped
from stages.sandbox import Command, warm
from stages.sandbox.landlock import Landlock
from stages.sandbox.launcher import below
from stages.sandbox.plain import Plain
from stages.sandbox.warm import Session
from tests.stages.warm import LEAVE, PYTEST, SEE, Kept, cold, kept, passed, tree

PASSES = {"test_a.py": "def test_see(): pass\n"}
SLEEPS = {"test_a.py": "import time\ndef test_see(): pass\ndef test_leave(): time.sleep(600)\n"}


def all_of(checks: Kept) -> list[int]:
    """Processes of the session, as they are numbered outside."""
    assert checks.session is not None
    return [*below(checks.session.job.pid), checks.session.job.pid]


def alive(pids: list[int]) -> list[int]:
    return [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def once(act: Callable[[], object]) -> Callable[[], bool]:
    """A question after a stop that does something when it is asked for the second time: the run has begun then."""
    asked: list[None] = []

    def stopped() -> bool:
        asked.append(None)
        if len(asked) == 2:
            act()
        return False

    return stopped


def test_a_run_that_takes_too_long_ends_the_session_and_the_next_one_begins_another(tmp_path: Path) -> None:
    made = tree(tmp_path, SLEEPS)
    short = replace(PYTEST, timeout_seconds=1.5)

    with kept() as checks:
        assert passed(checks.run(made, SEE))
        before = all_of(checks)
        report = checks.run(made, replace(LEAVE, test_seconds=60.0), short)
        left = alive(before)
        assert passed(checks.run(made, SEE))

        assert (report.timed_out, report.complete, left) == (True, False, [])
        assert len(before) >= 2
        assert len(checks.sessions) == 2


def test_a_person_who_stops_a_run_ends_the_session(tmp_path: Path) -> None:
    made = tree(tmp_path, SLEEPS)
    seen: list[int] = []

    with kept() as checks:
        assert passed(checks.run(made, SEE))

        def stopped() -> bool:
            seen[:] = all_of(checks)
            return len(seen) > 2  # the run is there

        with pytest.raises(Stopped):
            checks.run(made, LEAVE, stopped=stopped)

        assert len(seen) > 2
        assert alive(seen) == []


def test_nothing_is_left_at_the_end_of_the_phase(tmp_path: Path) -> None:
    with kept() as checks:
        assert passed(checks.run(tree(tmp_path, PASSES)))
        before = all_of(checks)
        assert alive(before) == before

    assert alive(before) == []


def test_nothing_is_left_when_the_phase_ends_by_an_error(tmp_path: Path) -> None:
    before: list[int] = []

    def phase() -> None:
        with kept() as checks:
            assert passed(checks.run(tree(tmp_path, PASSES)))
            before.extend(all_of(checks))
            raise KeyError

    with pytest.raises(KeyError):
        phase()

    assert before != []
    assert alive(before) == []


@pytest.mark.parametrize("wish", ["SEE", "LEAVE"], ids=["between two runs", "in a run"])
def test_nothing_is_left_when_our_process_dies(wish: str, tmp_path: Path) -> None:
    cold()
    script = f"""
import time
from pathlib import Path
from tests.stages.test_warm_sessions import all_of
from tests.stages.warm import LEAVE, SEE, kept
tree = Path({str(tree(tmp_path, SLEEPS))!r})
with kept() as checks:
    assert checks.run(tree, SEE).passed
    def stopped():
        if len(all_of(checks)) > 2:
            print(*all_of(checks), flush=True)
    checks.run(tree, {wish}, stopped=stopped)
    print(*all_of(checks), flush=True)
    time.sleep(60)
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    ) as ours:
        assert ours.stdout is not None
        seen = list(map(int, ours.stdout.readline().split()))
        assert alive(seen) == seen
        assert seen != []
        ours.kill()
        ours.wait()
        until = time.monotonic() + 10
        while alive(seen) and time.monotonic() < until:
            time.sleep(0.02)

        assert alive(seen) == []


def test_a_run_that_loses_what_stays_is_run_again_in_a_fresh_sandbox(tmp_path: Path) -> None:
    text = """
    import time
    from pathlib import Path

    def test_see():
        runs = Path("runs")
        runs.open("a").write("x")
        if runs.stat().st_size == 2:
            time.sleep(600)
    """
    made = tree(tmp_path, {"test_a.py": text})

    with kept() as checks:
        assert passed(checks.run(made))
        session = checks.session
        assert session is not None
        report = checks.run(made, stopped=once(lambda: os.kill(all_of(checks)[0], signal.SIGKILL)))
        assert passed(report)
        assert passed(checks.run(made))

        assert (made / "runs").read_text() == "xxxx", "it was not run again: this test would prove nothing"
        assert session.job.look()
        assert len(checks.sessions) == 2


def test_where_what_stays_would_load_the_target_every_run_has_a_fresh_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tree(tmp_path, PASSES)
    library = sysconfig.get_path("stdlib")  # in the place of the tree: it is on the path
    begun: list[object] = []

    with kept() as checks:
        begin = checks.warm._staying.open

        def begin_with(command: Command, user: int | None, same: object) -> Session:
            begun.append(same)
            return begin(replace(command, staying=(*command.staying[:-1], library)), user, same)

        monkeypatch.setattr(checks.warm._staying, "open", begin_with)
        reports = [checks.run(made) for _ in range(3)]

        assert all(map(passed, reports))
        assert checks.given_up
        assert len(begun) == 1


def test_a_tree_that_was_made_anew_has_a_session_of_its_own(tmp_path: Path) -> None:
    made = tree(tmp_path, PASSES)

    with kept() as checks:
        assert passed(checks.run(made))
        (made / "test_a.py").write_text("def test_see(): assert 0\n")
        assert not passed(checks.run(made))
        assert len(checks.sessions) == 1
        made.rename(tmp_path / "old")
        tree(tmp_path, PASSES)
        assert passed(checks.run(made))

        assert len(checks.sessions) == 2


def test_a_check_with_an_environment_runs_cold_and_ends_no_session(tmp_path: Path) -> None:
    made = tree(tmp_path, {"test_a.py": "import os\ndef test_see(): assert os.environ.get('A') == 'b'\n"})

    with kept() as checks:
        assert not passed(checks.run(made))
        assert passed(checks.run(made, check=replace(PYTEST, environment=(("A", "b"),))))
        assert not passed(checks.run(made))

        assert len(checks.sessions) == 1


def test_a_run_that_loses_what_stays_is_run_again_with_the_time_that_is_left(tmp_path: Path) -> None:
    begun = "import contextlib, resource, time\n\ndef test_see(): pass\n\ndef test_leave():\n    time.sleep(1)\n"
    loses = "    with contextlib.suppress(OSError): resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0))\n"
    made = tree(tmp_path, {"test_a.py": f"{begun}{loses}    time.sleep(600)\n"})

    with kept() as checks:
        assert passed(checks.run(made, SEE))
        before = time.monotonic()
        report = checks.run(made, replace(LEAVE, test_seconds=60.0), replace(PYTEST, timeout_seconds=3.0))
        took = time.monotonic() - before

    assert (report.timed_out, report.complete) == (True, False)
    assert report.seconds < 2.5, "it was not run again, or began with its whole time"
    assert took < 5.0


def test_what_is_asked_for_after_the_phase_runs_cold(tmp_path: Path) -> None:
    made = tree(tmp_path, PASSES)

    with kept() as checks:
        pass

    assert passed(checks.run(made))
    assert checks.sessions == []


def test_what_is_lent_is_shown_by_a_fresh_sandbox(tmp_path: Path) -> None:
    made = tree(tmp_path, {"test_a.py": "def test_see(): assert open('lent/a').read() == 'b'\n"})
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a").write_text("b")

    with kept() as checks:
        assert passed(checks.run(made, lent=(("lent", tmp_path / "outside"),)))

        assert checks.sessions == []


@pytest.mark.parametrize("level", [Plain, Landlock])
def test_other_levels_keep_nothing(level: type[Plain] | type[Landlock]) -> None:
    sandbox = level()

    with warm(sandbox) as kept:
        assert kept is sandbox


# --- who may use it --------------------------------------------------------------------------------------------------


def test_only_the_tools_of_an_agent_run_checks_warm() -> None:
    """The gate, the base run, a reproduction and a verification each have a fresh sandbox for each run."""
    root = Path(__file__).parents[2]
    begin, give = set[str](), set[str]()
    for folder in ("stages", "bot"):
        for path in (root / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call):
                    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                    begin |= {path.relative_to(root).as_posix()} if name == "warm" else set()
                    give |= {path.relative_to(root).as_posix() for word in node.keywords if word.arg == "warm"}

    assert begin == {"stages/agents/loop.py", "stages/checks.py", "stages/workspace.py"}
    assert give == {"stages/agents/tools.py"}
