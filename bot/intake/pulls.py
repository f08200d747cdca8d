"""Pull requests of ours: how they end, and reviews that ask for changes. Those of others are left alone."""

from __future__ import annotations

from bot.intake.event import Event, Own, asked, ignored, is_no_person, issue_of_branch
from bot.intake.payloads import PullPart, RepositoryPart, ReviewPart
from bot.job import Closed, Decision, FollowUp, FollowUpReason, JobKind

_NOT_OURS = "no pull request of ours"


def pull_request(event: Event, own: Own) -> Decision:
    """Raises Unreadable."""
    if event.action != "closed":
        return ignored("nothing to do for this action")
    pull = event.read(PullPart, "pull_request")
    issue = _issue(event, pull)
    if issue is None:
        return ignored(_NOT_OURS)
    merged = pull.merged is True
    closed = Closed(
        pull=pull.number, merged=merged, merge_commit=pull.merge_commit_sha if merged else None, by=event.sender
    )
    subject = f"pull:{event.ref(own).id}#{pull.number}:closed:{pull.closed_at}"
    return asked(event, own, JobKind.CLOSED, closed, subject=subject, number=issue, at=pull.closed_at)


def pull_request_review(event: Event, own: Own) -> Decision:
    """Raises Unreadable."""
    if event.action != "submitted":
        return ignored("nothing to do for this action")
    pull, review = event.read(PullPart, "pull_request"), event.read(ReviewPart, "review")
    issue = _issue(event, pull)
    if issue is None and not _has_our_name(pull):
        return ignored(_NOT_OURS)
    if review.state.lower() != "changes_requested":
        return ignored("the review asks for no changes")
    author = review.user.account() if review.user else None
    if reason := is_no_person(author, own):
        return ignored(reason)
    return asked(
        event,
        own,
        JobKind.FOLLOW_UP,
        FollowUp(pull=pull.number, head=pull.head.sha, reason=FollowUpReason.REVIEW, ref=review.id),
        subject=f"review:{event.ref(own).id}:{review.id}",
        number=issue or 0,  # of a fork: whoever reviewed is told why nothing comes of it
        at=review.submitted_at,
        actor=author,
    )


def _has_our_name(pull: PullPart) -> bool:
    """What a reviewer takes for a pull request of ours, wherever it comes from; not from a fork that is gone."""
    return pull.head.repo is not None and issue_of_branch(pull.head.ref) is not None


def _issue(event: Event, pull: PullPart) -> int | None:
    """The issue of a pull request of ours: from a branch with our name, in the repository itself."""
    here = event.read(RepositoryPart, "repository").id
    if pull.head.repo is None or pull.head.repo.id != here:
        return None  # anybody may give a branch of a fork our name
    return issue_of_branch(pull.head.ref)
