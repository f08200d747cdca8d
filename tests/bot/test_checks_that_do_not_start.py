"""A base whose check does not start, or leaves before any test: what the run says of it, and the way out."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bot.baseline import why_broken
from bot.run import RunState
from memory.types import CheckId
from stages.checks import Checks
from stages.errors import ParkCause
from stages.report import Check, CheckKind, CheckReport
from stages.sandbox.plain import Plain
from tests.bot.kit import Script, bed
from tests.stages.repositories import put

PYTEST = CheckId("pytest")
PLACE = "[checks.pytest] in .github/ticketsmith.toml"
CHECKS = '[checks.tests]\npytest = ["-q"]\n'
OPTION, SETTINGS = "unrecognized arguments: --frobnicate", "while parsing the following warning configuration:"
REFUSES = {
    "an option of a plugin that is missing": ("[pytest]\naddopts = --frobnicate -q\n", "", OPTION),
    "a plugin that is missing": (
        "[pytest]\naddopts = -p nothere\n",
        "",
        "Error importing plugin \"nothere\": No module named 'nothere'",
    ),
    "a plugin that conftest.py asks for": (
        "[pytest]\n",
        "pytest_plugins = ['nothere']\n",
        "Error importing plugin \"nothere\": No module named 'nothere'",
    ),
    "a plugin that is required": (
        "[pytest]\nrequired_plugins = pytest-nothere\n",
        "",
        "Missing required plugins: pytest-nothere",
    ),
    "a wrong value": ("[pytest]\naddopts = --maxfail=x\n", "", "argument --maxfail: invalid int value: 'x'"),
    "a wrong filter": (
        "[pytest]\naddopts = -W no::x\n",
        "",
        f"{SETTINGS} no::x This error occurred: invalid action: 'no'",
    ),
    "words before it": ("[pytest]\naddopts = --frobnicate\n", "print('ERROR: of another')\n", OPTION),
}


def base_of(folder: Path, files: dict[str, str]) -> tuple[Check, CheckReport]:
    put(folder, {"tests/test_a.py": "def test_a(): pass\n", **files})
    check = Check(name=PYTEST, kind=CheckKind.PYTEST, timeout_seconds=60)
    return check, Checks(Plain(), Path(sys.executable)).run(check, folder)


@pytest.mark.parametrize(("settings", "conftest", "told"), REFUSES.values(), ids=REFUSES.keys())
def test_where_pytest_does_not_start_its_own_words_are_told_and_the_way_out(
    tmp_path: Path, settings: str, conftest: str, told: str
) -> None:
    check, report = base_of(tmp_path, {"pytest.ini": settings, "conftest.py": conftest})

    assert why_broken(check, report, ("tests/test_a.py", "conftest.py")) == (
        f"the check pytest cannot run here, because pytest does not start: {told}. Name an interpreter that has what "
        "it asks for as `python` in .github/ticketsmith.toml, or leave out what the repository adds to its arguments, "
        'with `pytest = ["-o", "addopts="]` under [checks.pytest] there'
    )


def test_the_way_out_of_an_option_that_is_missing_is_one(tmp_path: Path) -> None:
    check, report = base_of(tmp_path, {"pytest.ini": "[pytest]\naddopts = --frobnicate\n"})

    without = Checks(Plain(), Path(sys.executable)).run(replace(check, arguments=("-o", "addopts=")), tmp_path)

    assert report.exit_status == 4
    assert without.passed, without.output


def test_a_run_whose_check_does_not_start_is_parked(tmp_path: Path) -> None:
    shop = bed(tmp_path, {".github/ticketsmith.toml": CHECKS, "pytest.ini": "[pytest]\naddopts = --frobnicate\n"})

    run = shop.fix(shop.app(Script.of()))

    assert (run.state, run.park_cause) == (RunState.PARKED, ParkCause.ENVIRONMENT)
    assert OPTION in run.park_reason


BROKEN = {
    "an import of the tree fails": ({"conftest.py": "import shop.cart\n", "shop/cart.py": "import shop.gone\n"}, ""),
    "an import of the tree raises": (
        {"conftest.py": "import shop.cart\n", "shop/cart.py": "print('ERROR: no')\n1 / 0\n"},
        "",
    ),
    "a plugin of the tree": (
        {"conftest.py": "pytest_plugins = ['shop.cart']\n", "shop/cart.py": "import shop.gone\n"},
        "",
    ),
    "a warning of the tree": ({"shop/__init__.py": "1 / 0\n"}, "-W error::shop.Slow"),
    "a hook": ({"conftest.py": "import shop.cart\ndef pytest_configure(): shop.cart.add()\n", "shop/cart.py": ""}, ""),
}


@pytest.mark.parametrize(("files", "options"), BROKEN.values(), ids=BROKEN.keys())
def test_a_session_that_the_product_itself_breaks_can_be_what_the_ticket_is_about(
    tmp_path: Path, files: dict[str, str], options: str
) -> None:
    check, report = base_of(tmp_path, {"pytest.ini": f"[pytest]\npythonpath = .\naddopts = {options}\n", **files})

    assert report.exit_status in (3, 4)
    assert not report.collected
    assert why_broken(check, report, (*files, "pytest.ini", "tests/test_a.py")) == ""


LEAVES = "import os\n\n\ndef pytest_sessionstart(session):\n    os._exit(0)\n"
HOOK = "mend what ends it, such as a hook in a conftest.py, or name other checks under [checks] in "
HOOK += ".github/ticketsmith.toml"
IGNORED = f'under {PLACE} leave this file out, with `pytest = ["--ignore", "tests/test_b.py"]`'
LEAVING = {
    "before any test": ({"conftest.py": LEAVES}, f"it ended with status 0 before any test; {HOOK}"),
    "with last words": (
        {"conftest.py": f"import os\nos.write(2, b'bye  now')\n{LEAVES}", "pytest.ini": "[pytest]\naddopts = -s\n"},
        f"it ended with status 0 before any test, and said last: bye now; {HOOK}",
    ),
    "at import": (
        {"tests/test_b.py": "import os\nos._exit(0)\n"},
        f"it ended with status 0 as it read tests/test_b.py; {IGNORED}",
    ),
}


@pytest.mark.parametrize(("files", "told"), LEAVING.values(), ids=LEAVING.keys())
def test_a_check_that_leaves_before_any_test_is_told_with_its_status(
    tmp_path: Path, files: dict[str, str], told: str
) -> None:
    check, report = base_of(tmp_path, files)

    assert why_broken(check, report, ()) == f"the check pytest cannot run here on the base commit: {told}"


def test_a_command_that_says_nothing_is_told_with_its_status() -> None:
    check = Check(name=CheckId("lint"), kind=CheckKind.COMMAND)
    report = CheckReport(check=check.name, exit_status=127, seconds=0.1)

    assert why_broken(check, report, ()).endswith(" on the base commit: it ended with status 127 and said nothing")
