"""What is kept of what a command prints and reports: never more than the caps, however much comes."""

from __future__ import annotations

from collections import deque
from typing import Final

_ROOM_FOR_THE_GAP: Final = 64  # characters of the line that says how much was left out


class HeadAndTail:
    """Keeps the first and the last half of a stream."""

    def __init__(self, at_most: int) -> None:
        half = (at_most - _ROOM_FOR_THE_GAP) // 2
        self._head, self._head_room = bytearray(), half
        self._tail: deque[bytes] = deque()
        self._tail_size, self._tail_room = 0, half
        self._left_out = 0

    def add(self, data: bytes) -> None:
        taken = data[: self._head_room - len(self._head)]
        self._head += taken
        if len(data) > len(taken):
            self._to_tail(data[len(taken) :])

    @property
    def text(self) -> str:
        """The whole stream, or head and tail around a line that tells how many bytes are left out."""
        tail = b"".join(self._tail)
        left_out = self._left_out + max(0, len(tail) - self._tail_room)
        tail = tail[-self._tail_room :]
        if not left_out:
            return (self._head + tail).decode(errors="replace")
        gap = f"\n({left_out} bytes left out)\n"
        return self._head.decode(errors="replace") + gap + tail.decode(errors="replace")

    def _to_tail(self, data: bytes) -> None:
        self._tail.append(data)
        self._tail_size += len(data)
        while self._tail_size - len(self._tail[0]) >= self._tail_room:
            gone = len(self._tail.popleft())
            self._tail_size -= gone
            self._left_out += gone


class Capped:
    """Keeps the beginning of a stream, and knows whether more came."""

    def __init__(self, at_most: int) -> None:
        self._kept, self._at_most = bytearray(), at_most
        self.cut = False

    def add(self, data: bytes) -> None:
        room = self._at_most - len(self._kept)
        self._kept += data[:room]
        self.cut = self.cut or len(data) > room

    @property
    def data(self) -> bytes:
        return bytes(self._kept)
