"""GitHub's own description of its API, pruned: what is asked and answered here must fit it."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

_FILE: Final = Path(__file__).parent / "openapi.json"
_ALWAYS_POSSIBLE: Final = {301, 307, 401, 403, 404, 409, 410, 413, 422, 429, 500, 502, 503, 504}
_MANY_PARTS: Final = re.compile(r"/\{(?:ref|branch|basehead)\}")


@dataclass(frozen=True)
class Operation:
    verb: str
    template: str
    pattern: re.Pattern[str]
    description: dict[str, Any]


@cache
def description() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_FILE.read_text("utf-8"))
    return found


@cache
def operations() -> tuple[Operation, ...]:
    return tuple(
        Operation(verb.upper(), path, path_pattern(path), operation)
        for path, verbs in description()["paths"].items()
        for verb, operation in verbs.items()
    )


def path_pattern(template: str) -> re.Pattern[str]:
    """A path with its parameters; the last one of some may hold slashes, as names of branches do."""
    text = _MANY_PARTS.sub("/(?P<rest>.+)", re.escape(template).replace(r"\{", "{").replace(r"\}", "}"))
    return re.compile(re.sub(r"\{([a-z_]+)\}", r"(?P<\1>[^/]+)", text))


def operation_of(verb: str, path: str) -> Operation | None:
    fitting = [one for one in operations() if one.verb == verb and one.pattern.fullmatch(path)]
    return min(fitting, key=lambda one: one.template.count("{"), default=None)


@cache
def _registry() -> Registry[Any]:
    resource = Resource.from_contents(description(), default_specification=DRAFT202012)
    registry: Registry[Any] = Registry().with_resource("github:", resource)
    return registry


@cache
def _validator(pointer: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"github:#{pointer}"}, registry=_registry())


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")


def complaints(verb: str, path: str, query: dict[str, str], body: object, status: int, reply: object) -> list[str]:
    """What does not fit: in the request, and in the answer. A query parameter that GitHub does not know counts."""
    operation = operation_of(verb, path)
    if operation is None:
        return [f"no such operation: {verb} {path}"]
    described = operation.description
    where = f"/paths/{_escaped(operation.template)}/{verb.lower()}"
    found = [f"unknown query parameter {name}" for name in query if name not in described["query"]]
    if "body" in described and body is not None:
        found += [f"request: {one}" for one in _errors(f"{where}/body", body)]
    if described.get("body required") and body is None:
        found.append("request: no body")
    if str(status) in described["responses"]:
        if described["responses"][str(status)]:
            found += [f"answer: {one}" for one in _errors(f"{where}/responses/{status}", reply)]
    elif status not in _ALWAYS_POSSIBLE:
        found.append(f"answer: status {status} is not described")
    return [f"{verb} {path}: {one}" for one in found]


def _errors(pointer: str, value: object) -> list[str]:
    found = _validator(pointer).iter_errors(value)
    return [f"{'/'.join(map(str, one.path))}: {one.message[:160]}" for one in found]


def filled(schema: str, **known: object) -> dict[str, Any]:
    """An answer of this schema: what is known, and something harmless for all else that must be there."""
    strange = set(known) - set(_properties(schema))
    assert not strange, f"{schema} has no {strange}"
    return copy.deepcopy(_skeleton(schema)) | known


@cache
def _properties(schema: str) -> dict[str, Any]:
    found: dict[str, Any] = description()["schemas"][schema]["properties"]
    return found


@cache
def _skeleton(schema: str) -> dict[str, Any]:
    made: dict[str, Any] = _harmless({**description()["schemas"][schema], "type": "object"})
    return made


def _harmless(schema: dict[str, Any]) -> Any:
    if "$ref" in schema:
        return _harmless(description()["schemas"][schema["$ref"].rsplit("/", 1)[1]])
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return None if {"type": "null"} in schema[several] else _harmless(schema[several][0])
    kind = schema.get("type", "object")
    if isinstance(kind, list):
        return None
    if kind == "object":
        wanted = schema.get("required", ())
        return {name: _harmless(one) for name, one in schema.get("properties", {}).items() if name in wanted}
    if kind == "string":
        return schema.get("enum", ["https://example.org/"])[0]
    return {"array": [], "integer": 0, "number": 0, "boolean": False}[kind]
