"""The user's repository: read at commits, and never changed but for a new branch."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from memory.types import CommitId, RepositoryId
from stages.blobs import FULL_ID, READ_AT_MOST, blobs_of, inside, read_all, readable
from stages.branches import Branches
from stages.faults import (
    BadBranchName,
    BareRepository,
    BranchTaken,
    EmptyRepository,
    NoSuchFolder,
    NotARepository,
    NotUtf8,
    RepositoryFault,
    UncommittedChanges,
    UnknownRevision,
    UnreadableRepository,
)
from stages.git import Git, GitFailed
from stages.origin import local_path, remote_id
from stages.patch import Patch

if TYPE_CHECKING:
    from stages.workspace import Workspace

__all__ = [
    "READ_AT_MOST",
    "BadBranchName",
    "BareRepository",
    "BranchTaken",
    "EmptyRepository",
    "NoSuchFolder",
    "NotARepository",
    "NotUtf8",
    "Repository",
    "RepositoryFault",
    "UncommittedChanges",
    "UnknownRevision",
    "UnreadableRepository",
]


_REF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+@~^-]{0,199}")
_TIPS = "--format=%(refname) %(objectname) %(symref)"
_MAIN_OF_ORIGIN = "refs/remotes/origin/HEAD"
_RUNS_A_PROGRAM = r"^(filter\..*\.(clean|smudge|process)|diff\..*\.(command|textconv)|merge\..*\.driver)$"
_ORIGINS_AT_MOST = 8  # clones of clones


class Repository:
    """A git repository on this machine. Nothing of its configuration runs a program here."""

    def __init__(self, folder: Path, git: Git) -> None:
        self.folder, self._git = folder, git
        self._listed: tuple[str, Mapping[str, str]] = "", {}

    @classmethod
    def open(cls, path: Path) -> Repository:
        """The repository that `path` lies in.

        Raises NoSuchFolder, NotARepository, BareRepository, EmptyRepository, UnreadableRepository, NotUtf8.
        """
        git = _existing(path)
        # As nearly always: one process tells that there is a tree, and a commit.
        told = git.ask("rev-parse", "--show-toplevel", "--git-common-dir", "HEAD^{commit}") or b""
        match os.fsdecode(told).split("\n"):
            case [top, common, commit, ""] if FULL_ID.fullmatch(commit) and git.folder.is_relative_to(top):
                repository = cls(Path(_in_utf8(top)), replace(git, folder=Path(top)))
                repository._common = _in_utf8(os.path.realpath(git.folder / common))
                return repository
        repository = cls._find(path)
        if repository._git.line("rev-parse", "--is-bare-repository") == "true":
            raise BareRepository(path=path)
        if repository._git.line("rev-parse", "--verify", "--quiet", "HEAD^{commit}") is None:
            if repository._git.line("for-each-ref", "--count=1") or repository._git.line(
                "rev-parse", "--verify", "HEAD"
            ):
                raise UnreadableRepository(path=path, message="HEAD names no commit")
            raise EmptyRepository(path=path)
        return repository

    @classmethod
    def _find(cls, path: Path) -> Repository:
        git = _existing(path)
        # A bare repository is recognised by git only when it is named.
        top = git.ask("rev-parse", "--absolute-git-dir")
        if top is None:
            bare = replace(git, git_dir=git.folder)
            if bare.ask("rev-parse", "--absolute-git-dir") is None:
                raise NotARepository(path=path)
            return cls(Path(_in_utf8(str(git.folder))), bare)
        shown = git.ask("rev-parse", "--show-toplevel")
        folder = Path(_in_utf8(os.fsdecode((shown or top).rstrip(b"\n"))))
        return cls(folder, replace(git, folder=folder))

    # --- what it is --------------------------------------------------------------------------------------------------

    @cached_property
    def id(self) -> RepositoryId:
        """The same for clones, work trees, links and sub-folders; never shared by two repositories.

        `origin` is followed through clones on this machine to an address elsewhere; without one, the folder of the
        last repository on the way is the identity.
        """
        seen, here = [self._common], self
        while len(seen) <= _ORIGINS_AT_MOST and (url := here._git.line("config", "--get", "remote.origin.url")):
            path = local_path(url)
            if path is None:
                return remote_id(url)
            try:
                here = self._find(here.folder / path)
                common = here._common
            except RepositoryFault:
                break
            if common in seen:
                return RepositoryId(f"local:{min(seen[seen.index(common) :])}")
            seen.append(common)
        return RepositoryId(f"local:{seen[-1]}")

    @property
    def default(self) -> tuple[str, CommitId | None]:
        """The default branch, and its tip at this moment, here or else at `origin`; None where it has none.

        It is what `origin` calls its main branch, else the only branch, else `main` or `master`, else what HEAD names.
        """
        told = self._git.line("for-each-ref", _TIPS, "refs/heads", _MAIN_OF_ORIGIN)
        refs = (line.split(" ") for line in told.split("\n")) if told else ()
        tips = {name: (CommitId(tip), target) for name, tip, target in refs}
        at_origin, target = tips.pop(_MAIN_OF_ORIGIN, (None, ""))
        heads = {name.removeprefix("refs/heads/"): tip for name, (tip, _) in tips.items()}
        if target:
            branch = target.removeprefix("refs/remotes/").removeprefix("origin/")
            return branch, heads.get(branch, at_origin)
        known = heads if len(heads) == 1 else [name for name in ("main", "master") if name in heads]
        branch = next(iter(known), "") or self._git.line("symbolic-ref", "--quiet", "--short", "HEAD") or "HEAD"
        return branch, heads.get(branch)

    @property
    def detached(self) -> bool:
        """True when a commit is checked out and no branch."""
        return self._git.line("symbolic-ref", "--quiet", "HEAD") is None

    def resolve(self, ref: str | None = None) -> CommitId:
        """The commit that a branch, tag or id names; what is checked out when None. Raises UnknownRevision."""
        name = ref or "HEAD"
        if not _REF.fullmatch(name):
            raise UnknownRevision(ref=repr(name[:80]))
        # A branch goes before a tag of its name, and an id before both.
        names = [name] if name == "HEAD" or FULL_ID.fullmatch(name) else [f"refs/heads/{name}", name, f"origin/{name}"]
        for candidate in names:
            if found := self._git.line(
                "rev-parse", "--verify", "--quiet", "--end-of-options", f"{candidate}^{{commit}}"
            ):
                return CommitId(found)
        raise UnknownRevision(ref=name)

    def uncommitted(self) -> int:
        """How many files differ from the commit that is checked out; untracked ones count, ignored ones do not."""
        listed = self._git.ask("config", "-z", "--name-only", "--get-regexp", _RUNS_A_PROGRAM) or b""
        quiet = {name: "" for name in os.fsdecode(listed).split("\0") if name}
        settings = {**self._git.settings, **quiet}
        status = replace(self._git, settings=settings).run(
            "status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal", "--ignore-submodules=all"
        )
        return sum(1 for entry in status.split(b"\0") if entry)

    # --- its files ---------------------------------------------------------------------------------------------------

    def read(self, commit: CommitId, path: str) -> bytes | None:
        """The regular file at a commit; None when there is none. Raises Refused for one of more than 8 MiB."""
        entry = self._entry(commit, path)
        if entry is None:
            return None
        blob, size = entry
        return self._run("cat-file", "blob", blob) if readable(path, size) else None

    def blob(self, commit: CommitId, path: str) -> str | None:
        """Id of the regular file's content at a commit; None when there is none."""
        return self._blobs(commit).get(inside(path))

    def files(self, commit: CommitId, folder: str = "") -> tuple[str, ...]:
        """Paths of the regular files at a commit, below `folder`; names that are not UTF-8 are left out."""
        below = "" if folder in ("", ".") else inside(folder) + "/"
        return tuple(path for path in self._blobs(commit) if path.startswith(below))

    def tracked(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Those of these paths that are checked out from git as files, links or submodules."""
        wanted = set(paths)
        entries = self._run("ls-files", "-z", "--", *sorted(wanted)).split(b"\0") if wanted else []
        return tuple(sorted(wanted.intersection(map(os.fsdecode, entries))))

    def ids(self, commit: CommitId, *paths: str) -> tuple[str, ...]:
        """What stands at these paths at a commit, with the ids of the contents; nothing for one that is not there."""
        listed = self._run("ls-tree", "-z", "--full-tree", commit, "--", *map(inside, paths))
        return tuple(entry.decode("utf-8", "replace") for entry in listed.split(b"\0") if entry)

    def read_all(self, commit: CommitId, folder: str, ending: str) -> dict[str, bytes]:
        """The regular files below a folder at a commit whose names end so, by path. Raises Refused as `read`."""
        below = () if folder in ("", ".") else ("--", inside(folder) + "/")
        listed = self._run("ls-tree", "-r", "-l", "-z", "--full-tree", commit, *below).split(b"\0")
        return read_all(self._run, listed, lambda path, size: path.endswith(ending) and readable(path, size))

    def _blobs(self, commit: CommitId) -> Mapping[str, str]:
        """Ids of the regular files at a commit, by path; that of the last one is kept, for a commit never changes."""
        at, blobs = self._listed
        if at != commit:
            blobs = blobs_of(self._run("ls-tree", "-r", "-z", "--full-tree", commit))
            if FULL_ID.fullmatch(commit):
                self._listed = commit, blobs
        return blobs

    def _entry(self, commit: CommitId, path: str) -> tuple[str, int] | None:
        listed = self._run("ls-tree", "-l", "-z", "--full-tree", commit, "--", inside(path)).split(b"\0")[0]
        if not listed.startswith(b"100"):  # symbolic links and submodules are not followed
            return None
        _, _, blob, size = listed.split(b"\t")[0].split()
        return blob.decode(), int(size)

    # --- branches ----------------------------------------------------------------------------------------------------

    def publish(self, branch: str, workspace: Workspace, patch: Patch, message: str) -> tuple[str, CommitId]:
        """Make a branch with one commit: what `Branches.publish` says."""
        return self._branches.publish(branch, workspace, patch, message)

    def successor(self, commit: CommitId, parent: CommitId, dated: str) -> CommitId:
        """A commit with the tree and the message of `commit` on top of `parent`: what `Branches.successor` says."""
        return self._branches.successor(commit, parent, dated)

    def contains(self, commit: CommitId, patch: Patch) -> bool:
        """True when the patch is in that commit: it can be taken back there. An empty or cut patch is in none."""
        return self._branches.contains(commit, patch)

    @property
    def _branches(self) -> Branches:
        return Branches(self._git, self._run)

    # --- inside ------------------------------------------------------------------------------------------------------

    @property
    def git(self) -> Git:
        """The wrapper, for what works on the objects of this repository."""
        return self._git

    @property
    def objects(self) -> Path:
        """The folder of its objects, for what takes some of them out."""
        return Path(self._common, "objects")

    @cached_property
    def _common(self) -> str:
        common = os.fsdecode(self._run("rev-parse", "--git-common-dir")).rstrip("\n")
        return _in_utf8(os.path.realpath(self.folder / common))

    def _run(self, verb: str, *arguments: str, stdin: bytes = b"") -> bytes:
        try:
            return self._git.run(verb, *arguments, stdin=stdin)
        except GitFailed as error:
            raise UnreadableRepository(path=self.folder, message=error.fields["message"]) from error


def _existing(path: Path) -> Git:
    """Git in the folder that a path names, or that it lies in. Raises NoSuchFolder."""
    folder = Path(os.path.realpath(path))
    if not folder.exists():
        raise NoSuchFolder(path=path)
    return Git(folder=folder if folder.is_dir() else folder.parent)


def _in_utf8(path: str) -> str:
    """The path, which is kept with every run and every note. Raises NotUtf8."""
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise NotUtf8(path=os.fsencode(path).decode(errors="backslashreplace")) from error
    return path
