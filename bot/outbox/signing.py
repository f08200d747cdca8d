"""Commits that GitHub makes and signs for us, where a rule takes no others: by its API, from the same changes."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from bot.forge import parsing
from bot.forge.errors import NotThere, Rejected, Unreachable
from bot.forge.types import RepositoryRef
from bot.outbox.sender import CONTENTS, Sender
from bot.outbox.types import ForeignCommits, Pushed, PushResult, RuleRefused
from memory.types import CommitId
from stages.git import Git

_COMMIT: Final = (
    "mutation($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { commit { oid } } }"
)
_PLAIN: Final = "100644"  # the one mode that GitHub gives to files by this way
_GONE: Final = "000000"


@dataclass(frozen=True, kw_only=True)
class _Change:
    path: str
    content: bytes | None


class Signing:
    """`take` brings a commit of GitHub's here: the next one of ours stands on it."""

    def __init__(self, sender: Sender, take: Callable[[RepositoryRef, Git, CommitId], None]) -> None:
        self._sender, self._take = sender, take

    def commit(
        self, ref: RepositoryRef, git: Git, branch: str, commit: CommitId, expected: CommitId | None
    ) -> PushResult:
        """The changes of our commit as a commit of GitHub's on a branch that is at `expected` (None: not there yet).

        Its id is another one than ours. Raises the errors of `bot.forge.errors`.
        """
        base = _line(git, "rev-parse", f"{commit}^")
        changes = _changes(git, base, commit)
        if changes is None:
            return RuleRefused(branch=branch, said="signed commits cannot make files executable, links or submodules")
        if expected is None:
            self._begin(ref, branch, base)
        elif expected != base:
            return RuleRefused(branch=branch, said="a signed commit cannot stand on commits that are not there")
        message = git.run("show", "-s", "--no-show-signature", "--format=%B", commit).decode("utf-8", "replace")
        try:
            self._made(ref, branch, base, message, changes)
        except Rejected as refusal:
            if "Expected branch to point to" not in refusal.fields["said"]:  # type: ignore[operator]
                return RuleRefused(branch=branch, said=str(refusal.fields["said"]))
        except Unreachable:
            self._sender.lane.rest(1.0)  # it is looked for
        found = self.adopted(ref, git, branch, commit, base)
        if found is not None:
            return found
        head = self._sender.forge.branch_head(ref, branch, needs=CONTENTS)
        if head == base:
            raise Unreachable(said="the signed commit did not arrive")
        return ForeignCommits(branch=branch, expected=expected, found=CommitId(head) if head else None)

    def adopted(
        self, ref: RepositoryRef, git: Git, branch: str, commit: CommitId, base: str | None = None
    ) -> Pushed | None:
        """The commit that GitHub has made of ours, if the branch is at it: the same tree on the same parent."""
        base = base or _line(git, "rev-parse", f"{commit}^")
        head = self._sender.forge.branch_head(ref, branch, needs=CONTENTS)
        if head is None or head == base:
            return None
        try:
            what = f"commit {head[:12]} of {ref.full_name}"
            data = self._sender.forge.api.read(ref, f"/git/commits/{head}", what=what, needs=CONTENTS)
        except NotThere:
            return None
        tree, parents = parsing.shaped(lambda one: (one["tree"]["sha"], [p["sha"] for p in one["parents"]]), data)
        if (tree, parents) != (_line(git, "rev-parse", f"{commit}^{{tree}}"), [base]):
            return None
        self._take(ref, git, CommitId(head))
        return Pushed(branch=branch, commit=CommitId(head), adopted=True, signed=True)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _begin(self, ref: RepositoryRef, branch: str, base: str) -> None:
        """The branch, at the commit that ours will stand on. One that is there already is looked at later."""
        body = {"ref": f"refs/heads/{branch}", "sha": base}
        try:
            self._sender.write(ref, "POST", "/git/refs", what=f"branch {branch}", needs=CONTENTS, body=body)
        except (Rejected, Unreachable):
            if self._sender.forge.branch_head(ref, branch, needs=CONTENTS) is None:
                raise

    def _made(self, ref: RepositoryRef, branch: str, base: str, message: str, changes: tuple[_Change, ...]) -> Any:
        headline, _, body = message.partition("\n")
        given = {
            "branch": {"repositoryNameWithOwner": ref.full_name, "branchName": branch},
            "message": {"headline": headline.strip(), "body": body.strip()},
            "expectedHeadOid": base,
            "fileChanges": {
                "additions": [
                    {"path": one.path, "contents": base64.b64encode(one.content).decode()}
                    for one in changes
                    if one.content is not None
                ],
                "deletions": [{"path": one.path} for one in changes if one.content is None],
            },
        }
        with self._sender.lane.turn(ref.installation):
            return self._sender.forge.api.mutate(ref, _COMMIT, given, what=f"branch {branch}", needs=CONTENTS)


def _changes(git: Git, base: str, commit: str) -> tuple[_Change, ...] | None:
    """What differs between two commits; None where a file is more than a plain one, or is one no longer."""
    listed = git.run("diff-tree", "-r", "-z", "--no-renames", "--no-commit-id", base, commit).split(b"\0")
    found = []
    for about, path in zip(listed[0::2], listed[1::2], strict=False):
        before, after, _, blob, _ = about.decode().removeprefix(":").split(" ")
        if after not in (_PLAIN, _GONE) or before not in (_PLAIN, _GONE):
            return None
        content = None if after == _GONE else git.run("cat-file", "blob", blob)
        found.append(_Change(path=path.decode("utf-8", "strict"), content=content))
    return tuple(found)


def _line(git: Git, verb: str, argument: str) -> str:
    return git.run(verb, "--verify", "--end-of-options", argument).decode().strip()
