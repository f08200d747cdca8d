"""Copies of GitHub's repositories on this machine: fetched when a run needs them, worked on by nobody."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bot.course.errors import NothingThere
from bot.forge.github import Forge
from bot.forge.types import RepositoryInfo, RepositoryRef
from memory.types import CommitId
from stages.mirror import Mirror
from stages.remote import NoSuchRemoteRef


@dataclass(frozen=True, kw_only=True)
class Mirrored:
    """`base` is what the default branch had when it was fetched."""

    folder: str
    branch: str
    base: CommitId
    private: bool


class Mirrors:
    """One folder for each repository, by GitHub's number, which stays when its name changes."""

    def __init__(self, folder: Path, forge: Forge) -> None:
        self._folder, self._forge = folder, forge

    def of(self, ref: RepositoryRef) -> Path:
        return self._folder / str(ref.installation) / str(ref.id)

    def fetch(self, info: RepositoryInfo) -> Mirrored:
        """The default branch and our own branches as they are now.

        Raises NothingThere, RemoteFault, and what the forge raises.
        """
        path = self.of(info.ref)
        try:
            base = Mirror(path).fetch(self._forge.remote(info.ref), info.default_branch)
        except NoSuchRemoteRef as unknown:
            raise NothingThere(name=info.ref.full_name, branch=info.default_branch) from unknown
        return Mirrored(folder=str(path), branch=info.default_branch, base=base, private=info.private)

    def has(self, ref: RepositoryRef, commit: CommitId) -> bool:
        """Whether a branch of the copy still leads to this commit."""
        return Mirror(self.of(ref)).has(commit)
