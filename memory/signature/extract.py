"""Text → signatures: every parser may fire, the three best findings stay."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from memory.signature import build_tools, compilers, http, kubernetes, messages, pytest_output, runners
from memory.signature.cleaning import clean, without_common_prefix
from memory.signature.dotnet import FAMILY as DOTNET
from memory.signature.golang import FAMILY as GO
from memory.signature.java import FAMILY as JAVA
from memory.signature.javascript import FAMILY as JAVASCRIPT
from memory.signature.keys import keys_of, parts_of, strong_keys, word_keys
from memory.signature.native import FAMILY as NATIVE
from memory.signature.php import FAMILY as PHP
from memory.signature.php_console import FAMILY as PHP_CONSOLE
from memory.signature.python import FAMILY as PYTHON
from memory.signature.python import PYTEST
from memory.signature.ruby import FAMILY as RUBY
from memory.signature.rust import FAMILY as RUST
from memory.signature.shapes import Family, Finding, RepoView, Text
from memory.signature.swift import FAMILY as SWIFT
from memory.signature.valgrind import FAMILY as VALGRIND
from memory.types import ErrorSignature

SIGNATURES_AT_MOST = 3
FAMILIES: tuple[Family, ...] = (PYTHON, PYTEST, JAVA, DOTNET, JAVASCRIPT, GO, RUST, RUBY, PHP, PHP_CONSOLE)
# Their texts look like parts of the others': read only where those found nothing.
LAST_FAMILIES: tuple[Family, ...] = (SWIFT, NATIVE, VALGRIND)
ALL_FAMILIES = (*FAMILIES, *LAST_FAMILIES)
FINDERS: tuple[tuple[tuple[str, ...], Callable[[Sequence[str], RepoView], list[Finding]]], ...] = (
    (pytest_output.HINTS, pytest_output.find),
    (runners.HINTS, runners.find),
    (compilers.HINTS, compilers.find),
    (build_tools.HINTS, build_tools.find),
    (kubernetes.HINTS, kubernetes.find),
    (http.HINTS, http.find),
)
TRACES_AT_MOST = 20  # of one language: a log that repeats itself says no more
_Found = TypeVar("_Found")
_log = logging.getLogger(__name__)


def signatures_of(title: str, body: str, repo: RepoView) -> list[ErrorSignature]:
    """At most three signatures, those with frames of the program first."""
    return read(title, body, repo)[1]


def read(title: str, body: str, repo: RepoView) -> tuple[Text, list[ErrorSignature]]:
    """The same, with the cleaned text that they were found in."""
    text = clean(title, body)
    found = list(_found(text, repo))
    common = without_common_prefix(text)
    if common:
        # A writer of logs that nobody has heard of, or lines that are alike: what can be read then tells which.
        bare, nearly_all = list(_found(common[0], repo)), common[1]
        best = max((bare, found) if nearly_all else (found, bare), key=_told)
        text, found = (common[0] if best is bare else text), best
    ranked = sorted(found, key=lambda pair: pair[0])
    kept: list[ErrorSignature] = []
    for _, signature in ranked:
        if not any(_same(signature, other) for other in kept):
            kept.append(signature)
    return text, kept[:SIGNATURES_AT_MOST]


def _told(found: Sequence[tuple[int, ErrorSignature]]) -> tuple[int, int]:
    """How much was read: the most frames of one trace, and what else has a strong key."""
    strong = [signature for _, signature in found if _is_strong(signature)]
    return max((len(one.frames) for one in strong if one.kind == "trace"), default=0), len(strong)


def _is_strong(signature: ErrorSignature) -> bool:
    return any(level in signature.keys for level in "xfc")


def _same(one: ErrorSignature, other: ErrorSignature) -> bool:
    strong = {level: key for level, key in one.keys.items() if level in "xf"} or one.keys
    return any(other.keys.get(level) == key for level, key in strong.items())


def _found(text: Text, repo: RepoView) -> Iterator[tuple[int, ErrorSignature]]:
    whole = text.whole
    strong = False
    for family in ALL_FAMILIES:
        if strong and family in LAST_FAMILIES:
            break
        if any(hint in whole for hint in family.hints):
            for rank, signature in _traces(family, text, repo):
                strong = strong or _is_strong(signature)
                yield rank, signature
    for hints, find in FINDERS:
        if any(hint in whole for hint in hints):
            for finding in tried(partial(find, text.lines, repo)):
                strong = strong or finding.strong
                yield 1, _signature(finding, text)
    if not strong:
        for finding in tried(partial(messages.find, text.lines)):
            yield 3, _signature(finding, text)


def _traces(family: Family, text: Text, repo: RepoView) -> Iterator[tuple[int, ErrorSignature]]:
    for trace in tried(partial(family.parse, text.lines))[:TRACES_AT_MOST]:
        if trace.handled:
            continue
        parts = parts_of(trace, family, repo)
        keys, canon = keys_of(parts)
        if keys:
            yield (
                0 if parts.app else 2,
                ErrorSignature(
                    kind="trace",
                    language=parts.language,
                    type=parts.type,
                    template=parts.template.text,
                    discriminators=parts.template.discriminators,
                    frames=parts.frames,
                    keys=keys,
                    canon=canon,
                    span=text.span(trace.first, trace.last),
                ),
            )


def _signature(finding: Finding, text: Text) -> ErrorSignature:
    keys, canon = (strong_keys if finding.strong else word_keys)(finding)
    return ErrorSignature(
        kind=finding.kind,
        language=finding.language,
        type=finding.type,
        template=finding.template,
        discriminators=finding.discriminators,
        frames=finding.frames,
        keys=keys,
        canon=canon,
        span=text.span(finding.first, finding.last),
    )


def tried(parse: Callable[[], list[_Found]]) -> list[_Found]:
    """What a parser finds; nothing where it fails."""
    # Parsers read hostile text: a fault in one must not lose the ticket, the next one goes on.
    try:
        return parse()
    except (ValueError, IndexError, KeyError, AttributeError, TypeError, RecursionError) as fault:
        _log.warning("a parser of error texts failed", extra={"fault": type(fault).__name__})
        return []
