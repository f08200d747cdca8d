"""Text constants."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

import libcst as cst

from stages.offline.scope import Program
from stages.offline.source import Source, Splice
from stages.offline.templates.base import Template
from stages.offline.templates.places import is_docstring

_OTHERS_AT_MOST: Final = 12
_SIGNS: Final = ("()[]{}<>", " ,;.:-_/", "\"'`")
"""Signs that stand for one another."""
"""Other texts tried for one text."""


class TextConstant(Template):
    """Another text: one like it from the file or the ticket, the same in lower case, the empty one."""

    weight = 0.6

    def splices(self, source: Program) -> Iterator[Splice]:
        in_file = dict.fromkeys(node.value for node in _texts(source))
        hinted = dict.fromkeys(hint for hint in source.hints if hint[:1] in "\"'")
        for node in _texts(source):
            yield from (source.replace(node, other) for other in _others(node, [*hinted, *in_file]))


def _texts(source: Source) -> Iterator[cst.SimpleString]:
    for node in source.of(cst.SimpleString):
        if not is_docstring(source, node) and "b" not in node.prefix:
            yield node


def _others(node: cst.SimpleString, known: list[str]) -> list[str]:
    quote, inner = node.prefix + node.quote, node.raw_value
    changed = [inner.strip("X").removesuffix("XX"), inner.lower(), inner.upper(), inner.capitalize(), inner.title()]
    changed += [inner.strip(), inner[:-1], inner[1:], f"{inner} ", ""]
    if inner.isalpha() and inner != (other := inner.swapcase()):
        changed += [inner + other]
    made = [f"{quote}{other}{node.quote}" for other in changed]
    made += [
        f"{quote}{sign}{node.quote}"
        for group in _SIGNS
        if inner and inner in group
        for sign in group
        if sign != node.quote
    ]
    near = sorted(known, key=lambda other: -_likeness(inner, other.strip("\"'")))
    wanted = dict.fromkeys((*near[: _OTHERS_AT_MOST // 2], *made))
    return [other for other in wanted if other.strip("\"'") != inner or other[-1:] not in "\"'"]


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one[:80], other[:80], autojunk=False).ratio()
