"""Runs a check in a sandbox, and reads what it showed."""

from __future__ import annotations

import json
import secrets
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final, Protocol

from memory.types import CheckId
from stages.beside import NOT_READY, STARTER, with_services
from stages.detection import PYTEST, is_test_file, why_not
from stages.errors import NoPython, ParkCause, Parked, Refused
from stages.plugins import installed_plugins, only_our_plugins
from stages.readers.told import Told, Unreadable
from stages.report import TIMEOUT, Check, CheckKind, CheckReport, Outcome, TestOutcome
from stages.result_files import ResultFiles
from stages.results import Results, read_results
from stages.sandbox import Command, Level, Ran, Sandbox, needed_by, warm
from stages.tests_of_commands import alone, only, read_files, read_output
from stages.toolchains import Toolchains, language_of

__all__ = ["PYTEST", "Checks", "Interpreters", "Runs", "Wish", "is_test_file"]

TESTS_AT_MOST: Final = 10_000

_LAUNCHER: Final = Path(__file__).with_name("collector") / "launcher.py"
_CHANNEL: Final = 3
_SECRET: Final = 4
_OUTPUT_AT_MOST: Final = 64 * 1024  # bytes of a channel that people may read
_SHARE_OF_ONE_TEST: Final = 5  # one test may take this part of the time that the whole check may
_ENDED_BY_ITS_TIMER: Final = 128 + signal.SIGPROF  # one long call into C, see the collector
_SIGNALLED: Final = 125  # exit statuses from here on say that the command itself did not come to its end
# Standard output becomes the channel, and nothing else of the command is given it. With the second, errors as well.
_TO_CHANNEL: Final = ("/bin/sh", "-c", f'exec "$@" >&{_CHANNEL} {_CHANNEL}>&-', "sh")
_BOTH_TO_CHANNEL: Final = ("/bin/sh", "-c", f'exec "$@" >&{_CHANNEL} 2>&1 {_CHANNEL}>&-', "sh")
_FOR_COMMANDS: Final = {"CI": "true", "NO_COLOR": "1", "FORCE_COLOR": "0"}
_ENVIRONMENT: Final = {
    # The same run gives the same order of sets, and leaves no bytecode in the tree.
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",
    "TZ": "UTC",
}


Interpreters = Callable[[str], Path]
"""folder of the tree → the interpreter of its tests. Raises NoPython."""


class Runs(Protocol):
    """What runs a command: a sandbox."""

    def run(self, command: Command, *, stopped: Callable[[], bool] = ...) -> Ran: ...


@dataclass(frozen=True, kw_only=True)
class Wish:
    """Which part of a check is run, and how. No `tests` means all of them; they are run in the order given.

    A file or a class as `tests` means all tests in it. `test_seconds` is how long one test may take; without it, a
    fifth of what the check may. `timeout_seconds` is how long all of it may take; without it, what the check may.
    """

    tests: Sequence[CheckId] = ()
    coverage: bool = False
    stop_at_first: bool = False
    test_seconds: float | None = None
    timeout_seconds: float | None = None


class Checks:
    """Runs checks in a sandbox. `python` is the tests' interpreter, or gives that of a folder; pytest is beside it."""

    def __init__(self, sandbox: Sandbox, python: Path | Interpreters, toolchains: Toolchains | None = None) -> None:
        self._sandbox, self._python = sandbox, python
        self.toolchains = toolchains or Toolchains()

    def run(
        self,
        check: Check,
        tree: Path,
        wish: Wish | None = None,
        *,
        lent: tuple[tuple[str, Path], ...] = (),
        stopped: Callable[[], bool] = lambda: False,
    ) -> CheckReport:
        """Run a check in a tree; `lent` are folders outside that it sees, read-only, at places in the tree.

        Raises Refused for ids that no test can have, NoPython, and what the sandbox raises: Parked, Stopped. Parked
        also when a toolchain is not here, or when this sandbox has no network of its own for the check's services.
        """
        wish = wish or Wish()
        if check.services and self._sandbox.level is Level.LANDLOCK:
            raise Parked(
                cause=ParkCause.SANDBOX,
                reason=f"the check {check.name} has services, which need the sandbox bubblewrap: the weaker one has no "
                "network at all",
            )
        match check.kind:
            case CheckKind.PYTEST:
                return self._pytest(check, tree, wish, lent, stopped)
            case CheckKind.COMMAND:
                ran = self._sandbox.run(self._command(check, tree, lent), stopped=stopped)
                begun = not (check.services and ran.exit_status == NOT_READY)
                return _report(check, ran, complete=ran.exit_status is not None and begun)
            case CheckKind.JUNIT | CheckKind.JEST:
                return self._with_files(check, tree, wish, lent, stopped)
            case CheckKind.GO | CheckKind.CARGO:
                return self._with_output(check, tree, wish, lent, stopped)

    def why_not(self, check: Check, is_there: Callable[[str], bool]) -> str:
        """Why a check cannot run here, with the way out; "" when it can: `detection.why_not`, and its interpreter."""
        try:
            self._python_of(check)
        except NoPython as error:
            return " ".join(str(error).split())
        return why_not(check, self.toolchains, is_there)

    @contextmanager
    def warm(self) -> Iterator[Checks]:
        """The same checks with a pytest of ours that stays loaded between runs, where the sandbox can have one.

        They inform an agent, which runs the same tests again and again. Whatever decides runs its checks cold: each in
        a sandbox of its own.
        """
        with warm(self._sandbox) as sandbox:
            yield Checks(sandbox, self._python, self.toolchains)

    def _with_files(
        self, check: Check, tree: Path, wish: Wish, lent: tuple[tuple[str, Path], ...], stopped: Callable[[], bool]
    ) -> CheckReport:
        files = ResultFiles(tree, check.folder, check.results)
        try:
            with files.fresh():
                ran = self._sandbox.run(self._command(check, tree, lent), stopped=stopped)
                told = read_files(check, files, self._insides(tree))
        except Unreadable as error:
            return CheckReport(check=check.name, exit_status=None, seconds=0.0, complete=False, output=str(error))
        return _named(check, ran, told, wish)

    def _with_output(
        self, check: Check, tree: Path, wish: Wish, lent: tuple[tuple[str, Path], ...], stopped: Callable[[], bool]
    ) -> CheckReport:
        command = self._command(replace(check, arguments=only(check, wish.tests)), tree, lent, channel=_CHANNEL)
        ran = self._sandbox.run(command, stopped=stopped)
        told = read_output(check, ran.reported, cut=ran.reported_cut, insides=self._insides(tree))
        if check.kind is CheckKind.CARGO:
            shown = ran.reported[-_OUTPUT_AT_MOST:].decode("utf-8", "replace")
            ran = replace(ran, output=f"{ran.output}{shown}")
        return _named(check, ran, told, wish)

    def _insides(self, tree: Path) -> tuple[str, ...]:
        """Every path that a command may know its tree by."""
        return tuple(dict.fromkeys((str(self._sandbox.inside(tree)), str(tree.resolve()))))

    def _command(
        self, check: Check, tree: Path, lent: tuple[tuple[str, Path], ...], *, channel: int | None = None
    ) -> Command:
        tools = self.toolchains.of(check)
        if tools is None:
            raise Parked(
                cause=ParkCause.ENVIRONMENT,
                reason=f"the check {check.name} needs the toolchain of {language_of(check)}, which is not on this "
                "machine: install it, or name other checks in .github/ticketsmith.toml",
            )
        arguments = check.arguments
        if channel is not None:
            arguments = (*(_BOTH_TO_CHANNEL if check.kind is CheckKind.CARGO else _TO_CHANNEL), *arguments)
        python = self._python_of(check)
        own = (*needed_by(python), *self._for_services(check))
        path = ":".join(map(str, (*tools.path, _path(python))))
        return Command(
            arguments=with_services(
                check, arguments, self._sandbox.inside(tree), () if channel is None else (channel,)
            ),
            tree=tree,
            folder=check.folder,
            environment={**_ENVIRONMENT, **_FOR_COMMANDS, **tools.environment, **dict(check.environment), "PATH": path},
            readable=tuple(dict.fromkeys((*own, *tools.readable))),
            channel=channel,
            timeout_seconds=check.timeout_seconds,
            lent=lent,
            reserves=True,
        )

    @staticmethod
    def _for_services(check: Check) -> tuple[Path, ...]:
        return (*needed_by(Path(sys.executable)), STARTER) if check.services else ()

    def _pytest(
        self, check: Check, tree: Path, wish: Wish, lent: tuple[tuple[str, Path], ...], stopped: Callable[[], bool]
    ) -> CheckReport:
        key, python = secrets.token_bytes(32), self._python_of(check)
        ours = python == Path(sys.executable)
        seconds = wish.timeout_seconds or check.timeout_seconds
        orders = {
            "folder": check.folder,
            "arguments": check.arguments,
            "tests": [_checked(test) for test in wish.tests[:TESTS_AT_MOST]],
            "coverage": wish.coverage,
            "first": wish.stop_at_first,
            # In the target's own environment every plugin was chosen by somebody: all are loaded.
            "plugins": installed_plugins() if ours and only_our_plugins() else None,
            "test_seconds": wish.test_seconds or check.timeout_seconds / _SHARE_OF_ONE_TEST,
            "seconds": seconds,
        }
        # -P and -s instead of -I, which would also drop PYTHONHASHSEED; no other variable of Python's is set.
        program = (str(python), "-s", "-P", "-B", str(_LAUNCHER))
        arguments, inside = (*program, str(_CHANNEL), str(_SECRET)), self._sandbox.inside(tree)
        ran = self._sandbox.run(
            Command(
                arguments=with_services(check, arguments, inside, (_CHANNEL, _SECRET)),
                tree=tree,
                folder=check.folder,
                environment={**_ENVIRONMENT, **dict(check.environment), "PATH": _path(python)},
                readable=(*needed_by(python), *self._for_services(check), _LAUNCHER.parent),
                lent=lent,
                stdin=json.dumps(orders).encode(),
                channel=_CHANNEL,
                secret_channel=_SECRET,
                secret=key,
                timeout_seconds=seconds,
                # A check's variables, or files in the target's own environment, could have what stays load the tree.
                staying=(*program, "stay", str(inside)) if ours and not (check.services or check.environment) else (),
            ),
            stopped=stopped,
        )
        results = read_results(ran.reported, key)
        complete = results.intact and not ran.reported_cut and _ended_properly(results, ran, wish)
        return _report(check, ran, complete=complete, results=results)

    def _python_of(self, check: Check) -> Path:
        return self._python if isinstance(self._python, Path) else self._python(check.folder)


def _path(python: Path) -> str:
    return f"{python.parent}:/usr/local/bin:/usr/bin:/bin"


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


def _named(check: Check, ran: Ran, told: Told, wish: Wish) -> CheckReport:
    """The report of a command that names its tests: exit status and results must both be whole, and agree."""
    problem = told.problem or ("" if told.outcomes else "it names no test at all")
    # People are shown the end of it; after a time-out that is what the command said last.
    told_last = f"\nthe results of {check.name} cannot be used: {problem}" if problem and not ran.timed_out else ""
    report = CheckReport(
        check=check.name,
        exit_status=ran.exit_status,
        seconds=ran.seconds,
        outcomes=told.outcomes,
        collected=told.collected,
        complete=ran.exit_status is not None and ran.exit_status < _SIGNALLED and not problem,
        timed_out=ran.timed_out,
        output=f"{ran.output}{told_last}",
        level=ran.level.value,
    )
    return alone(report, wish.tests) if wish.tests else report


def _report(check: Check, ran: Ran, *, complete: bool, results: Results | None = None) -> CheckReport:
    results = results or Results()
    outcomes = results.outcomes
    hung = ran.timed_out or (results.begun is not None and ran.exit_status == _ENDED_BY_ITS_TIMER)
    if results.begun is not None:  # it never came to an end: it hangs, or it took the whole run with it
        kind, why = TIMEOUT if hung else "Crash", "the run ended in it"
        outcomes += (TestOutcome(id=results.begun, outcome=Outcome.FAILED, type=kind, message=why),)
    return CheckReport(
        check=check.name,
        exit_status=None if hung else ran.exit_status,
        seconds=ran.seconds,
        outcomes=outcomes,
        collected=results.collected,
        ended_in=results.begun or results.reading,
        complete=complete,
        timed_out=hung,
        output=ran.output,
        hits=results.hits,
        level=ran.level.value,
    )
