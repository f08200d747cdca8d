"""Whether an issue is worked on, and on which text: decided from what GitHub says at this moment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from bot.course.errand import Errand
from bot.forge.errors import NotThere
from bot.forge.types import Account, AccountKind, CommentInfo, IssueInfo, OpenOrClosed, Permission
from bot.job import Start, StartCause

RUNS_A_DAY: Final = 5  # of one issue; a label or two bots that answer each other shall not cost without end
COMMENTS_AT_MOST: Final = 30
AUTHORS_AT_MOST: Final = 4  # others than the issue's, whose right to write is asked for: a request each
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class Said:
    author: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Admitted:
    """The issue as it is worked on. All its text is foreign; `actor` is who asked, and may write."""

    title: str
    body: str
    author: str
    actor: Account
    comments: tuple[Said, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Why nothing is begun. `told` says whether the person is given a line."""

    why: str
    told: bool = False


Answered: TypeAlias = Admitted | Refusal


def admit(errand: Errand, *, commanded: bool) -> Answered:
    """Look at the issue and at whoever asks. Raises the errors of `bot.forge.errors`."""
    issue = errand.forge.issue(errand.ref, errand.number)
    if refusal := _of_issue(issue, errand, commanded=commanded):
        return refusal
    actor, asked = _who(errand, issue)
    if actor is None:
        return Refusal(why="nobody is known who set the label")
    if refusal := may_ask(errand, actor) or _of_walls(errand):
        return refusal
    start = errand.job.data if isinstance(errand.job.data, Start) else None
    if start is None or start.cause is StartCause.SWEPT:
        if not commanded and _edited_since(errand, asked):
            return Refusal(why="it was edited after the label was set: take the label away and set it again", told=True)
        title, body = issue.title, issue.body
    else:
        title, body = start.title, start.body  # as they stood when the label was set
    if not title.strip() and not body.strip():
        return Refusal(why="the issue has no text", told=True)
    comments = tuple(_comments(errand, issue, asked))
    return Admitted(title=title, body=body, author=issue.author.login, actor=actor, comments=comments)


def may_ask(errand: Errand, actor: Account) -> Refusal | None:
    """None for those who may have the bot work: they can write, at this moment."""
    if actor.kind is not AccountKind.USER and actor.id not in errand.settings.allowed_bots:
        return Refusal(why="a bot asked that is not allowed to")
    permission = permission_of(errand, actor)
    if permission.writes:
        return None
    return Refusal(why="this needs write permission in the repository", told=permission.triages)


def permission_of(errand: Errand, actor: Account) -> Permission:
    """What the account may do at this moment; nothing for one that GitHub does not know."""
    try:
        return errand.forge.permission(errand.ref, actor)
    except NotThere:
        return Permission.NONE


def _of_issue(issue: IssueInfo, errand: Errand, *, commanded: bool) -> Refusal | None:
    if issue.is_pull:
        return Refusal(why="this is a pull request", told=commanded)
    if issue.state is not OpenOrClosed.OPEN:
        return Refusal(why="the issue is closed", told=commanded)
    if not commanded and not is_labelled(issue, errand.settings.label):
        return Refusal(why="the label is gone")
    return None


def is_labelled(issue: IssueInfo, label: str) -> bool:
    return label.casefold() in {one.casefold() for one in issue.labels}


def _who(errand: Errand, issue: IssueInfo) -> tuple[Account | None, datetime]:
    """Who asked, and when; where that was not told, who set the label last."""
    job, label = errand.job, errand.settings.label.casefold()
    if job.actor is not None or not isinstance(job.data, Start):
        return job.actor, job.at
    events = errand.forge.label_events(errand.ref, issue.number)
    found = [one for one in events if one.added and one.label.casefold() == label]
    return (found[-1].actor, found[-1].at) if found else (None, job.at)


def _edited_since(errand: Errand, asked: datetime) -> bool:
    edited = errand.forge.body_edited_at(errand.ref, errand.number)
    return edited is not None and edited >= asked  # GitHub tells whole seconds: in doubt it was later


def _of_walls(errand: Errand) -> Refusal | None:
    """What keeps a loop of events from going on without end, whatever made it; `bot.walls` bounds what it costs."""
    since = errand.now() - _DAY
    courses = errand.courses.of_issue(errand.ref, errand.number)[:RUNS_A_DAY]
    today = [course for course in courses if errand.run(course.run).created >= since]
    if len(today) >= RUNS_A_DAY:
        return Refusal(why=f"it had {len(today)} runs within a day, which are enough", told=True)
    return None


def _comments(errand: Errand, issue: IssueInfo, asked: datetime) -> Iterator[Said]:
    """What the issue's author and those who may write said before it was asked for; the newest ones."""
    found = errand.forge.comments(errand.ref, issue.number).comments
    before = [one for one in found if max(one.created, one.updated) <= asked and one.body.strip()]
    trusted = _trusted(errand, issue, before[-COMMENTS_AT_MOST:])
    for comment in before[-COMMENTS_AT_MOST:]:
        if comment.author.id in trusted and not comment.body.lstrip().startswith("/ticketsmith"):
            yield Said(author=comment.author.login, text=comment.body)


def _trusted(errand: Errand, issue: IssueInfo, comments: Iterable[CommentInfo]) -> frozenset[int]:
    people = {one.author.id: one.author for one in comments if one.author.kind is AccountKind.USER}
    others = [account for account in people.values() if account.id != issue.author.id][-AUTHORS_AT_MOST:]
    return frozenset({issue.author.id, *(one.id for one in others if permission_of(errand, one).writes)})
