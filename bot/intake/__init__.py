"""An event of GitHub → what is to be done. Pure: no clock, no network, no database; and it never fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from bot.intake import checks, issues, places, pulls
from bot.intake.event import Event, Own, Unreadable, arrival_of, ignored
from bot.job import Decision

__all__ = ["EVENTS", "Event", "Own", "arrival_of", "decide"]

_Rule: TypeAlias = Callable[[Event, Own], Decision]

EVENTS: Final[Mapping[str, _Rule]] = {
    "issues": issues.issues,
    "issue_comment": issues.issue_comment,
    "pull_request": pulls.pull_request,
    "pull_request_review": pulls.pull_request_review,
    "check_run": checks.check_run,
    "check_suite": checks.check_suite,
    "deployment_status": checks.deployment_status,
    "installation": places.installation,
    "installation_repositories": places.installation_repositories,
    "repository": places.repository,
}


def decide(event: Event, own: Own) -> Decision:
    """What becomes of an event, with the reason. What cannot be read is ignored."""
    rule = EVENTS.get(event.name)
    if rule is None:
        return ignored("no event that we listen to")
    if own.app is not None and event.app is not None and event.app != own.app:
        return ignored("it was meant for another App")
    try:
        return rule(event, own)
    except Unreadable as error:
        return ignored(str(error).replace("The payload cannot be read: ", "unreadable, "))
