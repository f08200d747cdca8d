"""Why a repository cannot be used, each with the way out."""

from __future__ import annotations

from stages.errors import StageError


class RepositoryFault(StageError):
    """The repository cannot be used."""


class NoSuchFolder(RepositoryFault):
    """{path} does not exist. Name a folder inside the repository with --repo."""


class NotARepository(RepositoryFault):
    """{path} is in no git repository. Name a folder in one with --repo, or make one: git init, git add, git commit."""


class BareRepository(RepositoryFault):
    """{path} is a bare repository. Clone it (git clone {path} FOLDER) and name the clone with --repo."""


class EmptyRepository(RepositoryFault):
    """{path} has no commit yet. Commit what is there (git add -A && git commit) and try again."""


class UnreadableRepository(RepositoryFault):
    """The repository at {path} cannot be read: {message}. `git fsck` shows what is wrong with it."""


class NotUtf8(RepositoryFault):
    """The path {path} of the repository is not UTF-8. Rename that folder, or name a clone of it with --repo."""


class UncommittedChanges(RepositoryFault):
    """{count} changed files are not committed; a run sees commits only. Commit or stash them, or go on without them."""


class UnknownRevision(RepositoryFault):
    """The repository has no commit {ref}. `git log --oneline` lists those that it has."""


class BadBranchName(RepositoryFault):
    """{branch} is no name for a branch: letters, digits, `.`, `_`, `-` and `/`, not HEAD and not a commit's id."""


class BranchTaken(RepositoryFault):
    """The branch {branch} cannot be made: {message}. Delete or rename the branch that is in its way."""
