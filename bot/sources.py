"""What people wrote for the bot in their repository: settings, rules and notes, from the default branch."""

from __future__ import annotations

from bot.repository_config import PATH as SETTINGS
from bot.repository_config import TUNING, RepositoryConfig, read_repository_config
from memory.types import CommitId, NoteFile, Sources
from stages.repository import Repository

_NOTES_AT_MOST = 20_000


def default_commit(repository: Repository) -> CommitId:
    """The tip of the default branch; what is checked out where there is none."""
    branch = repository.default_branch
    return repository.resolve(None if branch == "HEAD" else branch)


def read_config(repository: Repository, commit: CommitId) -> RepositoryConfig:
    return read_repository_config(repository.read(commit, SETTINGS))


def read_sources(repository: Repository, commit: CommitId, config: RepositoryConfig) -> Sources:
    """Notes and tuning as they stand at a commit; bytes that are not UTF-8 are replaced."""
    paths = [path for path in repository.files(commit, config.notes) if path.endswith(".md")][:_NOTES_AT_MOST]
    return Sources(
        commit=commit,
        notes=tuple(
            NoteFile(path=path.removeprefix(f"{config.notes}/"), text=_text(repository, commit, path)) for path in paths
        ),
        tuning=_text(repository, commit, TUNING),
    )


def _text(repository: Repository, commit: CommitId, path: str) -> str:
    return (repository.read(commit, path) or b"").decode("utf-8", "replace")
