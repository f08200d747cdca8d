"""The repository's settings: `.github/ticketsmith.toml` as it stands at a commit of the default branch."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from glob import escape
from typing import Final

from bot.check_config import folder_of, read_checks, read_services
from bot.config import ATTEMPTS_AT_MOST
from bot.errors import ConfigUnreadable
from bot.install_config import read_install
from bot.toml_table import TomlTable, parse_toml
from memory.calibration import AUTO
from memory.rules import RuleName
from stages.installs import Install
from stages.policy import Policy
from stages.report import Check, Service

PATH: Final = ".github/ticketsmith.toml"
TUNING: Final = ".github/ticketsmith/tuning.md"
NOTES: Final = ".github/ticketsmith/notes"

_BYTES_AT_MOST = 256 * 1024
_ENVIRONMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
# Inside the repository, because what is opened to a repository's commands is not for the repository to say.
_PYTHON = re.compile(r"(?!/|(?:.*/)?\.\.(?:/|$))[A-Za-z0-9_.+][A-Za-z0-9_./+ -]{0,199}")
_SIZE_AT_MOST = 100_000_000


@dataclass(frozen=True, kw_only=True)
class PatchSize:
    """How big a patch may be: files, changed lines, bytes of the diff. None leaves the limit of the policy."""

    files: int | None = None
    lines: int | None = None
    bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class MemoryConfig:
    """How notes are judged: `rule` is a `RuleName`, or auto."""

    rule: str = AUTO


@dataclass(frozen=True, kw_only=True)
class RepositoryConfig:
    """What the maintainers decided. No checks means: detect them, with all `services` beside each.

    `python` is a name, or a path in the repository, "" for the default.

    `protected` are patterns added to those that are always protected; none can be taken away here. `install` is None
    where lock files say what is to be installed.
    """

    checks: tuple[Check, ...] = ()
    services: tuple[Service, ...] = ()
    python: str = ""
    notes: str = NOTES
    environment: str = ""
    protected: tuple[str, ...] = ()
    size: PatchSize = field(default_factory=PatchSize)
    attempts: int | None = None
    memory: MemoryConfig = field(default_factory=MemoryConfig)
    install: tuple[Install, ...] | None = None


def read_repository_config(data: bytes | None, source: str = PATH) -> RepositoryConfig:
    """What the file says; None is a file that is not there.

    Raises ConfigUnreadable, ConfigBroken, UnknownSetting and WrongSetting.
    """
    table = TomlTable(parse_toml(_text(data or b"", source), source), source=source)
    checks, size, memory = (table.table(key) for key in ("checks", "size", "memory"))
    services = read_services(table.table("services"))
    config = RepositoryConfig(
        checks=read_checks(checks, services),
        services=services,
        python=_matching(table, "python", _PYTHON, "a name such as python3.12, or a path inside the repository"),
        notes=folder_of(table, "notes") or NOTES,
        environment=_matching(table, "environment", _ENVIRONMENT, "a name of letters, digits, ., _ and -"),
        protected=_protected(table),
        size=PatchSize(**{key: size.whole(key, 1, _SIZE_AT_MOST) for key in ("files", "lines", "bytes")}),
        attempts=table.whole("attempts", 1, ATTEMPTS_AT_MOST),
        install=read_install(table.table("install")),
        memory=MemoryConfig(rule=memory.choice("rule", (AUTO, *RuleName)) or AUTO),
    )
    for one in (size, memory, table):
        one.close()
    return config


def policy_of(config: RepositoryConfig) -> Policy:
    """What a patch may touch here: the maintainers' patterns are added, their sizes replace the usual ones.

    The folder of the notes is theirs wherever it lies: what stands there is read by every later run.
    """
    size, usual = config.size, Policy()
    return Policy(
        protected=(*config.protected, "*.md" if config.notes == "." else f"{escape(config.notes)}/*"),
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
