"""What every job begins with: the event, what it asks for, and the parts that answer it."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from bot.app import App
from bot.app_settings import AppSettings
from bot.course.errand import Errand
from bot.course.steps import JobSteps
from bot.course.store import CourseStore
from bot.engine.fence import Fence
from bot.errors import WrongInput
from bot.forge.github import Forge
from bot.forge.types import RepositoryRef
from bot.intake import Event, Own, decide
from bot.intake.event import Unreadable
from bot.job import Deployed, JobKind, NewJob, Start
from bot.jobs import Jobs
from bot.log import Log
from bot.outbox.outbox import Outbox
from bot.payload_json import NoPayload, payload_of

NO_INSTALLATION: Final = 0
BY_TIME: Final = frozenset({"schedule", "workflow_dispatch"})


class NoEvent(WrongInput):
    """The event {path} cannot be read ({reason}): a job of GitHub Actions finds it at GITHUB_EVENT_PATH."""


@dataclass(frozen=True, kw_only=True)
class Nothing:
    """The event asks for nothing that a job does, and why."""

    why: str


def asked(
    name: str, path: Path, settings: AppSettings, now: datetime, variables: Mapping[str, str] | None = None
) -> NewJob | Nothing:
    """What the event of this job asks for. Raises NoEvent.

    An event that comes by time is a look at all runs that are open: a job without an issue and without a deployment.
    Such an event names no repository: `variables` are those that GitHub Actions sets, and do.
    """
    try:
        payload: Mapping[str, Any] = payload_of(path.read_bytes())
    except OSError as error:
        raise NoEvent(path=path, reason=error.strerror or "unknown error") from error
    except NoPayload as error:
        raise NoEvent(path=path, reason=str(error)) from error
    own = Own(label=settings.label, allowed_bots=frozenset(settings.allowed_bots), installation=NO_INSTALLATION)
    if name == "workflow_run":
        name, payload = "check_suite", _as_suite(payload)
    if name in BY_TIME:
        payload = {**_here(variables or {}), **payload}
    # An App may be installed beside the job: the job stands for no installation, whatever the payload says.
    event = Event(name=name, payload={**payload, "installation": None}, received=now)
    if name in BY_TIME:
        return _look_around(event, own)
    decision = decide(event, own)
    if decision.job is None:
        return Nothing(why=decision.reason)
    if decision.job.kind is JobKind.REMARK:
        return Nothing(why="ignored: comments without a command are read when a run begins")
    if decision.job.kind is JobKind.GONE and not decision.job.number:
        return Nothing(why="ignored: jobs go with their repository")
    return decision.job


def is_by_time(job: NewJob) -> bool:
    """Whether it was no event that asked for the job, but the time."""
    return isinstance(job.data, Deployed) and not job.data.commit


def look_at(ref: RepositoryRef, number: int, now: datetime) -> NewJob:
    """Have the patch of an issue looked at, because it is time."""
    return NewJob(
        kind=JobKind.VERIFY,
        ref=ref,
        number=number,
        subject=f"sweep:{ref.id}#{number}:{now.isoformat()}",
        actor=None,
        at=now,
        data=Deployed(deployment=0, commit="", environment=""),
    )


def _look_around(event: Event, own: Own) -> NewJob | Nothing:
    try:
        return look_at(event.ref(own), 0, event.received)
    except Unreadable as error:
        return Nothing(why=f"ignored: {error}")


def _here(variables: Mapping[str, str]) -> dict[str, Any]:
    number = variables.get("GITHUB_REPOSITORY_ID", "")
    if not number.isdecimal():
        return {}
    return {"repository": {"id": int(number), "full_name": variables.get("GITHUB_REPOSITORY", "")}}


def _as_suite(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A workflow that ended, as the suite of its checks: GitHub tells jobs of its own suites in this way alone."""
    run = payload.get("workflow_run")
    run = run if isinstance(run, dict) else {}
    here, there = payload.get("repository"), run.get("head_repository")
    at_home = isinstance(here, dict) and isinstance(there, dict) and here.get("id") == there.get("id")
    kept = {name: run.get(name) for name in ("id", "head_sha", "conclusion")}
    # Anybody may give a branch of a fork our name.
    suite = kept | {"head_branch": run.get("head_branch") if at_home else None, "pull_requests": []}
    return {**payload, "check_suite": suite}


def errand_of(
    job: NewJob,
    number: int,
    app: App,
    forge: Forge,
    log: Log,
    *,
    me: int | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> Errand:
    """The parts that look at issue `number` and write to it. `me` is the account whose comments are ours.

    `sleep` is how one write waits for the one before.
    """
    jobs = Jobs(app.book, web=forge.web)
    jobs.wish(job)
    # Answers are marked with the number of the job: no two events have the same, in whatever database.
    kept = replace(jobs.of_issue(job.ref.id, job.number)[-1], id=_number_of(job))
    return Errand(
        job=kept,
        number=number,
        ref=job.ref,
        app=app,
        forge=forge,
        # Markers tell our comments from those of others, together with their author; no secret outlives a job.
        outbox=Outbox.of(
            forge, app.book, app.scrubber, me=me, secret=f"ticketsmith ci {job.ref.id}", sleep=sleep, whole=False
        ),
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


def _number_of(job: NewJob) -> int:
    """The same whenever the same event is read again."""
    when = job.data.updated if isinstance(job.data, Start) else job.at
    return int(hashlib.sha256(f"{job.subject}\0{when}".encode()).hexdigest()[:15], 16)
