"""`[install]` of a repository's settings: a command in place of what its lock files ask for."""

from __future__ import annotations

import re
from typing import Final

from bot.check_config import folder_of, variables_of
from bot.toml_table import TomlTable
from stages.errors import Refused
from stages.installs import Install
from stages.paths import plain

_TIMEOUT_AT_MOST: Final = 24 * 3600  # seconds
_NOT_A_PATTERN: Final = re.compile(r"[^*?\[\]]+")


def read_install(table: TomlTable) -> tuple[Install, ...] | None:
    """The steps that are asked for: none for an empty `command`, and None where lock files are to say."""
    command = table.texts("command")
    files, keeps = _paths(table, "files"), _paths(table, "keeps")
    step = Install(
        name="the command of [install]",
        commands=(tuple(command or ()),),
        folder=folder_of(table, "folder") or Install.folder,
        files=files,
        keeps=keeps,
        environment=variables_of(table),
        timeout_seconds=table.number("timeout_seconds", 1, _TIMEOUT_AT_MOST) or Install.timeout_seconds,
    )
    table.close()
    if command is None:
        for key in table:
            raise table.refusal(key, "beside a `command`, and nowhere else")
        return None
    if command and not command[0].strip():
        raise table.refusal("command", "a program and its arguments, or an empty list to install nothing")
    return (step,) if command else ()


def _paths(table: TomlTable, key: str) -> tuple[str, ...]:
    paths = table.texts(key) or ()
    try:
        spelled = tuple(plain(path) for path in paths if _NOT_A_PATTERN.fullmatch(path))
    except Refused as refused:
        raise table.refusal(key, "paths inside the repository", str(refused)) from refused
    if len(spelled) < len(paths) or not all(spelled):
        raise table.refusal(key, "paths inside the repository, each by its name")
    return spelled
