"""A chain of exceptions → the parts that are compared → keys.

A key is `es1:<level>:` and the first 20 hex digits (80 bits) of SHA-256 over the canonical JSON of its parts:
x  language, type, words, discriminators, up to 12 frames        strong
f  language, type, and the place: three frames (with the words    strong
   while frames are few); in a run of tests the innermost
   function or class, the third class and the test file;
   or the failing test
c  language, type, words, discriminators, the innermost frame     strong
t  type, words, discriminators                                    weak: words alone
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory.signature.canon import forms, short_type
from memory.signature.normalise import Template, is_sentence, is_specific, template
from memory.signature.shapes import Family, Finding, Origin, Place, RepoView, Trace

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
    area: str = ""  # of the innermost frame
    user: str = ""  # the third class that the frames go through: whom the inner ones worked for
    classes: bool = False  # whether the language lives in classes
    test_home: str = ""  # the test file or class that the run came from, "" outside of tests
    test: str = ""  # the failing test, when the innermost frame is a test's own


def parts_of(trace: Trace, family: Family, repo: RepoView) -> Parts:
    """Type, message and discriminators of the root; frames of the first exception from the root that has its own."""
    root = trace.chain[-1]
    found = template(root.message, root.type)
    parts = Parts(language=trace.language, type=root.type, template=found, frames=(), app=False)
    # a recursion prints the same frames hundreds of times
    known = {frame: family.place(frame, repo) for thrown in trace.chain for frame in set(thrown.frames)}
    placed = [[known[frame] for frame in thrown.frames] for thrown in reversed(trace.chain)]
    for places in placed:
        own = [place for place in places if place.origin in (Origin.APP, Origin.TEST) and place.key]
        if own:
            return _with_own(parts, own)
    for places in placed:
        kept = _collapsed([f"lib:{place.key}" for place in places if place.origin is Origin.LIBRARY and place.key])
        if kept:
            return replace(parts, frames=kept[:_STAND_INS])
    return parts


def _with_own(parts: Parts, own: Sequence[Place]) -> Parts:
    """Frames of the program; those of tests only when the innermost of all is a test's."""
    tests = [place for place in own if place.origin is Origin.TEST]
    inside = own[0].origin is Origin.APP
    frames = _collapsed([place.key for place in own if place.origin is Origin.APP or not inside])[:FRAMES_AT_MOST]
    if parts.template.canonical == "recursion":
        # the cut can fall anywhere in the cycle
        frames = tuple(sorted(set(frames))[:_CYCLE_AT_MOST])
    return replace(
        parts,
        frames=frames,
        app=True,
        area=_area(own[0], frames, parts.template),
        user=_user(own),
        classes=bool(own[0].area),
        test_home=tests[0].home if tests else "",
        test="" if inside else tests[-1].key,
    )


def _user(own: Sequence[Place]) -> str:
    classes = tuple(dict.fromkeys(place.area for place in own if place.area and place.origin is Origin.APP))
    return classes[2] if len(classes) > 2 else ""


def _area(innermost: Place, frames: tuple[str, ...], words: Template) -> str:
    if words.canonical == "recursion":
        return frames[0]
    # a test that calls one function tests that function
    return innermost.area if innermost.area and len(frames) > 1 else innermost.key


def _collapsed(keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(key for at, key in enumerate(keys) if at == 0 or key != keys[at - 1])


def keys_of(parts: Parts) -> tuple[dict[str, str], dict[str, str]]:
    """Keys by level, and the canonical JSON that each was hashed from."""
    type_ = short_type(parts.type)
    words, told, language = parts.template, list(parts.template.discriminators), parts.language
    specific = is_specific(words, type_)
    canon: dict[str, str] = {}
    if parts.frames and type_:
        canon["x"] = _canonical("x", language, type_, words.text, told, list(parts.frames), parts.test_home)
        canon["f"] = _canonical("f", language, type_, *_where(parts, words, told))
        # What a program says itself, many tests provoke in one checking function: the innermost frame is not enough.
        if not parts.test and (not parts.test_home or words.canonical):
            canon["c"] = _canonical("c", language, type_, words.text, told, list(parts.frames[:1]))
    elif parts.app and len(parts.frames) >= FRAMES_OF_F:
        canon["f"] = _canonical("f", language, "", "", [], list(parts.frames[:FRAMES_OF_F]))
    if type_ and language not in _NO_WORDS and specific:
        canon["t"] = _words(type_, words.text, told)
    return _hashed(canon)


def _where(parts: Parts, words: Template, told: list[str]) -> tuple[object, ...]:
    """What the key of the place holds besides the type."""
    if parts.test:
        # one test fails in many ways: its words tell them apart
        return words.text, told, ["test", parts.test]
    if parts.test_home:
        # Tests of one class or file that die by one type in one place die of one bug, whatever the words; but what one
        # method says itself, in a sentence, is one check of many that it makes.
        said = words.text if parts.classes and len(parts.frames) == 1 and is_sentence(words) else ""
        return said, [], ["from", parts.test_home, parts.area, *([parts.user] if parts.user else [])]
    # Three frames say more than words, which other versions and languages put otherwise; canonical words do not change.
    keep = bool(words.canonical) or len(parts.frames) < FRAMES_OF_F
    return words.text if keep else "", told, list(parts.frames[:FRAMES_OF_F])


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
    return _hashed({"t": _words(short_type(found.type), found.template, list(found.discriminators))})


def _words(type_: str, words: str, told: list[str]) -> str:
    # A form with something to tell it by meets its like where a text leaves the class out.
    bridges = bool(told) and any(form.name == words and not form.generic for form in forms())
    return _canonical("t", "" if bridges else type_, words, told)


def _hashed(canon: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    return {level: digest(level, text) for level, text in canon.items()}, canon
