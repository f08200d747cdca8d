"""The repository's settings: `.github/ticketsmith.toml` as it stands at a commit of the default branch."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final

from bot.config import ATTEMPTS_AT_MOST
from bot.errors import ConfigUnreadable
from bot.toml_table import TomlTable, parse_toml
from memory.types import CheckId
from stages.policy import Policy
from stages.report import Check, CheckKind

PATH: Final = ".github/ticketsmith.toml"
TUNING: Final = ".github/ticketsmith/tuning.md"
NOTES: Final = ".github/ticketsmith/notes"

_BYTES_AT_MOST = 256 * 1024
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_ENVIRONMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_PYTHON = re.compile(r"[A-Za-z0-9_./~+][A-Za-z0-9_./~+ -]{0,199}")
_TIMEOUT_AT_MOST = 24 * 3600  # seconds
_SIZE_AT_MOST = 100_000_000


@dataclass(frozen=True, kw_only=True)
class PatchSize:
    """How big a patch may be: files, changed lines, bytes of the diff. None leaves the limit of the policy."""

    files: int | None = None
    lines: int | None = None
    bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class RepositoryConfig:
    """What the maintainers decided. No checks means: detect them. `python` is a path or a name, "" for the default.

    `protected` are patterns added to those that are always protected; none can be taken away here.
    """

    checks: tuple[Check, ...] = ()
    python: str = ""
    notes: str = NOTES
    environment: str = ""
    protected: tuple[str, ...] = ()
    size: PatchSize = field(default_factory=PatchSize)
    attempts: int | None = None


def read_repository_config(data: bytes | None, source: str = PATH) -> RepositoryConfig:
    """What the file says; None is a file that is not there.

    Raises ConfigUnreadable, ConfigBroken, UnknownSetting and WrongSetting.
    """
    table = TomlTable(parse_toml(_text(data or b"", source), source), source=source)
    checks, size = (
        table.table("checks").tables(_NAME, "small letters, digits, - and _, at most 40"),
        table.table("size"),
    )
    config = RepositoryConfig(
        checks=tuple(_check(name, check) for name, check in checks.items()),
        python=_matching(table, "python", _PYTHON, "a path or a name such as .venv/bin/python or python3.12"),
        notes=_folder(table, "notes") or NOTES,
        environment=_matching(table, "environment", _ENVIRONMENT, "a name of letters, digits, ., _ and -"),
        protected=_protected(table),
        size=PatchSize(**{key: size.whole(key, 1, _SIZE_AT_MOST) for key in ("files", "lines", "bytes")}),
        attempts=table.whole("attempts", 1, ATTEMPTS_AT_MOST),
    )
    for one in (size, table):
        one.close()
    return config


def policy_of(config: RepositoryConfig) -> Policy:
    """What a patch may touch here: the maintainers' patterns are added, their sizes replace the usual ones."""
    size, usual = config.size, Policy()
    return Policy(
        protected=config.protected,
        files_at_most=size.files or usual.files_at_most,
        bytes_at_most=size.bytes or usual.bytes_at_most,
        lines_at_most=size.lines,
    )


def _text(data: bytes, source: str) -> str:
    if len(data) > _BYTES_AT_MOST:
        raise ConfigUnreadable(source=source, reason=f"it has more than {_BYTES_AT_MOST} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigUnreadable(source=source, reason=f"byte {error.start} is not UTF-8") from error


def _check(name: str, table: TomlTable) -> Check:
    """One of `[checks.NAME]`: `pytest` with its arguments, or a `command`."""
    arguments, command = table.texts("pytest"), table.texts("command")
    if (arguments is None) == (command is None):
        got = "neither" if arguments is None else "both"
        raise table.refusal("pytest", "a list of arguments, or command a list in its place", got)
    if command is not None and not (command and command[0]):
        raise table.refusal("command", "a program and its arguments")
    check = Check(
        name=CheckId(name),
        kind=CheckKind.PYTEST if command is None else CheckKind.COMMAND,
        arguments=arguments or command or (),
        folder=_folder(table, "folder") or Check.folder,
        timeout_seconds=table.number("timeout_seconds", 1, _TIMEOUT_AT_MOST) or Check.timeout_seconds,
    )
    table.close()
    return check


def _folder(table: TomlTable, key: str) -> str:
    """A folder inside the repository, without its last slash; "" when none is named."""
    text = table.text(key)
    if text is None:
        return ""
    path = PurePosixPath(text)
    if not text or path.is_absolute() or ".." in path.parts or ".git" in path.parts or not text.isprintable():
        raise table.refusal(key, "a folder inside the repository, without ..")
    return str(path)


def _protected(table: TomlTable) -> tuple[str, ...]:
    patterns = table.texts("protected") or ()
    if not all(pattern and pattern.isprintable() for pattern in patterns):
        raise table.refusal("protected", "a list of path patterns, none of them empty")
    return patterns


def _matching(table: TomlTable, key: str, allowed: re.Pattern[str], wanted: str) -> str:
    text = table.text(key)
    if text is not None and not allowed.fullmatch(text):
        raise table.refusal(key, wanted)
    return text or ""
