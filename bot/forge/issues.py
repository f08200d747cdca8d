"""Reads of issues: their text, who commented, who set a label, and who may do what."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from urllib.parse import quote

from bot.forge import parsing
from bot.forge.api import METADATA, Api
from bot.forge.types import Account, Comments, IssueInfo, LabelEvent, Permission, RepositoryRef

COMMENT_PAGES: Final = 3  # of a hundred
EVENT_PAGES: Final = 3
_EDITED: Final = (
    "query($owner: String!, $name: String!, $number: Int!) {"
    " repository(owner: $owner, name: $name) { issue(number: $number) { lastEditedAt } } }"
)


class IssueReads:
    """All of them raise the errors of `bot.forge.errors`."""

    _api: Api

    def issue(self, ref: RepositoryRef, number: int) -> IssueInfo:
        """The issue, or the pull request of this number. Raises Moved, Gone and NotThere."""
        what = f"issue {number} of {ref.full_name}"
        return parsing.shaped(parsing.issue, self._api.read(ref, f"/issues/{number}", what=what))

    def comments(self, ref: RepositoryRef, number: int) -> Comments:
        """The newest comments, 300 at most, oldest first."""
        what = f"issue {number} of {ref.full_name}"
        found, cut = self._api.last_pages(ref, f"/issues/{number}/comments", what=what, pages=COMMENT_PAGES)
        return Comments(comments=tuple(parsing.shaped(parsing.comment, one) for one in found), cut=cut)

    def comment_author(self, ref: RepositoryRef, comment: int) -> Account:
        """Who wrote a comment."""
        what = f"comment {comment} of {ref.full_name}"
        return parsing.shaped(parsing.comment, self._api.read(ref, f"/issues/comments/{comment}", what=what)).author

    def label_events(self, ref: RepositoryRef, number: int) -> tuple[LabelEvent, ...]:
        """When labels were set and taken away, oldest first; of an endless history the end."""
        what = f"issue {number} of {ref.full_name}"
        found, _ = self._api.last_pages(ref, f"/issues/{number}/events", what=what, pages=EVENT_PAGES)
        labels = [one for one in found if isinstance(one, dict) and one.get("event") in ("labeled", "unlabeled")]
        return tuple(parsing.shaped(parsing.label_event, one) for one in labels)

    def permission(self, ref: RepositoryRef, account: Account) -> Permission:
        """What an account may do there at this moment. Raises NotThere for one that GitHub does not know."""
        what = f"account {account.id} in {ref.full_name}"
        path = f"/collaborators/{quote(account.login, safe='')}/permission"
        data = self._api.read(ref, path, what=what, needs=METADATA)
        # Names are given to others after a while: the answer must be about the account that acted.
        if parsing.shaped(lambda answer: parsing.account(answer["user"]), data).id != account.id:
            return Permission.NONE
        return parsing.shaped(parsing.permission, data)

    def body_edited_at(self, ref: RepositoryRef, number: int) -> datetime | None:
        """When the text of an issue was edited last; None when it never was."""
        owner, _, name = ref.full_name.partition("/")
        what = f"issue {number} of {ref.full_name}"
        data = self._api.graphql(ref, _EDITED, {"owner": owner, "name": name, "number": number}, what=what)
        edited = parsing.shaped(lambda answer: answer["repository"]["issue"]["lastEditedAt"], data)
        return parsing.shaped(parsing.moment, edited) if edited else None

    def labelled_issues(self, ref: RepositoryRef, label: str) -> tuple[IssueInfo, ...]:
        """Open issues that carry a label; no pull requests."""
        query = {"labels": label, "state": "open"}
        found = self._api.all_pages(ref, "/issues", what=f"issues of {ref.full_name}", query=query)
        issues = [parsing.shaped(parsing.issue, one) for one in found]
        return tuple(one for one in issues if not one.is_pull)
