"""How an open run stands, as one text: the runs of two jobs meet in no database, so the branch of the memory holds it.

A job after it goes on from there: with the same id, base, ticket, attempts, patch, notes and results of its steps, of
which none is paid for twice. What is made anew in each job: the checkout, what is installed for it, the clones, the
commit of the patch, and the pin of the memory. A text that would be too long is kept without its steps: then the next
job makes the attempts anew. When the run is over, its text goes.

It holds words of the issue, of people, of the model and of checks, all of them scrubbed, and is read by whoever can
read the repository.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Final

from pydantic import Field, TypeAdapter, ValidationError
from sqlmodel import SQLModel

from bot.app import App
from bot.ci.trail import Trail, lay, trail_of
from bot.course.course import Course
from bot.course.store import CourseStore
from bot.course.tables import CourseRow
from bot.forge.types import RepositoryRef
from bot.run import Run, RunState
from bot.tables import RunRow
from memory.types import RunId, Scope

FORMAT: Final = 1
AT_MOST: Final = 12 * 1024 * 1024  # characters
# Of this machine, or of the job that was at work.
_OF_A_JOB: Final = frozenset({"installation", "repository", "place", "wake", "epoch", "model", "level", "sandbox"})


@dataclass(frozen=True, kw_only=True)
class Standing:
    """`run` and `course` are the rows of the tables, without what belongs to one machine."""

    version: Annotated[int, Field(ge=FORMAT, le=FORMAT)] = FORMAT
    run: dict[str, Any]
    course: dict[str, Any]
    trail: Trail


_STANDING: Final = TypeAdapter(Standing)


def standing_text(app: App, run: Run) -> str:
    """How the run stands in this database."""
    with app.book.reading() as session:
        row, course = session.get_one(RunRow, run.id), session.get_one(CourseRow, run.id)
        standing = Standing(run=_columns(row), course=_columns(course), trail=trail_of(app, run))
    text = _text(standing)
    return text if len(text) <= AT_MOST else _text(replace(standing, trail=replace(standing.trail, steps=())))


def read_standing(text: str) -> Standing | None:
    """None for a text that is none."""
    try:
        return _STANDING.validate_json(text)
    except ValidationError:
        return None


def stand(app: App, standing: Standing, scope: Scope, ref: RepositoryRef, number: int, place: str) -> Course | None:
    """Write the run down in this database, for a checkout at `place`. None where it is no open run of this issue.

    Raises TrailUnusable.
    """
    where = {"installation": scope.installation, "repository": scope.repository, "place": place}
    of_job = {"model": "", "level": "", "sandbox": "", "epoch": 0}
    hub = {"installation": ref.installation, "repository": ref.id, "full_name": ref.full_name, "number": number}
    try:
        run = RunRow.model_validate({**standing.run, **where, **of_job})
        course = CourseRow.model_validate({**standing.course, **hub, "run": run.id})
    except ValidationError:
        return None
    if run.ticket != f"issue:{number}" or run.state == RunState.ENDED.value:
        return None
    run_id = RunId(run.id)
    with app.book.writing() as session:
        session.add(run)
        session.flush()
        session.add(course)
    lay(app, app.stores.runs.get(run_id), standing.trail)
    return CourseStore(app.book).of(run_id)


def _text(standing: Standing) -> str:
    return _STANDING.dump_json(standing, indent=1).decode() + "\n"


def _columns(row: SQLModel) -> dict[str, Any]:
    return row.model_dump(mode="json", exclude=set(_OF_A_JOB))
