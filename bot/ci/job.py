"""What both jobs begin with: the event, what it asks for, and the parts that answer it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from bot.app import App
from bot.app_settings import AppSettings
from bot.course.errand import Errand
from bot.course.steps import JobSteps
from bot.course.store import CourseStore
from bot.engine.fence import Fence
from bot.errors import WrongInput
from bot.forge.github import Forge
from bot.intake import Event, Own, decide
from bot.job import JobKind, NewJob
from bot.jobs import Jobs
from bot.log import Log
from bot.outbox.outbox import Outbox
from bot.payload_json import NoPayload, payload_of

NO_INSTALLATION: Final = 0
BEGINS: Final = frozenset({JobKind.START, JobKind.RETRY, JobKind.REQUEUE})
"""What one job can do: where there is no server, there is no run to stop, and none to ask about."""


class NoEvent(WrongInput):
    """The event {path} cannot be read ({reason}): a job of GitHub Actions finds it at GITHUB_EVENT_PATH."""


@dataclass(frozen=True, kw_only=True)
class Nothing:
    """The event asks for nothing that a job does, and why."""

    why: str


def asked(name: str, path: Path, settings: AppSettings, now: datetime) -> NewJob | Nothing:
    """What the event of this job asks for. Raises NoEvent."""
    try:
        payload: Mapping[str, object] = payload_of(path.read_bytes())
    except OSError as error:
        raise NoEvent(path=path, reason=error.strerror or "unknown error") from error
    except NoPayload as error:
        raise NoEvent(path=path, reason=str(error)) from error
    own = Own(label=settings.label, allowed_bots=frozenset(settings.allowed_bots), installation=NO_INSTALLATION)
    # An App may be installed beside the job: the job stands for no installation, whatever the payload says.
    event = Event(name=name, payload={**payload, "installation": None}, received=now)
    decision = decide(event, own)
    if decision.job is None:
        return Nothing(why=decision.reason)
    if decision.job.kind not in BEGINS or not decision.job.number:
        return Nothing(why=f"ignored: a job of GitHub Actions does no {decision.job.kind.value}")
    return decision.job


def errand_of(job: NewJob, app: App, forge: Forge, log: Log, *, me: int | None = None) -> Errand:
    """The parts that look at an issue and write to it. `me` is the account whose comments are ours."""
    jobs = Jobs(app.book, web=forge.web)
    jobs.wish(job)
    kept = jobs.of_issue(job.ref.id, job.number)[-1]
    return Errand(
        job=kept,
        number=job.number,
        ref=job.ref,
        app=app,
        forge=forge,
        # Markers tell our comments from those of others, together with their author; no secret outlives a job.
        outbox=Outbox.of(forge, app.book, app.scrubber, me=me, secret=f"ticketsmith ci {job.ref.id}", whole=False),
        jobs=jobs,
        courses=CourseStore(app.book),
        steps=JobSteps(app.book, kept.id),
        fence=Fence(app.stores.runs, threading.Event()),
        settings=app.settings.app,
        app_id=None,
        me=me,
        log=log,
        now=app.book.now,
    )
