"""Our own copy of a repository elsewhere, kept between runs: only the branches that were asked for, never a program."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from memory.types import CommitId
from stages.git import Git
from stages.remote import Remote, RemoteUnreachable, fault

FETCH_SECONDS: Final = 900.0
# What old repositories of good faith have; everything else that git's own check refuses is refused.
_OLD_FAULTS: Final = ("zeroPaddedFilemode", "missingSpaceBeforeDate", "badTimezone", "missingEmail", "badDate")
_CHECKED: Final = {
    "fetch.fsckObjects": "true",
    **{f"fetch.fsck.{name}": "ignore" for name in _OLD_FAULTS},
    "fetch.recurseSubmodules": "false",
    "fetch.writeCommitGraph": "false",
}


class Mirror:
    """A repository in `folder` without files of its own, as `Repository.open` takes it.

    Its `origin` has the address without a credential, so that it has the same identity as any clone.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._git = Git(folder=folder, git_dir=folder / ".git")

    @property
    def git(self) -> Git:
        return self._git

    def fetch(self, remote: Remote, branch: str, *, seconds: float = FETCH_SECONDS) -> CommitId:
        """The newest commit of a branch, with its history, which is then here; the default branch is called so.

        A stall is tried once more. Raises the errors of `stages.remote`; a branch that is not there is NoSuchRemoteRef.
        """
        with self._alone():
            self._make(remote)
            head = f"refs/remotes/origin/{branch}"
            self._take(remote, f"+refs/heads/{branch}:{head}", seconds)
            commit = self._git.run("rev-parse", "--verify", "--end-of-options", f"{head}^{{commit}}").decode().strip()
            self._git.run("symbolic-ref", "refs/remotes/origin/HEAD", head)
            self._git.run("update-ref", "--no-deref", "HEAD", commit)
            return CommitId(commit)

    def fetch_commit(self, remote: Remote, commit: CommitId, *, seconds: float = FETCH_SECONDS) -> None:
        """One commit with its history, wherever it stands there. Raises the errors of `stages.remote`."""
        with self._alone():
            self._make(remote)
            if self._git.ask("cat-file", "-e", f"{commit}^{{commit}}") is None:
                self._take(remote, commit, seconds)

    def remove(self) -> None:
        """Forget it."""
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _take(self, remote: Remote, wanted: str, seconds: float) -> None:
        try:
            self._taken(remote, wanted, seconds)
        except RemoteUnreachable:
            self._taken(remote, wanted, seconds)

    def _taken(self, remote: Remote, wanted: str, seconds: float) -> None:
        git = remote.reached_by(replace(self._git, settings=_CHECKED), seconds=seconds)
        said = git.try_to("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-gc", remote.url, wanted)
        if said.status != 0:
            self._unlock()
            raise fault(remote.url, said)

    def _make(self, remote: Remote) -> None:
        if not (self.folder / ".git" / "HEAD").is_file():
            shutil.rmtree(self.folder / ".git", ignore_errors=True)  # half-made by a process that died
            Git(folder=self.folder).run("init", "--quiet", "--template=", str(self.folder))
        self._unlock()
        # Renamed repositories keep what they were called first: it is their identity.
        if self._git.ask("config", "--get", "remote.origin.url") is None:
            self._git.run("config", "remote.origin.url", remote.url)

    def _unlock(self) -> None:
        """Nobody else is here: lock files are from processes that were killed."""
        for name in ("HEAD.lock", "config.lock", "shallow.lock", "packed-refs.lock"):
            (self.folder / ".git" / name).unlink(missing_ok=True)
        for lock in (self.folder / ".git" / "refs").rglob("*.lock"):
            lock.unlink(missing_ok=True)
        for left in (self.folder / ".git" / "objects").glob("**/tmp_*"):
            left.unlink(missing_ok=True)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(self.folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)
