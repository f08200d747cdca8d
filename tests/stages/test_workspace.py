"""Workspaces: what they hold, what they keep apart, and the patches that come out of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memory.types import CheckId
from stages.errors import Refused
from stages.patch import Patch
from stages.report import Outcome
from stages.workspace import Workspaces
from tests.stages.repositories import SHOP, checks, commit, git, make, workspace


def test_a_run_of_the_detected_check_tells_which_test_fails(tmp_path: Path) -> None:
    shop = workspace(tmp_path)

    report = shop.run(CheckId("pytest"))

    assert report.exit_status == 1
    assert report.complete
    assert report.failing == (CheckId("tests/test_cart.py::test_total"),)
    assert [test.outcome for test in report.outcomes] == [Outcome.FAILED, Outcome.PASSED]


def test_a_fix_written_through_the_workspace_is_the_patch(tmp_path: Path) -> None:
    shop = workspace(tmp_path)

    shop.write("src/shop/cart.py", SHOP["src/shop/cart.py"].replace("[1:]", "").encode())

    patch = shop.patch()
    assert patch.paths == ("src/shop/cart.py",)
    assert [(edit.path, edit.line) for edit in patch.edits] == [("src/shop/cart.py", 2)]
    assert shop.run(CheckId("pytest")).passed
