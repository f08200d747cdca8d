"""The user's repository: read at commits, never changed but for a new branch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memory.types import CommitId, RepositoryId
from stages.patch import Patch

if TYPE_CHECKING:
    from stages.workspace import Workspace


class Repository:
    """A git repository on this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def open(cls, path: Path) -> Repository:
        """The repository that `path` lies in."""
        raise NotImplementedError

    @property
    def id(self) -> RepositoryId:
        """The same for its clones and work trees; never shared by two repositories."""
        raise NotImplementedError

    @property
    def default_branch(self) -> str:
        """Name of the default branch; `HEAD` where there is none."""
        raise NotImplementedError

    @property
    def detached(self) -> bool:
        """True when no branch is checked out."""
        raise NotImplementedError

    def resolve(self, ref: str | None = None) -> CommitId:
        """The commit that `ref` names; what is checked out when None."""
        raise NotImplementedError

    def uncommitted(self) -> int:
        """How many files differ from the commit that is checked out, untracked ones counted."""
        raise NotImplementedError

    def read(self, commit: CommitId, path: str) -> bytes | None:
        """The regular file at a commit; None when there is none."""
        raise NotImplementedError

    def files(self, commit: CommitId, folder: str = "") -> tuple[str, ...]:
        """Paths of the regular files at a commit."""
        raise NotImplementedError

    def blob(self, commit: CommitId, path: str) -> str | None:
        """Id of the regular file's content at a commit."""
        raise NotImplementedError

    def publish(self, branch: str, workspace: Workspace, patch: Patch, message: str) -> tuple[str, CommitId]:
        """Make a branch with one commit: the workspace's base, the patch and the frozen reproduction."""
        raise NotImplementedError

    def contains(self, commit: CommitId, patch: Patch) -> bool:
        """True when the patch is in that commit."""
        raise NotImplementedError
