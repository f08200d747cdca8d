"""The base commit: a check that cannot run here parks the run, or is left out when it was only seen in the tree."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bot.baseline import Baseline, take
from memory.types import CheckId
from stages.checks import Checks
from stages.errors import ParkCause, Parked
from stages.report import Check, CheckKind
from stages.sandbox.plain import Plain
from stages.toolchains import Toolchains
from stages.workspace import Workspaces
from tests.stages.repositories import SHOP, make

JEST = {"package.json": json.dumps({"scripts": {"test": "jest"}, "devDependencies": {"jest": "30"}})}
CARGO = {"Cargo.toml": "[package]\n"}


def taken(folder: Path, files: dict[str, str], *checks: Check, programs: tuple[str, ...] = ()) -> Baseline:
    for name in programs:
        (folder / "bin").mkdir(parents=True, exist_ok=True)
        (folder / "bin" / name).write_text("#!/bin/sh\nexit 101\n")
        (folder / "bin" / name).chmod(0o755)
    repository = make(folder / "repository", files)
    runner = Checks(Plain(), Path(sys.executable), Toolchains(path=str(folder / "bin")))
    spaces = Workspaces(folder / "work", runner)
    return take(spaces.make(repository, repository.resolve(), "one", checks=checks or None), lambda: False)


def test_what_was_only_seen_is_left_out_while_another_check_works(tmp_path: Path) -> None:
    base = taken(tmp_path, {**SHOP, **JEST, **CARGO}, programs=("node",))

    assert [check.name for check in base.checks] == ["pytest"]
    assert base.left_out == (
        "jest: node_modules is not installed; install the dependencies in your checkout",
        "cargo: the toolchain of rust is not on this machine; install it",
    )


def test_f62_what_was_seen_and_does_not_run_is_left_out_too(tmp_path: Path) -> None:
    base = taken(tmp_path, {**SHOP, **CARGO}, programs=("cargo",))

    assert [check.name for check in base.checks] == ["pytest"]
    assert base.left_out[0].startswith("the check cargo cannot run here on the base commit")


def test_f62_without_any_check_that_works_the_run_waits_and_says_why(tmp_path: Path) -> None:
    with pytest.raises(Parked, match="cargo: the toolchain of rust is not on this machine") as parked:
        taken(tmp_path, CARGO)

    assert parked.value.cause is ParkCause.ENVIRONMENT


def test_f62_a_configured_check_that_cannot_run_parks_even_beside_others(tmp_path: Path) -> None:
    unit = Check(name=CheckId("unit"), kind=CheckKind.PYTEST)
    web = Check(
        name=CheckId("web"), kind=CheckKind.JUNIT, arguments=("sh", "-c", "exit 1"), results="*.xml", detected=False
    )
    gone = Check(name=CheckId("lint"), kind=CheckKind.COMMAND, arguments=("nothing-of-this-name",))

    for check, told in ((web, "the check web cannot run here on the base commit"), (gone, "is not on this machine")):
        with pytest.raises(Parked, match=told):
            taken(tmp_path / check.name, dict(SHOP), unit, check, programs=("sh",))
