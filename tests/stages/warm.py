"""Checks with a pytest that stays loaded, for tests of them: what one run leaves, and what the next one sees."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memory.types import CheckId
from stages.checks import Checks, Wish
from stages.report import Check, CheckKind, CheckReport, Outcome
from stages.sandbox import Bounds, Level
from stages.sandbox.bubblewrap import Bubblewrap
from stages.sandbox.warm import Session, Warm
from tests.stages.repositories import put
from tests.stages.sandbox.ways import Way, usable

PYTEST = Check(name=CheckId("pytest"), kind=CheckKind.PYTEST, timeout_seconds=60.0)

LEAVE, SEE = (Wish(tests=[CheckId(f"test_a.py::test_{name}")]) for name in ("leave", "see"))

STATE = """
    import gc, json, os, resource, signal, sys, threading

    def test_state(capfd):
        with capfd.disabled():
            for name, value in {
                "argv": (sys.argv, sys.orig_argv, sys.flags, sys.path),
                "main": (sys.modules["__main__"].__file__, sorted(vars(sys.modules["__main__"]))),
                "place": (os.getcwd(), sorted(os.environ.items()), oct(os.umask(0o22))),
                "ids": (os.getppid(), os.getpgid(0), os.getsid(0), os.getgroups()),
                "limits": [resource.getrlimit(kind) for kind in range(16)],
                "turn": (os.getpriority(os.PRIO_PROCESS, 0), os.sched_getaffinity(0)),
                "signals": [(number, signal.getsignal(number).__class__) for number in signal.valid_signals()],
                "interrupt": signal.getsignal(signal.SIGINT).__qualname__,
                "blocked": signal.pthread_sigmask(signal.SIG_BLOCK, []),
                "threads": threading.active_count(),
                "owner": [os.stat(place).st_uid == os.getuid() for place in ("/proc/self", "/proc/self/mem")],
                "descriptors": sorted(os.listdir("/proc/self/fd")),
                "streams": [(s.encoding, s.line_buffering, s.write_through) for s in (sys.__stdout__, sys.__stderr__)],
                "collecting": (gc.isenabled(), gc.get_threshold()),
                "folders": [sorted(os.listdir(folder)) for folder in ("/dev/shm", os.environ["HOME"])],
                "status": [
                    line for line in open("/proc/self/status")
                    if line.startswith(("Seccomp:", "NoNewPrivs:", "Cap", "SigIgn", "SigBlk", "Umask", "Groups"))
                ],
            }.items():
                print(name, value)
"""
"""A test that prints what it finds of its process."""


def passed(report: CheckReport) -> bool:
    """Whether the one test passed, in a run that came to its end."""
    assert report.complete, report.output
    return [one.outcome for one in report.outcomes] == [Outcome.PASSED]


def tree(folder: Path, files: Mapping[str, str]) -> Path:
    put(folder / "tree", {path: textwrap.dedent(text) for path, text in files.items()})
    return folder / "tree"


def cold(bounds: Bounds | None = None) -> Checks:
    """Checks in bubblewrap, or a skipped test with the reason."""
    usable(Way(level=Level.BUBBLEWRAP))
    return Checks(Bubblewrap(bounds), Path(sys.executable))


class Kept:
    """Warm checks, and the session that they are in."""

    def __init__(self, checks: Checks) -> None:
        self._checks = checks
        self.sessions: list[Session] = []

    def run(self, tree: Path, wish: Wish | None = None, check: Check = PYTEST, **more: Any) -> CheckReport:
        report = self._checks.run(check, tree, wish, **more)
        session = self.session
        if session is not None and session not in self.sessions:
            self.sessions.append(session)
        return report

    @property
    def warm(self) -> Warm:
        assert isinstance(self._checks._sandbox, Warm)
        return self._checks._sandbox

    @property
    def session(self) -> Session | None:
        return self.warm._session

    @property
    def given_up(self) -> bool:
        return self.warm._given_up


@contextmanager
def kept(bounds: Bounds | None = None) -> Iterator[Kept]:
    with cold(bounds).warm() as checks:
        yield Kept(checks)
