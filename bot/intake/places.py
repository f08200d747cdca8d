"""Installations and repositories that come, go, and change their names."""

from __future__ import annotations

from typing import Final

from pydantic import TypeAdapter, ValidationError

from bot.forge.types import RepositoryRef
from bot.intake.event import Event, Own, Unreadable, asked, ignored
from bot.intake.payloads import InstallationPart, Numbered
from bot.job import INSTALLATION_WIDE, Decision, Gone, GoneCause, JobKind, NewJob

_NUMBERED: Final = TypeAdapter(tuple[Numbered, ...])
_REPOSITORIES: Final = {
    "archived": GoneCause.ARCHIVED,
    "deleted": GoneCause.REPOSITORY_DELETED,
    "privatized": GoneCause.PRIVATISED,
    "transferred": GoneCause.REPOSITORY_TRANSFERRED,
}


def installation(event: Event, own: Own) -> Decision:
    """Raises Unreadable."""
    part = event.read(InstallationPart, "installation")
    if own.app is not None and part.app_id is not None and part.app_id != own.app:
        return ignored("another App's installation")
    match event.action:
        case "deleted":
            return _gone(event, own, GoneCause.UNINSTALLED)
        case "suspend":
            return _gone(event, own, GoneCause.SUSPENDED)
        case _:
            return ignored("runs that wait for a permission are looked at on schedule")


def installation_repositories(event: Event, own: Own) -> Decision:
    """Raises Unreadable."""
    try:
        removed = _NUMBERED.validate_python(event.payload.get("repositories_removed") or ())
    except ValidationError as error:
        raise Unreadable(reason="repositories_removed") from error
    if event.action != "removed" or not removed:
        return ignored("no repository was taken out")
    return _gone(event, own, GoneCause.REMOVED, tuple(one.id for one in removed))


def repository(event: Event, own: Own) -> Decision:
    """Raises Unreadable."""
    ref = event.ref(own)
    if event.action == "renamed":
        return Decision(reason="renamed", renamed=ref)
    cause = _REPOSITORIES.get(event.action)
    if cause is None:
        return ignored("nothing to do for this action")
    subject = f"gone:{ref.id}:{cause.value}:{event.received.isoformat()}"
    return asked(event, own, JobKind.GONE, Gone(cause=cause, repositories=(ref.id,)), subject=subject)


def _gone(event: Event, own: Own, cause: GoneCause, repositories: tuple[int, ...] = ()) -> Decision:
    number = event.installation(own)
    job = NewJob(
        kind=JobKind.GONE,
        ref=RepositoryRef(installation=number, id=INSTALLATION_WIDE, full_name=""),
        number=0,
        subject=f"gone:{number}:{cause.value}:{event.received.isoformat()}",
        actor=event.sender,
        at=event.received,
        data=Gone(cause=cause, repositories=repositories),
    )
    return Decision(reason=f"gone: {cause.value}", job=job)
