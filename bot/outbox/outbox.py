"""The only writer to GitHub: each effect is written down, marked, tried, read back, and then done."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import datetime
from typing import Final

from bot.book import Book
from bot.forge.github import Forge
from bot.forge.types import PullInfo, RepositoryRef
from bot.outbox.checks import Checks
from bot.outbox.comments import Comments
from bot.outbox.labels import Labels
from bot.outbox.lane import Lane
from bot.outbox.ledger import Entry, Ledger
from bot.outbox.marker import Markers
from bot.outbox.pulls import Pulls
from bot.outbox.pushes import Pushes
from bot.outbox.sender import Sender
from bot.outbox.types import (
    Annotation,
    CheckReport,
    CheckRunId,
    CheckStatus,
    CommentId,
    Conclusion,
    Draft,
    OwnLabel,
    PushResult,
)
from bot.outbox.words import Words
from memory.scrub import Scrubber
from memory.types import CommitId
from stages.repository import Repository

_ISSUE: Final = re.compile(r"/issue-(\d+)(?:-\d+)?$")


class Outbox:
    """Nothing is sent twice, whatever died or broke off, and nothing that holds a secret.

    All of its methods raise the errors of `bot.forge.errors`, and Leaks and NotArrived of `bot.outbox.errors`.
    Unreachable means that nobody knows: the same call later finds out, and goes on from there.
    """

    def __init__(self, sender: Sender) -> None:
        self._ledger = sender.ledger
        self._comments = Comments(sender)
        self._labels = Labels(sender)
        self._pushes = Pushes(sender)
        self._pulls = Pulls(sender, self._comments)
        self._checks = Checks(sender)

    @classmethod
    def of(
        cls,
        forge: Forge,
        book: Book,
        scrubber: Scrubber,
        *,
        me: int | None,
        secret: str,
        clock: Callable[[], datetime] | None = None,
        sleep: Callable[[float], None] = time.sleep,
        whole: bool = True,
    ) -> Outbox:
        """`me` is the number of the account that we write as, and `secret` what markers are made with.

        With `whole` False the book does not know all that was sent: whatever is to be made is looked for first.

        One Outbox for a process: it holds the lane in which writes are spaced.
        """
        lane = Lane(clock or book.now, sleep)
        sender = Sender(
            forge=forge,
            ledger=Ledger(book, whole=whole),
            markers=Markers(secret),
            words=Words(scrubber),
            lane=lane,
            me=me,
        )
        return cls(sender)

    # --- comments and labels -----------------------------------------------------------------------------------------

    def status(self, run: str, ref: RepositoryRef, number: int, text: str, *, progress: bool = False) -> CommentId:
        """The run's one comment, made, adopted or edited in place.

        With `progress` an edit within fifteen seconds of the last one is left out: a later one will say more.
        """
        return self._comments.status(run, ref, number, text, progress=progress)

    def say(self, run: str, step: str, ref: RepositoryRef, number: int, text: str) -> CommentId:
        """A comment that is made once for this run and step."""
        return self._comments.say(run, step, ref, number, text)

    def labels(self, ref: RepositoryRef, number: int, want: OwnLabel | None) -> None:
        """Exactly one of our own labels, or none; those of others are never touched."""
        self._labels.set(ref, number, want)

    # --- branches ----------------------------------------------------------------------------------------------------

    def push(
        self,
        run: str,
        ref: RepositoryRef,
        repository: Repository,
        branch: str,
        commit: CommitId,
        expected: CommitId | None,
    ) -> PushResult:
        """Put a commit of `repository` on a branch that is at `expected` there; None: that is not there yet.

        Only ever by fast-forward. Raises NotForward where the commit does not follow `expected`.
        """
        return self._pushes.push(run, ref, repository.git, branch, commit, expected)

    def delete_branch(self, run: str, ref: RepositoryRef, branch: str, *, only_if_head: CommitId) -> None:
        """Take our branch away, if it is still where we left it. Raises NotOurs where it is not."""
        self._pushes.delete(run, ref, branch, only_if_head)

    # --- pull requests and check runs --------------------------------------------------------------------------------

    def pull(
        self,
        run: str,
        ref: RepositoryRef,
        branch: str,
        base: str,
        title: str,
        body: str,
        *,
        draft: bool,
        issue: int = 0,
        there: bool = False,
    ) -> PullInfo:
        """The open pull request of a branch, made or brought up to date; with `there`, none is made.

        `issue` is the one that `body` may close; 0 for the one that the branch is named for. Raises NotOurs where a
        person opened one from this branch, or where there should be one and is none.
        """
        named = _ISSUE.search(branch)
        about = issue or (int(named[1]) if named else 0)
        new = Draft(branch=branch, base=base, title=title, body=body, issue=about, draft=draft, there=there)
        return self._pulls.put(run, ref, new)

    def close_pull(self, run: str, ref: RepositoryRef, number: int, reason: str) -> None:
        """Close our own pull request with a comment that says why. Raises NotOurs."""
        self._pulls.close(run, ref, number, reason)

    def check(
        self,
        run: str,
        ref: RepositoryRef,
        sha: str,
        status: CheckStatus,
        conclusion: Conclusion | None,
        title: str,
        summary: str,
        annotations: tuple[Annotation, ...] = (),
        *,
        issue: int = 0,
        of: str = "",
    ) -> CheckRunId:
        """The run's check run on a commit, made or brought up to date.

        One that is completed stays so: GitHub lets none begin again, and shows the newest of a name. `of` names a
        further one.
        """
        report = CheckReport(
            status=status,
            conclusion=conclusion,
            title=title,
            summary=summary,
            annotations=annotations,
            issue=issue,
        )
        return self._checks.put(run, ref, sha, report, of)

    def sent(self, run: str) -> tuple[Entry, ...]:
        """What the ledger holds of a run."""
        return self._ledger.of_run(run)
