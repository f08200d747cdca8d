"""What happened in a run, as values: what a model was asked and did, what code saw and decided, how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, TypeAlias

from memory.types import CheckId, CommitId, Edit
from stages.journal import ModelAnswered, ModelSaid, ToolUsed


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A prompt was sent; `section` and `body` are empty once they are older than transcripts are kept."""

    entry_point: str
    section: str
    body: str
    hash: str
    version: int  # of memory
    notes: tuple[str, ...] = ()  # how notes were chosen for it: blank like the section once that is old


@dataclass(frozen=True, kw_only=True)
class Found:
    """What code read from a model's answer, field by field. The words are the model's."""

    what: str  # ownership, diagnosis, patch, findings, check, summary
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Decided:
    """What code decided, and on what grounds: one sentence each, written by code."""

    what: str
    because: str = ""


@dataclass(frozen=True, kw_only=True)
class Checked:
    """One run of a check. `on` says of what: `the base commit`, `attempt 1`."""

    check: CheckId
    on: str
    exit_status: int | None
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failing: tuple[CheckId, ...] = ()
    complete: bool = True
    timed_out: bool = False
    seconds: float = 0.0
    level: str = ""


@dataclass(frozen=True, kw_only=True)
class Judged:
    """The gate's verdict on an attempt. `cause` is empty when it passed; `why` was written by code."""

    attempt: int
    cause: str = ""
    failing: tuple[CheckId, ...] = ()
    fixed: tuple[CheckId, ...] = ()
    still_failing: tuple[CheckId, ...] = ()
    flaky: tuple[CheckId, ...] = ()
    changed_lines: int = 0
    covered_lines: int = 0
    exit_status: int | None = None
    why: tuple[str, ...] = ()
    noticed: tuple[str, ...] = ()  # allowed, and for people to look at first
    edits: tuple[Edit, ...] = ()
    diff: str = ""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """An ending was recorded, and what it taught. `lesson` is empty when it teaches nothing of its own."""

    kind: str
    cause: str
    final: bool
    evidence: str
    version: int  # of memory, that the lesson made
    lesson: str = ""
    status: str = ""
    count: int = 0
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class NoteRead:
    """A requeue note was read."""

    author: str
    text: str
    written: datetime


@dataclass(frozen=True, kw_only=True)
class Waits:
    """The run was parked."""

    cause: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Published:
    """The patch went out."""

    branch: str
    commit: CommitId
    patch_file: str = ""


@dataclass(frozen=True, kw_only=True)
class Summarised:
    """What people are told of the run."""

    text: str


Fact: TypeAlias = (
    Asked | ModelAnswered | ToolUsed | ModelSaid | Found | Decided | Checked | Judged | Ended | NoteRead | Waits
    | Published | Summarised
)  # fmt: skip

KINDS: Final[Mapping[str, type[Fact]]] = {
    "asked": Asked,
    "model": ModelAnswered,
    "tool": ToolUsed,
    "said": ModelSaid,
    "found": Found,
    "decided": Decided,
    "checked": Checked,
    "judged": Judged,
    "ended": Ended,
    "note-read": NoteRead,
    "waits": Waits,
    "published": Published,
    "summarised": Summarised,
}


@dataclass(frozen=True, kw_only=True)
class EventRecord:
    """A fact with its place in the run: the step that it belongs to, and its order."""

    seq: int
    generation: int
    step: str
    attempt: int
    at: datetime
    fact: Fact
