"""A published patch that was sent back: by a person, by CI, or by a deployment to a staging environment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, assert_never

from pydantic import TypeAdapter

from bot.run import Run
from bot.steps import SENT_BACK, StepStore
from memory.types import CheckId, Evidence, Hold, HoldCause, Where
from stages.patch import Patch


@dataclass(frozen=True, kw_only=True)
class SentBack:
    """Who refused the patch after the gate had passed it.

    `failing` names checks of CI, or the environment that could not be deployed; `said` is what people wrote.
    """

    where: Where = Where.REVIEW
    failing: tuple[CheckId, ...] = ()
    said: tuple[str, ...] = field(default=())

    def hold(self, patch: Patch, attempt: int) -> Hold:
        """The hold that this is of the attempt's patch."""
        cause = HoldCause.FINDING if self.where is Where.REVIEW else HoldCause.CHECK
        return Hold(where=self.where, cause=cause, attempt=attempt, failing=self.failing, edits=patch.edits)

    @property
    def evidence(self) -> Evidence:
        return Evidence.MAINTAINER if self.where is Where.REVIEW else Evidence.CI

    @property
    def why(self) -> str:
        """What the next attempt is told, in code's words."""
        names = ", ".join(self.failing[:3])
        match self.where:
            case Where.REVIEW | Where.GATE:
                return "a person sent the patch back"
            case Where.CI:
                return f"checks of the pull request failed: {names}"
            case Where.STAGING:
                return f"the deployment of the patch failed: {names}"
            case _:
                assert_never(self.where)


_SENT_BACK: Final = TypeAdapter(SentBack)


def send_back(steps: StepStore, run: Run, sent: SentBack) -> None:
    """Write down that the run's last patch is sent back, also one that is still being made. The newer one counts.

    The texts in it must be clean.
    """
    steps.finish(run.id, SENT_BACK, _SENT_BACK, sent, attempt=run.attempt)


def sent_back(steps: StepStore, run: Run, attempt: int) -> SentBack | None:
    """How the patch of this attempt was sent back; None when it was not."""
    done = steps.recorded(run.id, SENT_BACK, _SENT_BACK, attempt=attempt)
    return done.value if done else None


def next_attempt(steps: StepStore, run: Run) -> int:
    """The attempt that a run goes on with: the one it is in, or the one after a patch that was sent back."""
    return max(1, run.attempt + (sent_back(steps, run, run.attempt) is not None))
