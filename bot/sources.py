"""What people wrote for the bot in their repository: settings, rules and notes, from the default branch."""

from __future__ import annotations

from datetime import datetime
from itertools import islice

from bot.repository_config import PATH as SETTINGS
from bot.repository_config import TUNING, RepositoryConfig, read_repository_config
from memory.store import MemoryStore
from memory.types import CommitId, MemoryVersion, NoteFile, Scope, Sources
from stages.repository import Repository

_NOTES_AT_MOST = 20_000


def default_commit(repository: Repository) -> CommitId:
    """The tip of the default branch at this moment; what is checked out where there is none."""
    branch, tip = repository.default
    return tip or repository.resolve(None if branch == "HEAD" else branch)


def read_config(repository: Repository, commit: CommitId) -> RepositoryConfig:
    return read_repository_config(repository.read(commit, SETTINGS))


def fresh(
    memory: MemoryStore, scope: Scope, repository: Repository, commit: CommitId, config: RepositoryConfig, at: datetime
) -> MemoryVersion:
    """The version with the notes and tuning of a commit: the newest one while they are unchanged, else a new one."""
    state = _state(repository, commit, config)
    return memory.unchanged(scope, state) or memory.publish_sources(
        scope, read_sources(repository, commit, config, state), at
    )


def _state(repository: Repository, commit: CommitId, config: RepositoryConfig) -> str:
    """What git calls the folder of notes and the file of rules: another name whenever a byte of them changes."""
    whole = config.notes in ("", ".")
    return "\n".join(
        (config.notes, commit if whole else "", *repository.ids(commit, TUNING, *([] if whole else [config.notes])))
    )


def read_sources(repository: Repository, commit: CommitId, config: RepositoryConfig, state: str = "") -> Sources:
    """Notes and tuning as they stand at a commit; bytes that are not UTF-8 are replaced, binary data is left out."""
    texts = repository.read_all(commit, config.notes, ".md")
    return Sources(
        commit=commit,
        notes=tuple(
            NoteFile(path=path.removeprefix(f"{config.notes}/"), text=_text(text))
            for path, text in islice(texts.items(), _NOTES_AT_MOST)
        ),
        tuning=_text(repository.read(commit, TUNING) or b""),
        state=state,
    )


def _text(data: bytes) -> str:
    return "" if b"\0" in data else data.decode("utf-8", "replace")
