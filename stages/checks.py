"""Checks: which there are, and running one."""

from __future__ import annotations

import json
import re
import secrets
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path, PurePosixPath
from typing import Final, Protocol

from memory.types import CheckId
from stages.errors import Refused
from stages.report import Check, CheckKind, CheckReport, Outcome, TestOutcome
from stages.results import Results, read_results
from stages.sandbox import Command, Ran, needed_by

PYTEST: Final = CheckId("pytest")
TESTS_AT_MOST: Final = 10_000

_LAUNCHER: Final = Path(__file__).with_name("collector") / "launcher.py"
_CHANNEL: Final = 3
_SECRET: Final = 4
_SHARE_OF_ONE_TEST: Final = 5  # one test may take this part of the time that the whole check may
_SETTINGS: Final = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini")
_SECTIONS: Final = {"pyproject.toml": b"[tool.pytest", "tox.ini": b"[pytest]", "setup.cfg": b"[tool:pytest]"}
_TEST_FILE: Final = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py")
# Plugins that our own environment holds: what in the target's tests and settings asks for them, and their modules.
_OUR_PLUGINS: Final = {
    "hypothesis": "_hypothesis_pytestplugin",
    "anyio": "anyio.pytest_plugin",
    "respx": "respx.plugin",
    "pytest.cov|--(no-)?cov": "pytest_cov.plugin",
}
_ENVIRONMENT: Final = {
    # The same run gives the same order of sets, and leaves no bytecode in the tree.
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",
    "TZ": "UTC",
}


@cache
def _only_our_plugins() -> bool:
    """True when our environment has no pytest plugin but those that came with us: no target chose any of them."""
    return all(entry.value in _OUR_PLUGINS.values() for entry in entry_points(group="pytest11"))


class Runs(Protocol):
    """What runs a command: a sandbox."""

    def run(self, command: Command, *, stopped: Callable[[], bool] = ...) -> Ran: ...


def is_test_file(path: str) -> bool:
    """True for a file that pytest collects by its name."""
    return _TEST_FILE.fullmatch(path) is not None


def detect(files: Iterable[str], read: Callable[[str], bytes | None]) -> tuple[Check, ...]:
    """The checks that a tree shows: pytest, when there are settings of pytest or test files."""
    paths = frozenset(files)
    shown = (
        not paths.isdisjoint(_SETTINGS)
        or any(name in paths and section in (read(name) or b"") for name, section in _SECTIONS.items())
        or any(map(is_test_file, paths))
    )
    return (Check(name=PYTEST, kind=CheckKind.PYTEST),) if shown else ()


@dataclass(frozen=True, kw_only=True)
class Wish:
    """Which part of a check is run, and how. No `tests` means all of them; they are run in the order given.

    A file or a class as `tests` means all tests in it. `test_seconds` is how long one test may take; without it, a
    fifth of what the check may.
    """

    tests: Sequence[CheckId] = ()
    coverage: bool = False
    stop_at_first: bool = False
    test_seconds: float | None = None


class Checks:
    """Runs checks in a sandbox. `python` is the interpreter of the target's tests, pytest is installed beside it."""

    def __init__(self, sandbox: Runs, python: Path) -> None:
        self._sandbox, self._python = sandbox, python

    def run(
        self, check: Check, tree: Path, wish: Wish | None = None, *, stopped: Callable[[], bool] = lambda: False
    ) -> CheckReport:
        """Run a check in a tree.

        Raises Refused for ids that no test can have, and what the sandbox raises: Parked, Stopped.
        """
        wish = wish or Wish()
        match check.kind:
            case CheckKind.PYTEST:
                return self._pytest(check, tree, wish, stopped)
            case CheckKind.COMMAND:
                return self._command(check, tree, stopped)

    def _command(self, check: Check, tree: Path, stopped: Callable[[], bool]) -> CheckReport:
        ran = self._sandbox.run(
            Command(
                arguments=check.arguments,
                tree=tree,
                folder=check.folder,
                environment={**_ENVIRONMENT, "PATH": self._path},
                readable=needed_by(self._python),
                timeout_seconds=check.timeout_seconds,
            ),
            stopped=stopped,
        )
        return _report(check, ran, complete=ran.exit_status is not None)

    def _pytest(self, check: Check, tree: Path, wish: Wish, stopped: Callable[[], bool]) -> CheckReport:
        key = secrets.token_bytes(32)
        orders = {
            "folder": check.folder,
            "arguments": check.arguments,
            "tests": [_checked(test) for test in wish.tests[:TESTS_AT_MOST]],
            "coverage": wish.coverage,
            "first": wish.stop_at_first,
            # In the target's own environment every plugin was chosen by somebody: all are loaded.
            "plugins": _OUR_PLUGINS if self._python == Path(sys.executable) and _only_our_plugins() else None,
            "test_seconds": wish.test_seconds or check.timeout_seconds / _SHARE_OF_ONE_TEST,
        }
        # -P and -s instead of -I, which would also drop PYTHONHASHSEED; no other variable of Python's is set.
        flags = ("-s", "-P", "-B")
        ran = self._sandbox.run(
            Command(
                arguments=(str(self._python), *flags, str(_LAUNCHER), str(_CHANNEL), str(_SECRET)),
                tree=tree,
                folder=check.folder,
                environment={**_ENVIRONMENT, "PATH": self._path},
                readable=(*needed_by(self._python), _LAUNCHER.parent),
                stdin=json.dumps(orders).encode(),
                channel=_CHANNEL,
                secret_channel=_SECRET,
                secret=key,
                timeout_seconds=check.timeout_seconds,
            ),
            stopped=stopped,
        )
        results = read_results(ran.reported, key)
        complete = results.intact and not ran.reported_cut and _ended_properly(results, ran, wish)
        return _report(check, ran, complete=complete, results=results)

    @property
    def _path(self) -> str:
        return f"{self._python.parent}:/usr/local/bin:/usr/bin:/bin"


def _checked(test: CheckId) -> str:
    file = test.split("::", 1)[0]
    parts = PurePosixPath(file).parts
    if not parts or file.startswith(("/", "-")) or ".." in parts or "\0" in test or "\n" in test:
        raise Refused(reason=f"{test[:200]!r} is not the id of a test")
    return test


def _ended_properly(results: Results, ran: Ran, wish: Wish) -> bool:
    if results.status is None or results.status != ran.exit_status or ran.timed_out:
        return False
    ended = {outcome.id for outcome in results.outcomes}
    stopped = wish.stop_at_first and any(outcome.outcome is Outcome.FAILED for outcome in results.outcomes)
    return stopped or ended.issuperset(results.collected)


def _report(check: Check, ran: Ran, *, complete: bool, results: Results | None = None) -> CheckReport:
    results = results or Results()
    outcomes = results.outcomes
    if results.begun is not None:
        # It never came to an end: it hangs, or it took the whole run with it.
        kind = "Timeout" if ran.timed_out else "Crash"
        outcomes += (TestOutcome(id=results.begun, outcome=Outcome.FAILED, type=kind, message="the run ended in it"),)
    return CheckReport(
        check=check.name,
        exit_status=ran.exit_status,
        seconds=ran.seconds,
        outcomes=outcomes,
        collected=results.collected,
        complete=complete,
        timed_out=ran.timed_out,
        output=ran.output,
        hits=results.hits,
        level=ran.level.value,
    )
