"""An external program as agent: prompt on stdin, work in the tree, a JSON object at the end of its output."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from stages.agents.arguments import mismatch
from stages.agents.base import Agent, Answer, Reading
from stages.agents.limits import Budget
from stages.answers import FIELDS
from stages.checks import Runs
from stages.errors import ParkCause, Parked, Refused, Stopped, UnreadableAnswer
from stages.journal import Journal, ModelAnswered, ModelSaid
from stages.prompt import May, Prompt
from stages.sandbox import Command, Ran

if TYPE_CHECKING:
    from stages.workspace import Workspace

Found = TypeVar("Found")

_CANNOT_START: Final = (126, 127)  # what a shell, and env, say of a command that is not there or not for them
_STARTS_AT_MOST: Final = 500
_JSON_AT_MOST: Final = 256 * 1024  # characters
_EVENT_CUT: Final = 4_000  # characters
_HOSTS_TOLD: Final = 5


@dataclass(frozen=True, kw_only=True)
class Program:
    """`environment` are all variables that it gets, `readable` the paths besides the system's that it may read, and
    `hosts` the places in the network that it may reach, such as its model's."""

    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    readable: tuple[Path, ...] = ()
    timeout_seconds: float = 1_800.0
    hosts: tuple[str, ...] = ()


class ProgramAgent(Agent):
    """Has a program answer, in the sandbox: one call of the budget, one try. It may write the tree only where the
    entry point lets an agent write."""

    def __init__(self, journal: Journal, program: Program, sandbox: Runs) -> None:
        super().__init__(journal)
        self._program, self._sandbox = program, sandbox

    def _converse(self, prompt: Prompt, workspace: Workspace, limits: Budget, reading: Reading[Found]) -> None:
        limits.before_call()
        ran = self._run(prompt, workspace, limits)
        limits.after_call(tokens=0, money=0.0)
        self._journal.happened(
            ModelAnswered(model=self._program.command[0], tokens_in=0, tokens_out=0, price=0.0, seconds=ran.seconds)
        )
        self._journal.happened(ModelSaid(text=ran.output[-_EVENT_CUT:]))
        if limits.stopped:
            raise Stopped
        fields = self._fields(ran)
        if problem := mismatch(FIELDS[prompt.entry_point], fields):
            raise UnreadableAnswer(reason=problem)
        if May.WRITE in prompt.entry_point.may:
            _absorb(workspace)
        reading.refusal(Answer(fields=fields, text=ran.output))

    def _run(self, prompt: Prompt, workspace: Workspace, limits: Budget) -> Ran:
        command = Command(
            arguments=self._program.command,
            tree=workspace.tree,
            environment=self._program.environment,
            readable=self._program.readable,
            stdin=prompt.text.encode(),
            timeout_seconds=max(1.0, min(self._program.timeout_seconds, limits.seconds_left)),
            tree_writable=May.WRITE in prompt.entry_point.may,
            hosts=self._program.hosts,
        )
        return self._sandbox.run(command, stopped=lambda: limits.stopped)

    def _fields(self, ran: Ran) -> Mapping[str, object]:
        name = self._program.command[0]
        if ran.timed_out:
            raise UnreadableAnswer(reason=f"{name} did not end in time")
        if ran.exit_status in _CANNOT_START:
            raise Parked(cause=ParkCause.ENVIRONMENT, reason=f"{name} cannot be started in the sandbox")
        if ran.exit_status != 0:
            how = "was killed" if ran.exit_status is None else f"ended with exit status {ran.exit_status}"
            said = ran.output.strip()[-300:] or "it printed nothing"
            raise UnreadableAnswer(reason=f"{name} {how}{_closed_to(ran)}: {said}")
        fields = last_object(ran.output)
        if fields is None:
            raise UnreadableAnswer(reason=f"the output of {name} does not end with a JSON object")
        return fields


def _closed_to(ran: Ran) -> str:
    if not ran.refused:
        return ""
    hosts = ", ".join(ran.refused[:_HOSTS_TOLD])
    return f" (it asked for {hosts}, which `hosts` under [program] in the operator's ticketsmith.toml do not name)"


def _absorb(workspace: Workspace) -> None:
    try:
        workspace.absorb()
    except Refused as refused:
        raise UnreadableAnswer(reason=str(refused)) from refused


def last_object(text: str) -> Mapping[str, object] | None:
    """The last JSON object in a text, the outermost where they are nested."""
    text = text[-_JSON_AT_MOST:]
    decoder = json.JSONDecoder()
    found: Mapping[str, object] | None = None
    reach, at = 0, len(text)
    for _ in range(_STARTS_AT_MOST):
        at = text.rfind("{", 0, at)
        if at < 0:
            break
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        if found is None or end > reach:  # it encloses the one that was found before
            found, reach = value, end
    return found
