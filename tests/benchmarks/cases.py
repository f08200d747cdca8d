"""One defect to repair, and what became of it."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.benchmarks.pipeline import Worked, app, repository, work

CANDIDATE_RUNS: Final = 500

Same = Callable[[Mapping[str, str]], bool | None]
"""Files as a patch makes them → whether they behave like the text without the defect; None when that is not known."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A repository with a defect, and the ticket. `references` are the texts without it, by path."""

    set: str
    name: str
    kind: str
    files: Mapping[str, bytes]
    ticket: str
    references: Mapping[str, str]
    same: Same
    candidate_runs: int = CANDIDATE_RUNS


@dataclass(frozen=True, kw_only=True)
class Row:
    """A case and what the program made of it. `right` tells whether the patch does what the text without the defect
    does; None where there is no patch, and where that could not be told."""

    case: Case
    worked: Worked
    equal: bool
    right: bool | None

    @property
    def repaired(self) -> bool:
        """True when the gate passed a patch that took no more runs of candidates than it may, over all attempts."""
        return self.worked.repaired and self.worked.searched <= self.case.candidate_runs

    @property
    def line(self) -> str:
        worked = self.worked
        how = "equal" if self.equal else {True: "right", False: "WRONG", None: "?"}[self.right]
        ended = worked.run.outcome or worked.run.park_reason or "open"
        said = f"repaired ({how})" if self.repaired else "too late" if worked.repaired else ended
        return (
            f"{said:<22} {worked.searched:>4} runs {worked.tools:>5} tool calls {worked.seconds:>6.1f} s  "
            f"{self.case.kind:<20} {self.case.name}"
        )

    def as_json(self) -> dict[str, Any]:
        case = {"set": self.case.set, "name": self.case.name, "kind": self.case.kind}
        return {**case, **self.worked.as_json(), "repaired": self.repaired, "equal": self.equal, "right": self.right}


def tried(case: Case, folder: Path) -> Row:
    """Take a case through the whole program, in a home of its own."""
    shutil.rmtree(folder, ignore_errors=True)
    made = repository(folder / "repository", case.files)
    ticket = folder / "ticket.md"
    ticket.write_text(case.ticket, "utf-8")
    worked = work(app(folder / "home", candidate_runs=case.candidate_runs), made, ticket)
    equal = worked.repaired and all(
        program(text) == program(case.references.get(path, "")) for path, text in worked.patched.items()
    )
    right = (True if equal else case.same(worked.patched)) if worked.repaired else None
    return Row(case=case, worked=worked, equal=equal, right=right)


def program(text: str) -> str | None:
    """A program without its layout; None when the text is none."""
    try:
        return ast.dump(ast.parse(text))
    except (SyntaxError, ValueError):
        return None
