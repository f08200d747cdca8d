"""Reads of pull requests: where they stand, what people and checks say, and where they were deployed."""

from __future__ import annotations

from typing import Any, Final

from bot.forge import parsing
from bot.forge.api import READING, Api
from bot.forge.tokens import Permissions
from bot.forge.types import (
    CheckInfo,
    DeploymentInfo,
    OpenOrClosed,
    PullInfo,
    RepositoryRef,
    ReviewInfo,
)

CHECKS: Final[Permissions] = {"checks": "read"}
DEPLOYMENTS: Final[Permissions] = {"deployments": "read"}


class PullReads:
    """All of them raise the errors of `bot.forge.errors`."""

    _api: Api

    def pull(self, ref: RepositoryRef, number: int) -> PullInfo:
        """The pull request; of one that was closed without a merge, also who did it (one request more)."""
        what = f"pull request {number} of {ref.full_name}"
        found = parsing.shaped(parsing.pull, data := self._api.read(ref, f"/pulls/{number}", what=what))
        if found.merged or found.state is OpenOrClosed.OPEN:
            return found
        issue = self._api.read(ref, f"/issues/{number}", what=what)
        closed_by = parsing.shaped(lambda answer: parsing.account(answer.get("closed_by")), issue)
        return parsing.shaped(lambda answer: parsing.pull(answer, closed_by), data)

    def pulls_of_branch(
        self, ref: RepositoryRef, branch: str, state: str = "all", *, needs: Permissions = READING
    ) -> tuple[PullInfo, ...]:
        """Pull requests from a branch of the repository itself, newest first. Their `closed_by` is not known."""
        query = {"head": f"{ref.full_name.partition('/')[0]}:{branch}", "state": state}
        found = self._api.all_pages(ref, "/pulls", what=f"pull requests of {ref.full_name}", needs=needs, query=query)
        pulls = [parsing.shaped(parsing.pull, one) for one in found]
        # A `head` that GitHub does not take for one filters nothing.
        return tuple(one for one in pulls if one.head_ref == branch and one.head_repository_id == ref.id)

    def pulls(self, ref: RepositoryRef, state: str = "all") -> tuple[PullInfo, ...]:
        """All pull requests, newest first; of a very long history the newest. Their `closed_by` is not known."""
        what = f"pull requests of {ref.full_name}"
        found = self._api.all_pages(ref, "/pulls", what=what, query={"state": state})
        return tuple(parsing.shaped(parsing.pull, one) for one in found)

    def reviews(self, ref: RepositoryRef, number: int) -> tuple[ReviewInfo, ...]:
        """Reviews in their order, each with its remarks."""
        what = f"pull request {number} of {ref.full_name}"
        found = self._api.all_pages(ref, f"/pulls/{number}/reviews", what=what)
        remarks = self._api.all_pages(ref, f"/pulls/{number}/comments", what=what) if found else []
        return tuple(parsing.shaped(lambda one: parsing.review(one, remarks), one) for one in found)

    def checks(self, ref: RepositoryRef, sha: str, *, needs: Permissions = CHECKS) -> tuple[CheckInfo, ...]:
        """The newest run of each check on a commit."""
        what = f"checks of {sha[:12]} in {ref.full_name}"
        found = self._api.all_pages(ref, f"/commits/{sha}/check-runs", what=what, needs=needs, inside="check_runs")
        return tuple(parsing.shaped(parsing.check, one) for one in found)

    def deployments(self, ref: RepositoryRef, sha: str) -> tuple[DeploymentInfo, ...]:
        """Deployments of a commit, newest first, each in its newest state."""
        what = f"deployments of {sha[:12]} in {ref.full_name}"
        found = self._api.all_pages(ref, "/deployments", what=what, needs=DEPLOYMENTS, query={"sha": sha})
        return tuple(self._deployment(ref, one) for one in found)

    def _deployment(self, ref: RepositoryRef, data: Any) -> DeploymentInfo:
        number = parsing.shaped(lambda one: int(one["id"]), data)
        newest = self._newest_state(ref, number) or {"state": "pending", "created_at": data.get("created_at")}
        return parsing.shaped(lambda one: _deployment(number, one["sha"], one["environment"], newest), data)

    def _newest_state(self, ref: RepositoryRef, number: int) -> Any:
        what = f"deployment {number} of {ref.full_name}"
        path, query = f"/deployments/{number}/statuses", {"per_page": "1"}
        states = self._api.read(ref, path, what=what, needs=DEPLOYMENTS, query=query)
        return states[0] if states else None


def _deployment(number: int, sha: Any, environment: Any, state: Any) -> DeploymentInfo:
    at = parsing.moment(state["created_at"])
    return DeploymentInfo(id=number, sha=str(sha), environment=str(environment), state=str(state["state"]), at=at)
