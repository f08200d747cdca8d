"""Reads what `cargo test` prints: headers of binaries, one line a test, and a summary that must agree with them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from stages.readers.told import Tally, Unreadable
from stages.report import Outcome

_HEADER: Final = re.compile(r"\s+Running (?:unittests )?(?P<source>\S+) \((?P<binary>\S+)\)")
_DOCS: Final = re.compile(r"\s+Doc-tests (?P<crate>\S+)")
_BEGIN: Final = re.compile(r"running (?P<count>\d+) tests?")
_TEST: Final = re.compile(r"test (?P<name>.+?)(?: - should panic)? \.\.\. (?P<how>ok|FAILED|ignored)(?:,.*|: .*)?")
_SUMMARY: Final = re.compile(
    r"test result: \S+\. (?P<passed>\d+) passed; (?P<failed>\d+) failed; (?P<ignored>\d+) ignored; "
)
_ACCOUNT: Final = re.compile(r"---- (?P<name>.+?) (?:stdout )?----")
_PANIC: Final = re.compile(r"thread '.*' (?:\(\d+\) )?panicked at (?P<where>.*)")
_HASH: Final = re.compile(r"-[0-9a-f]{16}$")
_LINE_OF_DOC: Final = re.compile(r" \(line \d+\)")  # which changes with every line above it
_OUTCOMES: Final = {"ok": Outcome.PASSED, "FAILED": Outcome.FAILED, "ignored": Outcome.SKIPPED}
_LINES_OF_ACCOUNT: Final = 200


@dataclass
class _Binary:
    """One binary's tests, from its `running N tests` to its summary."""

    name: str
    ended: list[tuple[str, Outcome]] = field(default_factory=list)
    accounts: dict[str, list[str]] = field(default_factory=dict)
    counting: bool = False


def read(data: bytes, tally: Tally) -> None:
    """Count the tests. Raises Unreadable where a summary is missing or does not agree with the lines before it."""
    binary = _Binary("")
    account: list[str] | None = None
    for line in data.decode("utf-8", "replace").split("\n"):
        if header := _HEADER.fullmatch(line) or _DOCS.fullmatch(line):
            _must_not_run(binary)
            binary, account = _Binary(_name(header)), None
        elif _BEGIN.fullmatch(line):
            _must_not_run(binary)
            binary, account = _Binary(binary.name, counting=True), None
        elif summary := _SUMMARY.match(line):
            _count(binary, summary, tally)
            binary, account = _Binary(binary.name), None
        elif found := _ACCOUNT.fullmatch(line):
            account = binary.accounts.setdefault(found["name"], [])
        elif account is not None:
            account[_LINES_OF_ACCOUNT:] = []
            account.append(line)
        elif binary.counting and (ended := _TEST.fullmatch(line)):
            binary.ended.append((ended["name"], _OUTCOMES[ended["how"]]))
    _must_not_run(binary)


def _name(header: re.Match[str]) -> str:
    named = header.groupdict()
    if crate := named.get("crate"):
        return f"doc {crate}"
    return _HASH.sub("", named["binary"].rpartition("/")[2])


def _must_not_run(binary: _Binary) -> None:
    if binary.counting:
        raise Unreadable(f"the tests of {binary.name or 'a binary'} did not come to their end")


def _count(binary: _Binary, summary: re.Match[str], tally: Tally) -> None:
    found = Counter(outcome for _, outcome in binary.ended)
    told = {
        Outcome.PASSED: int(summary["passed"]),
        Outcome.FAILED: int(summary["failed"]),
        Outcome.SKIPPED: int(summary["ignored"]),
    }
    if not binary.counting or any(found[outcome] != count for outcome, count in told.items()):
        raise Unreadable(f"the summary of {binary.name or 'a binary'} does not agree with its lines")
    for name, outcome in binary.ended:
        account = binary.accounts.get(name, [])
        tally.add(
            f"{binary.name}::{_LINE_OF_DOC.sub('', name)}",
            outcome,
            kind="panic" if any(map(_PANIC.match, account)) else "",
            message=_message(account),
            text="\n".join(account).strip(),
        )


def _message(account: list[str]) -> str:
    """What follows the place of a panic; else the first line that was said."""
    for at, line in enumerate(account):
        if _PANIC.match(line):
            return " ".join(part.strip() for part in account[at + 1 : at + 4] if part.strip()) or line
    return next((line for line in account if line.strip()), "")
