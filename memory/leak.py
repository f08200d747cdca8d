"""A secret that was found in a text: of which kind, and where."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise


class LeakKind(StrEnum):
    """How it was known."""

    VALUE = "configured value"  # a secret of this configuration, as it is
    HIDDEN_VALUE = "configured value, cut, spaced, reversed or encoded"
    TOKEN = "token"  # noqa: S105 - the name of a kind: the shape of an issuer's tokens
    HIDDEN_TOKEN = "token, spaced, reversed or encoded"  # noqa: S105
    PRIVATE_KEY = "private key"
    ASSIGNED = "value of a secret's name"  # password = …, a URL with a password, an authorization header
    RANDOM = "random run"


@dataclass(frozen=True, kw_only=True)
class Leak:
    """A secret between two places of a text; never the secret itself."""

    kind: LeakKind
    start: int
    end: int


def joined(leaks: Iterable[Leak]) -> tuple[Leak, ...]:
    """In the order of the text; of those that overlap one, with the kind of the first."""
    order = list(LeakKind)
    found: list[Leak] = []
    for leak in sorted(leaks, key=lambda one: (one.start, -one.end, order.index(one.kind))):
        if found and leak.start < found[-1].end:
            last = found[-1]
            found[-1] = Leak(kind=last.kind, start=last.start, end=max(last.end, leak.end))
        else:
            found.append(leak)
    return tuple(found)


def without(text: str, leaks: Iterable[Leak], mark: str) -> str:
    """`text` with `mark` where each of `leaks` stood; they are in order and do not overlap."""
    ends = [(0, 0), *((leak.start, leak.end) for leak in leaks), (len(text), len(text))]
    return mark.join(text[before[1] : after[0]] for before, after in pairwise(ends))
