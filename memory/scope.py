"""Names of what is told apart, whose memory something is, and what makes two failures the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NewType

RepositoryId = NewType("RepositoryId", str)
"""What identifies a repository: the same for its clones and work trees, never shared by two repositories."""
RunId = NewType("RunId", str)
TicketId = NewType("TicketId", str)
CommitId = NewType("CommitId", str)
CheckId = NewType("CheckId", str)
"""A check, or one test of a check: `pytest` or `tests/test_cart.py::test_empty`."""
LessonId = NewType("LessonId", str)
EndingId = NewType("EndingId", str)


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Whose memory this is; a parameter of every read."""

    installation: str
    repository: RepositoryId


@dataclass(frozen=True, kw_only=True)
class ErrorSignature:
    """What makes two failures the same; computed by code from a text."""

    kind: str  # trace | test | compiler | sql | http | k8s | message | log
    language: str
    type: str
    template: str
    discriminators: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    keys: Mapping[str, str]  # level (x, f, c, t) -> "es1:f:<20 hex digits>"
    canon: Mapping[str, str] = field(default_factory=dict)  # level -> the canonical JSON that was hashed
    span: tuple[int, int] = (0, 0)  # where in the cleaned text it was found
