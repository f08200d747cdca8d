"""The work of one conversation: tool calls done in order, the model's misses counted, until an answer was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias, TypeVar

from stages.agents.base import REFUSALS_AT_MOST, Answer, Reading
from stages.agents.conversation import Conversation
from stages.agents.schemas import FINISH
from stages.agents.tools import Tools, Used, refusal
from stages.agents.turn import Message, ToolCall, Turn
from stages.errors import UnreadableAnswer
from stages.journal import Journal, ModelSaid, ToolUsed

Found = TypeVar("Found")
Ask: TypeAlias = Callable[[Conversation, list[dict[str, Any]]], Turn]

EQUAL_CALLS: Final = 3
_EVENT_CUT: Final = 4_000  # characters

_NO_CALL: Final = "Answer with a call of one of the tools. When the work is done, call finish."
_CUT: Final = "Your answer was stopped at its limit of length. Do less in one call."


class Work:
    """One conversation: which calls were made, and how often the model missed."""

    def __init__(
        self,
        ask: Ask,
        tools: Tools,
        journal: Journal,
        reading: Reading[Found],
        clean: Callable[[str], str] = str,
    ) -> None:
        self._ask, self._tools, self._journal, self._reading, self._clean = ask, tools, journal, reading, clean
        self._last: tuple[str, str] = ("", "")
        self._equal = self._misses = 0

    def through(self, conversation: Conversation) -> None:
        """Until `finish` was read. Raises UnreadableAnswer when the model gets nowhere."""
        while True:
            turn = self._ask(conversation, self._tools.functions)
            if turn.text:
                self._journal.happened(ModelSaid(text=turn.text[:_EVENT_CUT]))
            answers = self._answers(turn)
            if answers is None:
                return
            conversation.add(turn.message, answers)

    def _answers(self, turn: Turn) -> list[Message] | None:
        """What the model is told, or None when its answer was read."""
        if not turn.calls:
            self._missed(_CUT if turn.cut else "it called no tool", at_most=1)
            return [{"role": "user", "content": _CUT if turn.cut else _NO_CALL}]
        answers, used = list[Message](), list[Used]()
        for call in turn.calls:
            self._guard(call)
            done = self._use(call, turn)
            if done is None:
                return None
            used.append(done)
            answers.append(
                {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": self._clean(done.text)}
            )
        if any(one.usable for one in used):
            self._misses = 0
        else:
            known = any(call.arguments is not None and call.name in self._tools.names for call in turn.calls)
            self._missed(used[0].text, at_most=REFUSALS_AT_MOST if known else 1)
        return answers

    def _use(self, call: ToolCall, turn: Turn) -> Used | None:
        """What a call came to, or None when it was a `finish` that code has read."""
        if call.arguments is None:
            used = refusal(f"{call.problem}. {_CUT if turn.cut else ''}", usable=False)
        elif (problem := self._tools.misuse(call.name, call.arguments)) is not None:
            used = refusal(problem, usable=False)
        elif call.name == FINISH:
            answer = Answer(fields=call.arguments, text=turn.text)
            refused = self._reading.refusal(answer)
            used = Used(text="read") if refused is None else refusal(refused)
        else:
            used = self._tools.use(call.name, call.arguments)
        self._journal.happened(
            ToolUsed(
                tool=call.name[:100],
                arguments=call.json[:_EVENT_CUT],
                result=used.text[:_EVENT_CUT],
                refused=used.refused,
            )
        )
        return None if call.name == FINISH and not used.refused else used

    def _guard(self, call: ToolCall) -> None:
        """Raises UnreadableAnswer at the third equal call in a row; a refused `finish` has a limit of its own."""
        now = (call.name, call.json)
        self._equal = self._equal + 1 if now == self._last else 1
        self._last = now
        if self._equal >= EQUAL_CALLS and call.name != FINISH:
            raise UnreadableAnswer(
                reason=f"the model called {call.name[:60]} three times in a row with equal arguments"
            )

    def _missed(self, what: str, *, at_most: int) -> None:
        self._misses += 1
        if self._misses > at_most:
            raise UnreadableAnswer(reason=f"the model gave no answer that can be used: {what}")
