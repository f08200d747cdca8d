"""`[checks.NAME]` and `[services.NAME]` of a repository's settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Final

from bot.toml_table import TomlTable
from memory.types import CheckId
from stages.detection import UNITTEST_FILES
from stages.report import Check, CheckKind, Service

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_NAMES: Final = "small letters, digits, - and _, at most 40"
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_READY: Final = re.compile(r"tcp (?:127\.0\.0\.1|localhost):(\d{1,5})")
_TIMEOUT_AT_MOST: Final = 24 * 3600  # seconds
_PATTERN_AT_MOST: Final = 200  # characters
_VALUE_AT_MOST: Final = 4_000  # characters
_KINDS: Final = {"junit": CheckKind.JUNIT, "jest": CheckKind.JEST}  # files of results
_OUTPUTS: Final = {"go": CheckKind.GO, "cargo": CheckKind.CARGO}


def read_services(services: TomlTable) -> tuple[Service, ...]:
    """The services that are configured, which run beside checks."""
    return tuple(_service(name, table) for name, table in services.tables(_NAME, _NAMES).items())


def read_checks(checks: TomlTable, services: Iterable[Service]) -> tuple[Check, ...]:
    """The checks that are configured, each with the services that run beside it: all, unless it names some."""
    known = {service.name: service for service in services}
    return tuple(_check(name, table, known) for name, table in checks.tables(_NAME, _NAMES).items())


def folder_of(table: TomlTable, key: str) -> str:
    """A folder inside the repository, without its last slash; "" when none is named."""
    text = table.text(key)
    if text is None:
        return ""
    if not _is_inside(text):
        raise table.refusal(key, "a folder inside the repository, without ..")
    return str(PurePosixPath(text))


def _check(name: str, table: TomlTable, services: Mapping[str, Service]) -> Check:
    kind, arguments, results = _command(table)
    check = Check(
        name=CheckId(name),
        kind=kind,
        arguments=arguments,
        results=results,
        folder=folder_of(table, "folder") or Check.folder,
        timeout_seconds=table.number("timeout_seconds", 1, _TIMEOUT_AT_MOST) or Check.timeout_seconds,
        environment=variables_of(table),
        installed=_installed(table),
        services=_chosen(table, services),
    )
    table.close()
    return check


def _command(table: TomlTable) -> tuple[CheckKind, tuple[str, ...], str]:
    """Kind, arguments and pattern of results: `pytest` or `unittest` with arguments, or a `command`."""
    given = {key: table.texts(key) for key in ("pytest", "unittest", "command")}
    named = [key for key, value in given.items() if value is not None]
    if len(named) != 1:
        got = "neither" if not named else "both" if len(named) == 2 else "all of them"
        raise table.refusal("pytest", "a list of arguments, or command a list in its place", got)
    arguments = given[named[0]] or ()
    kind, results = _results(table)
    if named[0] == "command":
        if not (arguments and arguments[0]):
            raise table.refusal("command", "a program and its arguments")
        return kind, arguments, results
    if kind is not CheckKind.COMMAND:
        raise table.refusal(named[0], "a command, where results are named")
    return CheckKind.PYTEST, (*UNITTEST_FILES, *arguments) if named[0] == "unittest" else arguments, ""


def _results(table: TomlTable) -> tuple[CheckKind, str]:
    """Where a command's results come from, besides its exit status."""
    patterns = {key: table.text(key) for key in _KINDS}
    output = table.choice("output", _OUTPUTS)
    named = [key for key, value in patterns.items() if value is not None]
    if len(named) + (output is not None) > 1:
        raise table.refusal(named[0], "the only place of results")
    if output is not None:
        return _OUTPUTS[output], ""
    for key in named:
        pattern = patterns[key] or ""
        if not _is_inside(pattern) or len(pattern) > _PATTERN_AT_MOST:
            raise table.refusal(key, 'a pattern of files inside the repository, such as "build/**/*.xml"')
        return _KINDS[key], str(PurePosixPath(pattern))
    return CheckKind.COMMAND, ""


def variables_of(table: TomlTable) -> tuple[tuple[str, str], ...]:
    """`environment`: names and values."""
    variables = table.table("environment")
    found = [(name, variables.text(name) or "") for name in variables]
    for name, value in found:
        if not _VARIABLE.fullmatch(name) or name.startswith("LD_") or "\0" in value or len(value) > _VALUE_AT_MOST:
            raise table.refusal("environment", "names and values of variables, none of them for the loader")
    variables.close()
    return tuple(found)


def _installed(table: TomlTable) -> tuple[str, ...]:
    folders = table.texts("installed") or ()
    if not all(_is_inside(folder) and PurePosixPath(folder).parts for folder in folders):
        raise table.refusal("installed", "a list of folders inside the check's folder")
    return tuple(str(PurePosixPath(folder)) for folder in folders)


def _chosen(table: TomlTable, services: Mapping[str, Service]) -> tuple[Service, ...]:
    names = table.texts("services")
    if names is None:
        return tuple(services.values())
    return tuple(_known(table, names, services))


def _known(table: TomlTable, names: Iterable[str], services: Mapping[str, Service]) -> Iterable[Service]:
    for name in names:
        if name not in services:
            raise table.refusal("services", "names of [services.NAME]", f"{name[:40]!r}")
        yield services[name]


def _service(name: str, table: TomlTable) -> Service:
    command = table.texts("command")
    if not (command and command[0]):
        raise table.refusal("command", "a program and its arguments")
    ready = table.text("ready")
    found = _READY.fullmatch(ready or "")
    if ready is not None and not (found and 0 < int(found[1]) < 2**16):
        raise table.refusal("ready", '"tcp 127.0.0.1:PORT"')
    service = Service(
        name=name,
        arguments=command,
        folder=folder_of(table, "folder") or Service.folder,
        port=int(found[1]) if found else 0,
        timeout_seconds=table.number("timeout_seconds", 1, _TIMEOUT_AT_MOST) or Service.timeout_seconds,
    )
    table.close()
    return service


def _is_inside(text: str) -> bool:
    path = PurePosixPath(text)
    return bool(text) and text.isprintable() and not path.is_absolute() and not {"..", ".git"} & set(path.parts)
