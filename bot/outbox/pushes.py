"""Our branches: moved on by fast-forward alone, read back, and taken away only as we left them."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from bot.forge.errors import Forbidden, ForgeFault, NotThere, Unauthorised, Unreachable, said_by_github
from bot.forge.types import RepositoryRef
from bot.outbox.errors import NotArrived, NotForward, NotOurs
from bot.outbox.ledger import Kind
from bot.outbox.sender import Sender
from bot.outbox.signing import Signing
from bot.outbox.types import ForeignCommits, Pushed, PushResult, RuleRefused
from memory.types import CommitId
from stages.bare import lay_out, object_format_of
from stages.git import Git
from stages.remote import (
    PushOutcome,
    PushSaid,
    Remote,
    RemoteFault,
    RemoteForbidden,
    RemoteMissing,
    RemoteRefused,
    follows,
)

T = TypeVar("T")

_SIGNATURES: Final = re.compile(r"(?i)must have verified signatures")
# Nothing that a repository's own settings name is run.
_AS_IT_IS: Final = ("--patch", "--no-color", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--format=%B")
_COMMITS_AT_MOST: Final = 20  # that one push adds


class Pushes:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender
        self._signing = Signing(
            sender, lambda ref, git, commit: self._asked(ref, lambda remote: remote.take(git, commit))
        )

    def push(
        self, run: str, ref: RepositoryRef, git: Git, branch: str, commit: CommitId, expected: CommitId | None
    ) -> PushResult:
        """Put a commit on a branch that is at `expected` (None: not there yet).

        Raises NotForward where the commit does not follow it, Leaks, and the errors of `bot.forge.errors`.
        """
        self._check_text(git, commit, expected)
        effect = self._sender.effect(run, f"push {commit}", ref, branch, Kind.PUSH)
        with self._sender.alone(effect):
            known = self._sender.ledger.intend(effect)
            result = self._put(ref, git, branch, commit, expected)
            if isinstance(result, ForeignCommits) and not known.fresh:
                result = self._half_done(ref, git, branch, commit, result)
            if isinstance(result, Pushed):
                self._sender.ledger.done(effect, result.commit)
            return result

    def delete(self, run: str, ref: RepositoryRef, branch: str, only_if_head: CommitId) -> None:
        """Take a branch away that is still where we left it. Raises NotOurs where it is not."""
        effect = self._sender.effect(run, f"delete {only_if_head}", ref, branch, Kind.DELETED_BRANCH)
        self._sender.ledger.intend(effect)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "git"
            lay_out(folder, object_format=object_format_of(only_if_head))
            self._deleted(ref, Git(folder=folder, git_dir=folder), branch, only_if_head)
        self._sender.ledger.done(effect, only_if_head)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _put(
        self, ref: RepositoryRef, git: Git, branch: str, commit: CommitId, expected: CommitId | None
    ) -> PushResult:
        """By git; where only signed commits are taken, by GitHub's API."""
        result = self._pushed(ref, git, branch, commit, expected)
        if isinstance(result, RuleRefused) and _SIGNATURES.search(result.said):
            return self._signing.commit(ref, git, branch, commit, expected)
        return result

    def _half_done(
        self, ref: RepositoryRef, git: Git, branch: str, commit: CommitId, found: ForeignCommits
    ) -> PushResult:
        """What stands there may be ours, of a time when nobody heard the answer: a signed commit, or its beginning."""
        base = CommitId(git.run("rev-parse", "--verify", "--end-of-options", f"{commit}^").decode().strip())
        if found.expected is None and found.found == base:
            return self._put(ref, git, branch, commit, base)
        return self._signing.adopted(ref, git, branch, commit) or found

    def _pushed(
        self, ref: RepositoryRef, git: Git, branch: str, commit: CommitId, expected: CommitId | None
    ) -> PushResult:
        said = PushSaid(outcome=PushOutcome.UNKNOWN)
        for _ in range(2):
            head = self._head(ref, git, branch)
            if head == commit:
                return Pushed(branch=branch, commit=commit, adopted=said.outcome is not PushOutcome.TAKEN)
            if head != expected:
                return ForeignCommits(branch=branch, expected=expected, found=head)
            if said.outcome is PushOutcome.TAKEN:
                break
            if expected and not follows(git, commit, expected):
                raise NotForward(branch=branch, commit=commit[:12], expected=expected[:12])
            said = self._sent(ref, lambda remote: remote.push(git, commit, branch, expected))
            if said.outcome is PushOutcome.RULE:
                return RuleRefused(branch=branch, said=said.said)
        return self._read_back(ref, git, branch, commit, expected, said)

    def _read_back(
        self, ref: RepositoryRef, git: Git, branch: str, commit: CommitId, expected: CommitId | None, said: PushSaid
    ) -> PushResult:
        head = self._head(ref, git, branch)
        if head == commit:
            return Pushed(branch=branch, commit=commit, adopted=said.outcome is not PushOutcome.TAKEN)
        if head != expected:
            return ForeignCommits(branch=branch, expected=expected, found=head)
        if said.outcome is PushOutcome.TAKEN:
            raise NotArrived(what=f"the branch {branch}", seen=head or "no branch")
        raise Unreachable(said=said.said or "the push did not arrive")

    def _deleted(self, ref: RepositoryRef, git: Git, branch: str, expected: CommitId) -> None:
        for _ in range(2):
            head = self._head(ref, git, branch)
            if head is None:
                return
            if head != expected:
                raise NotOurs(what=f"the branch {branch}, which is at {head[:12]} now,")
            said = self._sent(ref, lambda remote: remote.delete(git, branch, expected))
            if said.outcome is PushOutcome.RULE:
                raise NotOurs(what=f"the branch {branch}, which a rule keeps,")
        if self._head(ref, git, branch) is not None:
            raise NotArrived(what=f"the end of the branch {branch}", seen="the branch")

    def _head(self, ref: RepositoryRef, git: Git, branch: str) -> CommitId | None:
        """Tried again once: it only reads."""
        try:
            return self._asked(ref, lambda remote: remote.head(git, branch))
        except Unreachable:
            return self._asked(ref, lambda remote: remote.head(git, branch))

    def _sent(self, ref: RepositoryRef, send: Callable[[Remote], PushSaid]) -> PushSaid:
        with self._sender.lane.turn(ref.installation):
            return self._asked(ref, send)

    def _asked(self, ref: RepositoryRef, ask: Callable[[Remote], T]) -> T:
        """With a credential that is renewed once when it is refused."""
        remote = self._sender.forge.remote(ref, writes=True)
        try:
            return ask(remote)
        except RemoteRefused as refused:
            if not self._sender.forge.renew(remote):
                raise _told(ref, refused) from refused
        except RemoteFault as fault:
            raise _told(ref, fault) from fault
        try:
            return ask(self._sender.forge.remote(ref, writes=True))
        except RemoteFault as fault:
            raise _told(ref, fault) from fault

    def _check_text(self, git: Git, commit: CommitId, expected: CommitId | None) -> None:
        """What goes out with a commit that the gate has not seen: its message, and once more its changes."""
        new = (commit, f"^{expected}") if expected else (commit,)
        text = git.run("log", *_AS_IT_IS, f"--max-count={_COMMITS_AT_MOST if expected else 1}", *new, "--")
        self._sender.words.check(text.decode("utf-8", "replace"), "commit")


def _told(ref: RepositoryRef, fault: RemoteFault) -> ForgeFault:
    """What a fault of git means."""
    match fault:
        case RemoteRefused():
            return Unauthorised(said=fault.said)
        case RemoteForbidden():
            return Forbidden(permission="contents: write", said=said_by_github(fault.said))
        case RemoteMissing():
            return NotThere(what=f"repository {ref.full_name}")
        case _:
            return Unreachable(said=said_by_github(fault.said))
