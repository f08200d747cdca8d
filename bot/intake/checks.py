"""What machines say of our patches: checks that fail, and deployments."""

from __future__ import annotations

from typing import Final

from bot.intake.event import Event, Own, asked, ignored, issue_of_branch
from bot.intake.payloads import CheckPart, DeploymentPart, DeploymentStatusPart, PullNumber, SuitePart
from bot.job import Decision, Deployed, FollowUp, FollowUpReason, JobKind

FAILED: Final = frozenset({"failure", "timed_out", "startup_failure"})
"""Conclusions that speak against a patch. `action_required` waits for a person, `cancelled` says nothing."""


def check_run(event: Event, own: Own) -> Decision:
    """Raises Unreadable."""
    if event.action != "completed":
        return ignored("the check is not over")
    check = event.read(CheckPart, "check_run")
    if check.app is not None and check.app.id == own.app:
        return ignored("we did it ourselves")
    branch = check.check_suite.head_branch if check.check_suite else None
    return _failed(event, own, check.conclusion, check.head_sha, branch, check.id, check.pull_requests)


def check_suite(event: Event, own: Own) -> Decision:
    """Raises Unreadable."""
    if event.action != "completed":
        return ignored("the checks are not over")
    suite = event.read(SuitePart, "check_suite")
    if suite.app is not None and suite.app.id == own.app:
        return ignored("we did it ourselves")
    return _failed(event, own, suite.conclusion, suite.head_sha, suite.head_branch, suite.id, suite.pull_requests)


def deployment_status(event: Event, own: Own) -> Decision:
    """Raises Unreadable."""
    status = event.read(DeploymentStatusPart, "deployment_status")
    deployment = event.read(DeploymentPart, "deployment")
    subject = f"deployment:{event.ref(own).id}:{deployment.id}:{status.state[:20]}"
    issue = issue_of_branch(deployment.ref) or 0
    match status.state:
        case "success":
            deployed = Deployed(deployment=deployment.id, commit=deployment.sha, environment=deployment.environment)
            return asked(event, own, JobKind.VERIFY, deployed, subject=subject, number=issue, at=status.created_at)
        case "failure" | "error":
            follow_up = FollowUp(
                pull=None,
                head=deployment.sha,
                reason=FollowUpReason.DEPLOYMENT,
                ref=deployment.id,
                environment=deployment.environment,
            )
            return asked(event, own, JobKind.FOLLOW_UP, follow_up, subject=subject, number=issue, at=status.created_at)
        case _:
            return ignored("the deployment is not over")


def _failed(
    event: Event,
    own: Own,
    conclusion: str | None,
    head: str,
    branch: str | None,
    ref: int,
    pulls: tuple[PullNumber, ...],
) -> Decision:
    issue = issue_of_branch(branch)
    if issue is None:
        return ignored("no branch of ours")
    if conclusion not in FAILED:
        return ignored("nothing failed")
    # One answer to one commit, however many checks fail on it.
    return asked(
        event,
        own,
        JobKind.FOLLOW_UP,
        FollowUp(pull=pulls[0].number if pulls else None, head=head, reason=FollowUpReason.CHECK, ref=ref),
        subject=f"check:{event.ref(own).id}:{head}",
        number=issue,
    )
