"""What every stage is given: the ticket, what memory is asked with, and what the base shows without a change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from memory.types import CheckId, ErrorSignature, Hold, MemoryQuery, Scope
from stages.patch import Patch
from stages.prompt import EntryPoint
from stages.report import Check, CheckReport
from stages.ticket import Ticket


@dataclass(frozen=True, kw_only=True)
class Asking:
    """What memory is asked with, besides ticket and entry point. `at` is when the run began."""

    scope: Scope
    at: datetime
    headline: str = ""  # of the alert
    signatures: tuple[ErrorSignature, ...] = ()
    environment: str = ""
    rule: str = "auto"  # by which notes are judged


@dataclass(frozen=True, kw_only=True)
class HeldAttempt:
    """An attempt of this run that was refused. `why` are sentences made by code; `said` is what people wrote."""

    hold: Hold
    patch: Patch
    why: tuple[str, ...] = ()
    said: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Case:
    """A ticket and the base it is about.

    `known` names the tests that each check collected at the base, `red` those that failed there, and `failures` says
    with what; `unread` are files and folders whose tests could not be collected. `notes` are the requeue notes: what a
    person said when sending the ticket back.
    """

    ticket: Ticket
    asking: Asking
    checks: tuple[Check, ...] = ()
    known: Mapping[CheckId, tuple[CheckId, ...]] = field(default_factory=dict)
    red: tuple[CheckId, ...] = ()
    failures: Mapping[CheckId, str] = field(default_factory=dict)
    unread: Mapping[CheckId, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        ticket: Ticket,
        asking: Asking,
        *,
        checks: tuple[Check, ...],
        baseline: Iterable[CheckReport],
        notes: tuple[str, ...] = (),
    ) -> Case:
        """The case that the baseline's reports make."""
        reports = tuple(baseline)
        return cls(
            ticket=ticket,
            asking=asking,
            checks=checks,
            known={report.check: report.collected for report in reports},
            red=tuple(test for report in reports for test in report.failing),
            failures={test.id: test.failure for report in reports for test in report.failed},
            unread={test.id: test.message for report in reports for test in report.unread},
            notes=notes,
        )

    def asked_with(self, signatures: tuple[ErrorSignature, ...]) -> Case:
        """The case, with these signatures for memory to be asked with."""
        return replace(self, asking=replace(self.asking, signatures=signatures))

    def query(self, entry_point: EntryPoint) -> MemoryQuery:
        """What memory is searched for before this entry point."""
        return MemoryQuery(
            scope=self.asking.scope,
            ticket=self.ticket.id,
            entry_point=entry_point.value,
            title=self.ticket.title,
            headline=self.asking.headline,
            body=self.ticket.body,
            signatures=self.asking.signatures,
            environment=self.asking.environment,
            rule=self.asking.rule,
            at=self.asking.at,
        )

    def check_of(self, test: str) -> Check | None:
        """The check that is named so, or that knows a test of this id."""
        for check in self.checks:
            if test == check.name or (check.kind.names_tests and test in self.known.get(check.name, ())):
                return check
        return None

    def like(self, test: str) -> tuple[CheckId, ...]:
        """At most three known ids that end as `test` does."""
        last = test.rsplit("::", 1)[-1].partition("[")[0]
        alike = (known for ids in self.known.values() for known in ids if known.rsplit("::", 1)[-1].startswith(last))
        return tuple(known for known, _ in zip(alike, range(3), strict=False)) if last else ()
