"""What never arrived: webhooks that failed are sent again, and labelled issues that nobody told us of are begun."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from bot.app_settings import OWN_LABELS, AppSettings
from bot.forge.errors import ForgeFault
from bot.forge.github import Forge
from bot.forge.types import IssueInfo, LabelEvent, RepositoryRef
from bot.intake import EVENTS
from bot.intake.payloads import BODY_AT_MOST, TITLE_AT_MOST, same_label
from bot.job import Added, JobKind, NewJob, Start, StartCause, Unlabelled
from bot.jobs import Jobs
from bot.log import Log

EVERY: Final = timedelta(minutes=5)
GRACE: Final = timedelta(minutes=10)
"""A webhook may be as late as this; what is labelled for less is not looked at."""
SENT_AGAIN_FOR: Final = timedelta(days=3)  # GitHub keeps them no longer
REDELIVERED_AT_MOST: Final = 100  # in one look
_OFTEN: Final = timedelta(hours=1)


@dataclass(frozen=True, kw_only=True)
class Found:
    """What one look did."""

    redelivered: int = 0
    begun: int = 0


class Reconciler:
    """Looks at GitHub on start and on schedule. What goes wrong at one installation is logged, and stops nothing."""

    def __init__(
        self, forge: Forge, jobs: Jobs, settings: AppSettings, *, now: Callable[[], datetime], log: Log
    ) -> None:
        self._forge, self._jobs, self._settings, self._now, self._log = forge, jobs, settings, now, log

    def look(self) -> Found:
        """One look. Raises the errors of `memory.database`."""
        found = Found(
            redelivered=self._redeliver(),
            begun=sum(self._begin_in(installation) for installation in self._installations()),
        )
        if found != Found():
            self._log.info("looked around", redelivered=found.redelivered, begun=found.begun)
        return found

    # --- Deliveries ------------------------------------------------------------------------------------------------

    def _redeliver(self) -> int:
        count = 0
        try:
            for one in self._forge.failed_deliveries(self._now() - SENT_AGAIN_FOR):
                if count == REDELIVERED_AT_MOST:
                    break
                # One that is kept was answered too late, or by a process that died just then: all is well with it.
                if one.event in EVENTS and is_due(self._now() - one.at) and not self._jobs.has_delivery(one.guid):
                    self._forge.redeliver(one.id)
                    count += 1
        except ForgeFault as fault:
            self._log.warning("deliveries not looked at", why=str(fault))
        return count

    # --- Issues ----------------------------------------------------------------------------------------------------

    def _installations(self) -> tuple[int, ...]:
        try:
            return tuple(one.id for one in self._forge.installations() if not one.suspended)
        except ForgeFault as fault:
            self._log.warning("installations not looked at", why=str(fault))
            return ()

    def _begin_in(self, installation: int) -> int:
        count = 0
        try:
            for ref in self._forge.repositories(installation):
                if (quota := self._forge.quota(installation)) and quota.scarce:
                    self._log.warning("requests are scarce", installation=installation)
                    break
                count += self.begin(ref)
        except ForgeFault as fault:
            self._log.warning("issues not looked at", installation=installation, why=str(fault))
        return count

    def begin(self, ref: RepositoryRef) -> int:
        """Begin what is labelled in a repository and was never told; gives how many. Raises ForgeFault."""
        count = 0
        for issue in self._forge.labelled_issues(ref, self._settings.label):
            if self._may_begin(ref, issue) and (set_by := self._label(ref, issue)):
                added = self._jobs.wish(_start(ref, issue, set_by))
                self._log.info("found an issue", repository=ref.id, issue=issue.number, became=added.value)
                count += added is Added.STORED
        return count

    def _may_begin(self, ref: RepositoryRef, issue: IssueInfo) -> bool:
        """Not what was begun before, however it ended; unless the label was taken away since, and is there again."""
        if any(label.casefold().startswith(OWN_LABELS) for label in issue.labels):
            return False
        wishes = [one for one in self._jobs.of_issue(ref.id, issue.number) if isinstance(one.data, Start | Unlabelled)]
        return not wishes or (wishes[-1].kind is JobKind.STOP and self._now() - wishes[-1].at > GRACE)

    def _label(self, ref: RepositoryRef, issue: IssueInfo) -> LabelEvent | None:
        """Who set the label last, when that is longer ago than a webhook takes."""
        events = [one for one in self._forge.label_events(ref, issue.number) if one.added]
        ours = [one for one in events if same_label(one.label, self._settings.label)]
        last = max(ours, key=lambda one: one.at, default=None)
        return last if last and self._now() - last.at > GRACE else None


def is_due(age: timedelta) -> bool:
    """Whether a delivery that failed so long ago is sent again in this look: at first always, then ever less often."""
    if age < _OFTEN:
        return True
    return _doublings(age) != _doublings(age - EVERY)


def _doublings(age: timedelta) -> int:
    return math.floor(math.log2(max(age, timedelta(minutes=1)) / _OFTEN))


def _start(ref: RepositoryRef, issue: IssueInfo, label: LabelEvent) -> NewJob:
    """Whoever set the label asks for it: what they may do is looked at as if the webhook had come."""
    start = Start(
        title=issue.title[:TITLE_AT_MOST],
        body=issue.body[:BODY_AT_MOST],
        author=issue.author,
        labels=issue.labels,
        updated=issue.updated,
        cause=StartCause.SWEPT,
    )
    return NewJob(
        kind=JobKind.START,
        ref=ref,
        number=issue.number,
        subject=f"issue:{ref.id}#{issue.number}:on",
        actor=label.actor,
        at=label.at,
        data=start,
    )
