"""Reads of repositories: what they are, where their branches stand, and what rules they have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from bot.forge import parsing
from bot.forge.api import METADATA, READING, Api
from bot.forge.errors import NotThere
from bot.forge.tokens import Permissions
from bot.forge.types import Account, RepositoryInfo, RepositoryRef, Rule


@dataclass(frozen=True, kw_only=True)
class CommitAuthor:
    """A commit and the accounts that GitHub found for it; None for an e-mail address that it does not know."""

    sha: str
    author: Account | None
    committer: Account | None


class RepositoryReads:
    """All of them raise the errors of `bot.forge.errors`."""

    _api: Api
    web: str

    def repository(self, ref: RepositoryRef) -> RepositoryInfo:
        """What it is now, with its newest name."""
        data = self._api.read(ref, "", what=f"repository {ref.full_name}", needs=METADATA)
        return parsing.shaped(lambda answer: parsing.repository(ref, answer, self.web), data)

    def rules(self, ref: RepositoryRef, branch: str) -> tuple[Rule, ...]:
        """What rulesets demand of a branch, be it there or not, and whether it is protected.

        Protection of a branch that is not there yet shows only when it is pushed.
        """
        name, what = quote(branch, safe=""), f"rules of {branch} in {ref.full_name}"
        found = self._api.all_pages(ref, f"/rules/branches/{name}", what=what, needs=METADATA)
        return (*(parsing.shaped(parsing.rule, one) for one in found), *self._protection(ref, name, what))

    def _protection(self, ref: RepositoryRef, name: str, what: str) -> tuple[Rule, ...]:
        try:
            data = self._api.read(ref, f"/branches/{name}", what=what)
        except NotThere:
            return ()
        return (Rule(kind="protection", detail=_protection(data)),) if data.get("protected") else ()

    def branch_head(self, ref: RepositoryRef, branch: str, *, needs: Permissions = READING) -> str | None:
        """The commit of a branch; None where there is no such branch."""
        try:
            data = self._api.read(
                ref, f"/git/ref/heads/{quote(branch)}", what=f"branch {branch} of {ref.full_name}", needs=needs
            )
        except NotThere:
            return None
        return parsing.shaped(lambda answer: str(answer["object"]["sha"]), data)

    def commit_authors(
        self, ref: RepositoryRef, base: str, head: str, *, needs: Permissions = READING
    ) -> tuple[CommitAuthor, ...]:
        """Of each commit that `head` has and `base` has not; both are branches or commits."""
        between = quote(f"{base}...{head}", safe="")
        what = f"commits {base}...{head} of {ref.full_name}"
        found = self._api.all_pages(ref, f"/compare/{between}", what=what, needs=needs, inside="commits")
        return tuple(parsing.shaped(_author, one) for one in found)


def _author(data: Any) -> CommitAuthor:
    author, committer = data.get("author"), data.get("committer")
    return CommitAuthor(
        sha=str(data["sha"]),
        author=parsing.account(author) if author else None,
        committer=parsing.account(committer) if committer else None,
    )


def _protection(data: Any) -> str:
    checks = (data.get("protection") or {}).get("required_status_checks") or {}
    contexts = checks.get("contexts") or []
    return f"required checks: {', '.join(map(str, contexts[:10]))}" if contexts else "this branch is protected"
