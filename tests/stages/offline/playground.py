"""A small tree of files in memory, played by the tool protocol, so that a search can be watched from end to end.

Tests of the tree are plain functions; what they run is counted line by line, and a step budget stands for a time-out.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType, FrameType, ModuleType
from typing import Any

from stages.agents.embedded import Message
from stages.offline.model import RepairModel

STEPS_AT_MOST = 60_000
"""Lines that one test may run before it counts as timed out."""
STEPS_IN_A_HURRY = 6_000


class OutOfSteps(BaseException):
    """A test ran too many lines."""


@dataclass
class Ran:
    """How one test went."""

    error: BaseException | None
    account: str
    lines: set[tuple[str, int]]


@dataclass
class Playground:
    """Files by path, tools by name, and what was asked of them. `commands` are checks without tests: they fail."""

    files: dict[str, str]
    commands: tuple[str, ...] = ()
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def use(self, name: str, arguments: dict[str, Any]) -> str:
        """The result of a tool call, in the words of the protocol."""
        self.asked.append((name, arguments))
        tool: Callable[..., str] = getattr(self, f"_{name}")
        return tool(**arguments)

    @property
    def candidate_runs(self) -> int:
        """Runs that followed an edit which stood in the tree."""
        return sum(1 for name, arguments in self.asked if name == "run" and not arguments.get("coverage"))

    def _list(self, path: str = "") -> str:
        return "\n".join(f"| {own}" for own in sorted(self.files) if own.startswith(path))

    def _search(self, text: str, path: str = "") -> str:
        hits = [
            f"| {own}:{number}: {line}"
            for own, content in sorted(self.files.items())
            for number, line in enumerate(content.split("\n"), 1)
            if text in line and own.startswith(path)
        ]
        return "\n".join(hits) or "(nothing found)"

    def _read(self, path: str, start: int = 1, end: int | None = None) -> str:
        if path not in self.files:
            return f"refused: there is no file {path}"
        lines = self.files[path].removesuffix("\n").split("\n")
        last = min(end or len(lines), start + 399, len(lines))
        shown = [f"{number}| {lines[number - 1]}" for number in range(start, last + 1)]
        return "\n".join(shown + ([f"(cut: lines {start}-{last} of {len(lines)})"] if last < len(lines) else []))

    def _edit(self, path: str, old: str, new: str) -> str:
        if path.startswith("tests/"):
            raise AssertionError(f"a test file was edited: {path}")
        text = self.files[path]
        if text.count(old) != 1:
            return f"refused: this stands {text.count(old)} times in {path}"
        self.files[path] = text.replace(old, new)
        return f"edited {path} at line {text[: text.index(old)].count(chr(10)) + 1}"

    def _run(
        self,
        check: str,
        tests: Sequence[str] = (),
        coverage: bool = False,
        stop_at_first: bool = False,
        seconds: float = 0,
    ) -> str:
        if check in self.commands:
            return f"run {check}: exit 1"
        if missing := [test for test in tests if test not in self.tests()]:
            return f"run {check}: exit 4, 0 tests: 0 passed, 0 failed, 0 skipped\n| no such test: {missing[0]}"
        ran: dict[str, Ran] = {}
        for test in tests or self.tests():
            ran[test] = self.run_test(test, STEPS_IN_A_HURRY if seconds else STEPS_AT_MOST)
            if stop_at_first and ran[test].error is not None:
                break
        failed = {test: one for test, one in ran.items() if one.error is not None}
        late = ", timed out" if any(isinstance(one.error, OutOfSteps) for one in failed.values()) else ""
        counts = f"{len(ran) - len(failed)} passed, {len(failed)} failed"
        lines = [f"run {check}: exit {1 if failed else 0}, {len(ran)} tests: {counts}, 0 skipped{late}"]
        for test, one in failed.items():
            lines += [f"| failed {test}", *(f"|   {line}" for line in one.account.split("\n"))]
        return "\n".join([*lines, *(_hits(ran) if coverage else ())])

    def tests(self) -> list[str]:
        """Ids of all tests, in the order of the files."""
        return [
            f"{path}::{line.split('(')[0].removeprefix('def ')}"
            for path, text in sorted(self.files.items())
            if path.startswith("tests/")
            for line in text.split("\n")
            if line.startswith("def test_")
        ]

    def run_test(self, test: str, at_most: int = STEPS_AT_MOST) -> Ran:
        """Run one test in freshly loaded modules."""
        path, _, name = test.partition("::")
        lines: set[tuple[str, int]] = set()
        steps = 0

        def local(frame: FrameType, event: str, _: object) -> Any:
            nonlocal steps
            steps += 1
            if steps > at_most:
                raise OutOfSteps
            lines.add((frame.f_code.co_filename, frame.f_lineno))
            return local

        def called(frame: FrameType, event: str, _: object) -> Any:
            return local if frame.f_code.co_filename in self.files else None

        depth, tracing = sys.getrecursionlimit(), sys.gettrace()
        with _modules(self.files):
            try:
                namespace: dict[str, Any] = {"__name__": "tested"}
                exec(compile(self.files[path], path, "exec"), namespace)
                sys.setrecursionlimit(300 + len(traceback.extract_stack()))
                sys.settrace(called)
                namespace[name]()
            except (Exception, OutOfSteps) as error:  # noqa: BLE001 - a test may fail in any way
                sys.settrace(tracing)
                return Ran(error=error, account=_account(error, self.files), lines=lines)
            finally:
                sys.settrace(tracing)
                sys.setrecursionlimit(depth)
        return Ran(error=None, account="", lines=lines)


def _account(error: BaseException, files: dict[str, str]) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
    source = [f">   {frame.line or files[frame.filename].split(chr(10))[(frame.lineno or 1) - 1]}" for frame in frames]
    places = [f"  {frame.filename}:{frame.lineno}: " for frame in frames]
    places[-1:] = [f"{place}{type(error).__name__}" for place in places[-1:]]  # as pytest does: behind the last one
    return "\n".join([f"{type(error).__name__}: {error}", *source[:1], *places[-20:]])


def _hits(ran: dict[str, Ran]) -> Iterator[str]:
    places = sorted({place for one in ran.values() for place in one.lines})
    for path in sorted({path for path, _ in places}, key=lambda path: (path.startswith("tests/"), path)):
        counts = [
            f"{line}:{_count(ran, (path, line), red=True)}/{_count(ran, (path, line), red=False)}"
            for own, line in places
            if own == path
        ]
        yield f"| lines {' '.join(counts)} in {path}"


def _count(ran: dict[str, Ran], place: tuple[str, int], *, red: bool) -> int:
    return sum(1 for one in ran.values() if place in one.lines and (one.error is not None) is red)


class _Finder:
    """Imports modules from files in memory."""

    def __init__(self, files: dict[str, str]) -> None:
        self.code: dict[str, tuple[str, str]] = {}
        for path, text in files.items():
            self.code[path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")] = (
                path,
                text,
            )

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        from importlib.machinery import ModuleSpec

        if name not in self.code:
            return None
        own = self.code[name][0]
        return ModuleSpec(name, self, origin=own, is_package=own.endswith("__init__.py"))  # type: ignore[arg-type]

    def create_module(self, spec: object) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        path, text = self.code[module.__name__]
        code: CodeType = compile(text, path, "exec")
        exec(code, module.__dict__)


@contextmanager
def _modules(files: dict[str, str]) -> Iterator[None]:
    finder = _Finder(files)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in finder.code:
            sys.modules.pop(name, None)


@dataclass
class Played:
    """A conversation that came to its end: the arguments of `finish`, and all messages."""

    answer: dict[str, Any]
    messages: list[Message]
    ground: Playground
    calls: int


def play(
    prompt: str,
    ground: Playground,
    *,
    candidate_runs: int = 500,
    model: RepairModel | None = None,
    accept: Callable[[dict[str, Any]], str] = lambda answer: "",
) -> Played:
    """Play a conversation to its end. `accept` gives the reason why an answer is refused, "" when it is not."""
    model = model or RepairModel(candidate_runs=candidate_runs)
    messages: list[Message] = [{"role": "user", "content": prompt}]
    calls = 0
    while True:
        reply = model.reply(messages)
        calls += len(reply)
        told: list[Message] = []
        asked: list[dict[str, Any]] = []
        for place, call in enumerate(reply):
            identifier = f"call_{len(messages)}_{place}"
            arguments = json.loads(call.arguments)
            # As the loop keeps it: keys in the order of the alphabet.
            written = json.dumps(arguments, sort_keys=True, ensure_ascii=False)
            asked.append({"id": identifier, "type": "function", "function": {"name": call.name, "arguments": written}})
            if call.name == "finish":
                reason = accept(arguments)
                if not reason:
                    return Played(answer=arguments, messages=messages, ground=ground, calls=calls)
                result = f"refused: {reason}"
            else:
                result = ground.use(call.name, arguments)
            told.append({"role": "tool", "tool_call_id": identifier, "content": result})
        messages = [*messages, {"role": "assistant", "content": None, "tool_calls": asked}, *told]
