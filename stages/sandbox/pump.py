"""Feeds and drains a command's descriptors side by side, so that neither of the two waits for the other."""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Callable
from typing import Final

_CHUNK: Final = 64 * 1024


class Pump:
    """Owns the descriptors that it is given, and closes them."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._draining = 0

    def feed(self, descriptor: int, data: bytes) -> None:
        """Write `data`, then close. A reader that does not want it all is no error."""
        self._register(descriptor, selectors.EVENT_WRITE, _Feed(data))

    def drain(self, descriptor: int, add: Callable[[bytes], None]) -> None:
        """Hand on all that comes until the last writer is gone."""
        self._register(descriptor, selectors.EVENT_READ, add)
        self._draining += 1

    def wake_for(self, descriptor: int) -> None:
        """End a turn when this descriptor becomes readable. It stays its owner's."""
        self._selector.register(descriptor, selectors.EVENT_READ, None)

    def turn(self, seconds: float) -> None:
        """Move what can be moved now, or the first that can be moved within so many seconds."""
        for key, _ in self._selector.select(seconds):
            if isinstance(key.data, _Feed):
                self._write(key.fd, key.data)
            elif key.data is not None:
                self._read(key.fd, key.data)

    def drain_rest(self, seconds: float) -> None:
        """Read on until all writers are gone, or so many seconds have passed."""
        until = time.monotonic() + seconds
        while self._draining and time.monotonic() < until:
            self.turn(0.05)

    def close(self) -> None:
        for key in list(self._selector.get_map().values()):
            if key.data is not None:
                os.close(key.fd)
        self._selector.close()

    def forget(self, descriptor: int) -> None:
        self._selector.unregister(descriptor)

    def _register(self, descriptor: int, event: int, data: object) -> None:
        os.set_blocking(descriptor, False)
        self._selector.register(descriptor, event, data)

    def _write(self, descriptor: int, feed: _Feed) -> None:
        try:
            feed.left = feed.left[os.write(descriptor, feed.left) :] if feed.left else feed.left
        except BlockingIOError:
            return
        except (BrokenPipeError, ConnectionResetError):
            feed.left = memoryview(b"")
        if not feed.left:
            self._drop(descriptor)

    def _read(self, descriptor: int, add: Callable[[bytes], None]) -> None:
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return
        except ConnectionResetError:  # a peer that died with unread data of ours
            data = b""
        if data:
            add(data)
        else:
            self._draining -= 1
            self._drop(descriptor)

    def _drop(self, descriptor: int) -> None:
        self._selector.unregister(descriptor)
        os.close(descriptor)


class _Feed:
    def __init__(self, data: bytes) -> None:
        self.left = memoryview(data)
