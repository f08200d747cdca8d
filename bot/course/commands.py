"""Commands of people in comments: each is answered with a result, and only those who may write are obeyed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeAlias

from pydantic import TypeAdapter

from bot.course.admission import Refusal, may_ask, permission_of
from bot.course.course import Course
from bot.course.errand import Errand
from bot.course.evidence import used
from bot.course.leaving import Leaving
from bot.course.markdown import code, plain
from bot.course.points import CourseStep
from bot.course.texts import HELP
from bot.engine.outcome import Outcome, Settled, ToWork
from bot.errors import BeingWorkedOn
from bot.job import Command
from bot.run import RunState
from bot.sent_back import SentBack
from memory.slots import hashed
from memory.types import Injection, LessonId, Scope

Forget: TypeAlias = Callable[[Scope, LessonId, str], bool]
"""Forgets a lesson of this scope for a person; False where there is none."""

_DONE: Final = TypeAdapter(bool)
_SHOWN: Final = 8  # candidates that stayed out


class Commands:
    """Answers one command about an issue. `course` is that of its newest run, None where there was none."""

    def __init__(self, errand: Errand, leaving: Leaving, forget: Forget) -> None:
        self._errand, self._leaving, self._forget = errand, leaving, forget

    def refused(self) -> Outcome | None:
        """The outcome for somebody who may not command; None for those who may."""
        if self._errand.operator:
            return None
        actor = self._errand.job.actor
        refusal = may_ask(self._errand, actor) if actor else Refusal(why="nobody is known who said it")
        if refusal is None:
            return None
        if refusal.told:
            self._errand.answer(f"Nothing was done: {refusal.why}.")
        return Settled(outcome=f"refused: {refusal.why}")

    # --- What every reader may ask -----------------------------------------------------------------------------------

    def help(self) -> Outcome:
        if self._is_heard():
            self._errand.answer("\n".join(["What you can say:", "", *(f"- {line}" for line in HELP)]))
        return Settled(outcome="helped")

    def why(self, course: Course | None) -> Outcome:
        """What memory gave to the newest run, and what stayed out."""
        if not self._is_heard():
            return Settled(outcome="refused: not of this repository")
        if course is None:
            self._errand.answer("There was no run of this issue: memory was not asked.")
            return Settled(outcome="no run")
        injections = self._errand.app.stores.memory.injections(self._errand.run(course.run).scope, course.run)
        self._errand.answer("\n".join(_why(course, injections)))
        return Settled(outcome="told why")

    def _is_heard(self) -> bool:
        """People who work on the repository; anybody else would have the bot write for nothing."""
        actor = self._errand.job.actor
        return actor is not None and permission_of(self._errand, actor).triages

    # --- What changes something --------------------------------------------------------------------------------------

    def stop(self, course: Course | None) -> Outcome:
        errand = self._errand
        run = self._leaving.stop(course) if course else None
        if course is None or run is None:
            errand.answer("There is no run to stop.")
            return Settled(outcome="nothing to stop")
        if run.open:
            errand.answer(f"Run {code(run.id)} is told to stop: it ends within moments.")
            return Settled(outcome="told to stop")
        errand.answer(f"Run {code(run.id)} is over: {run.outcome}.")
        return Settled(outcome=run.outcome)

    def retry(self, course: Course | None) -> Outcome:
        """Whatever came between, it goes on, or begins again."""
        run = self._errand.run(course.run) if course else None
        match run.state if run else RunState.ENDED:
            case RunState.WORKING:
                self._errand.answer("The run is at work, or waits for its turn.")
                return Settled(outcome="at work already")
            case RunState.PUBLISHED if course and not course.hands_off and course.pushed:
                where = f"#{course.pull}" if course.pull else code(course.branch)
                self._errand.answer(
                    f"The patch is out already: {where}. `/ticketsmith requeue NOTE` has it tried again."
                )
                return Settled(outcome="published already")
            case RunState.PUBLISHED:
                said = "The patch goes out again, on a branch of its own where the other is in use."
            case RunState.PARKED:
                said = "The run goes on."
            case _:
                said = "A new run begins."
        self._errand.answer(said)
        return ToWork()

    def requeue(self, course: Course | None, note: str) -> Outcome:
        """Keep the note for the next attempt, and have one made."""
        errand = self._errand
        if not note.strip():
            errand.answer("The note is empty: say after `/ticketsmith requeue` what the next attempt has to know.")
            return Settled(outcome="empty note")
        with suppress(BeingWorkedOn):  # it reads the note before its next attempt
            errand.once(CourseStep.SEND_BACK, _DONE, lambda: self._kept(course, note))
        run = errand.run(course.run) if course else None
        if run is not None and run.state is RunState.WORKING and not errand.is_sent_back(run):
            errand.answer(f"Kept: run {code(run.id)} reads the note before its next attempt.")
            return Settled(outcome="note kept")
        errand.answer("The note is kept, and the next attempt reads it.")
        return ToWork()

    def _kept(self, course: Course | None, note: str) -> bool:
        errand = self._errand
        run = errand.run(course.run) if course else None
        author = errand.operator or (errand.job.actor.login if errand.job.actor else "")
        assert author, "only known people are obeyed"
        errand.keep_note(note, author)
        if run is not None and run.state is RunState.PUBLISHED:
            errand.app.send_back(run, SentBack())
        return True

    def forget(self, argument: str) -> Outcome:
        actor = self._errand.job.actor
        assert actor is not None, "only known people are obeyed"
        lesson = LessonId(argument.strip().strip("`"))
        if not lesson:
            self._errand.answer("Which lesson? `/ticketsmith why` shows their ids.")
            return Settled(outcome="no lesson named")
        scope = self._errand.scope
        forgotten = self._errand.once(CourseStep.SEND_BACK, _DONE, lambda: self._forget(scope, lesson, actor.login))
        shown = code(lesson[:40])
        self._errand.answer(
            f"Lesson {shown} is forgotten." if forgotten else f"There is no lesson {shown} of this repository."
        )
        return Settled(outcome="forgotten" if forgotten else f"no such lesson: {hashed(lesson)}")


def _why(course: Course, injections: tuple[Injection, ...]) -> list[str]:
    given = used(injections)
    if not injections:
        return [f"Run {code(course.run)} has not asked a model yet."]
    lines = [f"Run {code(course.run)} read memory version {given.version}:", ""]
    lines += [f"- lesson {code(one.id)}: {plain(one.why)}" for one in given.lessons]
    lines += [f"- note {code(one.id)}, score {one.score or 0:.2f}" for one in given.notes]
    if not given.lessons and not given.notes:
        lines.append("- no lesson and no note")
    left = {one.id: one for injection in injections for one in injection.left_out}
    if left:
        lines += ["", "What stayed out:", ""]
        lines += [f"- {code(one.id)}: {plain(one.why)}" for one in list(left.values())[:_SHOWN]]
        lines += [f"- and {len(left) - _SHOWN} more"] if len(left) > _SHOWN else []
    return lines


def argument_of(data: object) -> str:
    return data.argument if isinstance(data, Command) else ""
