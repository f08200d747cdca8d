"""Loops over nothing, which no program means."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import sqrt
from typing import Final, TypeAlias

import libcst as cst

from stages.offline.scope import Kind, Program
from stages.offline.source import Splice
from stages.offline.templates.base import Template
from stages.offline.templates.places import idle

Loop: TypeAlias = cst.For | cst.CompFor

_AT_MOST: Final = 60
_COUNTERS: Final = ("i", "j", "n", "_", "idx", "index", "pos", "start")
# How often something is gone over in one way or another, by what the loop makes of it: rounded from what was counted
# in the standard library.
_COUNTED: Final = (("range({})", 1.0), ("{}", 0.7), ("range(len({}))", 0.7), ("range(1, {})", 0.1),
                   ("range(1, {} + 1)", 0.1))  # fmt: skip
_ONE: Final = (("{}", 1.0), ("{}.values()", 0.1), ("{}.keys()", 0.1), ("range({})", 0.06), ("{}.items()", 0.06),
               ("reversed({})", 0.05), ("sorted({})", 0.05))  # fmt: skip
_COUNTED_PAIR: Final = (("enumerate({})", 1.0), ("{}", 0.3), ("{}.items()", 0.2))
_PAIR: Final = (("{}.items()", 1.0), ("{}", 0.7), ("enumerate({})", 0.3))
_OTHER: Final = (("{}", 1.0), ("{}.items()", 0.3), ("enumerate({})", 0.2))
# How likely it is beside a name of the function, and how much likelier something makes it.
_OF_MODULE: Final = 0.2
_ODD: Final = 0.3  # a text, or the object itself
_OF_CLASS: Final = 0.4
_OF_OTHERS: Final = 0.1
_MADE: Final = 0.15
_GONE_OVER: Final = 0.5
_GONE_OVER_ALIKE: Final = 2.0
_IDLE: Final = 6.0
_CALLED_ALIKE: Final = 4.0
_BOUND_BELOW: Final = 0.2


class LoopOverNothing(Template):
    """Something to go over for `[]`.

    What nothing else in the function uses comes first, and what is called like the things that the loop makes of it.
    """

    weight = 4.0

    def splices(self, source: Program) -> Iterator[Splice]:
        for loop in source.of(cst.For, cst.CompFor):
            if isinstance(loop.iter, cst.List | cst.Tuple) and not loop.iter.elements:
                for place, text in enumerate(_likeliest(source, loop)[:_AT_MOST], 1):
                    yield source.replace(loop.iter, text).weighed(1 / sqrt(place))


def _likeliest(source: Program, loop: Loop) -> list[str]:
    found: dict[str, float] = {}
    for text, likely in (*_shaped(source, loop), *_made(source, loop), *_elsewhere(source, loop)):
        found[text] = found.get(text, 0.0) + likely * _told_by_names(source, loop, text)
    return sorted(found, key=lambda text: -found[text])


def _shaped(source: Program, loop: Loop) -> Iterator[tuple[str, float]]:
    function = source.function(loop)
    for text, likely in (*_names(source, loop), *_attributes(source, loop)):
        number = source.scope.kind_of(text, function) is Kind.NUMBER
        for shape, share in _shapes(loop.target):
            if not number or ("range" in shape and "len" not in shape):
                yield shape.format(text), likely * share


def _shapes(target: cst.BaseExpression) -> Sequence[tuple[str, float]]:
    match target:
        case cst.Tuple(elements=[cst.Element(value=cst.Name(name)), _]):
            return _COUNTED_PAIR if name in _COUNTERS else _PAIR
        case cst.Name(name):
            return _COUNTED if name in _COUNTERS else _ONE
        case _:
            return _OTHER


def _names(source: Program, loop: Loop) -> Iterator[tuple[str, float]]:
    """Names that may hold something to go over, each with how likely it is."""
    scope, function, near = source.scope, source.function(loop), source.scope.visible(loop)
    none = (*_targets(source, loop), *_patterns(source))
    for name in scope.visible(loop, module_too=True):
        if name not in none and scope.kind_of(name, function) not in (Kind.TRUTH, Kind.CALLABLE):
            odd = name in ("self", "cls") or scope.kind_of(name, function) is Kind.TEXT
            yield name, (1.0 if name in near else _OF_MODULE) * (_ODD if odd else 1.0)


def _attributes(source: Program, loop: Loop) -> Iterator[tuple[str, float]]:
    """Attributes of such names, as far as the file knows any."""
    function, near = source.function(loop), source.scope.visible(loop)
    found: dict[str, float] = {}
    for node in source.every(cst.Attribute):
        base, parent = source.cut(node.value), source.parent(node)
        if base in near and not (isinstance(parent, cst.Call) and parent.func is node):
            elsewhere = _OF_CLASS if base in ("self", "cls") else _OF_OTHERS
            likely = 1.0 if source.function(node) is function else elsewhere
            found[source.cut(node)] = max(likely, found.get(source.cut(node), 0.0))
    own = source.within(function, cst.ClassDef) if function else None
    for target in source.every(cst.AssignTarget) if own else ():
        if source.function(target) is None and source.within(target, cst.ClassDef) is own:
            found.setdefault(f"self.{source.cut(target.target)}", _OF_CLASS)
    yield from found.items()


def _made(source: Program, loop: Loop) -> Iterator[tuple[str, float]]:
    """What is made of names that nothing else uses: of two of them, and by what nothing else uses either."""
    unused = idle(source, source.function(loop))
    shapes = [f"{name}({{}})" for name in idle(source, None) if name.islower() and not name.startswith("__")]
    if source.function(loop) is not None:
        yield from ((shape.format(name), _MADE) for shape in shapes for name in unused)
    for pattern in _patterns(source) if _shapes(loop.target) is _ONE else ():
        names = source.scope.locals(source.function(loop))
        yield from ((f"{pattern}.{verb}({name})", _MADE) for verb in ("finditer", "findall", "split") for name in names)
    if isinstance(loop.target, cst.Tuple):
        yield from ((f"zip({one}, {other})", 1.0) for one, other in pairwise(unused))


def _patterns(source: Program) -> list[str]:
    """Compiled patterns that nothing else uses."""
    compiled = [node for node in source.every(cst.Assign) if source.cut(node.value).startswith("re.compile(")]
    bound = [source.cut(node.targets[0].target) for node in compiled]
    return [name for name in bound if name in idle(source, None)]


def _elsewhere(source: Program, loop: Loop) -> Iterator[tuple[str, float]]:
    """What other loops go over, as far as its names are known here."""
    known = {*source.scope.visible(loop, module_too=True), *dir(builtins)} - {*_targets(source, loop)}
    others: list[Loop] = [*source.every(cst.For), *source.every(cst.CompFor)]
    for other in others:
        text = source.cut(other.iter)
        if other is not loop and "\n" not in text and known.issuperset(_said(other.iter)):
            alike = source.cut(other.target) == source.cut(loop.target)
            yield text, _GONE_OVER_ALIKE if alike else _GONE_OVER


def _said(node: cst.CSTNode) -> Iterator[str]:
    """Names that an expression begins with, those of attributes left out."""
    match node:
        case cst.Name(name):
            yield name
        case cst.Attribute():
            yield from _said(node.value)
        case _:
            for child in node.children:
                yield from _said(child)


def _told_by_names(source: Program, loop: Loop, text: str) -> float:
    """How much likelier something is for the names in it."""
    function, words = source.function(loop), _words(text)
    constants = [name for name in idle(source, None) if name.isupper() or name in _patterns(source)]
    unused = not set(words).isdisjoint((*idle(source, function), *constants))
    targets = [_stem(name) for name in _targets(source, loop) if len(name) > 2]
    alike = any(_stem(name).endswith(target) for name in words for target in targets)
    above = _words("\n".join(source.lines[source.unit(loop)[0] : source.span(loop)[0][0] - 1]))
    below = any(name in source.scope.locals(function) and name not in above for name in words)
    return (_IDLE if unused else 1.0) * (_CALLED_ALIKE if alike else 1.0) * (_BOUND_BELOW if below else 1.0)


def _targets(source: Program, loop: Loop) -> list[str]:
    return _words(source.cut(loop.target))


def _stem(name: str) -> str:
    """A name in the singular."""
    return re.sub(r"(?:ies|y|(?<=[sxh])es|s)$", "", name.lower().strip("_"))


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d]\w*", text)
