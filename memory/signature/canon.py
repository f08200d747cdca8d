"""Canonical forms: one name for a message that runtimes of other versions, vendors or languages word differently.

The forms stand in `canon.toml`, which is a part of the algorithm: a change there is a change of `ALGO`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, kw_only=True)
class Canonical:
    """A message that took a canonical form."""

    name: str
    discriminators: tuple[str, ...]
    generic: bool
    case: bool  # whether the case of the discriminators means something
    words: bool  # whether the discriminators are words that hold data


@dataclass(frozen=True, kw_only=True)
class Form:
    """One row of the table."""

    name: str
    needs: tuple[str, ...]  # lower case; one of them stands in each message that can match
    patterns: tuple[re.Pattern[str], ...]
    types: frozenset[str]  # last segments of exception types, lower case, whose every message takes this form
    only: frozenset[str]  # if given, the form is for these types alone
    generic: bool
    case: bool
    words: bool

    def match(self, message: str, low: str, type_: str) -> Canonical | None:
        """This form of `message`, if it has it."""
        if type_ in self.types:
            return self._found(())
        if (self.only and type_ not in self.only) or not any(word in low for word in self.needs):
            return None
        for pattern in self.patterns:
            found = pattern.search(message)
            if found:
                return self._found(tuple(_tidy(part) for part in _named(found.groupdict())))
        return None

    def _found(self, discriminators: tuple[str, ...]) -> Canonical:
        return Canonical(
            name=self.name, discriminators=discriminators, generic=self.generic, case=self.case, words=self.words
        )


def canonical(message: str, type_: str = "") -> Canonical | None:
    """The first form of the table that `message` of an exception `type_` takes."""
    low, short = message.lower(), short_type(type_)
    for form in forms():
        found = form.match(message, low, short)
        if found:
            return found
    return None


def short_type(type_: str) -> str:
    """The last segment of a qualified type, lower case."""
    return re.split(r"[.:\\/$+]", type_.rstrip(".:\\/$+"))[-1].lower()


@cache
def forms() -> tuple[Form, ...]:
    """All rows, in their order."""
    table = tomllib.loads(files("memory.signature").joinpath("canon.toml").read_text(encoding="utf-8"))
    return tuple(_form(row) for row in table["form"])


def _form(row: Mapping[str, object]) -> Form:
    def strings(field: str) -> tuple[str, ...]:
        given = row.get(field, [])
        return tuple(str(part) for part in given) if isinstance(given, list) else (str(given),)

    return Form(
        name=str(row["name"]),
        needs=strings("needs"),
        patterns=tuple(re.compile(pattern) for pattern in strings("patterns")),
        types=frozenset(strings("types")),
        only=frozenset(strings("only")),
        generic=bool(row.get("generic", False)),
        case=bool(row.get("case", True)),
        words=bool(row.get("words", False)),
    )


def _named(groups: Mapping[str, str | None]) -> list[str]:
    # a1 and a2 are two wordings of the discriminator a
    kept: dict[str, str] = {}
    for name, value in groups.items():
        if value is not None:
            kept.setdefault(name.rstrip("0123456789"), value)
    return [kept[name] for name in sorted(kept)]


def _tidy(part: str) -> str:
    return part.strip("\"'`[] ").removeprefix("public.") if part.strip("\"'`[] ") else part
