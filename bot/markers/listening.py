"""Who listens at the end of each way to a model, and the agent that puts every question of a run to all of them."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from bot.markers.ways import Recording, Way, endpoint, provider, write_program
from bot.programs import program_for
from stages.agents.base import Agent, Reading
from stages.agents.limits import Budget
from stages.agents.loop import Loop
from stages.agents.model import Model
from stages.agents.program import ProgramAgent
from stages.journal import Journal
from stages.prompt import May, Prompt
from stages.sandbox import Command, Ran, Sandbox
from stages.workspace import Workspace

Found = TypeVar("Found")


@dataclass(frozen=True, kw_only=True)
class Listener:
    """A recording model at the end of one way; `agent` makes what asks it."""

    recording: Recording
    agent: Callable[[Journal, Sandbox], Agent]


@contextmanager
def listening(ways: Iterable[Way], folder: Path) -> Iterator[dict[Way, Listener]]:
    """One at the end of each of these ways, gone with the block; `folder` is for the program."""
    with ExitStack() as open_until_then:
        yield {way: _listener(way, open_until_then, folder) for way in ways}


def _listener(way: Way, open_until_then: ExitStack, folder: Path) -> Listener:
    recording = Recording()
    match way:
        case Way.PROVIDER:
            return by_model(recording, provider(recording))
        case Way.HTTP:
            return by_model(recording, open_until_then.enter_context(endpoint(recording)))
        case Way.PROGRAM:
            return by_program(recording, write_program(folder))


def by_model(recording: Recording, model: Model) -> Listener:
    """It listens as this model."""
    return Listener(recording=recording, agent=lambda journal, _: Loop(journal, model))


def by_program(recording: Recording, path: Path) -> Listener:
    """It listens as the program at `path`."""
    program = program_for((str(path),))
    return Listener(
        recording=recording,
        agent=lambda journal, sandbox: ProgramAgent(journal, program, Noting(sandbox, recording)),
    )


class Noting:
    """A sandbox that notes what the recording program says it was given."""

    def __init__(self, sandbox: Sandbox, recording: Recording) -> None:
        self._sandbox, self._recording = sandbox, recording

    def run(self, command: Command, *, stopped: Callable[[], bool] = lambda: False) -> Ran:
        ran = self._sandbox.run(command, stopped=stopped)
        for line in ran.output.splitlines():
            if line.startswith("PROMPT "):
                self._recording.keep(base64.b64decode(line.removeprefix("PROMPT ")).decode())
        return ran


class EachWay(Agent):
    """Puts every question to all of these, one after the other.

    Each finds the tree as it was, and has its answer read; the last answer counts.
    """

    def __init__(self, journal: Journal, agents: Sequence[Agent]) -> None:
        super().__init__(journal)
        self._agents = agents

    def _converse(self, prompt: Prompt, workspace: Workspace, limits: Budget, reading: Reading[Found]) -> None:
        for place, agent in enumerate(self._agents):
            if place and May.WRITE in prompt.entry_point.may:
                workspace.reset()
            agent._converse(prompt, workspace, limits, reading)
