"""`[program]` and `[install]` of the operator's settings: what of the outside is opened to foreign code."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bot.toml_table import TomlTable
from stages.errors import Refused
from stages.sandbox import Host

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
# An agent never holds a credential of GitHub, and none of the program's own settings.
_NEVER: Final = re.compile(r"TICKETSMITH_.*|LD_.*|(?:GH|GITHUB|ACTIONS)_(?:.*_)?(?:TOKEN|PAT)", re.IGNORECASE)
_OF_GITHUB: Final = re.compile(r"gh[a-z]_[A-Za-z0-9]|github_pat_|-----BEGIN [A-Z ]*PRIVATE KEY-----")  # App keys too


@dataclass(frozen=True, kw_only=True)
class Outside:
    """Nothing, unless the operator says so.

    `install_hosts` are reached while dependencies are installed, `program_hosts` by an external program that answers
    prompts; `variables` are what such a program is given beside what the sandbox sets, and `not_set` those that have no
    value here. `closed` are files and folders of the operator that no program is shown with what lies beside it.
    """

    install_hosts: tuple[str, ...] = ()
    program_hosts: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    not_set: tuple[str, ...] = ()
    closed: tuple[Path, ...] = field(default=(), compare=False)


def read_outside(
    program: TomlTable, install: TomlTable, environment: Mapping[str, str], *, ours: Container[str] = ()
) -> Outside:
    """What the two tables say. Variables are named there; their values come from the environment. `ours` are names of
    variables that no program gets.

    Raises WrongSetting and UnknownSetting.
    """
    names = program.texts("environment") or ()
    for name in names:
        if not _VARIABLE.fullmatch(name):
            raise program.refusal("environment", "names of environment variables; their values stay out of this file")
        if name in ours or _NEVER.fullmatch(name) or _OF_GITHUB.search(environment.get(name, "")):
            raise program.refusal("environment", f"names of variables that an agent may have, and {name} is none")
    outside = Outside(
        install_hosts=_hosts(install),
        program_hosts=_hosts(program),
        variables={name: environment[name] for name in names if environment.get(name)},
        not_set=tuple(name for name in names if not environment.get(name)),
    )
    for table in (program, install):
        table.close()
    return outside


def _hosts(table: TomlTable) -> tuple[str, ...]:
    hosts = table.texts("hosts") or ()
    try:
        return tuple(dict.fromkeys(str(Host.parse(host)) for host in hosts))
    except Refused as refused:
        raise table.refusal("hosts", "a list of hosts such as api.example.com or 127.0.0.1:8080", str(refused)) from (
            refused
        )
