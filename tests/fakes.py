"""Doubles of our own protocols: they record what they were told, and are as strict as the real thing."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

from memory import types
from memory.types import (
    Block,
    CheckId,
    CommitId,
    MemoryContext,
    MemoryVersion,
    RepositoryId,
    Scope,
    TicketId,
)
from stages.agents.limits import Budget, Limits
from stages.agents.model import FREE, Model, Price
from stages.case import Asking, Case
from stages.checks import Checks
from stages.errors import Refused
from stages.journal import Event, ModelAnswered, ToolUsed
from stages.patch import FileChange, Patch
from stages.prompt import EntryPoint, Prompt
from stages.report import Check, CheckKind, CheckReport, Outcome, Reproduction, TestOutcome
from stages.sandbox.plain import Plain
from stages.ticket import Comment, Ticket
from stages.workspace import Workspace

SCOPE: Final = Scope(installation="local", repository=RepositoryId("host/shop"))
NOW: Final = datetime(2026, 11, 3, 12, tzinfo=UTC)
PYTEST: Final = Check(name=CheckId("pytest"), kind=CheckKind.PYTEST)
LINT: Final = Check(name=CheckId("lint"), kind=CheckKind.COMMAND, arguments=("lint", "."))
RED: Final = CheckId("tests/test_cart.py::test_total")
GREEN: Final = CheckId("tests/test_cart.py::test_empty")


def never() -> bool:
    """Nobody stopped the run."""
    return False


# --- What a prompt needs -------------------------------------------------------------------------------------------


def context(entry_point: EntryPoint, **blocks: Block) -> MemoryContext:
    """What recall would have made of an empty memory, or with these blocks."""
    return MemoryContext(
        seal=types._THE_SEAL,
        version=MemoryVersion(scope=SCOPE, number=0, digest="empty"),
        entry_point=entry_point.value,
        tuning=blocks.get("tuning", Block()),
        lessons=blocks.get("lessons", Block()),
        notes=blocks.get("notes", Block()),
        rule="coverage",
        searched=0,
    )


def prompt(entry_point: EntryPoint = EntryPoint.DIAGNOSE, body: str = "# Diagnose: find it.") -> Prompt:
    return Prompt(entry_point=entry_point, context=context(entry_point), body=body)


def ticket(title: str = "Total is wrong", body: str = "The total of a cart is one too high.", *said: str) -> Ticket:
    comments = tuple(Comment(author="ada", text=text) for text in said)
    return Ticket(id=TicketId("local:1"), title=title, body=body, comments=comments)


def case(given: Ticket | None = None, **more: Any) -> Case:
    """A case with two checks and two known tests, of which one is red."""
    fields: dict[str, Any] = {
        "ticket": given or ticket(),
        "asking": Asking(scope=SCOPE, at=NOW),
        "checks": (PYTEST, LINT),
        "known": {PYTEST.name: (RED, GREEN), LINT.name: ()},
        "red": (RED,),
    }
    return Case(**{**fields, **more})


class Clock:
    """Seconds that pass when told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def budget(clock: Clock | None = None, stopped: Callable[[], bool] = never, **limits: Any) -> Budget:
    return Budget(Limits(**limits), clock=clock or Clock(), stopped=stopped)


@dataclass
class RecordingJournal:
    """Keeps prompts and events in order."""

    prompts: list[Prompt] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def asked(self, prompt: Prompt) -> None:
        self.prompts.append(prompt)

    def happened(self, event: Event) -> None:
        self.events.append(event)

    @property
    def tools(self) -> list[ToolUsed]:
        return [event for event in self.events if isinstance(event, ToolUsed)]

    @property
    def answers(self) -> list[ModelAnswered]:
        return [event for event in self.events if isinstance(event, ModelAnswered)]


# --- A workspace without a disk ------------------------------------------------------------------------------------

Shows: TypeAlias = Callable[[Mapping[str, bytes], CheckId, Sequence[CheckId]], CheckReport]


def report(check: str = "pytest", *outcomes: TestOutcome, **more: Any) -> CheckReport:
    failed = any(outcome.outcome is Outcome.FAILED for outcome in outcomes)
    fields: dict[str, Any] = {
        "check": CheckId(check),
        "exit_status": int(failed),
        "seconds": 0.1,
        "outcomes": outcomes,
        "collected": tuple(outcome.id for outcome in outcomes),
    }
    return CheckReport(**{**fields, **more})


def failed(
    test: str = RED, type_: str = "AssertionError", message: str = "assert 3 == 4", text: str = ""
) -> TestOutcome:
    return TestOutcome(id=CheckId(test), outcome=Outcome.FAILED, type=type_, message=message, text=text)


def passed(test: str = GREEN) -> TestOutcome:
    return TestOutcome(id=CheckId(test), outcome=Outcome.PASSED)


class TreeInMemory(Workspace):
    """Files in a mapping; `shows` says what a run of a check shows."""

    def __init__(
        self, files: Mapping[str, bytes | str] | None = None, shows: Shows | None = None, tree: Path = Path("/nowhere")
    ) -> None:
        self.tree, self.base, self.checks = tree, CommitId("c" * 40), (PYTEST, LINT)
        self._base = {path: text.encode() if isinstance(text, str) else text for path, text in (files or {}).items()}
        self.now = dict(self._base)
        self._shows = shows or (lambda files, check, tests: report(check, failed(RED), passed(GREEN)))
        self.runs: list[tuple[CheckId, tuple[CheckId, ...]]] = []
        self.hurries: list[float | None] = []
        self.absorbed = False

    def files(self, folder: str = "") -> tuple[str, ...]:
        self._inside(folder)
        below = f"{folder.rstrip('/')}/" if folder else ""
        return tuple(sorted(path for path in self.now if path.startswith(below)))

    def read(self, path: str) -> bytes:
        self._inside(path)
        if path not in self.now:
            raise Refused(reason=f"there is no file {path}")
        return self.now[path]

    def write(self, path: str, data: bytes) -> None:
        self._inside(path)
        self.now[path] = data

    def remove(self, path: str) -> None:
        self.now.pop(path)

    def run(
        self,
        check: CheckId,
        *,
        tests: Sequence[CheckId] = (),
        with_files: bool = False,
        coverage: bool = False,
        stop_at_first: bool = False,
        test_seconds: float | None = None,
        hurry: float | None = None,
        at_base: bool = False,
        stopped: Callable[[], bool] = never,
        warm: Checks | None = None,
    ) -> CheckReport:
        if check not in [known.name for known in self.checks]:
            raise Refused(reason=f"there is no check {check}")
        self.runs.append((check, tuple(tests)))
        self.hurries.append(hurry)
        return self._shows(self.now, check, tests)

    @contextmanager
    def warm(self) -> Iterator[Checks]:
        yield Checks(Plain(), Path(sys.executable))

    def absorb(self) -> None:
        self.absorbed = True

    def patch(self, *, touched_only: bool = True) -> Patch:
        changed = [path for path, data in self.now.items() if self._base.get(path) != data]
        files = tuple(FileChange(path=path, status="M", old_mode="100644", new_mode="100644") for path in changed)
        return Patch(diff="".join(f"diff --git a/{path} b/{path}\n" for path in changed), files=files)

    def reset(self) -> None:
        self.now = dict(self._base)

    def place(self, reproduction: Reproduction) -> None:
        self.now[reproduction.path] = reproduction.text.encode()

    @staticmethod
    def _inside(path: str) -> None:
        if path.startswith("/") or ".." in path.split("/") or ".git" in path.split("/"):
            raise Refused(reason=f"{path} is outside the tree")


# --- A model in this process ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Says:
    """One scripted answer. Each call is (tool, arguments); arguments may be text that is no JSON."""

    calls: tuple[tuple[str, Mapping[str, object] | str], ...] = ()
    text: str | None = None
    tokens_in: int = 1_000
    tokens_out: int = 50
    finish_reason: str | None = None
    ids: tuple[str | None, ...] = ()


def says(*calls: tuple[str, Mapping[str, object] | str], **more: Any) -> Says:
    return Says(calls=calls, **more)


Answering: TypeAlias = Says | Exception | Callable[[Sequence[Mapping[str, Any]]], Says]
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_WORDS_OF_SCHEMAS: Final = {"type", "properties", "required", "additionalProperties", "description", "items", "enum"}


class ScriptedModel:
    """A model behind litellm's custom provider `scripted`, that gives these answers in order.

    It refuses what real providers refuse: a conversation that does not begin with the user, an empty message, a tool
    call without its result or a result without its call, arguments that are no JSON object, a malformed tool.
    """

    def __init__(self, *answers: Answering) -> None:
        self._answers = list(answers)
        self.requests: list[list[dict[str, Any]]] = []
        self.tools: list[dict[str, Any]] = []
        self.parameters: list[dict[str, Any]] = []
        self.refused: list[str] = []

    def model(self, **more: Any) -> Model:
        fields: dict[str, Any] = {"name": "scripted/one", "price": FREE, "provider": self.handler}
        return Model(**{**fields, **more})

    def handler(self) -> object:
        from litellm.llms.custom_llm import CustomLLM

        outer = self

        class Handler(CustomLLM):
            def completion(self, *_: Any, **call: Any) -> Any:
                return outer._completion(call["messages"], call["optional_params"])

        return Handler()

    def _completion(self, messages: list[dict[str, Any]], parameters: dict[str, Any]) -> Any:
        self.requests.append(json.loads(json.dumps(messages)))
        self.tools = parameters.get("tools", [])
        self.parameters.append(parameters)
        problem = problem_of(messages, self.tools) or ("" if self._answers else "the script is over")
        if problem:
            from litellm.exceptions import BadRequestError

            self.refused.append(problem)
            raise BadRequestError(message=problem, model="one", llm_provider="scripted")
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return response(answer if isinstance(answer, Says) else answer(messages), len(self.requests))


def response(said: Says, turn: int) -> Any:
    """An answer in litellm's form."""
    from litellm.types.utils import (
        ChatCompletionMessageToolCall,
        Choices,
        Function,
        Message,
        ModelResponse,
        Usage,
    )

    calls = [
        ChatCompletionMessageToolCall(
            id=said.ids[number] if number < len(said.ids) else f"c{turn}_{number}",
            type="function",
            function=Function(name=name, arguments=sent if isinstance(sent, str) else json.dumps(sent)),
        )
        for number, (name, sent) in enumerate(said.calls)
    ]
    message = Message(role="assistant", content=said.text, tool_calls=calls or None)
    reason = said.finish_reason or ("tool_calls" if calls else "stop")
    usage = Usage(
        prompt_tokens=said.tokens_in, completion_tokens=said.tokens_out, total_tokens=said.tokens_in + said.tokens_out
    )
    return ModelResponse(model="one", choices=[Choices(finish_reason=reason, index=0, message=message)], usage=usage)


def problem_of(messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> str:
    """Why a real provider would refuse this request; empty when it would not."""
    if not messages or messages[0].get("role") != "user":
        return "the conversation does not begin with the user"
    waiting: set[str] = set()
    for message in messages:
        role, content = message.get("role"), message.get("content")
        if role == "tool":
            if message.get("tool_call_id") not in waiting or not isinstance(content, str):
                return "a tool result answers no call"
            waiting.discard(message["tool_call_id"])
            continue
        if waiting:
            return f"calls without results: {sorted(waiting)}"
        if role not in ("user", "assistant"):
            return f"unknown role {role}"
        calls = message.get("tool_calls") or []
        if not calls and not (isinstance(content, str) and content.strip()):
            return "an empty message"
        for call in calls:
            if problem := _problem_of_call(call, waiting):
                return problem
            waiting.add(call["id"])
    return f"calls without results: {sorted(waiting)}" if waiting else _problem_of_tools(tools)


def _problem_of_call(call: Mapping[str, Any], waiting: set[str]) -> str:
    if not call.get("id") or call["id"] in waiting or call.get("type") != "function":
        return "a call without an id of its own"
    if not _NAME.fullmatch(call["function"]["name"]):
        return "a call of a tool that no tool can be named"
    try:
        arguments = json.loads(call["function"]["arguments"])
    except ValueError:
        return "arguments that are no JSON"
    return "" if isinstance(arguments, dict) else "arguments that are no object"


def _problem_of_tools(tools: Sequence[Mapping[str, Any]]) -> str:
    names = [tool["function"]["name"] for tool in tools]
    if len(set(names)) != len(names):
        return "two tools of one name"
    for tool in tools:
        if tool.get("type") != "function" or not _NAME.fullmatch(tool["function"]["name"]):
            return "a malformed tool"
        if problem := _problem_of_schema(tool["function"]["parameters"]):
            return problem
    return ""


def _problem_of_schema(schema: Mapping[str, Any]) -> str:
    if unknown := set(schema) - _WORDS_OF_SCHEMAS:
        return f"unknown words in a schema: {sorted(unknown)}"
    if schema.get("type") == "object":
        if not set(schema["required"]) <= set(schema["properties"]):
            return "a required field that is not described"
        return next(filter(None, map(_problem_of_schema, schema["properties"].values())), "")
    if schema.get("type") == "array":
        return _problem_of_schema(schema["items"])
    return ""


PRICED: Final = Price(input=3.0, output=15.0)
