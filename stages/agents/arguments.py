"""Checks a tool's arguments against its schema, strictly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

STRING_AT_MOST: Final = 200_000  # characters
ITEMS_AT_MOST: Final = 500
NUMBER_AT_MOST: Final = 1e15  # what more is is no number of anything, and some of it no float
_KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def mismatch(schema: Mapping[str, Any], value: object, name: str = "") -> str | None:
    """Why `value` does not fit, or None. Types as they stand: neither `"3"` nor `True` is an integer."""
    what = name or "the arguments"
    kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    if not any(type(value) in _KINDS[kind] for kind in kinds):
        return f"{what}: {' or '.join(kinds)} expected, not {type(value).__name__}"
    match value:
        case str():
            return _of_text(schema, value, what)
        case list():
            return _of_items(schema, value, what)
        case dict():
            return _of_fields(schema, value, name)
        case int() | float() if not abs(value) <= NUMBER_AT_MOST:  # not a number is not less either
            return f"{what}: a number of at most {NUMBER_AT_MOST:.0f}"
        case _:
            return None


def _of_text(schema: Mapping[str, Any], value: str, what: str) -> str | None:
    if len(value) > STRING_AT_MOST:
        return f"{what}: at most {STRING_AT_MOST} characters"
    if any("\ud800" <= character <= "\udfff" for character in value) and not value.isascii():
        return f"{what}: holds half a character"
    if "enum" in schema and value not in schema["enum"]:
        return f"{what}: one of {', '.join(schema['enum'])}"
    return None


def _of_items(schema: Mapping[str, Any], value: list[object], what: str) -> str | None:
    if len(value) > ITEMS_AT_MOST:
        return f"{what}: at most {ITEMS_AT_MOST} items"
    return _first(mismatch(schema["items"], item, f"{what}[{place}]") for place, item in enumerate(value))


def _of_fields(schema: Mapping[str, Any], value: dict[str, object], name: str) -> str | None:
    before = f"{name}." if name else ""
    known = schema["properties"]
    for field in schema["required"]:
        if field not in value:
            return f"{before}{field} is missing"
    for field in value:
        if field not in known:
            return f"there is no field {str(field)[:60]!r}; the fields are {', '.join(known)}"
    return _first(mismatch(known[field], item, f"{before}{field}") for field, item in value.items())


def _first(problems: Iterable[str | None]) -> str | None:
    return next((problem for problem in problems if problem), None)
