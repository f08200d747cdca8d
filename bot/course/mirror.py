"""Copies of GitHub's repositories on this machine: fetched when a run needs them, worked on by nobody."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.course.errors import NothingThere
from bot.forge.github import Forge
from bot.forge.types import RepositoryInfo, RepositoryRef
from memory.types import CommitId
from stages.git import Git
from stages.remote import Remote, RemoteUnreachable, fault
from stages.repository import Repository, UnknownRevision

FETCH_SECONDS: Final = 900.0
_ORIGIN: Final = "refs/remotes/origin/"


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
        """All branches as they are now. Raises NothingThere, RemoteFault, and what the forge raises."""
        path = self.of(info.ref)
        with _held(path):
            git = self._made(path, info)
            _fetch(git, self._forge.remote(info.ref))
            try:
                base = Repository(path, git).resolve(f"origin/{info.default_branch}")
            except UnknownRevision as unknown:
                raise NothingThere(name=info.ref.full_name, branch=info.default_branch) from unknown
            git.run("symbolic-ref", f"{_ORIGIN}HEAD", f"{_ORIGIN}{info.default_branch}")
            # Nothing is checked out; HEAD only has to name a commit.
            git.run("update-ref", "--no-deref", "HEAD", base)
        return Mirrored(folder=str(path), branch=info.default_branch, base=base, private=info.private)

    def has(self, ref: RepositoryRef, commit: CommitId) -> bool:
        """Whether a branch of the copy still leads to this commit."""
        git = Git(folder=self.of(ref))
        found = git.ask("for-each-ref", "--count=1", f"--contains={commit}", _ORIGIN)
        return bool(found)

    def _made(self, path: Path, info: RepositoryInfo) -> Git:
        git = Git(folder=path)
        if not (path / ".git" / "HEAD").exists():
            git.run("init", "--quiet", "--template=", str(path))
            # Its first address stays: memory knows the repository by it.
            git.run("config", "remote.origin.url", info.clone_url)
        return git


def _fetch(git: Git, remote: Remote) -> None:
    """What stalls or breaks off is tried a second time."""
    reaching = remote.reached_by(git, seconds=FETCH_SECONDS)
    for tries_left in (1, 0):
        said = reaching.try_to(
            "fetch", "--quiet", "--prune", "--no-tags", "--no-auto-gc", "--no-recurse-submodules",
            "--no-write-fetch-head", remote.url, f"+refs/heads/*:{_ORIGIN}*",
        )  # fmt: skip
        if said.status == 0:
            return
        failed = fault(remote.url, said)
        if not tries_left or not isinstance(failed, RemoteUnreachable):
            raise failed


@contextmanager
def _held(path: Path) -> Iterator[None]:
    """Two runs do not fetch into one folder at the same time."""
    path.mkdir(parents=True, exist_ok=True)
    with (path.parent / f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
