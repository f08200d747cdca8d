"""The messages of one conversation, kept under the model's window: prompt, newest turns, and how many are gone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from stages.agents.turn import Message
from stages.errors import LimitReached

_CHARACTERS_PER_TOKEN: Final = 3.2  # of ASCII, on the careful side for source code; others count one each
_TOKENS_PER_MESSAGE: Final = 8


def tokens(text: str) -> int:
    """About how many tokens a text is, rather too many than too few."""
    ascii_ = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return int(ascii_ / _CHARACTERS_PER_TOKEN) + len(text) - ascii_ + 1


class Conversation:
    """`prompt` is the first message, alone and whole, in every call."""

    def __init__(self, prompt: str) -> None:
        self._prompt: Message = {"role": "user", "content": prompt}
        self._turns: list[tuple[list[Message], int]] = []
        self._left_out = 0  # tool results

    def add(self, message: Message, answers: Sequence[Message]) -> None:
        """One turn: what the model said, and what it was told."""
        turn = [message, *answers]
        self._turns.append((turn, sum(map(_size, turn))))

    def within(self, room: int) -> tuple[list[Message], int]:
        """The messages to send, of at most `room` tokens, and their size. What does not fit is left out for good.

        Raises LimitReached when the prompt and the last turn alone do not fit.
        """
        size = _size(self._prompt) + sum(turn_size for _, turn_size in self._turns)
        while size > room and len(self._turns) > 1:
            turn, turn_size = self._turns.pop(0)
            size -= turn_size
            self._left_out += sum(message["role"] == "tool" for message in turn)
        if size > room:
            raise LimitReached(limit="model's window", spent=f"{size} tokens", allowed=room)
        messages = [message for turn, _ in self._turns for message in turn]
        if self._left_out:
            messages = self._noted(messages)
        return [self._prompt, *messages], size

    def _noted(self, messages: list[Message]) -> list[Message]:
        """The same with a note at the head of the first thing that the model is told."""
        note = f"({self._left_out} earlier tool results left out)"
        place = next(place for place, message in enumerate(messages) if message["role"] != "assistant")
        told = messages[place]
        return [*messages[:place], {**told, "content": f"{note}\n{told['content']}"}, *messages[place + 1 :]]


def _size(message: Message) -> int:
    calls = message.get("tool_calls")
    return (
        tokens(str(message.get("content") or ""))
        + (tokens(json.dumps(calls, ensure_ascii=False)) if calls else 0)
        + tokens(str(message.get("thinking_blocks") or ""))
        + _TOKENS_PER_MESSAGE
    )
