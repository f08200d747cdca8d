"""Frozen values in a column: as JSON there, as the same values when read back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, cast

from pydantic import TypeAdapter

from memory.types import (
    Drop,
    Ending,
    EndingKind,
    ErrorSignature,
    Hold,
    NotOurs,
    PassAfterHold,
    PathAt,
    Refix,
    Verify,
)

_ENDINGS: Final[Mapping[EndingKind, TypeAdapter[object]]] = {
    EndingKind.HOLD: TypeAdapter(Hold),
    EndingKind.REFIX: TypeAdapter(Refix),
    EndingKind.PASS_AFTER_HOLD: TypeAdapter(PassAfterHold),
    EndingKind.DROP: TypeAdapter(Drop),
    EndingKind.VERIFY: TypeAdapter(Verify),
    EndingKind.NOT_OURS: TypeAdapter(NotOurs),
}
_PATHS: Final = TypeAdapter(tuple[PathAt, ...])


def ending_json(kind: EndingKind, ending: Ending) -> str:
    return _ENDINGS[kind].dump_json(ending).decode()


def ending_of(kind: EndingKind, column: str) -> Ending:
    return cast("Ending", _ENDINGS[kind].validate_json(column))


def signatures_json(signatures: tuple[ErrorSignature, ...]) -> str:
    """What memory keeps of signatures: kind, language and keys."""
    return json.dumps([[one.kind, one.language, dict(one.keys)] for one in signatures])


def signatures_of(column: str) -> tuple[ErrorSignature, ...]:
    return tuple(
        ErrorSignature(kind=kind, language=language, type="", template="", keys=keys)
        for kind, language, keys in json.loads(column)
    )


def paths_json(paths: tuple[PathAt, ...]) -> str:
    return _PATHS.dump_json(paths).decode()


def paths_of(column: str) -> tuple[PathAt, ...]:
    return _PATHS.validate_json(column)


def scope_json(scope: Mapping[str, str]) -> str:
    return json.dumps(dict(scope))


def scope_of(column: str) -> dict[str, str]:
    scope: dict[str, str] = json.loads(column)
    return scope
