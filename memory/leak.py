"""A secret that was found in a text: of which kind, and where."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final


class LeakKind(StrEnum):
    """How it was known."""

    VALUE = "configured value"  # a secret of this configuration, as it is
    HIDDEN_VALUE = "configured value, cut, spaced, reversed or encoded"
    TOKEN = "token"  # noqa: S105 - the name of a kind: the shape of an issuer's tokens
    HIDDEN_TOKEN = "token, spaced, reversed or encoded"  # noqa: S105
    PRIVATE_KEY = "private key"
    ASSIGNED = "value of a secret's name"  # password = …, a URL with a password, an authorization header
    RANDOM = "random run"


_ORDER: Final = tuple(LeakKind)


@dataclass(frozen=True, kw_only=True)
class Leak:
    """A secret between two places of a text; never the secret itself."""

    kind: LeakKind
    start: int
    end: int


def joined(leaks: Iterable[Leak]) -> tuple[Leak, ...]:
    """In the order of the text; of those that overlap one, of the kind that says most.

    A random run with a known secret in it is none of its own: what is left of it is looked at without the secret.
    """
    every = tuple(leaks)
    if not every:
        return ()
    known = _merged(leak for leak in every if leak.kind is not LeakKind.RANDOM)
    starts = [leak.start for leak in known]
    random = [leak for leak in every if leak.kind is LeakKind.RANDOM and not _overlaps(leak, known, starts)]
    return tuple(_merged([*known, *random]))


def _merged(leaks: Iterable[Leak]) -> list[Leak]:
    found: list[Leak] = []
    for leak in sorted(leaks, key=lambda one: (one.start, -one.end)):
        if found and leak.start < found[-1].end:
            last = found[-1]
            kind = min(last.kind, leak.kind, key=_ORDER.index)
            found[-1] = Leak(kind=kind, start=last.start, end=max(last.end, leak.end))
        else:
            found.append(leak)
    return found


def _overlaps(leak: Leak, known: Sequence[Leak], starts: Sequence[int]) -> bool:
    at = bisect_left(starts, leak.end)
    return at > 0 and known[at - 1].end > leak.start


def without(text: str, leaks: Iterable[Leak], mark: str) -> str:
    """`text` with `mark` where each of `leaks` stood; they are in order and do not overlap."""
    ends = [(0, 0), *((leak.start, leak.end) for leak in leaks), (len(text), len(text))]
    return mark.join(text[before[1] : after[0]] for before, after in pairwise(ends))
