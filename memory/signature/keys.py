"""A chain of exceptions → the parts that are compared → keys.

A key is `es1:<level>:` and the first 20 hex digits (80 bits) of SHA-256 over the canonical JSON of its parts:
x  language, type, template, discriminators, up to 12 frames       strong
f  language, type, template, discriminators, three frames          strong
c  language, type, template, discriminators, the innermost frame   strong
t  type, template, discriminators                                  weak: words alone
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from memory.signature.canon import short_type
from memory.signature.normalise import Template, is_specific, template
from memory.signature.shapes import Family, Finding, Origin, Place, RepoView, Thrown, Trace

ALGO = "es1"
FRAMES_AT_MOST = 12
FRAMES_OF_F = 3
_DIGITS = 20
_STAND_INS = 3
_CYCLE_AT_MOST = 6
_NO_WORDS = frozenset(("native",))  # languages whose messages alone never make a key


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What of a trace is compared."""

    language: str
    type: str
    template: Template
    frames: tuple[str, ...]
    app: bool  # whether frames are the program's own, not stand-ins of libraries


def parts_of(trace: Trace, family: Family, repo: RepoView) -> Parts:
    """Type, message and discriminators of the root; frames of the first exception from the root that has its own."""
    root = trace.chain[-1]
    found = template(root.message, root.type)
    frames, app = _frames_of(trace.chain, family, repo)
    if found.canonical == "recursion":
        # the cut can fall anywhere in the cycle
        frames = tuple(sorted(set(frames))[:_CYCLE_AT_MOST])
    return Parts(language=trace.language, type=root.type, template=found, frames=frames, app=app)


def _frames_of(chain: Sequence[Thrown], family: Family, repo: RepoView) -> tuple[tuple[str, ...], bool]:
    placed = [[family.place(frame, repo) for frame in thrown.frames] for thrown in reversed(chain)]
    for places in placed:
        kept = _own_frames(places)
        if kept:
            return kept[:FRAMES_AT_MOST], True
    for places in placed:
        kept = _collapsed([f"lib:{place.key}" for place in places if place.origin is Origin.LIBRARY and place.key])
        if kept:
            return kept[:_STAND_INS], False
    return (), False


def _own_frames(places: Sequence[Place]) -> tuple[str, ...]:
    """Frames of the program; those of tests only when the innermost of all is a test's."""
    own = [place for place in places if place.origin in (Origin.APP, Origin.TEST) and place.key]
    if own and own[0].origin is Origin.APP:
        own = [place for place in own if place.origin is Origin.APP]
    return _collapsed([place.key for place in own])


def _collapsed(keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(key for at, key in enumerate(keys) if at == 0 or key != keys[at - 1])


def keys_of(parts: Parts) -> tuple[dict[str, str], dict[str, str]]:
    """Keys by level, and the canonical JSON that each was hashed from."""
    type_ = short_type(parts.type)
    words, told = parts.template, list(parts.template.discriminators)
    canon: dict[str, str] = {}
    if parts.frames and type_:
        canon["x"] = _canonical("x", parts.language, type_, words.text, told, list(parts.frames))
        canon["f"] = _canonical("f", parts.language, type_, words.text, told, list(parts.frames[:FRAMES_OF_F]))
        canon["c"] = _canonical("c", parts.language, type_, words.text, told, list(parts.frames[:1]))
    elif parts.app and len(parts.frames) >= FRAMES_OF_F:
        canon["f"] = _canonical("f", parts.language, "", "", [], list(parts.frames[:FRAMES_OF_F]))
    if type_ and parts.language not in _NO_WORDS and is_specific(words, type_):
        canon["t"] = _canonical("t", type_, words.text, told)
    return _hashed(canon)


def digest(level: str, canonical: str) -> str:
    """The key of a canonical JSON text."""
    return f"{ALGO}:{level}:{hashlib.sha256(canonical.encode('utf-8', 'replace')).hexdigest()[:_DIGITS]}"


def _canonical(level: str, *given: object) -> str:
    return json.dumps([ALGO, level, *given], ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def strong_keys(found: Finding) -> tuple[dict[str, str], dict[str, str]]:
    """The one key of an error that is no trace."""
    told, frames = list(found.discriminators), list(found.frames)
    return _hashed({"f": _canonical("f", found.kind, found.language, found.type.lower(), found.template, told, frames)})


def word_keys(found: Finding) -> tuple[dict[str, str], dict[str, str]]:
    """The weak key of a message that stands alone."""
    return _hashed({"t": _canonical("t", short_type(found.type), found.template, list(found.discriminators))})


def _hashed(canon: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    return {level: digest(level, text) for level, text in canon.items()}, canon
