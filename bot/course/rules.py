"""Rules of a repository that refuse our branch: read before any work."""

from __future__ import annotations

from typing import Final

from pydantic import TypeAdapter

from bot.app_settings import PublishMode
from bot.course.course import Course
from bot.course.errand import Errand
from bot.course.placing import name_of
from bot.course.points import CourseStep

_RULE: Final = TypeAdapter(str)
# Rules for branches that refuse what we do: make one, and push to it. GitHub's REST reference, "Rules".
# Not among them: where signatures are wanted, GitHub signs for us.
_REFUSING: Final = frozenset({"creation", "update", "pull_request", "protection"})


def rule_against(errand: Errand, course: Course) -> str:
    """The rule that refuses our branch, by its name; empty when none does."""
    if errand.settings.mode is PublishMode.PATCH or course.pushed:
        return ""
    return errand.once(CourseStep.RULES, _RULE, lambda: _refusing(errand, course))


def _refusing(errand: Errand, course: Course) -> str:
    branch = name_of(course.number, 1)
    rules = errand.forge.rules(errand.ref, branch)
    found = next((rule for rule in rules if rule.kind in _REFUSING), None)
    if found is None:
        return ""
    return f"the rule {found.kind} of the repository refuses the branch {branch} ({found.detail})"
