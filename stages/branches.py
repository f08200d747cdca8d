"""New branches and commits in the user's repository, and what its commits hold."""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memory.types import CommitId
from stages.blobs import FULL_ID, Run
from stages.errors import DoesNotFit
from stages.faults import BadBranchName, BranchTaken
from stages.git import Git, GitFailed
from stages.patch import Patch

if TYPE_CHECKING:
    from stages.workspace import Workspace

_BRANCH: Final = re.compile(
    r"(?!.*(?:\.\.|//|/\.|\.lock(?:/|$)|\.(?:/|$)))[A-Za-z0-9][A-Za-z0-9_./-]{0,198}[A-Za-z0-9_-]"
)
_SUFFIXES_AT_MOST: Final = 100


class Branches:
    """Adds to a repository, and changes nothing that is there. `run` raises what says that it cannot be read."""

    def __init__(self, git: Git, run: Run) -> None:
        self._git, self._run = git, run

    def publish(self, branch: str, workspace: Workspace, patch: Patch, message: str) -> tuple[str, CommitId]:
        """Make a branch with one commit: the workspace's base with the patch and the frozen reproduction.

        Gives the branch's name, with `-2` and so on when the name is taken by another history, and the commit.
        Publishing the same again gives the same branch. Raises BadBranchName, BranchTaken, Refused.
        """
        if not _BRANCH.fullmatch(branch) or branch.upper() == "HEAD" or FULL_ID.fullmatch(branch):
            raise BadBranchName(branch=repr(branch[:80]))
        tree = self._tree_with(workspace, patch)
        for number in range(1, _SUFFIXES_AT_MOST):
            name = branch if number == 1 else f"{branch}-{number}"
            taken = self._git.line("rev-parse", "--verify", "--quiet", f"refs/heads/{name}")
            if taken is None:
                return name, self._make_branch(name, tree, workspace.base, message)
            if self._git.line("show", "-s", "--format=%P %T", taken) == f"{workspace.base} {tree}":
                return name, CommitId(taken)
        raise BranchTaken(branch=branch, message=f"{_SUFFIXES_AT_MOST} of that name are there already")

    def successor(self, commit: CommitId, parent: CommitId, dated: str) -> CommitId:
        """A commit with the tree and the message of `commit` on top of `parent`.

        `commit` itself where it stands there, and `parent` where it has this tree already. What `commit` stands on is
        a second parent where `parent` does not hold it. `dated`, as git writes dates, makes it the same each time.
        """
        base = self._git.line("rev-parse", "--verify", "--quiet", f"{commit}^")
        if base == parent:
            return commit
        held = base is None or self._git.ask("merge-base", "--is-ancestor", base, parent) is not None
        tree = self._run("rev-parse", "--verify", f"{commit}^{{tree}}").decode().strip()
        if held and self._git.line("rev-parse", "--verify", "--quiet", f"{parent}^{{tree}}") == tree:
            return parent
        message = self._run("show", "-s", "--format=%B", commit)
        parents = ("-p", parent) if held else ("-p", parent, "-p", str(base))
        made = self._git.run("commit-tree", *parents, "-F", "-", tree, stdin=message, dates=dated)
        return CommitId(made.decode().strip())

    def contains(self, commit: CommitId, patch: Patch) -> bool:
        """True when the patch is in that commit: it can be taken back there. An empty or cut patch is in none."""
        if not patch.diff:
            return False
        with tempfile.TemporaryDirectory() as folder:
            git = replace(self._git, index=Path(folder) / "index")
            git.run("read-tree", commit)
            # Without the last option a hunk that began in line 1 would have to begin there for ever.
            back = ("apply", "--cached", "--check", "--reverse", "--whitespace=nowarn", "--unidiff-zero", "-")
            return git.ask(*back, stdin=patch.diff.encode()) is not None

    def _tree_with(self, workspace: Workspace, patch: Patch) -> str:
        with tempfile.TemporaryDirectory() as folder:
            git = replace(self._git, index=Path(folder) / "index")
            git.run("read-tree", workspace.base)
            if patch.diff:
                try:
                    git.run("apply", "--cached", "--whitespace=nowarn", "-", stdin=patch.diff.encode())
                except GitFailed as error:
                    raise DoesNotFit(reason=error.fields["message"]) from error
            shown = workspace.reproduction
            if shown is not None and shown.path:
                blob = git.run("hash-object", "-w", "--no-filters", "--stdin", stdin=shown.text.encode())
                entry = b"100644 " + blob.strip() + b"\t" + shown.path.encode() + b"\0"
                git.run("update-index", "-z", "--index-info", stdin=entry)
            return git.run("write-tree").decode().strip()

    def _make_branch(self, name: str, tree: str, base: CommitId, message: str) -> CommitId:
        text = "\n".join(message.splitlines()) + "\n"
        commit = self._run("commit-tree", "-p", base, "-F", "-", tree, stdin=text.encode()).decode().strip()
        try:
            # The old value says: only if there is none. Two publishers cannot overwrite each other.
            self._git.run("update-ref", f"refs/heads/{name}", commit, "0" * len(commit))
        except GitFailed as error:
            raise BranchTaken(branch=name, message=error.fields["message"]) from error
        return CommitId(commit)
