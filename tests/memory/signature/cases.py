"""The pairs of `cases.toml`, and the folder of public data where it is there."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

_PROJECT = Path(__file__).resolve().parents[3]
SHARED = _PROJECT.parent / "shared" / "data"
"""Public data beside the project; its records never come into it."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """Two texts; `level` is the level at which they meet, "" when they must not."""

    name: str
    level: str
    one: str
    other: str


def _cases() -> tuple[Case, ...]:
    table = tomllib.loads((Path(__file__).parent / "cases.toml").read_text(encoding="utf-8"))
    return tuple(Case(**row) for row in table["case"])


CASES = _cases()


def shared(*parts: str) -> list[dict[str, Any]]:
    """The records of a file of the public data; skips the test, and says so, when it is not there."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{'/'.join(parts)} of the public data is not beside the project")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
