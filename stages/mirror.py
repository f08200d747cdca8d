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
OWN: Final = "ticketsmith/"  # how our branches begin
_ORIGIN: Final = "refs/remotes/origin/"
_ONLY_THESE: Final = (
    "--quiet", "--prune", "--no-tags", "--no-write-fetch-head", "--no-auto-gc", "--no-recurse-submodules",
)  # fmt: skip
_CHECKED: Final = {
    "fetch.fsckObjects": "true",
    **{f"fetch.fsck.{name}": "ignore" for name in _OLD_FAULTS},
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
        """The newest commit of a branch, which becomes the default one here, with its history; our own branches too.

        Nothing is checked out. A stall is tried once more. Raises the errors of `stages.remote`: a branch that is not
        there is NoSuchRemoteRef.
        """
        with self._alone():
            self._make(remote)
            head = f"{_ORIGIN}{branch}"
            self._take(remote, (f"+refs/heads/{branch}:{head}", f"+refs/heads/{OWN}*:{_ORIGIN}{OWN}*"), seconds)
            self._forget_others(head)
            commit = self._git.run("rev-parse", "--verify", "--end-of-options", f"{head}^{{commit}}").decode().strip()
            self._git.run("symbolic-ref", f"{_ORIGIN}HEAD", head)
            self._git.run("update-ref", "--no-deref", "HEAD", commit)
            return CommitId(commit)

    def has(self, commit: CommitId) -> bool:
        """Whether a branch that was fetched last leads to this commit."""
        return bool(self._git.ask("for-each-ref", "--count=1", f"--contains={commit}", _ORIGIN))

    # --- inside ------------------------------------------------------------------------------------------------------

    def _take(self, remote: Remote, wanted: tuple[str, ...], seconds: float) -> None:
        try:
            self._taken(remote, wanted, seconds)
        except RemoteUnreachable:
            self._taken(remote, wanted, seconds)

    def _taken(self, remote: Remote, wanted: tuple[str, ...], seconds: float) -> None:
        git = remote.reached_by(replace(self._git, settings=_CHECKED), seconds=seconds)
        said = git.try_to("fetch", *_ONLY_THESE, remote.url, *wanted)
        if said.status != 0:
            self._unlock()
            raise fault(remote.url, said)

    def _forget_others(self, head: str) -> None:
        """What was the default branch once leads to nothing any more."""
        listed = self._git.run("for-each-ref", "--format=%(refname)", _ORIGIN).decode().split()
        for name in listed:
            if name not in (head, f"{_ORIGIN}HEAD") and not name.startswith(f"{_ORIGIN}{OWN}"):
                self._git.run("update-ref", "--no-deref", "-d", name)

    def _make(self, remote: Remote) -> None:
        is_new = not (self.folder / ".git" / "HEAD").is_file()
        if is_new:
            shutil.rmtree(self.folder / ".git", ignore_errors=True)  # half-made by a process that died
            Git(folder=self.folder).run("init", "--quiet", "--template=", str(self.folder))
        self._unlock()
        # Renamed repositories keep what they were called first: it is their identity.
        if is_new or self._git.ask("config", "--get", "remote.origin.url") is None:
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
