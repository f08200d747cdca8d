"""A ticket from an issue on GitHub, named by its address: `fix https://github.com/o/r/issues/7`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from bot.app_settings import AppSettings
from bot.errors import WrongInput
from bot.forge.github import Forge
from bot.forge.types import RepositoryRef
from memory.types import RepositoryId, TicketId
from stages.origin import remote_id
from stages.ticket import Comment, Ticket

COMMENTS_AT_MOST: Final = 30
_ADDRESS: Final = re.compile(
    r"(https?://[^/\s?#@]+)/([A-Za-z0-9](?:[A-Za-z0-9-]{0,38}))/([A-Za-z0-9._-]{1,100})/issues/([1-9]\d{0,9})/?(?:[?#]\S*)?"
)


class OtherGitHub(WrongInput):
    """{address} is no issue at {web}: for Enterprise set `base_url` in the table [app] of the operator's
    ticketsmith.toml.
    """


class IsPullRequest(WrongInput):
    """{address} is a pull request: name the issue that it is about."""


class NoTokenToRead(WrongInput):
    """An issue on GitHub is read with a token: set GITHUB_TOKEN to one that may read issues; `gh auth token` prints
    yours.
    """


@dataclass(frozen=True, kw_only=True)
class IssueAddress:
    """Where an issue is; `text` is as it was given."""

    text: str
    web: str
    full_name: str
    number: int

    @property
    def repository(self) -> RepositoryId:
        return remote_id(f"{self.web}/{self.full_name}.git")


def issue_address(text: str) -> IssueAddress | None:
    """The issue that a text names; None where it is no address of one."""
    found = _ADDRESS.fullmatch(text)
    if found is None:
        return None
    return IssueAddress(text=text, web=found[1], full_name=f"{found[2]}/{found[3]}", number=int(found[4]))


def read_issue(address: IssueAddress, settings: AppSettings, token: str, repository: RepositoryId) -> Ticket:
    """Title and body, and what the issue's author said below: others may be strangers.

    In a clone of the issue's own repository it is the ticket that the App would work on; elsewhere, such as in a fork,
    it is known by its address. Raises OtherGitHub, IsPullRequest, NoTokenToRead and the errors of `bot.forge.errors`.
    """
    if address.web.lower() != settings.web.lower():
        raise OtherGitHub(address=address.text, web=settings.web)
    if not token:
        raise NoTokenToRead
    forge = Forge.for_token(token, base_url=settings.base_url)
    ref = RepositoryRef(installation=0, id=0, full_name=address.full_name)
    issue = forge.issue(ref, address.number)
    if issue.is_pull:
        raise IsPullRequest(address=address.text)
    said = [one for one in forge.comments(ref, address.number).comments if one.author.id == issue.author.id]
    own = address.repository == repository
    return Ticket(
        id=TicketId(f"issue:{address.number}" if own else f"{address.repository}#{address.number}"),
        title=issue.title,
        body=issue.body,
        comments=tuple(Comment(author=one.author.login, text=one.body) for one in said[-COMMENTS_AT_MOST:]),
        author=issue.author.login,
        number=address.number,
    )
