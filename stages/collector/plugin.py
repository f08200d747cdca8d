"""The pytest plugin of the launcher: which tests there are, how each ended, and which lines it ran."""

from __future__ import annotations

import ast
import hashlib
import inspect
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

Send = Callable[[dict[str, Any]], None]

_ID_AT_MOST = 500  # characters; the rest is a hash
_MESSAGE_AT_MOST = 1_000
_TEXT_AT_MOST = 6_000
_AGAIN_SECONDS = 1.0  # a test that swallows the first alarm gets another
_SECONDS_AT_LEAST = 1.0  # for each test, after one has hung
_TIMES_SHORTER = 4  # no more than this part of what the first one had, and of that for each that has hung
_TIMES_SLOWER = 10  # than the slowest that passed: so long it has in any case, where there is time
_SHARE_FOR_TESTS = 0.8  # of the time that is left for all of them: the rest is for start and end
_RAISES = frozenset({"raises", "warns", "deprecated_call", "fail"})
# Settings of other plugins, and of pytest, under which runs would differ or end early.
_OVERRIDDEN = {
    **dict.fromkeys(("lf", "failedfirst", "newfirst", "stepwise", "randomly_reorganize"), False),
    **dict.fromkeys(("numprocesses", "randomly_seed", "timeout"), 0),
    "dist": "no",
    "tx": [],
    "random_order_bucket": "none",
    "continue_on_collection_errors": True,
}


class Timeout(BaseException):
    """The test took longer than one test may; no `except Exception` of the code under test takes it."""

    __module__ = "builtins"  # what reads a failure is told the bare name


class Collector:
    """Sends one event for each file that is read, one for the collection, two for each test, and one for the lines.

    `prefix` is put in front of pytest's ids, so that they are relative to the tree; `lines` is None where no lines are
    asked for.
    """

    def __init__(self, send: Send, orders: dict[str, Any], prefix: str, lines: Any) -> None:
        self._send, self._prefix, self._lines = send, prefix, lines
        self._wanted: list[str] = orders["tests"]
        self._first, self._seconds = bool(orders["first"]), float(orders["test_seconds"])
        self._clock, self._left, self._hung, self._slowest = time.monotonic, 0, 0, 0.0
        self._until = self._clock() + float(orders["seconds"])
        self._errors: dict[str, tuple[str, str]] = {}
        self._ended: dict[str, Any] = {}
        self._parts: Counter[str] = Counter()  # how subtests of the test ended, those that failed left out
        self._asserts: dict[str, dict[int, int]] = {}
        self._limit, self._alarm, self._timer = signal.setitimer, signal.SIGALRM, signal.ITIMER_REAL
        self._handle, self._worked, self._processors = signal.signal, signal.ITIMER_PROF, len(os.sched_getaffinity(0))

    # --- settings ----------------------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self, early_config: Any) -> None:
        os.environ.pop("PYTEST_DISABLE_PLUGIN_AUTOLOAD", None)  # it was for us, not for what tests start
        # pytest-cov begins here; its tracer would take the place of ours, and its threshold would fail single tests.
        known = early_config.known_args_namespace
        for name, value in (("cov_source", []), ("no_cov", True), ("cov_fail_under", None)):
            if hasattr(known, name):
                setattr(known, name, value)

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> None:
        for name, value in (_OVERRIDDEN | {"maxfail": 1 if self._first else 0}).items():
            if hasattr(config.option, name):
                setattr(config.option, name, value)

    # --- collection --------------------------------------------------------------------------------------------------

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leave out a link to a folder above itself: pytest would walk it round and round."""
        if not collection_path.is_symlink():
            return None
        here = collection_path.parent.resolve()
        return True if collection_path.resolve() in (here, *here.parents) else None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        if not self._wanted:
            return
        places = [(self._place(item), item) for item in items]
        config.hook.pytest_deselected(items=[item for place, item in places if place is None])
        chosen = [(place, item) for place, item in places if place is not None]
        items[:] = [item for _, item in sorted(chosen, key=lambda pair: pair[0])]

    def pytest_collectstart(self, collector: pytest.Collector) -> None:
        if isinstance(collector, pytest.File):
            self._send({"event": "reading", "file": self._id(collector.nodeid)})

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._left = len(session.items)
        self._send(
            {"event": "collected", "tests": [[self._id(item.nodeid), self._count(item)] for item in session.items]}
        )

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.outcome == "passed" or (self._wanted and not self._concerns(report.nodeid)):
            return
        kind, message = self._errors.pop(report.nodeid, ("", ""))
        text = str(report.longrepr or "")
        last = text.strip().rsplit("\n", 1)[-1].removeprefix("E ").strip()
        self._ended = {"outcome": report.outcome, "type": kind, "message": message or last, "text": text}
        self._tell(report.nodeid, 0.0)

    def _concerns(self, node: str) -> bool:
        name = self._id(node)
        return any(test == name or test.startswith(f"{name}::") or name.startswith(test) for test in self._wanted)

    def _place(self, item: pytest.Item) -> int | None:
        name = self._id(item.nodeid)
        for number, test in enumerate(self._wanted):
            if name == test or name.startswith((f"{test}::", f"{test}[")):
                return number
        return None

    def _id(self, node: str) -> str:
        name = self._prefix + node
        if len(name) <= _ID_AT_MOST:
            return name
        return f"{name[: _ID_AT_MOST - 80]}#{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()}"

    def _count(self, item: pytest.Item) -> int:
        """`assert` statements, `assert…` calls and `raises` in a test's own source; 0 when it cannot be read."""
        code = getattr(getattr(item, "function", None), "__code__", None)
        if code is None:
            return 0
        if code.co_filename not in self._asserts:
            self._asserts[code.co_filename] = _asserts(Path(code.co_filename))
        return self._asserts[code.co_filename].get(code.co_firstlineno, 0)

    # --- tests -------------------------------------------------------------------------------------------------------

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._send({"event": "begin", "test": self._id(nodeid)})
        self._ended, self._spent, self._parts = {}, 0.0, Counter()
        if self._lines:
            self._lines.start()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Generator[None, None, None]:
        yield from self._limited()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self) -> Generator[None, None, None]:
        yield from self._limited()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self) -> Generator[None, None, None]:
        yield from self._limited()

    def _limited(self) -> Generator[None, None, None]:
        self._handle(self._alarm, _alarmed)  # each time: pytest-timeout takes it for tests that are marked
        seconds = self._allowed()
        self._limit(self._timer, seconds, _AGAIN_SECONDS)
        # No alarm reaches one long call into C: the kernel ends it, by the time that all processors give until then.
        self._limit(self._worked, (seconds + _AGAIN_SECONDS) * self._processors)
        yield
        self._limit(self._worked, 0)
        self._limit(self._timer, 0)

    def _allowed(self) -> float:
        """Seconds for the test. Once one has hung, those to come share what is left, so that the run comes to its end:
        ten tests that hang are ten failures, and no run that says nothing."""
        if not self._hung:
            return self._seconds
        share = (self._until - self._clock()) * _SHARE_FOR_TESTS / max(1, self._left)
        enough = max(self._seconds / (_TIMES_SHORTER * self._hung), self._slowest * _TIMES_SLOWER)
        return min(self._seconds, max(_SECONDS_AT_LEAST, min(share, enough)))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, None]:
        """Behind all others: what a test of unittest raised is put into `call` by pytest's own."""
        if call.excinfo is not None:
            _tell_files()
        yield
        if call.excinfo is not None:
            self._hung += call.excinfo.type is Timeout
            self._errors[item.nodeid] = _described(call.excinfo)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._spent += getattr(report, "duration", 0.0)
        kind, message = self._errors.pop(report.nodeid, ("", ""))
        if report.outcome == "failed":
            outcome, text = "failed", str(report.longrepr or "")
        elif hasattr(report, "wasxfail"):
            outcome, text = "xfailed", ""  # also where it passed: what it says no longer counts
        elif report.outcome == "skipped":
            outcome, text = "skipped", ""
        else:
            outcome, text = ("passed" if report.outcome == "passed" and report.when == "call" else ""), ""
        if hasattr(report, "context") and outcome != "failed":  # pytest's SubtestReport, and that of pytest-subtests
            self._parts[outcome] += 1
            return
        if outcome == "passed" and self._parts and not self._parts["passed"]:
            outcome = "skipped"  # a test of which every part was skipped has shown nothing
        # The first failure stands: what a tear-down then says is mostly its echo.
        if outcome and self._ended.get("outcome") != "failed" and (outcome != "passed" or not self._ended):
            self._ended = {"outcome": outcome, "type": kind, "message": message, "text": text}

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._left -= 1
        if not self._ended:
            self._ended = {"outcome": "failed", "message": "the test ended without a result"}
        if self._lines:
            self._lines.stop(self._ended["outcome"])
        if self._ended["outcome"] == "passed":
            self._slowest = max(self._slowest, self._spent)
        self._tell(nodeid, self._spent)

    def _tell(self, node: str, seconds: float) -> None:
        ended = self._ended
        self._send(
            {
                "event": "test",
                "test": self._id(node),
                "outcome": ended["outcome"],
                "type": ended.get("type", "")[:200],
                "message": _cut(ended.get("message", ""), _MESSAGE_AT_MOST),
                "text": _cut(ended.get("text", ""), _TEXT_AT_MOST),
                "seconds": round(seconds, 4),
                "hidden": self._parts["skipped"] + self._parts["xfailed"],
            }
        )

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        if self._lines:
            self._send({"event": "lines", "hits": self._lines.hits})


def _alarmed(_number: int, _frame: object) -> None:
    __tracebackhide__ = True  # the account ends where the test was
    raise Timeout


def _tell_files() -> None:
    """Tell `inspect`, which pytest asks for the source of a failure, the files of all modules.

    It would find them out itself, and follow each path link by link: a sixth of the time of a short run.
    """
    for module in list(sys.modules.values()):
        file = module.__dict__.get("__file__") if type(module) is ModuleType else None
        if isinstance(file, str):
            inspect.modulesbyfile[file] = module.__name__


def _described(excinfo: pytest.ExceptionInfo[BaseException]) -> tuple[str, str]:
    kind = excinfo.type
    name = kind.__qualname__ if kind.__module__ in ("builtins", "_pytest.outcomes") else ""
    try:
        message = str(excinfo.value)
    except BaseException:  # noqa: BLE001 - a foreign exception may do anything when it is asked for its text
        message = ""
    return name or f"{kind.__module__}.{kind.__qualname__}", message


def _asserts(file: Path) -> dict[int, int]:
    """First line of each function of a file → how much it asserts."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return {
        min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]): sum(
            map(_is_assert, ast.walk(node))
        )
        for node in functions
    }


def _is_assert(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return isinstance(node, ast.Assert)
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    return name.startswith("assert") or name in _RAISES


def _cut(text: str, at_most: int) -> str:
    if len(text) <= at_most:
        return text
    half = at_most // 2
    return f"{text[:half]}\n…\n{text[-half:]}"
