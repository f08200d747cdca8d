"""How suspicious a statement is, and in which order candidates are tried."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import sqrt
from typing import Final

import libcst as cst

from stages.offline.candidate import Candidate
from stages.offline.results import Hits
from stages.offline.scope import Program
from stages.offline.source import Source, Splice
from stages.offline.templates import TEMPLATES

_UNKNOWN: Final = 0.5
"""Suspicion of every line where nothing is known of what ran."""
_AT_IMPORT: Final = 0.6
"""What a definition that ran at import gets of the suspicion of the lines that use it."""
_CALLED_AT_IMPORT: Final = 0.3
"""Suspicion of a function that the module calls at import, and that no test is seen to run."""
_FLOOR: Final = 0.1


class Suspicion:
    """Ochiai's measure over lines: failed / √(all failed × (failed + passed)), as the study in fault localisation by
    Abreu, Zoeteweij and van Gemund (2007) recommends. `boosted` are lines that a traceback names."""

    def __init__(
        self, sources: Sequence[Source], hits: Mapping[str, Hits], boosted: Iterable[tuple[str, int]] = ()
    ) -> None:
        failed = max((hit[0] for lines in hits.values() for hit in lines.values()), default=0)
        self._lines: dict[tuple[str, int], float] = {}
        for path, lines in hits.items():
            for line, (red, green) in lines.items():
                if red:
                    self._lines[path, line] = red / sqrt(failed * (red + green))
        self._seen = frozenset((path, line) for path, lines in hits.items() for line, hit in lines.items() if any(hit))
        self._known = frozenset(path for path, _ in self._lines)
        self._boosted = frozenset(boosted)
        self._words: dict[str, float] = {}
        self._of: dict[cst.CSTNode, float | None] = {}
        for source in sources:
            for number, text in enumerate(source.lines, 1):
                if value := self._lines.get((source.path, number), 0.0):
                    for word in re.findall(r"\w+", text):
                        self._words[word] = max(value, self._words.get(word, 0.0))

    def of(self, source: Source, statement: cst.CSTNode) -> float | None:
        """How suspicious a statement is, 0 to 1; None when no failing test ran it."""
        if statement not in self._of:
            self._of[statement] = self._measured(source, statement)
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
        names = _defined(source, statement)
        best = max((self._words.get(name, 0.0) for name in names), default=0.0)
        return best * _AT_IMPORT if best else None

    def _ran_at_import(self, source: Source, function: cst.FunctionDef) -> bool:
        outer = function
        while (above := source.function(outer)) is not None:
            outer = above
        (first, _), (last, _) = source.span(outer.body)
        unseen = all((source.path, line) not in self._seen for line in range(first, last + 1))
        return outer.name.value in source.at_import and unseen


def _defined(source: Source, statement: cst.CSTNode) -> list[str]:
    match statement:
        case cst.FunctionDef():
            return [
                parameter.name.value
                for parameter in source.of(cst.Param)
                if source.within(parameter, cst.FunctionDef) is statement
            ]
        case cst.SimpleStatementLine():
            words = re.findall(r"\w+", source.cut(statement).partition("=")[0])
            return words + _owner_of_field(source, statement)
        case _:
            return []


def _owner_of_field(source: Source, statement: cst.CSTNode) -> list[str]:
    return [above.name.value for above in source.ancestors(statement) if isinstance(above, cst.ClassDef)]


def ranked(sources: Sequence[Program], suspicion: Suspicion) -> list[Candidate]:
    """All candidates, the best first: weight of the template × (0.1 + suspicion) / √(candidates of this template).

    Among equals the smaller edit comes first, then the order of templates and of the text.
    """
    candidates = [one for made in _by_template(sources, suspicion) for one in made]
    candidates.sort(key=lambda one: (-one.rank, len(one.splice.text)))
    return candidates


def _as_many(values: Iterable[float]) -> float:
    """How many candidates a template makes here, where one at a place that is hardly suspicious counts less."""
    measured = [_FLOOR + value for value in values]
    return sum(measured) / max(measured) if measured else 1.0


def _by_template(sources: Sequence[Program], suspicion: Suspicion) -> Iterator[list[Candidate]]:
    for template in TEMPLATES:
        found: list[tuple[Program, Splice, float]] = []
        for source in sources:
            for splice in template.splices(source):
                value = suspicion.of(source, splice.at)
                if value is not None:
                    found.append((source, splice, value))
        many = sqrt(_as_many(value for *_, value in found))
        yield [
            Candidate(
                source=source, splice=splice, template=template.name, rank=template.weight * (_FLOOR + value) / many
            )
            for source, splice, value in found
        ]
