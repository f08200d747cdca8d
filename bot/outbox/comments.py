"""Comments: one of each run that is kept up to date, and answers that are said once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from bot.forge import parsing
from bot.forge.errors import NotThere, Unreachable
from bot.forge.types import CommentInfo, RepositoryRef
from bot.outbox.errors import NotArrived
from bot.outbox.ledger import Effect, Entry, Kind, digest
from bot.outbox.marker import key_in, marked
from bot.outbox.sender import ISSUES, Sender
from bot.outbox.types import CommentId

STATUS: Final = "status"
EDITS_APART: Final = timedelta(seconds=15)


class Comments:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def status(self, run: str, ref: RepositoryRef, number: int, text: str, *, progress: bool) -> CommentId:
        """The run's comment on an issue, made, adopted or edited; with `progress`, not twice in fifteen seconds."""
        effect = self._sender.effect(run, STATUS, ref, number, Kind.COMMENT)
        body = marked(self._sender.words.body(text, ref, number, f"comment on {number}"), effect.key)
        with self._sender.alone(effect):
            return self._status(effect, number, body, progress=progress)

    def _status(self, effect: Effect, number: int, body: str, *, progress: bool) -> CommentId:
        entry = self._sender.ledger.intend(effect)
        if not entry.artefact:
            return self._made(entry, number, body)
        there = CommentId(int(entry.artefact))
        if entry.digest == digest(body) or (progress and self._was_just_now(entry)):
            return there
        try:
            self._edit(effect, there, body)
        except NotThere:  # a person took it away; how the run ends must still be told
            self._sender.ledger.lost(effect)
            return self._made(self._sender.ledger.intend(effect), number, body)
        return there

    def say(self, run: str, step: str, ref: RepositoryRef, number: int, text: str) -> CommentId:
        """A comment, once for this run and step, whatever the text is the next time."""
        effect = self._sender.effect(run, step, ref, number, Kind.COMMENT)
        body = marked(self._sender.words.body(text, ref, number, f"comment on {number}"), effect.key)
        with self._sender.alone(effect):
            entry = self._sender.ledger.intend(effect)
            return CommentId(int(entry.artefact)) if entry.artefact else self._made(entry, number, body)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _was_just_now(self, entry: Entry) -> bool:
        if entry.done is None:
            return False
        since = self._sender.lane.now() - entry.done
        return timedelta() <= since < EDITS_APART

    def _made(self, entry: Entry, number: int, body: str) -> CommentId:
        effect, sender = entry.effect, self._sender
        found = sender.once(
            lambda: self._mine(effect, number),
            lambda: self._create(effect, number, body),
            fresh=entry.fresh,
        )
        there = CommentId(found.id)
        if key_in(found.body) != effect.key:
            raise NotArrived(what=f"the comment on {number}", seen="another text")
        if _same(found.body, body):
            seen = self._read(effect.ref, there)
            if not _same(seen.body, body):
                raise NotArrived(what=f"the comment on {number}", seen="another text")
            sender.ledger.done(effect, there, body)
        else:  # adopted, with the text of an earlier time
            self._edit(effect, there, body)
        return there

    def _create(self, effect: Effect, number: int, body: str) -> CommentInfo:
        path, what = f"/issues/{number}/comments", f"issue {number} of {effect.ref.full_name}"
        data = self._sender.write(effect.ref, "POST", path, what=what, needs=ISSUES, body={"body": body})
        return parsing.shaped(parsing.comment, data)

    def _edit(self, effect: Effect, there: CommentId, body: str) -> None:
        """The same edit twice does no harm: it is simply sent again."""

        def edit() -> Any:
            path, what = f"/issues/comments/{there}", f"comment {there} of {effect.ref.full_name}"
            return self._sender.write(effect.ref, "PATCH", path, what=what, needs=ISSUES, body={"body": body})

        try:
            data = edit()
        except Unreachable:
            data = edit()
        if not _same(parsing.shaped(parsing.comment, data).body, body):
            raise NotArrived(what=f"the comment {there}", seen="another text")
        self._sender.ledger.done(effect, there, body)

    def _mine(self, effect: Effect, number: int) -> CommentInfo | None:
        found = self._sender.forge.comments(effect.ref, number).comments
        mine = (one for one in found if self._sender.is_me(one.author) and key_in(one.body) == effect.key)
        return next(mine, None)

    def _read(self, ref: RepositoryRef, there: CommentId) -> CommentInfo:
        what = f"comment {there} of {ref.full_name}"
        data = self._sender.forge.api.read(ref, f"/issues/comments/{there}", what=what, needs=ISSUES)
        return parsing.shaped(parsing.comment, data)


def _same(there: str, ours: str) -> bool:
    """GitHub may write line ends in its own way."""
    return there.replace("\r\n", "\n").rstrip() == ours.rstrip()
