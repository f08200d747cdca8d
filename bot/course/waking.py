"""What the operator wants of a run of a GitHub issue, said here: a worker does it, and tells GitHub."""

from __future__ import annotations

from bot.app import App
from bot.course.store import CourseStore
from bot.job import Command, JobData, JobKind, NewJob, Start, StartCause
from bot.jobs import Jobs
from bot.run import Run


def wake(app: App, run: Run) -> bool:
    """Have a worker take the run up; False where it is no run of an issue on GitHub."""
    # Known by its subject alone, unlike a label, which may be told twice.
    start = Start(title="", body="", author=None, labels=(), updated=None, cause=StartCause.REOPENED)
    return _wish(app, run, JobKind.START, start)


def stop(app: App, run: Run, operator: str) -> bool:
    """Have a worker end the run and clear up after it; False as in `wake`, and where the run is over."""
    return run.open and _wish(app, run, JobKind.STOP, Command(name="stop", argument="", comment=0, operator=operator))


def requeue(app: App, run: Run, note: str, operator: str) -> bool:
    """Have a worker send the issue back with a note; False as in `wake`."""
    return _wish(app, run, JobKind.REQUEUE, Command(name="requeue", argument=note, comment=0, operator=operator))


def _wish(app: App, run: Run, kind: JobKind, data: JobData) -> bool:
    course = CourseStore(app.book).of(run.id)
    if course is None:
        return False
    now = app.book.now()
    Jobs(app.book, web=app.settings.app.web).wish(
        NewJob(
            kind=kind,
            ref=course.ref,
            number=course.number,
            subject=f"operator:{run.id}:{now.isoformat()}",
            # A new run is for whoever asked for this one, if they still may; a start goes on with what is there.
            actor=course.actor if isinstance(data, Command) else None,
            at=now,
            data=data,
        )
    )
    return True
