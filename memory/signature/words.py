"""The word lists of `words.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files


@cache
def words(name: str) -> tuple[str, ...]:
    """The list of that name, in its order."""
    return tuple(_tables()[name].split())


@cache
def word_set(name: str) -> frozenset[str]:
    """The list of that name, to look things up in."""
    return frozenset(words(name))


@cache
def _tables() -> dict[str, str]:
    return tomllib.loads(files("memory.signature").joinpath("words.toml").read_text(encoding="utf-8"))
