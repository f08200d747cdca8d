"""A prompt → the records of its context section and the fields of its body."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

_QUOTED: Final = 300  # characters of one line that an answer may quote
_END: Final = "[ticketsmith:end]"
_LESSONS: Final = "[ticketsmith:lessons]"
_FIELD: Final = re.compile(r"^([A-Z][A-Za-z ]{1,40}):(?: (.*))?$")
_TEST: Final = re.compile(r"^check (?P<check>[^,\s]+)(?:, test(?: (?P<test>.+))?)?$")
_CHECK: Final = re.compile(r"(?P<name>\S+)(?: \(in (?P<folder>\S+)\))?")
_EDIT: Final = re.compile(r"(\S+):(\d+) #([0-9a-f]{12})(?![0-9a-f])")


@dataclass(frozen=True, kw_only=True)
class Field:
    """What stands behind a name on its line, and the quoted lines below, without their prefix."""

    value: str = ""
    quoted: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Edited:
    """An edit that a hold or a lesson names."""

    path: str
    line: int
    digest: str


@dataclass(frozen=True, kw_only=True)
class Body:
    """What a prompt asks. `lessons` are the records of the section, each as one line."""

    title: str = ""
    fields: Mapping[str, Field] = field(default_factory=dict)
    lessons: tuple[str, ...] = ()

    def get(self, name: str) -> Field:
        return self.fields.get(name, Field())

    @property
    def ticket(self) -> str:
        """Title, body and comments of the ticket."""
        return "\n".join(self.get("Ticket").quoted)

    @property
    def line(self) -> str:
        """The first line of the ticket that says something: its title, where it has one."""
        return next((line.strip()[:_QUOTED] for line in self.get("Ticket").quoted if line.strip()), "")

    @property
    def checks(self) -> tuple[str, ...]:
        return tuple(self.folders)

    @property
    def folders(self) -> Mapping[str, str]:
        """The folder that each check runs in; "" for the top."""
        named = (_CHECK.fullmatch(one.strip()) for one in self.get("Checks").value.split(","))
        return {one["name"]: one["folder"] or "" for one in named if one}

    @property
    def folders_of_tests(self) -> tuple[str, ...]:
        """The folders whose checks run Python tests; those of all checks, where no name tells."""
        told = [folder for name, folder in self.folders.items() if "pytest" in name or "unittest" in name]
        return tuple(told or self.folders.values())

    @property
    def check(self) -> str:
        """The check of the reproduction; else the one that most likely runs tests."""
        if found := _TEST.match(self.get("Reproduction").value):
            return found["check"]
        return next((name for name in self.checks if "pytest" in name), (*self.checks, "pytest")[0])

    @property
    def test(self) -> str:
        """The test that shows the failure; empty when the check as a whole does."""
        given = self.get("Reproduction")
        found = _TEST.match(given.value)
        test = (found["test"] or "").strip() if found else ""
        test = test or (given.quoted[0].strip() if given.quoted else "")
        return "" if test == self.check else test

    @property
    def with_file(self) -> bool:
        """True when the test shows the failure only in a run of its whole file."""
        return bool(self.get("With its file").value)

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(line.strip() for line in self.get("Files").quoted if line.strip())

    @property
    def red(self) -> tuple[str, ...]:
        """Tests that failed before any change."""
        return tuple(line.strip() for line in self.get("Red before any change").quoted if line and line[0] not in "+(")

    @property
    def held_tests(self) -> tuple[str, ...]:
        """Tests that failed with the held patch."""
        prefix = "failed "
        return tuple(line[len(prefix) :].strip() for line in self.get("Held").quoted if line.startswith(prefix))

    @property
    def held_edits(self) -> tuple[Edited, ...]:
        """Edits of held patches."""
        return tuple(edit for line in self.get("Held").quoted if line.startswith("edit ") for edit in edits_in(line))


def edits_in(text: str) -> tuple[Edited, ...]:
    """The edits that a text names as `path:line #digest`."""
    return tuple(Edited(path=path, line=int(line), digest=digest) for path, line, digest in _EDIT.findall(text))


def body(prompt: str) -> Body:
    """Read a prompt; text without a section is all body."""
    given = prompt.split("\n")
    end = given.index(_END) if _END in given else -1
    rest = given[end + 1 :]
    return Body(title=rest[0] if rest else "", fields=_fields(rest[1:]), lessons=_lessons(given[: max(end, 0)]))


def _fields(rest: list[str]) -> dict[str, Field]:
    values: dict[str, str] = {}
    quoted: dict[str, list[str]] = {}
    name = ""
    for line in rest:
        if line.startswith("|"):
            quoted.setdefault(name, []).append(line[2:])
        elif found := _FIELD.match(line):
            name = found[1]
            values.setdefault(name, (found[2] or "").strip())
    return {
        name: Field(value=values.get(name, ""), quoted=tuple(quoted.get(name, ()))) for name in {**values, **quoted}
    }


def _lessons(section: list[str]) -> tuple[str, ...]:
    records: list[str] = []
    inside = False
    for line in section:
        if line.startswith("["):
            inside = line.startswith(_LESSONS)
        elif inside and line.startswith("| - "):
            records.append(line[4:])
        elif inside and records:
            records[-1] += " " + line[4:].strip()
    return tuple(records)
