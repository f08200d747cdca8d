"""Why a run goes no further on GitHub."""

from __future__ import annotations

from memory.errors import Told
from memory.types import DropCause


class CourseFault(Told):
    """The run goes no further on GitHub."""


class MayNotAct(CourseFault):
    """The run may act no more: {why}."""

    def __init__(self, *, why: str, cause: DropCause) -> None:
        super().__init__(why=why)
        self.why, self.cause = why, cause


class NoLongerAllowed(CourseFault):
    """{login}, who asked for the run, can no longer write in the repository. Somebody who can may say
    `/ticketsmith retry`.
    """


class RuleRefusesPush(CourseFault):
    """A rule of the repository refuses the branch: {said} Allow it for this App, or publish patches only (`mode`)."""


class NothingThere(CourseFault):
    """The repository {name} has no commit on its default branch {branch}."""
