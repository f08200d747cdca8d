"""One table of settings: each value is asked for by name and kind, and what nobody asked for is refused."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches

from bot.errors import ConfigBroken, UnknownSetting, WrongSetting
from memory.text import one_line

_SHOWN_AT_MOST = 60  # characters of a key or number in a message
_TEXT_AT_MOST = 12  # characters of a value; every key of a service is longer


def parse_toml(text: str, source: str) -> dict[str, object]:
    """What a TOML text holds. Raises ConfigBroken."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigBroken(source=source, reason=one_line(str(error))) from error


def nearest(word: str, known: Iterable[str]) -> str:
    """A sentence with the known word that is nearest, or with all of them."""
    among = {one.lower(): one for one in sorted(known)}
    if near := get_close_matches(word.lower(), among, n=1, cutoff=0.5):
        return f"Did you mean {among[near[0]]}?"
    return f"Known here: {', '.join(among.values())}." if among else "Nothing is known here."


class TomlTable:
    """A table of settings from `source`, which messages name. Each getter gives None for a key that is not there.

    Every getter raises WrongSetting for a value of another kind; `close` raises UnknownSetting.
    """

    def __init__(self, values: Mapping[str, object], *, source: str, name: str = "") -> None:
        self._values, self._source, self._name = values, source, name
        self._known = set[str]()

    def text(self, key: str) -> str | None:
        value = self._get(key)
        if value is None or isinstance(value, str):
            return value
        raise self.refusal(key, "text in quotes")

    def whole(self, key: str, at_least: int, at_most: int) -> int | None:
        value = self._get(key)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and at_least <= value <= at_most:
            return value
        raise self.refusal(key, f"a whole number from {at_least} to {at_most}")

    def number(self, key: str, at_least: float, at_most: float) -> float | None:
        value = self._get(key)
        if value is None:
            return None
        # A comparison with NaN is false, so NaN is refused here too.
        if isinstance(value, int | float) and not isinstance(value, bool) and at_least <= value <= at_most:
            return float(value)
        raise self.refusal(key, f"a number from {at_least:g} to {at_most:g}")

    def texts(self, key: str) -> tuple[str, ...] | None:
        value = self._get(key)
        if value is None:
            return None
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        raise self.refusal(key, "a list of texts")

    def choice(self, key: str, choices: Iterable[str]) -> str | None:
        value, among = self._get(key), tuple(choices)
        if value is None:
            return None
        if isinstance(value, str) and value in among:
            return value
        raise self.refusal(key, f"one of {', '.join(among)}")

    def __iter__(self) -> Iterator[str]:
        """The keys that are there."""
        return iter(self._values)

    def any(self, key: str) -> object:
        """The value as it is, for a setting that may be of several kinds."""
        return self._get(key)

    def table(self, key: str) -> TomlTable:
        """The table of this name; an empty one when it is not there."""
        value = self._get(key)
        if value is None or isinstance(value, dict):
            return TomlTable(value or {}, source=self._source, name=self.path(key))
        raise self.refusal(key, f"a table, [{self.path(key)}]")

    def tables(self, names: re.Pattern[str] | None = None, wanted: str = "") -> dict[str, TomlTable]:
        """Every key of this table as a table of its own; its keys are names that people choose, as `names` allows."""
        for key in self._values:
            if names and not names.fullmatch(key):
                raise WrongSetting(source=self._source, key=f"a name in {self._name}", wanted=wanted, got=_kind(key))
        return {key: self.table(key) for key in self._values}

    def close(self) -> None:
        """Refuse every key that was never asked for, with the nearest one that was."""
        for key in self._values:
            if key not in self._known:
                raise UnknownSetting(source=self._source, key=_shown(self.path(key)), hint=nearest(key, self._known))

    def refusal(self, key: str, wanted: str, got: str = "") -> WrongSetting:
        """The error that says what the value must be; `got` stands in for what it is."""
        return WrongSetting(
            source=self._source, key=_shown(self.path(key)), wanted=wanted, got=got or _kind(self._get(key))
        )

    def path(self, key: str) -> str:
        return f"{self._name}.{key}" if self._name else key

    def _get(self, key: str) -> object:
        self._known.add(key)
        return self._values.get(key)


def _kind(value: object) -> str:
    """What a value is. A long text is not repeated: it may be a key that was pasted in the wrong place."""
    match value:
        case None:
            return "missing"
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)[:_SHOWN_AT_MOST]
        case str():
            return repr(one_line(value)) if len(value) <= _TEXT_AT_MOST else "that text"
        case list():
            return "a list" if value else "an empty list"
        case dict():
            return "a table"
        case _:
            return "a date or time"


def _shown(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _SHOWN_AT_MOST else f"{line[:_SHOWN_AT_MOST]}…"
