"""Towns that were kept as they stood, and are set up again for each test: what leads there takes a second or more."""

from __future__ import annotations

import pickle
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from stages.prompt import EntryPoint
from tests.bot.course.town import Town
from tests.bot.kit import Act, Script
from tests.github_server.fixtures import watched
from tests.github_server.github import GitHub

# What the program does of itself comes five minutes after a push at the earliest: nothing is due yet in a copy.
SECONDS_AT_MOST: Final = 180.0

Copies: TypeAlias = Callable[..., tuple[Town, Any]]


@dataclass(frozen=True, kw_only=True)
class Beginning:
    """How a town comes to where tests find it. `happens` gives what they want to know of it, beside the town."""

    happens: Callable[[Town], Any]
    script: Callable[[], Script] = Script.of
    files: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A town that was left. What it wrote holds its path and its port, so each copy stands where it stood."""

    beginning: Beginning
    place: Path
    files: Path
    port: socket.socket  # bound, so that nobody else takes it
    memory: bytes
    at: float
    stands: threading.Lock = field(default_factory=threading.Lock)  # while a copy does

    @classmethod
    def of(cls, beginning: Beginning, folder: Path) -> Kept:
        place, files = folder / "place", folder / "kept"
        place.mkdir(mode=0o700)
        with watched(GitHub(place / "github")) as github:
            town = Town(github, place, script=beginning.script(), files=dict(beginning.files))
            memory = _memory(town, beginning.happens(town))
            town.leave()
            port = socket.socket()
            port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            port.bind(("127.0.0.1", github.port))
        shutil.copytree(place, files)
        return cls(beginning=beginning, place=place, files=files, port=port, memory=memory, at=time.monotonic())

    @contextmanager
    def copied(self, **answers: Act | Sequence[Act]) -> Iterator[tuple[Town, Any]]:
        """The town in a new process, with what its beginning gave. `answers` are those of stages still to come."""
        assert self.stands.acquire(blocking=False), "another copy stands there"
        with ExitStack() as afterwards:
            afterwards.callback(self.stands.release)
            shutil.rmtree(self.place)
            shutil.copytree(self.files, self.place)
            begun, past, known, prompts, asked = pickle.loads(self.memory)
            script = self._script(asked, answers)
            script.prompts, script.asked = prompts, asked
            site = GitHub(self.place / "github", port=self.port.getsockname()[1], past=past)
            town = Town(afterwards.enter_context(watched(site)), self.place, script=script, **known)
            afterwards.callback(town.leave)
            yield town, begun

    def _script(self, asked: list[EntryPoint], answers: Mapping[str, Act | Sequence[Act]]) -> Script:
        """That of the beginning, but for these answers."""
        points = {EntryPoint(name) for name in answers}
        assert not points.intersection(asked), "it was answered otherwise"
        script = self.beginning.script()
        script.answers |= {point: Script.of(**answers).answers[point] for point in points}
        return script


def _memory(town: Town, begun: Any) -> bytes:
    """All that is known of it beside its files, as one pickle: each thing in it stays one thing."""
    past = town.github.state, town.github.requests
    known = {name: getattr(town, name) for name in ("files", "log", "clock", "outcomes", "answered", "people")}
    return pickle.dumps((begun, past, known, town.script.prompts, town.script.asked))


class Keeper:
    """Keeps a town for each beginning, made when the first test asks for it."""

    def __init__(self, new_folder: Callable[[], Path]) -> None:
        self._new_folder = new_folder
        self._kept: dict[Beginning, Kept] = {}

    def of(self, beginning: Beginning) -> Kept:
        kept = self._kept.get(beginning)
        if kept and time.monotonic() - kept.at > SECONDS_AT_MOST:
            kept.port.close()
            kept = None
        self._kept[beginning] = kept or Kept.of(beginning, self._new_folder())
        return self._kept[beginning]

    def close(self) -> None:
        for kept in self._kept.values():
            kept.port.close()
