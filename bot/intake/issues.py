"""Issues and comments on them: labels start and stop runs, commands do the rest."""

from __future__ import annotations

from bot.intake.commands import command_of, is_marked
from bot.intake.event import Event, Own, asked, ignored, is_no_person
from bot.intake.payloads import BODY_AT_MOST, TITLE_AT_MOST, CommentPart, IssuePart, LabelPart, same_label
from bot.job import Closed, Command, Decision, Gone, GoneCause, JobKind, Remark, Start, StartCause, Unlabelled

OWN_LABELS = "ticketsmith:"


def issues(event: Event, own: Own) -> Decision:
    """Raises Unreadable."""
    issue = event.read(IssuePart, "issue")
    if issue.pull_request is not None:
        return ignored("a pull request is no ticket")
    match event.action:
        case "labeled" if _is_ours(event, own):
            return _start(event, own, issue, StartCause.LABELLED)
        case "labeled" | "unlabeled" if not _is_ours(event, own):
            return ignored("another label")
        case "opened" if issue.has(own.label):
            return _start(event, own, issue, StartCause.OPENED)
        case "reopened" if issue.has(own.label):
            return _start(event, own, issue, StartCause.REOPENED)
        case "opened" | "reopened":
            return ignored("the issue does not carry the label")
        case "unlabeled":
            return asked(
                event, own, JobKind.STOP, Unlabelled(), subject=_subject(event, own, "off", issue), number=issue.number
            )
        case "closed":
            return _closed(event, own, issue)
        case "transferred":
            return _gone(event, own, issue, GoneCause.TRANSFERRED)
        case "deleted":
            return _gone(event, own, issue, GoneCause.DELETED)
        case _:
            return ignored("nothing to do for this action")


def issue_comment(event: Event, own: Own) -> Decision:
    """Raises Unreadable."""
    if event.action != "created":
        return ignored("only new comments are read")
    issue, comment = event.read(IssuePart, "issue"), event.read(CommentPart, "comment")
    body = comment.body or ""
    if reason := _not_from_a_person(event, own, comment):
        return ignored(reason)
    is_pull = issue.pull_request is not None
    actor = comment.user.account() if comment.user else None
    if said := command_of(body):
        command = Command(
            name=said.name, argument=said.argument, comment=comment.id, pull=issue.number if is_pull else None
        )
        return asked(
            event,
            own,
            said.kind,
            command,
            subject=f"command:{event.ref(own).id}:{comment.id}",
            number=0 if is_pull else issue.number,
            at=comment.created_at,
            actor=actor,
        )
    if is_pull or not issue.has(own.label):
        return ignored("no command")
    return asked(
        event,
        own,
        JobKind.REMARK,
        Remark(comment=comment.id),
        subject=f"remark:{event.ref(own).id}:{comment.id}",
        number=issue.number,
        at=comment.created_at,
        actor=actor,
    )


def _not_from_a_person(event: Event, own: Own, comment: CommentPart) -> str:
    author = comment.user.account() if comment.user else None
    if reason := is_no_person(event.sender, own) or is_no_person(author, own):
        return reason
    if comment.performed_via_github_app is not None and comment.performed_via_github_app.id == own.app:
        return "we did it ourselves"
    return "it carries our marker" if is_marked(comment.body or "") else ""


def _is_ours(event: Event, own: Own) -> bool:
    return same_label(event.read(LabelPart, "label").name, own.label)


def _start(event: Event, own: Own, issue: IssuePart, cause: StartCause) -> Decision:
    if reason := is_no_person(event.sender, own):
        return ignored(reason)
    start = Start(
        title=issue.title[:TITLE_AT_MOST],
        body=(issue.body or "")[:BODY_AT_MOST],
        author=issue.user.account() if issue.user else None,
        labels=tuple(label.name for label in issue.labels),
        updated=issue.updated_at,
        cause=cause,
    )
    mark = f"reopened:{issue.updated_at}" if cause is StartCause.REOPENED else "on"
    return asked(event, own, JobKind.START, start, subject=_subject(event, own, mark, issue), number=issue.number)


def _closed(event: Event, own: Own, issue: IssuePart) -> Decision:
    if not issue.has(own.label) and not any(label.name.casefold().startswith(OWN_LABELS) for label in issue.labels):
        return ignored("no issue of ours")
    closed = Closed(pull=None, merged=False, merge_commit=None, by=event.sender)
    subject = _subject(event, own, f"closed:{issue.closed_at}", issue)
    return asked(event, own, JobKind.CLOSED, closed, subject=subject, number=issue.number)


def _gone(event: Event, own: Own, issue: IssuePart, cause: GoneCause) -> Decision:
    subject = _subject(event, own, f"gone:{cause.value}", issue)
    return asked(event, own, JobKind.GONE, Gone(cause=cause), subject=subject, number=issue.number)


def _subject(event: Event, own: Own, what: str, issue: IssuePart) -> str:
    return f"issue:{event.ref(own).id}#{issue.number}:{what}"
