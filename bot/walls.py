"""What may be spent in one day: by everybody together, in one repository, by one actor."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Final

from bot.toml_table import TomlTable

_COUNT_AT_MOST: Final = 10**12
_MONEY_AT_MOST: Final = 1e6  # US dollars
_MINUTES_AT_MOST: Final = 365 * 24 * 60  # of all runs of a day together


@dataclass(frozen=True, kw_only=True)
class Wall:
    """What may be spent from midnight to midnight, UTC; None for as much as one likes. `money` in US dollars."""

    calls: int | None = None
    tokens: int | None = None
    money: float | None = None
    minutes: float | None = None


@dataclass(frozen=True, kw_only=True)
class Walls:
    """`actor` is whoever triggered a run; a run that nobody is known to have triggered stands before the others alone.

    As long as nobody sets one, money alone is bounded.
    """

    day: Wall = field(default_factory=lambda: Wall(money=50.0))
    repository: Wall = field(default_factory=lambda: Wall(money=25.0))
    actor: Wall = field(default_factory=lambda: Wall(money=15.0))


def read_walls(limits: TomlTable) -> Walls:
    """The tables `day`, `repository` and `actor` of `[limits]`. Raises UnknownSetting and WrongSetting."""
    usual = Walls()
    return Walls(**{one.name: _wall(limits.table(one.name), getattr(usual, one.name)) for one in fields(Walls)})


def _wall(table: TomlTable, usual: Wall) -> Wall:
    calls, tokens = (table.whole(key, 1, _COUNT_AT_MOST) for key in ("calls", "tokens"))
    money = table.number("money", 0, _MONEY_AT_MOST)
    minutes = table.number("minutes", 0, _MINUTES_AT_MOST)
    table.close()
    return Wall(calls=calls, tokens=tokens, money=usual.money if money is None else money, minutes=minutes)
