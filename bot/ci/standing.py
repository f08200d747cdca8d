"""How an open run stands, as one text: the runs of two jobs meet in no database, so the branch of the memory holds it.

A job after it goes on from there: with the same id, base, ticket, attempts, patch, notes and results of its steps, of
which none is paid for twice. What is made anew in each job: the checkout, what is installed for it, the clones, the
commit of the patch, and the pin of the memory. A text that would be too long is kept without its steps: then the next
job makes the attempts anew. When the run is over, its text goes.

It holds words of the issue, of people, of the model and of checks, all of them scrubbed, and is read by whoever can
read the repository. Whoever can push to it can change it: it is read as foreign data, field by field, and one that
holds anything else than a run of ours is none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Final

from pydantic import AwareDatetime, Field, Json, TypeAdapter, ValidationError
from sqlmodel import SQLModel

from bot.app import App
from bot.ci.trail import Number, Trail, TrailUnusable, lay, trail_of
from bot.course.course import Course, PullState
from bot.course.store import CourseStore
from bot.course.tables import CourseRow
from bot.forge.types import AccountKind, RepositoryRef
from bot.intake.event import issue_of_branch
from bot.run import Run, RunState
from bot.tables import RunRow
from memory.types import DropCause, RunId, Scope
from stages.errors import ParkCause
from stages.ticket import Ticket

FORMAT: Final = 1
AT_MOST: Final = 12 * 1024 * 1024  # characters
# Of this machine, or of the job that was at work.
_OF_A_JOB: Final = frozenset({"installation", "repository", "place", "wake", "epoch", "model", "level", "sandbox"})

_Count = Annotated[int, Field(ge=0, lt=2**63)]
_Sum = Annotated[float, Field(ge=0)]
_Commit = Annotated[str, Field(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$")]


@dataclass(frozen=True, kw_only=True)
class _RunPart:
    """What columns of a run hold beyond their type. Paths, refs and commands are made from some of them."""

    id: Annotated[str, Field(pattern=r"^[0-9A-HJKMNP-TV-Z]{12}$")]
    ticket_json: Json[Ticket]
    state: RunState
    base: _Commit
    generation: Number
    attempt: Number
    created: AwareDatetime
    updated: AwareDatetime
    commit: _Commit | None = None
    park_cause: ParkCause | None = None
    stop_cause: DropCause | Annotated[str, Field(max_length=0)] = ""
    memory_version: _Count | None = None
    attempts_at_most: Number | None = None
    calls: _Count = 0
    tokens: _Count = 0
    money: _Sum = 0.0
    minutes: _Sum = 0.0


@dataclass(frozen=True, kw_only=True)
class _CoursePart:
    """The same of a course."""

    actor_id: _Count
    actor_kind: AccountKind
    branch: str = ""
    pull: _Count | None = None
    pull_state: PullState = PullState.NONE
    ci_rounds: Number = 0
    pushed: _Commit | None = None
    ci_head: _Commit | None = None
    unchecked: _Commit | None = None
    merged: _Commit | None = None
    merged_at: AwareDatetime | None = None


@dataclass(frozen=True, kw_only=True)
class Standing:
    """`run` and `course` are the rows of the tables, without what belongs to one machine."""

    version: Annotated[int, Field(ge=FORMAT, le=FORMAT)] = FORMAT
    run: dict[str, Any]
    course: dict[str, Any]
    trail: Trail


_STANDING: Final = TypeAdapter(Standing)
_RUN_PART: Final = TypeAdapter(_RunPart)
_COURSE_PART: Final = TypeAdapter(_CoursePart)


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
        standing = _STANDING.validate_json(text)
        _RUN_PART.validate_python(standing.run)
        _COURSE_PART.validate_python(standing.course)
    except ValidationError:
        return None
    return standing


def stand(app: App, standing: Standing, scope: Scope, ref: RepositoryRef, number: int, place: str) -> Course | None:
    """Write the run down in this database, for a checkout at `place`. None where it is no open run of this issue.

    Steps that cannot be used, such as those that another version wrote, are made anew.
    """
    where = {"installation": scope.installation, "repository": scope.repository, "place": place}
    of_job = {"model": "", "level": "", "sandbox": "", "epoch": 0, "wake": None}
    hub = {"installation": ref.installation, "repository": ref.id, "full_name": ref.full_name, "number": number}
    try:
        run = RunRow.model_validate({**standing.run, **where, **of_job})
        course = CourseRow.model_validate({**standing.course, **hub, "run": run.id})
    except ValidationError:
        return None
    if run.ticket != f"issue:{number}" or run.state == RunState.ENDED.value or not _is_of(standing, number):
        return None
    run_id = RunId(run.id)
    with app.book.writing() as session:
        session.add(run)
        session.flush()
        session.add(course)
    there = app.stores.runs.get(run_id)
    try:
        lay(app, there, standing.trail)
    except TrailUnusable:
        lay(app, there, replace(standing.trail, facts=(), steps=()))
    return CourseStore(app.book).of(run_id)


def _is_of(standing: Standing, number: int) -> bool:
    """Whether its ticket and its branch are those of this issue: a branch that is ours is pushed to, and deleted."""
    ticket = _RUN_PART.validate_python(standing.run).ticket_json
    branches = {str(row.get("branch") or "") for row in (standing.run, standing.course)} - {""}
    return ticket.number == number and all(issue_of_branch(one) == number for one in branches)


def _text(standing: Standing) -> str:
    return _STANDING.dump_json(standing, indent=1).decode() + "\n"


def _columns(row: SQLModel) -> dict[str, Any]:
    return row.model_dump(mode="json", exclude=set(_OF_A_JOB))
