"""What the tools answered: lines of a file, the outcome of a run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

_RUN: Final = re.compile(r"^run (?P<check>\S+): (?:exit (?P<exit>-?\d+)|(?P<killed>[a-z ]+))(?P<rest>.*)$")
_COUNT: Final = re.compile(r"(\d+) (tests?|passed|failed|skipped)")
_FAILED: Final = re.compile(r"^\| failed (.+)$")
_LINES: Final = re.compile(r"^\| lines (?P<hits>[\d:/ ]+?) in (?P<path>.+)$")
_NUMBERED: Final = re.compile(r"^ *(\d+)\| ?(.*)$")
_CUT: Final = re.compile(r"^\(cut: .*? of (\d+)\)$")

_HUNG: Final = re.compile(r"(?:\w+\.)*Timeout\b")

Hits = Mapping[int, tuple[int, int]]
"""line → (failed tests that ran it, passed tests that ran it)."""


def refused(result: str) -> bool:
    """True when the tool did nothing."""
    return result.startswith("refused:")


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One run of a check: `failed` maps each failed test to the account of its failure."""

    exit_status: int | None
    whole: bool  # neither timed out nor incomplete
    tests: int = 0
    passed: int = 0
    failed: Mapping[str, str] = field(default_factory=dict)
    hits: Mapping[str, Hits] = field(default_factory=dict)
    output: str = ""

    @property
    def hung(self) -> bool:
        """True when a test was ended because it took too long."""
        return not self.whole or any(_HUNG.match(account) for account in self.failed.values())

    @property
    def green(self) -> bool:
        """True when everything that was run passed; a time-out is a failure."""
        return self.exit_status == 0 and self.whole and not self.failed


def seen(result: str) -> Seen | None:
    """What the result of `run` says; None when it was refused or is no such result."""
    head, _, rest = result.partition("\n")
    found = _RUN.match(head)
    if found is None:
        return None
    counts = {what.rstrip("s"): int(number) for number, what in _COUNT.findall(found["rest"])}
    failed, hits = _accounts(rest)
    return Seen(
        exit_status=int(found["exit"]) if found["exit"] else None,
        whole="timed out" not in head and "incomplete" not in head,
        tests=counts.get("test", 0),
        passed=counts.get("passed", 0),
        failed=failed,
        hits=hits,
        output=rest,
    )


def _accounts(rest: str) -> tuple[dict[str, str], dict[str, Hits]]:
    accounts: dict[str, list[str]] = {}
    hits: dict[str, Hits] = {}
    current: list[str] | None = None
    for line in rest.split("\n"):
        if found := _FAILED.match(line):
            current = accounts.setdefault(found[1].strip(), [])
        elif found := _LINES.match(line):
            hits[found["path"].strip()] = _hits(found["hits"])
            current = None
        elif current is not None and line.startswith("|   "):
            current.append(line[4:])
    return {test: "\n".join(account) for test, account in accounts.items()}, hits


def _hits(text: str) -> Hits:
    hits: dict[int, tuple[int, int]] = {}
    for part in text.split():
        line, _, counts = part.partition(":")
        failed, _, passed = counts.partition("/")
        hits[int(line)] = (int(failed or 0), int(passed or 0))
    return hits


@dataclass(frozen=True, kw_only=True)
class Lines:
    """Lines of a file; `total` is how many it has, 0 when all that were asked for came."""

    numbered: Mapping[int, str]
    total: int = 0


def lines(result: str) -> Lines:
    """What the result of `read` shows."""
    numbered: dict[int, str] = {}
    total = 0
    for line in result.split("\n"):
        if found := _NUMBERED.match(line):
            numbered[int(found[1])] = found[2]
        elif cut := _CUT.match(line):
            total = int(cut[1])
    return Lines(numbered=numbered, total=total)
