"""What the parsers hand on: a trace with its chain of exceptions, and the places of its frames."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum


@dataclass(frozen=True, kw_only=True)
class RepoView:
    """What is known of the repository: its tracked files, and the names under which it is installed."""

    files: frozenset[str] = frozenset()
    own_packages: tuple[str, ...] = ()


class Origin(Enum):
    """Whose code a frame belongs to."""

    APP = "app"
    TEST = "test"
    LIBRARY = "library"
    RUNTIME = "runtime"  # never stands in, not even when there is nothing else


@dataclass(frozen=True, kw_only=True)
class Frame:
    """One call as it was written."""

    file: str = ""
    function: str = ""


@dataclass(frozen=True, kw_only=True)
class Place:
    """One call as it is compared: `key` is "" when nothing of it can be kept."""

    key: str
    origin: Origin
    home: str = ""  # the file or class that holds it
    area: str = ""  # what a test exercises: the class where the language lives in classes, else the function itself


@dataclass(frozen=True, kw_only=True)
class Thrown:
    """One exception of a chain; frames innermost first."""

    type: str
    message: str
    frames: tuple[Frame, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Trace:
    """A chain of exceptions, what the program saw first, its root last; and the lines that it was read from."""

    language: str
    chain: tuple[Thrown, ...]
    first: int
    last: int
    handled: bool = False  # another exception was raised while this one was handled: people quote that one


@dataclass(frozen=True, kw_only=True)
class Finding:
    """An error that is no trace: the parts of it that are compared."""

    kind: str
    language: str
    type: str
    template: str
    discriminators: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    strong: bool = True  # False: words only, which never match alone
    first: int
    last: int


@dataclass(frozen=True, kw_only=True)
class Text:
    """Cleaned text, and where each line of it begins."""

    lines: tuple[str, ...]
    starts: tuple[int, ...] = field(default=())

    @property
    def whole(self) -> str:
        return "\n".join(self.lines)

    def line_of(self, at: int) -> int:
        """The line that a character of the whole is in."""
        return bisect_right(self.starts, at) - 1

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Characters from line `first` to the end of line `last`."""
        return self.starts[first], self.starts[last] + len(self.lines[last])


@dataclass(frozen=True, kw_only=True)
class Family:
    """A language: how its traces are read, and how its frames are compared."""

    language: str
    parse: Callable[[Sequence[str]], list[Trace]]
    place: Callable[[Frame, RepoView], Place]
    hints: tuple[str, ...]  # one of these stands in every text that has a trace of this family
