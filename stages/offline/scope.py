"""Which names stand in scope at a place, and of what kind they look to be."""

from __future__ import annotations

import builtins
from collections import defaultdict
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Final

import libcst as cst

from stages.offline.source import Focus, Source, Where


class Kind(StrEnum):
    """What a value looks to be, read from the text alone."""

    NUMBER = "number"
    TEXT = "text"
    LIST = "list"
    DICT = "dict"
    SET = "set"
    TRUTH = "truth"
    CALLABLE = "callable"
    UNKNOWN = "unknown"


_OF_LITERALS: Final[tuple[tuple[tuple[type[cst.CSTNode], ...], Kind], ...]] = (
    ((cst.Integer, cst.Float), Kind.NUMBER),
    ((cst.SimpleString, cst.FormattedString, cst.ConcatenatedString), Kind.TEXT),
    ((cst.List, cst.ListComp), Kind.LIST),
    ((cst.Dict, cst.DictComp), Kind.DICT),
    ((cst.Set, cst.SetComp), Kind.SET),
    ((cst.Comparison,), Kind.TRUTH),
    ((cst.Lambda,), Kind.CALLABLE),
)
_OF_CALLS: Final = {
    **dict.fromkeys(("int", "float", "len", "abs", "sum", "round", "ord", "Decimal"), Kind.NUMBER),
    **dict.fromkeys(("str", "repr", "chr", "format"), Kind.TEXT),
    **dict.fromkeys(("list", "sorted", "tuple"), Kind.LIST),
    **dict.fromkeys(("dict", "defaultdict", "Counter", "OrderedDict"), Kind.DICT),
    **dict.fromkeys(("set", "frozenset"), Kind.SET),
    **dict.fromkeys(("bool", "isinstance", "any", "all"), Kind.TRUTH),
}
_OF_METHODS: Final = {
    **dict.fromkeys(("upper", "lower", "title", "strip", "lstrip", "rstrip", "capitalize", "casefold"), Kind.TEXT),
    **dict.fromkeys(("join", "format", "decode", "zfill", "ljust", "rjust", "hexdigest", "isoformat"), Kind.TEXT),
    **dict.fromkeys(("split", "rsplit", "splitlines", "readlines", "findall", "groups"), Kind.LIST),
    **dict.fromkeys(("startswith", "endswith", "isdigit", "isalpha", "isupper", "islower", "isspace"), Kind.TRUTH),
    **dict.fromkeys(("find", "rfind", "bit_length", "total_seconds"), Kind.NUMBER),
}
"""Methods of one name that give one kind of thing wherever they are called."""
_OF_ANNOTATIONS: Final = {
    **_OF_CALLS,
    **dict.fromkeys(("Sequence", "Iterable", "List", "Tuple"), Kind.LIST),
    **dict.fromkeys(("Mapping", "Dict"), Kind.DICT),
    "Callable": Kind.CALLABLE,
    "Set": Kind.SET,
}


class Scope:
    """The names of one file, by function."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._bound: dict[Where, dict[str, Kind]] = defaultdict(dict)
        for name, kind, where in _bindings(source):
            known = self._bound[where]
            known[name] = kind if known.get(name, kind) in (kind, Kind.UNKNOWN) else Kind.UNKNOWN

    def locals(self, function: Where) -> tuple[str, ...]:
        """Parameters and assigned names of a function, in the order of the text."""
        return tuple(self._bound.get(function, ()))

    def visible(self, node: cst.CSTNode, *, module_too: bool = False) -> tuple[str, ...]:
        """Names in scope at a node: of comprehensions around it, then its functions, then the module if asked."""
        names: dict[str, None] = {}
        for above in self._source.ancestors(node):
            if isinstance(above, cst.BaseComp):
                names |= dict.fromkeys(_targets_of(above.for_in))
        function = self._source.function(node)
        while function is not None:
            names |= dict.fromkeys(self.locals(function))
            function = self._source.function(function)
        if module_too or not names:
            names |= dict.fromkeys(self.locals(None))
        return tuple(names)

    def kind(self, node: cst.BaseExpression) -> Kind:
        """What an expression looks to be."""
        if isinstance(node, cst.Name) and node.value not in ("True", "False"):
            return self.kind_of(node.value, self._source.function(node))
        return kind_of_value(node)

    def kind_of(self, name: str, function: Where) -> Kind:
        """What a name looks to hold in a function."""
        while True:
            if name in self._bound.get(function, ()):
                return self._bound[function][name]
            if function is None:
                return Kind.CALLABLE if callable(getattr(builtins, name, None)) else Kind.UNKNOWN
            function = self._source.function(function)

    def fits(self, name: str, node: cst.BaseExpression) -> bool:
        """False when a name surely holds something of another kind than the node."""
        return alike(self.kind_of(name, self._source.function(node)), self.kind(node))


class Program(Source):
    """A file, and the names in it."""

    def __init__(self, path: str, text: str, hints: tuple[str, ...] = (), focus: Focus | None = None) -> None:
        super().__init__(path, text, hints, focus)
        self.scope = Scope(self)


def alike(one: Kind, other: Kind) -> bool:
    """False when both kinds are known and differ."""
    return Kind.UNKNOWN in (one, other) or one is other


def kind_of_value(node: cst.BaseExpression) -> Kind:
    """What a literal, a call or an operation looks to give."""
    for types, kind in _OF_LITERALS:
        if isinstance(node, types):
            return kind
    match node:
        case cst.Name("True" | "False") | cst.UnaryOperation(operator=cst.Not()):
            return Kind.TRUTH
        case cst.UnaryOperation():
            return kind_of_value(node.expression)
        case cst.Call(func=cst.Name(name)):
            return _OF_CALLS.get(name, Kind.UNKNOWN)
        case cst.Call(func=cst.Attribute(attr=cst.Name(name))):
            return _OF_METHODS.get(name, Kind.UNKNOWN)
        case cst.BinaryOperation(operator=cst.Subtract() | cst.FloorDivide() | cst.Divide() | cst.Power()):
            return Kind.NUMBER
        case cst.BinaryOperation(operator=cst.Modulo(), left=left) if kind_of_value(left) is Kind.TEXT:
            return Kind.TEXT
        case cst.BooleanOperation(left=left, right=right) | cst.IfExp(body=left, orelse=right):
            return kind_of_value(left) if kind_of_value(left) is kind_of_value(right) else Kind.UNKNOWN
        case cst.BinaryOperation(left=left, right=right):
            kinds = {kind_of_value(left), kind_of_value(right)} - {Kind.UNKNOWN}
            return kinds.pop() if len(kinds) == 1 else Kind.UNKNOWN
        case _:
            return Kind.UNKNOWN


def _bindings(source: Source) -> Iterator[tuple[str, Kind, Where]]:
    for node in source.every(cst.CSTNode):  # type: ignore[type-abstract]
        match node:
            case cst.Param(name=cst.Name(name)):
                yield name, _kind_of_parameter(node), _owner(source, node)
            case cst.Assign():
                kind = kind_of_value(node.value)
                for target in node.targets:
                    yield from ((name, kind, source.function(node)) for name in _names(target.target))
            case cst.AnnAssign(target=cst.Name(name)):
                yield name, _kind_of_annotation(node.annotation), source.function(node)
            case cst.For():
                yield from ((name, _kind_in(node.iter), source.function(node)) for name in _names(node.target))
            case cst.NamedExpr(target=cst.Name(name)):
                yield name, kind_of_value(node.value), source.function(node)
            case cst.AsName(name=cst.Name(name)):
                yield name, Kind.UNKNOWN, source.function(node)
            case cst.FunctionDef(name=cst.Name(name)) | cst.ClassDef(name=cst.Name(name)):
                if not isinstance(source.parent(source.parent(node)), cst.ClassDef):
                    yield name, Kind.CALLABLE, source.function(node)
            case cst.ImportAlias(name=cst.Name(name), asname=None):
                yield name, Kind.UNKNOWN, source.function(node)
            case _:
                pass


def _owner(source: Source, node: cst.CSTNode) -> Where:
    """The function that a parameter belongs to; a lambda's parameters are given to nobody."""
    return source.within(node, cst.FunctionDef)


def _kind_of_parameter(node: cst.Param) -> Kind:
    if node.annotation is not None:
        return _kind_of_annotation(node.annotation)
    return kind_of_value(node.default) if node.default is not None else Kind.UNKNOWN


def _kind_of_annotation(annotation: cst.Annotation) -> Kind:
    written = annotation.annotation
    base = written.value if isinstance(written, cst.Subscript) else written
    return _OF_ANNOTATIONS.get(base.value, Kind.UNKNOWN) if isinstance(base, cst.Name) else Kind.UNKNOWN


def _kind_in(iterable: cst.BaseExpression) -> Kind:
    match iterable:
        case cst.Call(func=cst.Name("range")):
            return Kind.NUMBER
        case _:
            return Kind.UNKNOWN


def _targets_of(comprehension: cst.CompFor) -> Iterable[str]:
    yield from _names(comprehension.target)
    if comprehension.inner_for_in is not None:
        yield from _targets_of(comprehension.inner_for_in)


def _names(target: cst.BaseExpression) -> Iterator[str]:
    match target:
        case cst.Name(name):
            yield name
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                yield from _names(element.value)
        case _:
            return
