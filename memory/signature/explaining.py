"""How the signatures of a text came about: what was read, which exception decides, which frames count and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from memory.signature.extract import ALL_FAMILIES, read, tried
from memory.signature.shapes import Family, Frame, Origin, RepoView, Text, Trace
from memory.types import ErrorSignature


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One frame as it was written, whose code it was taken for, and the key under which it is compared."""

    written: str
    origin: str  # app | test | library | runtime
    key: str
    kept: bool


@dataclass(frozen=True, kw_only=True)
class Explained:
    """One signature, the lines that it was read from, and of a trace its exceptions and the frames of the deciding one.

    `chain` begins with what the program saw; the last one is the root, which gives type, words and discriminators.
    """

    signature: ErrorSignature
    lines: tuple[str, ...]
    first: int  # line of the cleaned text, from 1
    chain: tuple[str, ...] = ()
    frames: tuple[Seen, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """The cleaned text, and what was found in it, best first."""

    cleaned: tuple[str, ...]
    found: tuple[Explained, ...]


def explain(title: str, body: str, repo: RepoView | None = None) -> Explanation:
    """What `signatures` does with a text, step by step."""
    view = repo or RepoView()
    text, kept = read(title, body, view)
    return Explanation(cleaned=text.lines, found=tuple(_explained(one, text, view) for one in kept))


def _explained(signature: ErrorSignature, text: Text, view: RepoView) -> Explained:
    first, last = (text.line_of(at) for at in signature.span)
    lines = text.lines[first : last + 1]
    found = next(_traces_of(signature, text), None) if signature.kind == "trace" else None
    if found is None:
        return Explained(signature=signature, lines=lines, first=first + 1)
    family, trace = found
    return Explained(
        signature=signature,
        lines=lines,
        first=first + 1,
        chain=tuple(f"{thrown.type}: {thrown.message}".removesuffix(": ") for thrown in trace.chain),
        frames=_frames(signature, family, trace, view),
    )


def _traces_of(signature: ErrorSignature, text: Text) -> Iterator[tuple[Family, Trace]]:
    for family in ALL_FAMILIES:
        if family.language == signature.language:
            for trace in tried(partial(family.parse, text.lines)):
                if text.span(trace.first, trace.last) == signature.span:
                    yield family, trace


def _frames(signature: ErrorSignature, family: Family, trace: Trace, view: RepoView) -> tuple[Seen, ...]:
    """Frames of the exception that gave the kept ones: the first from the root outwards that has some."""
    kept = {key.removeprefix("lib:") for key in signature.frames}
    for thrown in reversed(trace.chain):
        seen = tuple(_seen(frame, family, view, kept) for frame in thrown.frames)
        if any(one.kept for one in seen):
            return seen
    return tuple(_seen(frame, family, view, kept) for frame in trace.chain[-1].frames)


def _seen(frame: Frame, family: Family, view: RepoView, kept: set[str]) -> Seen:
    place = family.place(frame, view)
    own = place.origin in (Origin.APP, Origin.TEST, Origin.LIBRARY)
    return Seen(
        written=" ".join(part for part in (frame.file, frame.function) if part),
        origin=place.origin.value,
        key=place.key,
        kept=own and place.key in kept,
    )
