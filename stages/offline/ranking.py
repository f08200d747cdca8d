"""How suspicious a statement is, and in which order candidates are tried."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import sqrt
from typing import Final

import libcst as cst

from stages.offline.account import Clues
from stages.offline.candidate import Candidate
from stages.offline.results import Hits
from stages.offline.scope import Program
from stages.offline.source import STATEMENTS, Source, Splice
from stages.offline.templates import TEMPLATES

_UNKNOWN: Final = 0.5
"""Suspicion of every line where nothing is known of what ran."""
_AT_IMPORT: Final = 0.6
"""What a definition that ran at import gets of the suspicion of the lines that use it."""
_CALLED_AT_IMPORT: Final = 0.3
"""Suspicion of a function that the module calls at import, and that no test is seen to run."""
_FLOOR: Final = 0.1
_NAMED: Final = 1.0
"""Added to the rank of what takes a name away that Python says is wrong: more than any rank is."""
_ASKED: Final = 5.0
"""Times the rank of what asks for None before the line asks something of it."""
_UNFIT: Final = 4.0
"""Times the rank of what takes an operator away that values of these types do not know."""
_NONE_FIRST: Final = re.compile(r"([\w.\[\]]+) is (?:None or|not None and) ")
_IN_RAISE: Final = 0.4
"""Of a statement that raises, beside others: what is wrong is mostly why it is reached, not what it says."""


_NO_CLUES: Final = Clues()


class Suspicion:
    """Ochiai's measure over lines: failed / √(all failed × (failed + passed)), as the study in fault localisation by
    Abreu, Zoeteweij and van Gemund (2007) recommends. `boosted` are lines that a traceback names, `named` are names in
    the lines of tests where it fails: a call may fail before it runs any line of what it calls."""

    def __init__(
        self,
        sources: Sequence[Source],
        hits: Mapping[str, Hits],
        boosted: Iterable[tuple[str, int]] = (),
        named: Iterable[str] = (),
    ) -> None:
        failed = max((hit[0] for lines in hits.values() for hit in lines.values()), default=0)
        self._lines: dict[tuple[str, int], float] = {}
        own = {source.path for source in sources}
        for path, lines in hits.items():
            for line, (red, green) in lines.items():
                if red and path in own:
                    self._lines[path, line] = red / sqrt(failed * (red + green))
        self._seen = frozenset((path, line) for path, lines in hits.items() for line, hit in lines.items() if any(hit))
        self._known = frozenset(path for path, _ in self._lines)
        self._boosted = frozenset(place for source in sources for place in _led_to(source, boosted))
        self._words: dict[str, float] = dict.fromkeys(named, 1.0)
        self._entered: dict[cst.FunctionDef, bool] = {}
        self._of: dict[cst.CSTNode, float | None] = {}
        for source in sources:
            for number, text in enumerate(source.lines, 1):
                if value := self._lines.get((source.path, number), 0.0):
                    for word in re.findall(r"\w+", text):
                        self._words[word] = max(value, self._words.get(word, 0.0))

    def of(self, source: Source, statement: cst.CSTNode) -> float | None:
        """How suspicious a statement is, 0 to 1; None when no failing test ran it."""
        if statement not in self._of:
            measured = self._measured(source, statement)
            self._of[statement] = measured * _IN_RAISE if measured and _raises(statement) else measured
        return self._of[statement]

    def _measured(self, source: Source, statement: cst.CSTNode) -> float | None:
        if source.path not in self._known and not self._lines:
            boosted = any((source.path, line) in self._boosted for line in source.lines_of(statement))
            return 1.0 if boosted else _UNKNOWN
        found = [self._lines.get((source.path, line), 0.0) for line in source.lines_of(statement)]
        if best := max(found, default=0.0):
            boosted = any((source.path, line) in self._boosted for line in source.lines_of(statement))
            return min(1.0, best * 1.25) if boosted else best
        return self._at_import(source, statement)

    def _at_import(self, source: Source, statement: cst.CSTNode) -> float | None:
        """A definition outside functions ran before any test: as suspicious as the lines that use its name."""
        if (function := source.function(statement)) is not None:
            return _CALLED_AT_IMPORT if self._ran_at_import(source, function) else None
        match statement:
            case cst.FunctionDef():
                (first, _), (last, _) = source.span(statement.body)
                ran = [self._lines.get((source.path, line), 0.0) for line in range(first, last + 1)]
                best = max((*ran, self._words.get(statement.name.value, 0.0)))
            case cst.SimpleStatementLine():
                best = max((self._words.get(name, 0.0) for name in source.defined_by(statement)), default=0.0)
            case _:
                return None
        return best * _AT_IMPORT if best else None

    def _ran_at_import(self, source: Source, function: cst.FunctionDef) -> bool:
        """True for a function that no test is seen to enter, and that the module calls or a failing test looks into:
        a decorator runs when a test file is imported, the function that it gives runs in the test."""
        if function not in self._entered:
            (first, _), (last, _) = source.span(function.body)
            lines = [(source.path, line) for line in range(first, last + 1)]
            own = {(source.path, line) for one in function.body.body[:2] for line in source.lines_of(one)}
            looked_into = any(line in self._lines for line in lines)
            called = function.name.value in source.at_import and self._seen.isdisjoint(lines)
            self._entered[function] = self._seen.isdisjoint(own) and (looked_into or called)
        above = source.function(function)
        return self._entered[function] or (above is not None and self._ran_at_import(source, above))


def _led_to(source: Source, places: Iterable[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """The places in this file, and the headers of the conditions and loops around them."""
    lines = {line for path, line in places if path == source.path}
    for statement in source.nodes if lines else ():
        if not isinstance(statement, STATEMENTS) or lines.isdisjoint(source.lines_of(statement)):
            continue
        for around in (statement, *source.ancestors(statement)):
            if around is statement or isinstance(around, cst.If | cst.While | cst.For):
                yield from ((source.path, line) for line in source.lines_of(around))


def _raises(statement: cst.CSTNode) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and isinstance(statement.body[-1], cst.Raise)


def ranked(
    sources: Sequence[Program],
    suspicion: Suspicion,
    clues: Clues = _NO_CLUES,
) -> list[Candidate]:
    """All candidates, the best first: weight of the template × share × (0.1 + suspicion) / √(candidates of it).

    Among equals the smaller edit comes first, then the order of templates and of the text. What takes a name away that
    the failure says is wrong goes before everything else; what asks for None first, in the line where an attribute was
    asked of None, and what takes an operator away that its values do not know, go before others of their kind.
    """
    candidates = [_led(one, clues) for made in _by_template(sources, suspicion) for one in made]
    candidates.sort(key=lambda one: (-one.rank, len(one.splice.text)))
    return candidates


def _led(one: Candidate, clues: Clues) -> Candidate:
    if clues.unknown_names and _takes_away(one, clues.unknown_names):
        return replace(one, rank=one.rank + _NAMED)
    if clues.attributes_of_none and _asks_for_none(one, clues.attributes_of_none):
        return replace(one, rank=one.rank * _ASKED)
    if clues.operators and _replaced(one) in clues.operators:
        return replace(one, rank=one.rank * _UNFIT)
    return one


def _replaced(one: Candidate) -> str:
    return one.source.between(one.splice.start, one.splice.end).strip()


def _asks_for_none(one: Candidate, attributes: frozenset[str]) -> bool:
    """True for `x is None or …` where the line says `x.attribute`."""
    asked = _NONE_FIRST.match(one.splice.text)
    line = "\n".join(one.source.lines[one.splice.start[0] - 1 : one.splice.end[0]])
    return asked is not None and any(f"{asked[1]}.{attribute}" in line for attribute in attributes)


def _takes_away(one: Candidate, unknown: frozenset[str]) -> bool:
    before = _replaced(one)
    return any(name in before and name not in one.splice.text for name in unknown)


def _as_many(values: Sequence[float]) -> float:
    """How many candidates a template makes here, where one that is less likely than the best counts less."""
    return sum(values) / max(values) if values else 1.0


def _by_template(sources: Sequence[Program], suspicion: Suspicion) -> Iterator[list[Candidate]]:
    for template in TEMPLATES:
        found: list[tuple[Program, Splice, float]] = []
        for source in sources:
            for splice in template.splices(source):
                value = suspicion.of(source, splice.at)
                if value is not None:
                    found.append((source, splice, splice.share * (_FLOOR + value)))
        many = sqrt(_as_many([value for *_, value in found]))
        yield [
            Candidate(source=source, splice=splice, template=template.name, rank=template.weight * value / many)
            for source, splice, value in found
        ]
