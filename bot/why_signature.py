"""Why two failures are one or are not, in lines: what was read of a ticket, what decides, and which keys it gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from memory.signature import STRONG, Explained, Explanation, Seen, is_common_name

_LINES_TOLD: Final = 30  # of one signature's text, as people read it
_FRAMES_TOLD: Final = 20
_TEXT_AT_MOST: Final = 160  # characters of a line
_KEY_DIGITS: Final = 12
_SIDES: Final = {True: "kept", False: "left out"}


def signatures_told(explanation: Explanation) -> Iterator[str]:
    """Lines for people: one without indentation for each signature, what it is made of below it."""
    if not explanation.found:
        yield f"none: no trace, test or error line in {len(explanation.cleaned)} lines"
    for number, one in enumerate(explanation.found, 1):
        signature = one.signature
        named = " · ".join(part for part in (signature.kind, signature.language, signature.type or "no type") if part)
        yield f"{number}. {named}, from line {one.first} of the cleaned text"
        yield from (f"  {line}" for line in _below(one))


def in_short(one: Explained) -> str:
    """The same in one line, for the record of a run."""
    signature = one.signature
    named = "named " if is_common_name(signature.template) else ""
    words = f"words {named}{signature.template!r}" if signature.template else "no words"
    frames = f"frames {', '.join(signature.frames[:3])}" if signature.frames else "no frames"
    more = f" (+{len(signature.frames) - 3})" if len(signature.frames) > 3 else ""
    return f"{words}; {frames}{more}; {', '.join(_cut(key) for key in signature.keys.values())}"


def _below(one: Explained) -> Iterator[str]:
    signature = one.signature
    shown = one.lines[:_LINES_TOLD]
    yield from (f"| {line[:_TEXT_AT_MOST]}" for line in shown)
    if len(one.lines) > len(shown):
        yield f"| … {len(one.lines) - len(shown)} lines more"
    *effects, root = one.chain or (signature.type,)
    yield from (f"exception, an effect: {effect[:_TEXT_AT_MOST]}" for effect in effects)
    if one.chain:
        yield f"exception that decides: {root[:_TEXT_AT_MOST]}"
    if signature.template:
        named = "words by the one name for what runtimes word differently"
        yield f"{named if is_common_name(signature.template) else 'words without data'}: {signature.template}"
    if signature.discriminators:
        yield f"told apart by: {', '.join(signature.discriminators)}"
    yield from _frames(one)
    for level, key in signature.keys.items():
        yield f"key {level}: {key}{'' if level in STRONG else ', of words alone: it admits nothing'}"


def _frames(one: Explained) -> Iterator[str]:
    if not one.frames:
        yield from (f"compared: {frame}" for frame in one.signature.frames if frame)
    for seen in one.frames[:_FRAMES_TOLD]:
        yield _frame(seen)
    if len(one.frames) > _FRAMES_TOLD:
        yield f"frames: {len(one.frames) - _FRAMES_TOLD} more"


def _frame(seen: Seen) -> str:
    as_ = f" as {seen.key}" if seen.kept else ""
    return f"frame {_SIDES[seen.kept]} ({seen.origin}): {seen.written[:_TEXT_AT_MOST]}{as_}"


def _cut(key: str) -> str:
    name, _, digits = key.rpartition(":")
    return f"{name}:{digits[:_KEY_DIGITS]}"
