"""The gate: code that decides whether an attempt passes, from exit statuses, result channels and the diff."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from memory.types import CheckId, CommitId, Edit, HoldCause
from stages.patch import Patch
from stages.policy import Policy, Violation
from stages.report import Check, CheckReport, Reproduction
from stages.repository import Repository
from stages.workspace import Workspaces


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """What the gate is asked to judge. `baseline` holds one report for each check, of the base without a change;
    `red` is the run of the reproduction there."""

    number: int
    repository: Repository
    base: CommitId
    patch: Patch
    reproduction: Reproduction
    red: CheckReport
    baseline: tuple[CheckReport, ...]
    checks: tuple[Check, ...]
    workspace: str  # name of the fresh workspace


class Weakening(StrEnum):
    """How a test says less than it did at the base."""

    DELETED = "deleted"
    SKIPPED = "skipped"
    ASSERTS = "asserts"  # fewer of them, or others
    CONFIGURATION = "configuration"


@dataclass(frozen=True, kw_only=True)
class Weakened:
    """A test, or a file of test settings, that the patch weakens."""

    what: CheckId
    how: Weakening


@dataclass(frozen=True, kw_only=True)
class Span:
    """Lines of the new file that the patch adds or changes."""

    path: str
    first: int
    last: int


@dataclass(frozen=True, kw_only=True)
class GateReport:
    """What the gate saw of an attempt; plain values only."""

    attempt: int
    base: CommitId
    edits: tuple[Edit, ...] = ()
    spans: tuple[Span, ...] = ()
    violations: tuple[Violation, ...] = ()
    notices: tuple[Violation, ...] = ()  # allowed, shown to people first
    leaks: tuple[Span, ...] = ()  # added lines that hold a secret
    weakened: tuple[Weakened, ...] = ()
    reproduction: CheckReport | None = None  # None when the gate stopped before it ran anything
    checks: tuple[CheckReport, ...] = ()
    newly_failing: tuple[CheckId, ...] = ()
    still_failing: tuple[CheckId, ...] = ()  # red before, red now
    fixed: tuple[CheckId, ...] = ()  # red before, green now


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What a review says about a line of the new file; it holds only where code can evaluate `check` or `rule`."""

    path: str
    line: int
    text: str
    check: str = ""
    rule: str = ""


@dataclass(frozen=True, kw_only=True)
class Passed:
    """The attempt passes. `fixed` and `still_failing` compare with the base."""

    fixed: tuple[CheckId, ...] = ()
    still_failing: tuple[CheckId, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Held:
    """The attempt is refused. `why` is for people: sentences made by code."""

    cause: HoldCause
    failing: tuple[CheckId, ...] = ()
    exit_status: int | None = None
    why: tuple[str, ...] = ()


Verdict: TypeAlias = Passed | Held


class Gate:
    """Judges attempts in fresh workspaces."""

    def __init__(self, workspaces: Workspaces, policy: Policy, has_secret: Callable[[str], bool]) -> None:
        self._workspaces, self._policy, self._has_secret = workspaces, policy, has_secret

    def judge(self, attempt: Attempt, *, stopped: Callable[[], bool] = lambda: False) -> GateReport:
        """What the gate saw. Raises Stopped, Parked."""
        raise NotImplementedError


def decide(report: GateReport, findings: Iterable[Finding]) -> Verdict:
    """Pass or hold. Pure: no clock, no file, no model's text."""
    raise NotImplementedError
