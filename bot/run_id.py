"""Ids of runs: twelve characters that sort by time and can be read aloud."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import datetime
from typing import Final

from memory.types import RunId

ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's base 32
LENGTH: Final = 12

_TICKS_PER_SECOND = 16  # 36 bits of them reach into the year 2106
_CHANCE_BITS = 24
_MISREAD = str.maketrans("ILO", "110")


def new_run_id(at: datetime, chance: Callable[[int], int] = secrets.randbits) -> RunId:
    """36 bits of time and 24 bits of chance."""
    number = int(at.timestamp() * _TICKS_PER_SECOND) << _CHANCE_BITS | chance(_CHANCE_BITS)
    return RunId("".join(ALPHABET[number >> shift & 31] for shift in range(5 * (LENGTH - 1), -1, -5)))


def read_run_id(given: str) -> str:
    """What a person wrote, as an id or the beginning of one; "" when it cannot be."""
    text = given.strip().upper().translate(_MISREAD)
    return text if text and len(text) <= LENGTH and not set(text) - set(ALPHABET) else ""
