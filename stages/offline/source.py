"""A Python file as libcst reads it: nodes, places, statements, and replacements as pieces of text."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias, TypeVar, cast, overload

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider, WhitespaceInclusivePositionProvider

from stages.offline.precedence import demand, fitted

Point: TypeAlias = tuple[int, int]
"""Line from 1, column from 0."""
Node = TypeVar("Node", bound=cst.CSTNode)
Other = TypeVar("Other", bound=cst.CSTNode)
More = TypeVar("More", bound=cst.CSTNode)
Made = TypeVar("Made")
Where: TypeAlias = cst.FunctionDef | None
"""The function that a node stands in; None for the module."""
Statement: TypeAlias = cst.SimpleStatementLine | cst.BaseCompoundStatement
STATEMENTS: Final = (cst.SimpleStatementLine, cst.BaseCompoundStatement)


@dataclass(frozen=True, slots=True)
class Splice:
    """Text that takes the place of what stands from `start` to `end`; `at` is the statement that it changes.

    `share` is how likely it is beside others of its template at the same place.
    """

    start: Point
    end: Point
    text: str
    at: cst.CSTNode
    share: float = 1.0

    def weighed(self, share: float) -> Splice:
        """The same one, likelier or less likely than others of its template."""
        return replace(self, share=self.share * share)


@dataclass(frozen=True, kw_only=True)
class Focus:
    """What of a file may be at fault: functions with one of these lines, and definitions of one of these words.

    `words` is None where all definitions outside functions count.
    """

    lines: frozenset[int]
    words: frozenset[str] | None = None


class Source:
    """One file. Raises libcst.ParserSyntaxError, SyntaxError or ValueError when it is no Python.

    `hints` are literals from the ticket and the failing test's account, as they are written in code. What is out of
    `focus` is looked at only for what the whole file says; None is everything.
    """

    def __init__(self, path: str, text: str, hints: tuple[str, ...] = (), focus: Focus | None = None) -> None:
        self.path, self.text, self.hints = path, text, hints
        self.lines = text.split("\n")
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        self._positions = cast("dict[cst.CSTNode, CodeRange]", wrapper.resolve(PositionProvider))
        self._wide = cast("dict[cst.CSTNode, CodeRange]", wrapper.resolve(WhitespaceInclusivePositionProvider))
        self.module = wrapper.module
        self._parents: dict[cst.CSTNode, cst.CSTNode] = {}
        self.at_import = frozenset(_called_by(_parsed(self.lines)))
        """Functions that the module calls when it is imported: no test is seen to run their lines."""
        self._kept: dict[object, object] = {}
        self._functions: dict[cst.CSTNode, Where] = {}
        self._all: list[cst.CSTNode] = []
        self.nodes: list[cst.CSTNode] = []
        self._walk(focus)

    def _walk(self, focus: Focus | None) -> None:
        stack: list[tuple[cst.CSTNode, bool]] = [(self.module, True)]
        while stack:
            node, wanted = stack.pop()
            self._all.append(node)
            wanted = wanted and not (focus is not None and self._is_out(node, focus))
            if wanted:
                self.nodes.append(node)
            for child in reversed(node.children):
                self._parents[child] = node
                stack.append((child, wanted))

    def _is_out(self, node: cst.CSTNode, focus: Focus) -> bool:
        above = self.parent(node)
        if isinstance(above, cst.FunctionDef) and node is above.body:
            (first, _), (last, _) = self.span(node)
            return focus.lines.isdisjoint(range(first, last + 1)) and above.name.value not in self.at_import
        if focus.words is None or not isinstance(node, cst.SimpleStatementLine) or self.function(node) is not None:
            return False
        return focus.words.isdisjoint(self.defined_by(node))

    def defined_by(self, statement: cst.SimpleStatementLine) -> list[str]:
        """Words before the first `=` of a statement outside functions, and the class that it stands in."""
        owners = [above.name.value for above in self.ancestors(statement) if isinstance(above, cst.ClassDef)]
        return re.findall(r"\w+", self.cut(statement).partition("=")[0]) + owners

    @overload
    def of(self, kind: type[Node], /) -> Sequence[Node]: ...
    @overload
    def of(self, kind: type[Node], second: type[Other], /) -> Sequence[Node | Other]: ...
    @overload
    def of(self, kind: type[Node], second: type[Other], third: type[More], /) -> Sequence[Node | Other | More]: ...
    @overload
    def of(self, *kinds: type[cst.CSTNode]) -> Sequence[cst.CSTNode]: ...

    def of(self, *kinds: type[cst.CSTNode]) -> Sequence[cst.CSTNode]:
        """All nodes of these kinds in focus, in the order of the text."""
        return self.once(("of", kinds), lambda: [node for node in self.nodes if isinstance(node, kinds)])

    def every(self, kind: type[Node]) -> Sequence[Node]:
        """All nodes of this kind in the file, in the order of the text."""
        return self.once(("every", kind), lambda: [node for node in self._all if isinstance(node, kind)])

    @overload
    def inside(self, function: Where, kind: type[Node], /) -> Sequence[Node]: ...
    @overload
    def inside(self, function: Where, kind: type[Node], second: type[Other], /) -> Sequence[Node | Other]: ...
    @overload
    def inside(self, function: Where, *kinds: type[cst.CSTNode]) -> Sequence[cst.CSTNode]: ...

    def inside(self, function: Where, *kinds: type[cst.CSTNode]) -> Sequence[cst.CSTNode]:
        """Nodes of these kinds in a function, not those of functions within it; None is the module."""
        return self.once(("inside", kinds), lambda: self._by_function(kinds)).get(function, ())

    def _by_function(self, kinds: tuple[type[cst.CSTNode], ...]) -> dict[Where, list[cst.CSTNode]]:
        found: dict[Where, list[cst.CSTNode]] = {}
        for node in self.of(*kinds):
            found.setdefault(self.function(node), []).append(node)
        return found

    def expressions(self) -> Sequence[cst.BaseExpression]:
        """All expressions in focus, in the order of the text."""
        return self.once("expressions", lambda: [node for node in self.nodes if isinstance(node, cst.BaseExpression)])

    def once(self, key: object, make: Callable[[], Made]) -> Made:
        """What `make` gives, made once for each key."""
        if key not in self._kept:
            self._kept[key] = make()
        return cast("Made", self._kept[key])

    def parent(self, node: cst.CSTNode) -> cst.CSTNode:
        return self._parents.get(node, self.module)

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        while node in self._parents:
            node = self._parents[node]
            yield node

    def within(self, node: cst.CSTNode, kind: type[Node]) -> Node | None:
        """The nearest ancestor of this kind."""
        return next((above for above in self.ancestors(node) if isinstance(above, kind)), None)

    def statement(self, node: cst.CSTNode) -> cst.CSTNode:
        """The statement that a node belongs to; for a header of a compound statement, that one."""
        if isinstance(node, STATEMENTS) or node is self.module:
            return node
        return self.once(("statement", node), lambda: self.statement(self.parent(node)))

    def function(self, node: cst.CSTNode) -> Where:
        """The function whose body holds the node; None for its header, and at module level."""
        if node not in self._functions:
            above = self.parent(node)
            if above is node:
                return None
            own = isinstance(above, cst.FunctionDef) and node is above.body
            self._functions[node] = above if own else self.function(above)  # type: ignore[assignment]
        return self._functions[node]

    def span(self, node: cst.CSTNode) -> tuple[Point, Point]:
        """Where a node stands, without parentheses around it."""
        return _points(self._positions[node])

    def outer(self, node: cst.BaseExpression) -> tuple[Point, Point]:
        """Where an expression stands, with the parentheses that are its own."""
        return _points((self._wide if node.lpar else self._positions)[node])

    def lines_of(self, statement: cst.CSTNode) -> range:
        """The lines of a statement, without the body of a compound one."""
        (first, _), (last, _) = self.span(statement)
        body = getattr(statement, "body", None)
        if isinstance(statement, cst.BaseCompoundStatement) and isinstance(body, cst.IndentedBlock) and body.body:
            last = max(first, self.span(body.body[0])[0][0] - 1)
        return range(first, last + 1)

    def unit(self, statement: cst.CSTNode) -> tuple[int, int]:
        """The lines of the function around a statement, as a slice of `lines`; of all of them outside functions."""
        function = statement if isinstance(statement, cst.FunctionDef) else self.function(statement)
        if function is None:
            return 0, len(self.lines)
        (first, _), (last, _) = self.span(function)
        return first - 1, last

    def cut(self, node: cst.CSTNode) -> str:
        """The text of a node, without parentheses around it."""
        return self.between(*self.span(node))

    def whole(self, node: cst.BaseExpression) -> str:
        """The text of an expression, with the parentheses that are its own."""
        return self.between(*self.outer(node))

    def replace(self, node: cst.BaseExpression, text: str) -> Splice:
        """An expression replaced by other text, in parentheses where its place demands them."""
        return Splice(*self.outer(node), fitted(text, demand(node, self.parent(node))), self.statement(node))

    def swap(self, first: cst.BaseExpression, second: cst.BaseExpression) -> Splice:
        """Two expressions that stand in this order, the one in the other's place."""
        (start, left_end), (right_start, end) = self.outer(first), self.outer(second)
        left = fitted(self.whole(second), demand(first, self.parent(first)))
        right = fitted(self.whole(first), demand(second, self.parent(second)))
        return Splice(start, end, left + self.between(left_end, right_start) + right, self.statement(first))

    def token(self, node: cst.CSTNode, text: str) -> Splice:
        """An operator replaced by another."""
        start, end = self.span(node)
        return Splice(start, end, text, self.statement(node))

    def between(self, start: Point, end: Point) -> str:
        """The text from one point to another; whole lines end where the next one begins, also behind the last."""
        if start[0] == end[0]:
            return self.lines[start[0] - 1][start[1] : end[1]]
        middle = self.lines[start[0] : end[0] - 1]
        last = self.lines[end[0] - 1][: end[1]] if end[0] <= len(self.lines) else ""
        return "\n".join((self.lines[start[0] - 1][start[1] :], *middle, last))

    def indent(self, statement: cst.CSTNode) -> str:
        """The blanks in front of a statement."""
        line = self.lines[self.span(statement)[0][0] - 1]
        return line[: len(line) - len(line.lstrip())]


def program(lines: Sequence[str]) -> str:
    """A program, or a function of it, without its layout. Raises SyntaxError and ValueError when it is none."""
    return ast.dump(_parsed(["if True:", *lines] if lines and lines[0][:1] in (" ", "\t") else lines))


def _parsed(lines: Sequence[str]) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it warns of is the repository's own business
        return ast.parse("\n".join(lines))


def _called_by(node: ast.AST) -> Iterator[str]:
    """Names that are called at module or class level, decorators among them."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call | ast.FunctionDef):
            called = [child.func] if isinstance(child, ast.Call) else child.decorator_list
            yield from (
                part.id if isinstance(part, ast.Name) else part.attr
                for part in called
                if isinstance(part, ast.Name | ast.Attribute)
            )
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _called_by(child)


def _points(place: CodeRange) -> tuple[Point, Point]:
    return (place.start.line, place.start.column), (place.end.line, place.end.column)
