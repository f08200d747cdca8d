"""The model: a pure function from the messages of a conversation to the next tool calls."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from stages.agents.embedded import Call, Message
from stages.offline.body import Body, body
from stages.offline.conversation import Conversation, Turn, conversation, same
from stages.offline.diagnose import diagnose
from stages.offline.search import repair
from stages.offline.small import lost, review, summarise, triage, verify
from stages.offline.steps import Steps

_REMEMBERED: Final = 8
"""Conversations whose work is kept, so that a next turn need not be worked out from the first one."""


class _Work:
    """A conversation worked through up to its last turn."""

    def __init__(self, prompt: str, candidate_runs: int) -> None:
        self.turns: list[Turn] = []
        self._steps = _work(body(prompt), candidate_runs)
        self.next = next(self._steps)

    def follow(self, turn: Turn) -> None:
        """Go on with what the tools answered. A turn that this model did not ask for cannot be followed."""
        if len(turn.calls) != len(self.next) or not all(map(same, turn.calls, self.next)):
            self._steps.close()
            self._steps = lost()
            self.next = next(self._steps)
        else:
            self.next = self._steps.send(turn.results)
        self.turns.append(turn)


class RepairModel:
    """Gives the next tool calls. The same messages give the same calls, whatever was asked before."""

    def __init__(self, *, candidate_runs: int, remembered: int = _REMEMBERED) -> None:
        self._candidate_runs = candidate_runs
        self._remembered = remembered
        self._works: OrderedDict[str, _Work] = OrderedDict()

    def reply(self, messages: Sequence[Message]) -> tuple[Call, ...]:
        """The calls that follow on these messages."""
        given = conversation(messages)
        # Taken out while it is at work, so that two threads never share one.
        work = self._works.pop(given.prompt, None)
        if work is None or not _continues(given, work):
            work = _Work(given.prompt, self._candidate_runs)
        for turn in given.turns[len(work.turns) :]:
            work.follow(turn)
        self._works[given.prompt] = work
        while len(self._works) > self._remembered:
            self._works.popitem(last=False)
        return work.next


def _continues(given: Conversation, work: _Work) -> bool:
    return list(given.turns[: len(work.turns)]) == work.turns


def _work(asked: Body, candidate_runs: int) -> Steps[None]:
    match asked.title.removeprefix("# ").partition(":")[0]:
        case "Triage":
            return triage(asked)
        case "Diagnose" | "Rediagnose":
            return diagnose(asked)
        case "Develop" | "Refix":
            return repair(asked, candidate_runs=candidate_runs)
        case "Review":
            return review()
        case "Verify":
            return verify(asked)
        case _:
            return summarise(asked)
