"""Our pull requests: one of each branch, made or brought up to date, and closed with a reason."""

from __future__ import annotations

from bot.forge import parsing
from bot.forge.errors import ForgeFault, RateLimited, Rejected, Unreachable
from bot.forge.types import OpenOrClosed, PullInfo, RepositoryRef
from bot.outbox.comments import Comments
from bot.outbox.errors import NotArrived, NotOurs
from bot.outbox.ledger import Effect, Kind
from bot.outbox.marker import marked
from bot.outbox.sender import PULLS, Sender
from bot.outbox.types import Draft


class Pulls:
    def __init__(self, sender: Sender, comments: Comments) -> None:
        self._sender, self._comments = sender, comments

    def put(self, run: str, ref: RepositoryRef, draft: Draft) -> PullInfo:
        """The open pull request of a branch, with this base, title and body. One that a person opened is NotOurs."""
        effect = self._sender.effect(run, "pull", ref, draft.branch, Kind.PULL)
        words = self._sender.words
        body = marked(words.body(draft.body, ref, draft.issue, "pull request"), effect.key)
        new = {"title": words.line(draft.title, "title of a pull request"), "body": body, "base": draft.base}
        with self._sender.alone(effect):
            if draft.there and self._open(ref, draft.branch) is None:
                raise NotOurs(what=f"the pull request of {draft.branch}")
            self._sender.ledger.intend(effect)
            found = self._sender.once(
                lambda: self._open(ref, draft.branch),
                lambda: self._create(ref, draft, new),
                fresh=False,  # the branch may have one, from another run
            )
            if not self._sender.is_me(found.author):
                raise NotOurs(what=f"pull request {found.number}")
            if not _same(found, new):
                self._edit(ref, found.number, new)
            return self._read_back(effect, found.number, draft, new)

    def close(self, run: str, ref: RepositoryRef, number: int, reason: str) -> None:
        """Close our own pull request, and say why. Raises NotOurs; one that is closed already is left as it is."""
        found = self._sender.forge.pull(ref, number)
        if not self._sender.is_me(found.author):
            raise NotOurs(what=f"pull request {number}")
        if found.state is OpenOrClosed.CLOSED:
            return
        effect = self._sender.effect(run, "close", ref, number, Kind.CLOSED_PULL)
        self._sender.ledger.intend(effect)
        try:
            self._comments.say(run, "close", ref, number, reason)
        except (RateLimited, Unreachable):
            raise
        except ForgeFault:
            pass  # where nobody can comment, it can still be closed
        self._edit(ref, number, {"state": "closed"})
        if self._sender.forge.pull(ref, number).state is not OpenOrClosed.CLOSED:
            raise NotArrived(what=f"the closing of pull request {number}", seen="it is open")
        self._sender.ledger.done(effect, number)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _open(self, ref: RepositoryRef, branch: str) -> PullInfo | None:
        return next(iter(self._sender.forge.pulls_of_branch(ref, branch, "open", needs=PULLS)), None)

    def _create(self, ref: RepositoryRef, draft: Draft, new: dict[str, str]) -> PullInfo:
        body = {**new, "head": draft.branch, "draft": draft.draft}
        what = f"pull requests of {ref.full_name}"
        try:
            data = self._sender.write(ref, "POST", "/pulls", what=what, needs=PULLS, body=body)
        except Rejected as refusal:
            if "already exists" in str(refusal) and (found := self._open(ref, draft.branch)):
                return found
            if draft.draft and "draft" in str(refusal).lower():  # GitHub's free plans have none in private repositories
                data = self._sender.write(ref, "POST", "/pulls", what=what, needs=PULLS, body=body | {"draft": False})
            else:
                raise
        return parsing.shaped(parsing.pull, data)

    def _edit(self, ref: RepositoryRef, number: int, new: dict[str, str]) -> None:
        """The same edit twice does no harm."""
        path, what = f"/pulls/{number}", f"pull request {number} of {ref.full_name}"
        try:
            self._sender.write(ref, "PATCH", path, what=what, needs=PULLS, body=new)
        except Unreachable:
            self._sender.write(ref, "PATCH", path, what=what, needs=PULLS, body=new)

    def _read_back(self, effect: Effect, number: int, draft: Draft, new: dict[str, str]) -> PullInfo:
        what = f"pull request {number} of {effect.ref.full_name}"
        data = self._sender.forge.api.read(effect.ref, f"/pulls/{number}", what=what, needs=PULLS)
        seen = parsing.shaped(parsing.pull, data)
        if seen.head_ref != draft.branch or seen.state is not OpenOrClosed.OPEN:
            raise NotArrived(what=f"pull request {number}", seen=f"{seen.state} from {seen.head_ref}")
        self._sender.ledger.done(effect, number, new["body"])
        return seen


def _same(found: PullInfo, new: dict[str, str]) -> bool:
    there = found.body.replace("\r\n", "\n").rstrip()
    return (found.title, there, found.base_ref) == (new["title"], new["body"].rstrip(), new["base"])
