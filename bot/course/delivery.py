"""A patch that passed goes out: branch, pull request, check run, label, status; each read back, each once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from bot.course.check_run import CheckRun
from bot.course.course import Course, PullState
from bot.course.errand import Errand
from bot.course.errors import RuleRefusesPush
from bot.course.evidence import Evidence, gather
from bot.course.may import May
from bot.course.mode import Mode
from bot.course.placing import (
    BRANCHES_AT_MOST,
    Branch,
    HandsOff,
    Known,
    Place,
    Placing,
    StaysAway,
    TryNext,
    name_of,
    placed,
)
from bot.course.points import CourseStep
from bot.course.pull import mode_of, put_pull
from bot.course.silence import watch_checks
from bot.course.texts import Now
from bot.outbox.types import ForeignCommits, OwnLabel, Pushed, RuleRefused
from bot.run import Run
from memory.types import CommitId
from stages.repository import Repository

_PUSHES_AT_MOST: Final = 3  # while people push to our branches at the same moments


@dataclass(frozen=True, kw_only=True)
class Put:
    """Where a commit goes: `commit` stands on `head`, on top of what the branch has (None: a new branch)."""

    branch: str
    commit: CommitId
    head: CommitId | None
    pull: int | None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Nowhere:
    """Nothing is pushed, and why."""

    why: str
    hands_off: bool = False


@dataclass(frozen=True, kw_only=True)
class Merged:
    """The run's own pull request was merged, and GitHub has not told so yet."""

    pull: int


_PLACED: Final[TypeAdapter[Put | Nowhere]] = TypeAdapter(Put | Nowhere)
_PUSHED: Final = TypeAdapter(Pushed | ForeignCommits | RuleRefused)
_NUMBER: Final = TypeAdapter(int)


class Delivery:
    """Brings the patch of one run to GitHub. `asked` says that a person wants it, whatever was closed before."""

    def __init__(self, errand: Errand, may: May, *, asked: bool) -> None:
        self._errand, self._may, self._asked = errand, may, asked

    def deliver(self, run: Run, course: Course) -> Course:
        """Raises RuleRefusesPush, and what `May.act` and the outbox raise."""
        evidence = gather(self._errand.app.stores, run)
        mode = mode_of(self._errand, course, evidence)
        self._may.act(course)
        note = ""
        if mode.pushes:
            course, note = self._push(run, course)
        pushed = mode.pushes and course.pushed is not None and not note
        if pushed and mode.pulls:
            course = self._pull(run, course, evidence, mode)
            self._errand.steps.each_time(CourseStep.WATCH, lambda: watch_checks(self._errand, course))
        if pushed:
            self._may.act(course)
            CheckRun(self._errand).passed(run, course, evidence)
        self._errand.mark(run.id, course.number, OwnLabel.PR if pushed else OwnLabel.HELD)
        self._errand.tell(run, course, Now(note=note), mode)
        return course

    # --- Branch ----------------------------------------------------------------------------------------------------

    def _push(self, run: Run, course: Course) -> tuple[Course, str]:
        """The course afterwards, and why nothing was pushed, if so."""
        for number in range(_PUSHES_AT_MOST):
            of = f"{run.generation}.{run.attempt}.{number}"
            put = self._errand.once(CourseStep.PLACE, _PLACED, lambda: self._place(run, course), of=of)
            if isinstance(put, Nowhere):
                return self._errand.courses.change(run.id, hands_off=put.hands_off), put.why
            match self._pushed(run, course, put, of):
                case Pushed() as there:
                    assert run.commit is not None, "a published run has a commit"
                    self._errand.app.stores.runs.save_branch(run.id, put.branch, run.commit)  # as GitHub has it
                    changed = self._errand.courses.change(
                        run.id, branch=put.branch, pushed=there.commit, hands_off=False, pull=put.pull
                    )
                    return changed, ""
                case RuleRefused() as refused:
                    raise RuleRefusesPush(said=refused.said)
                case ForeignCommits():
                    continue
        return course, "people pushed to every branch that was tried: nothing was overwritten"

    def _place(self, run: Run, course: Course) -> Put | Nowhere:
        match self._free_place(course):
            case HandsOff() as theirs:
                why = f"a person pushed to `{theirs.branch}`: the patch stays away from it until `/ticketsmith retry`"
                return Nowhere(why=why, hands_off=True)
            case Merged() as merged:
                return Nowhere(why=f"#{merged.pull} was merged meanwhile: no further patch goes out")
            case StaysAway() as closed:
                return Nowhere(why=f"#{closed.pull} was closed by a person: `/ticketsmith retry` brings it back")
            case Place() as place:
                repository = Repository.open(Path(run.place))
                assert run.commit is not None, "a published run has a commit"
                commit = run.commit
                if place.head is not None:
                    commit = repository.successor(commit, place.head, f"{int(run.created.timestamp())} +0000")
                return Put(branch=place.branch, commit=commit, head=place.head, pull=place.pull, note=place.note)

    def _free_place(self, course: Course) -> Placing | Merged:
        errand, why = self._errand, ""
        ours = errand.courses.of_issue(errand.ref, course.number)
        known = Known(
            pushed=frozenset(one.pushed for one in ours if one.pushed),
            closed=frozenset(one.pull for one in ours if one.pull and one.pull_state is PullState.CLOSED_BY_US),
            asked=self._asked,
        )
        for suffix in range(1, BRANCHES_AT_MOST):
            name = name_of(course.number, suffix)
            head = errand.forge.branch_head(errand.ref, name)
            branch = Branch(
                name=name,
                head=CommitId(head) if head else None,
                pulls=errand.forge.pulls_of_branch(errand.ref, name),
            )
            if any(pull.merged and pull.number == course.pull for pull in branch.pulls):
                return Merged(pull=course.pull or 0)
            found = placed(branch, known, why)
            if not isinstance(found, TryNext):
                return found
            why = found.why
        return HandsOff(branch=name_of(course.number, 1), pull=0)

    def _pushed(self, run: Run, course: Course, put: Put, of: str) -> Pushed | ForeignCommits | RuleRefused:
        def effect() -> Pushed | ForeignCommits | RuleRefused:
            self._may.act(course)
            errand = self._errand
            return errand.outbox.push(
                run.id, errand.ref, Repository.open(Path(run.place)), put.branch, put.commit, put.head
            )

        return self._errand.once(CourseStep.PUSH, _PUSHED, effect, of=of)

    # --- Pull request ----------------------------------------------------------------------------------------------

    def _pull(self, run: Run, course: Course, evidence: Evidence, mode: Mode) -> Course:
        def effect() -> int:
            self._may.act(course)
            return put_pull(self._errand, run, course, evidence, mode)

        of = f"{run.generation}.{run.attempt}.{course.branch}"
        number = self._errand.once(CourseStep.PULL, _NUMBER, effect, of=of)
        return self._errand.courses.change(run.id, pull=number, pull_state=PullState.OPEN.value)
