"""The pull request of a run: how far the patch goes, and what stands in it."""

from __future__ import annotations

from bot.app_settings import PublishMode
from bot.course.course import Course
from bot.course.errand import Errand
from bot.course.evidence import Evidence
from bot.course.mode import Mode, mode_for
from bot.course.texts import pull_body, pull_title
from bot.run import Run


def mode_of(errand: Errand, course: Course, evidence: Evidence) -> Mode:
    """How far the patch goes."""
    edits = evidence.judged.edits if evidence.judged else ()
    return mode_for(errand.settings.mode, (edit.path for edit in edits), private=course.private)


def put_pull(errand: Errand, run: Run, course: Course, evidence: Evidence, mode: Mode, *, there: bool = False) -> int:
    """The number of the pull request, made or brought up to date; with `there`, none is made (NotOurs)."""
    draft = mode.mode is PublishMode.DRAFT
    title, body = pull_title(run), pull_body(run, course, evidence, mode.why)
    put = errand.outbox.pull(
        run.id, errand.ref, course.branch, course.base, title, body, draft=draft, issue=course.number, there=there
    )
    return put.number
