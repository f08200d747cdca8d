"""Whose code a symbol is: the prefixes of `packages.toml`."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files


def of_package(language: str, symbol: str) -> bool:
    """Whether a qualified symbol belongs to the runtime or to a known library of that language."""
    return bool(_pattern(language).match(symbol))


@cache
def _pattern(language: str) -> re.Pattern[str]:
    table = tomllib.loads(files("memory.signature").joinpath("packages.toml").read_text(encoding="utf-8"))
    return re.compile("|".join(re.escape(prefix) for prefix in table[language].split()))
