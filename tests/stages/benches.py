"""A gate to try patches at, and the shop's files and tests by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from memory.scrub import Scrubber
from memory.types import CheckId
from stages.checks import PYTEST
from stages.gate import Attempt, Gate, GateReport
from stages.patch import Patch
from stages.policy import Policy
from stages.report import Check, CheckReport, Reproduction
from stages.repository import Repository
from stages.workspace import Workspace, Workspaces
from tests.stages.repositories import checks, make, reproduction

CART, TESTS = "src/shop/cart.py", "tests/test_cart.py"
TOTAL, COUNT = CheckId(f"{TESTS}::test_total"), CheckId(f"{TESTS}::test_count")
KNOWN = Reproduction(check=PYTEST, test=TOTAL)
NEW = reproduction(
    "tests/test_ticket.py",
    "from shop.cart import total\n\n\ndef test_ticket():\n    assert total([5]) == 5\n",
    "tests/test_ticket.py::test_ticket",
)


class Bench:
    """A repository with one defect, and a gate to try attempts at."""

    def __init__(self, folder: Path, files: Mapping[str, str | bytes], given: tuple[Check, ...] | None = None) -> None:
        self.repository: Repository = make(folder / "repository", files)
        self.spaces = Workspaces(folder / "work", checks())
        self.space: Workspace = self.spaces.make(self.repository, self.repository.resolve(), "attempt", checks=given)
        self.baseline = tuple(self.space.run(check.name) for check in self.space.checks)
        self._red: dict[CheckId, CheckReport] = {}

    def patch(self, changed: Mapping[str, str | None]) -> Patch:
        for path, text in changed.items():
            if text is None:
                self.space.remove(path)
            else:
                self.space.write(path, text.encode())
        return self.space.patch()

    def judge(
        self,
        patch: Patch,
        shown: Reproduction = KNOWN,
        policy: Policy | None = None,
        scrubber: Scrubber | None = None,
    ) -> GateReport:
        if shown.test not in self._red:
            fresh = self.spaces.make(self.repository, self.space.base, "red", checks=self.space.checks)
            fresh.place(shown)
            self._red[shown.test] = fresh.run(shown.check, tests=() if shown.test == shown.check else (shown.test,))
        gate = Gate(self.spaces, policy or Policy(), scrubber or Scrubber())
        return gate.judge(
            Attempt(
                number=1,
                repository=self.repository,
                base=self.space.base,
                patch=patch,
                reproduction=shown,
                red=self._red[shown.test],
                baseline=self.baseline,
                checks=self.space.checks,
                workspace="gate",
            )
        )
