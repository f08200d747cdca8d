"""How many of the lines that a patch changes were run by tests: what is run on import is left out on both sides."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from stages.report import LineHits
from stages.verdict import Span


@dataclass(frozen=True, kw_only=True)
class Covered:
    """Changed lines inside functions that do something, and how many of those some test ran."""

    changed: int = 0
    covered: int = 0


def covered(spans: Iterable[Span], sources: Mapping[str, bytes], hits: Iterable[LineHits]) -> Covered:
    """Counts the spans of the files in `sources`, which stand as they were run."""
    ran: dict[str, set[int]] = {}
    for one in hits:
        for path, lines in one.items():
            ran.setdefault(path, set()).update(lines)
    statements = {path: dict(_statements(source)) for path, source in sources.items()}
    changed = [
        bool(ran.get(span.path, set()) & set(statement))
        for span in spans
        if span.path in statements
        for line in range(span.first, span.last + 1)
        if (statement := statements[span.path].get(line))
    ]
    return Covered(changed=len(changed), covered=sum(changed))


def _statements(source: bytes) -> Iterator[tuple[int, range]]:
    """Each line of each statement inside a function, with all lines of that statement; inner ones come later."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for function in functions:
        for node in ast.walk(function):
            if isinstance(node, ast.stmt) and node is not function and not _says_nothing(node):
                lines = _own_lines(node)
                yield from ((line, lines) for line in lines)


def _own_lines(node: ast.stmt) -> range:
    """Those of the statement without the body of it."""
    body = getattr(node, "body", None)
    last = node.end_lineno or node.lineno
    if isinstance(body, list) and body:
        last = max(node.lineno, min(last, body[0].lineno - 1))
    return range(node.lineno, last + 1)


def _says_nothing(node: ast.stmt) -> bool:
    """True for what no interpreter stops at: a text that stands alone, and names of other scopes."""
    alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return alone or isinstance(node, ast.Global | ast.Nonlocal)
