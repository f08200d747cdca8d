"""Ending → lesson: typed slots in, two or three lines out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC
from typing import Final, TypeVar, assert_never

from memory.budget import size
from memory.slots import kind_of, merged_signatures, slotted
from memory.status import Sighting, expiry, sighting, status_of
from memory.text import one_line
from memory.types import (
    CommitId,
    Drop,
    Edit,
    Ending,
    ErrorSignature,
    Hold,
    Lesson,
    LessonId,
    LessonStatus,
    NotOurs,
    PassAfterHold,
    Refix,
    RunEnding,
    Verify,
    Where,
)

Item = TypeVar("Item")

RECORD_AT_MOST: Final = 600  # characters of a lesson in the context section
SHOWN_OF_A_LIST: Final = 3
STRONG_LEVELS: Final = ("f", "c", "x")
_MAINTAINER_AT_MOST: Final = 200
_WHY_AT_MOST: Final = 80


# --- Making --------------------------------------------------------------------------------------------------------


def lesson(ending: RunEnding) -> Lesson | None:
    """What this ending teaches the first time it is seen; None for a final hold, which only refers.

    Raises EndingRefused for an ending that contradicts itself.
    """
    seen = slotted(ending)
    if isinstance(seen.ending, Hold) and seen.final:
        return None
    return Lesson(
        id=named(seen),
        scope=seen.scope,
        ending=seen.ending,
        status=status_of(seen.ending, (sighting(seen),)),
        run=seen.run,
        ticket=seen.ticket,
        commit=seen.commit,
        signatures=seen.signatures,
        environment=seen.environment,
        paths=seen.paths,
        first_seen=seen.at,
        last_seen=seen.at,
        expires=expiry(seen.ending, seen.at),
    )


def again(old: Lesson, new: Lesson, sightings: Sequence[Sighting]) -> Lesson:
    """`old` after the same ending was seen once more, as `new`.

    What was invalidated stays so, except what was verified once more and later: that is new evidence.
    """
    later = new if new.last_seen >= old.last_seen else old
    stays = old.status is LessonStatus.INVALIDATED and not (later is new and isinstance(new.ending, Verify))
    return replace(
        later,
        status=old.status if stays else status_of(new.ending, sightings),
        signatures=merged_signatures((*new.signatures, *old.signatures)),
        maintainer=old.maintainer,
        supersedes=old.supersedes,
        count=old.count + 1,
        first_seen=min(old.first_seen, new.first_seen),
        expires=expiry(later.ending, later.last_seen),
    )


def same_fix(one: Lesson, other: Lesson) -> bool:
    """True when both speak of the same edits, which are known, for the same failure."""
    edits = _digests(_edits_of(one.ending))
    return (
        edits != []
        and edits == _digests(_edits_of(other.ending))
        and not strong_keys(one.signatures).isdisjoint(strong_keys(other.signatures))
    )


def identity(ending: RunEnding) -> LessonId:
    """The first 12 hex digits of SHA-256 over what makes two endings the same lesson.

    Equal: repository, kind, where or cause, signature or else ticket, failing checks, digests of the edits. What
    passed is no part of it: two runs agree though they ran other tests.
    """
    return named(slotted(ending))


def named(seen: RunEnding | Lesson) -> LessonId:
    """The same, of slots that are clean. A lesson whose keys were made anew keeps the id that it had before."""
    strong = _strong_key(seen.signatures)
    parts = [
        seen.scope.repository,
        kind_of(seen.ending),
        *_same_when(seen.ending),
        ["signature", strong] if strong else ["ticket", seen.ticket],
    ]
    return LessonId(hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12])


def _same_when(ending: Ending) -> list[object]:
    match ending:
        case Hold():
            return [ending.where, ending.cause, sorted(ending.failing), _digests(ending.edits)]
        case Refix():
            return [sorted(ending.still_failing), _digests(ending.edits)]
        case PassAfterHold():
            return [_digests(ending.edits)]
        case Drop() | NotOurs():
            return [ending.cause]
        case Verify():
            return [ending.outcome, _digests(ending.edits)]
        case _:
            assert_never(ending)


def _digests(edits: Iterable[Edit]) -> list[str]:
    return sorted(edit.digest for edit in edits)


def _strong_key(signatures: Iterable[ErrorSignature]) -> str:
    """The key that two reports of one failure share most often: frames and type, without the template."""
    return next((sig.keys[level] for sig in signatures for level in STRONG_LEVELS if level in sig.keys), "")


def strong_keys(signatures: Iterable[ErrorSignature]) -> set[str]:
    """The keys of which one in common makes two failures the same."""
    return {sig.keys[level] for sig in signatures for level in STRONG_LEVELS if level in sig.keys}


def _edits_of(ending: Ending) -> tuple[Edit, ...]:
    return () if isinstance(ending, Drop | NotOurs) else ending.edits


# --- Rendering -----------------------------------------------------------------------------------------------------


def render(lesson: Lesson, why: str) -> tuple[str, ...]:
    """Two or three lines of at most 600 characters: head, what was seen, and a maintainer's line if there is one.

    Lists show three and count the rest; fewer when they would not fit. Digests are always whole.
    """
    for most in range(SHOWN_OF_A_LIST, 0, -1):
        lines = _lines(lesson, why, most)
        if size(lines) <= RECORD_AT_MOST:
            return lines
    return _lines(lesson, why, 0)


def _lines(lesson: Lesson, why: str, most: int) -> tuple[str, ...]:
    head = [
        kind_of(lesson.ending),
        lesson.last_seen.astimezone(UTC).date().isoformat(),
        f"run {lesson.run}",
        lesson.status,
        one_line(why)[:_WHY_AT_MOST],
        *_told(lesson.ending, most),
    ]
    seen = [*_seen(lesson.ending, most), f"commit {_short(_commit(lesson))}"]
    if lesson.count > 1:
        seen.append(f"seen {lesson.count} times")
    lines = (" · ".join(part for part in head if part) + " ·", " · ".join(part for part in seen if part))
    return (*lines, f"maintainer: {one_line(lesson.maintainer)[:_MAINTAINER_AT_MOST]}") if lesson.maintainer else lines


def _told(ending: Ending, most: int) -> list[str]:
    match ending:
        case Hold():
            return [f"{_place(ending.where)}, attempt {ending.attempt}, cause {ending.cause}"]
        case Refix():
            return [f"attempt {ending.attempt}, differs from the held one"]
        case PassAfterHold():
            return [f"attempt {ending.attempt} passed the gate", _list("answers", ending.answers, str, "", most)]
        case Drop() | NotOurs():
            return [f"cause {ending.cause}"]
        case Verify():
            return [ending.outcome]
        case _:
            assert_never(ending)


def _seen(ending: Ending, most: int) -> list[str]:
    match ending:
        case Hold():
            status = "failed" if ending.exit_status is None else f"failed (exit {ending.exit_status})"
            return [_list("", ending.failing, str, status, most), _edits(ending.edits, most)]
        case Refix():
            return [
                _list("now passing", ending.now_passing, str, "", most),
                _list("still failing", ending.still_failing, str, "", most),
                _edits(ending.edits, most),
            ]
        case PassAfterHold():
            return [_edits(ending.edits, most)]
        case Drop():
            return []
        case Verify():
            return [_list("checked", ending.checks, str, "", most), _edits(ending.edits, most)]
        case NotOurs():
            return [_list("passed", ending.proof, str, "", most)]
        case _:
            assert_never(ending)


def _place(where: Where) -> str:
    match where:
        case Where.GATE:
            return "at the gate"
        case Where.CI | Where.REVIEW | Where.STAGING:
            return f"in {where}"
        case _:
            assert_never(where)


def _edits(edits: Sequence[Edit], most: int) -> str:
    return _list("edits", edits, lambda edit: f"{edit.path}:{edit.line} #{edit.digest.removeprefix('#')}", "", most)


def _list(before: str, items: Sequence[Item], show: Callable[[Item], str], after: str, most: int) -> str:
    """`before a, b, c, +4 after`; nothing for an empty list."""
    shown = [show(item) for item in items[:most]]
    rest = [f"+{len(items) - most}"] if len(items) > most else []
    return " ".join(part for part in (before, ", ".join(shown + rest), after) if part) if items else ""


def _commit(lesson: Lesson) -> CommitId:
    return (lesson.ending.commit if isinstance(lesson.ending, Verify) else None) or lesson.commit


def _short(commit: CommitId) -> str:
    return commit if commit.startswith("#") else commit[:7]
