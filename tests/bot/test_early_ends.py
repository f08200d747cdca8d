"""A base whose check ends early, or never: what the run says of it, and what still goes out."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bot import facts
from bot.baseline import Baseline, why_broken
from bot.run import RunState
from memory.types import CheckId
from stages.checks import PYTEST, Checks
from stages.errors import ParkCause
from stages.report import Check, CheckKind, CheckReport
from stages.sandbox.plain import Plain
from tests.bot.kit import DIAGNOSED, Script, bed, facts_of, lessons, writes
from tests.stages.repositories import put

CHECKS = '[checks.tests]\npytest = ["-q"]\n'
TESTS = "from pathlib import Path\n\n\ndef test_price():\n    assert Path('price.txt').read_text() == '3\\n'\n"
ENDS = "import os\n\n\ndef test_z():\n    os.closerange(3, 1000)\n\n\ndef test_after():\n    pass\n"
PRICE = CheckId("test_price.py::test_price")


def test_a_check_that_ends_early_at_the_base_does_not_stand_in_the_way_of_a_right_patch(tmp_path: Path) -> None:
    files = {".github/ticketsmith.toml": CHECKS, "test_price.py": TESTS, "test_z.py": ENDS}
    shop = bed(tmp_path, files)
    app = shop.app(Script.of(diagnose={**DIAGNOSED, "reproduction": PRICE}, develop=writes()))

    run = shop.fix(app)

    assert run.state is RunState.PUBLISHED
    assert lessons(app, run) == ()
    said = [fact.because for fact in facts_of(app, run) if isinstance(fact, facts.Decided)]
    assert (
        "tests: its run ended in test_z.py::test_z, what it did not reach was run after it (1 test), "
        "patches are compared with it test by test"
    ) in said


EARLY = {
    "pytest": (CheckKind.PYTEST, "tests: its run ended between tests, patches are compared with it test by test"),
    "others": (CheckKind.JUNIT, "tests: its results are not whole, and a patch passes only if they are whole with it"),
}


@pytest.mark.parametrize(("kind", "told"), EARLY.values(), ids=EARLY.keys())
def test_a_check_that_ends_early_says_what_becomes_of_patches(kind: CheckKind, told: str) -> None:
    check = Check(name=CheckId("tests"), kind=kind)
    report = CheckReport(check=check.name, exit_status=0, seconds=1.0, complete=False)

    assert Baseline(checks=(check, check), reports=(replace(report, complete=True), report)).early == (told,)


# --- a base that does not end ----------------------------------------------------------------------------------------

STUBBORN = "import time\n\n\ndef test_s():\n    while True:\n        try:\n            time.sleep(9)\n"
STUBBORN += "        except BaseException:\n            pass\n"
PLACE = "[checks.pytest] in .github/ticketsmith.toml"
DESELECTED, IGNORED = '["-q", "--deselect", "tests/test_hang.py::test_s"]', '["-q", "--ignore", "tests/test_hang.py"]'
LONGER = 'or give it more time, with `pytest = ["-q"]` and a `timeout_seconds` above 4'
HANGS = {
    "in a test": (
        "tests/test_hang.py",
        STUBBORN,
        f"it was in tests/test_hang.py::test_s then; under {PLACE} leave this test out, with `pytest = {DESELECTED}`, ",
    ),
    "at import": (
        "tests/test_hang.py",
        "import time\ntime.sleep(60)\n",
        f"it was reading tests/test_hang.py then; under {PLACE} leave this file out, with `pytest = {IGNORED}`, ",
    ),
}


@pytest.mark.parametrize(("path", "text", "told"), HANGS.values(), ids=HANGS.keys())
def test_a_check_that_does_not_end_names_where_it_hung_and_the_way_out(
    tmp_path: Path, path: str, text: str, told: str
) -> None:
    put(tmp_path, {"tests/test_a.py": "def test_a(): pass\n", path: text})
    check = Check(name=PYTEST, kind=CheckKind.PYTEST, arguments=("-q",), timeout_seconds=4)
    report = Checks(Plain(), Path(sys.executable)).run(check, tmp_path)

    assert why_broken(check, report, ()) == (
        f"the check pytest did not end on the base commit within its time: {told}{LONGER}"
    )


def test_the_way_out_is_named_as_the_check_sees_it_from_its_folder() -> None:
    check = Check(name=CheckId("tests-web"), kind=CheckKind.PYTEST, folder="web")
    report = CheckReport(
        check=check.name, exit_status=None, seconds=1.0, timed_out=True, ended_in=CheckId("web/test_a.py::test_a")
    )

    told = why_broken(check, report, ())

    assert told.endswith(
        "it was in web/test_a.py::test_a then; under [checks.tests-web] in .github/ticketsmith.toml leave this test "
        'out, with `folder = "web"`, `pytest = ["--deselect", "test_a.py::test_a"]`, or give it more time, with '
        '`folder = "web"`, `pytest = []` and a `timeout_seconds` above 600'
    )


@pytest.mark.parametrize(
    ("output", "told"),
    [("one\nstill  at it\n\n", "the last that it said is 'still at it'; "), (" \n", "it said nothing; ")],
    ids=["a line", "nothing"],
)
def test_where_no_test_is_known_the_last_line_is_told(output: str, told: str) -> None:
    check = Check(name=CheckId("lint"), kind=CheckKind.COMMAND)
    report = CheckReport(check=check.name, exit_status=None, seconds=1.0, timed_out=True, output=output)

    assert why_broken(check, report, ()).endswith(
        f"within its time: {told}give it a `timeout_seconds` above 600 under [checks.lint] in "
        ".github/ticketsmith.toml, or name other checks there"
    )


@pytest.mark.parametrize("out", ["--deselect", "--ignore"])
def test_the_named_way_out_lets_the_run_begin(tmp_path: Path, out: str) -> None:
    """What the sentence says is what works: the settings that it gives leave the test, or its file, out."""
    left_out = "test_hang.py::test_s" if out == "--deselect" else "test_hang.py"
    settings = f'[checks.tests]\npytest = ["-q", "{out}", "{left_out}"]\ntimeout_seconds = 15\n'
    shop = bed(tmp_path, {".github/ticketsmith.toml": settings, "test_price.py": TESTS, "test_hang.py": STUBBORN})

    run = shop.fix(shop.app(Script.of(diagnose={**DIAGNOSED, "reproduction": PRICE}, develop=writes())))

    assert run.state is RunState.PUBLISHED


def test_a_hanging_base_parks_with_that_sentence(tmp_path: Path) -> None:
    settings = f"{CHECKS}timeout_seconds = 4\n"
    shop = bed(tmp_path, {".github/ticketsmith.toml": settings, "test_price.py": TESTS, "test_hang.py": STUBBORN})
    script = Script.of()

    run = shop.fix(shop.app(script))

    assert (run.state, run.park_cause) == (RunState.PARKED, ParkCause.ENVIRONMENT)
    assert '`pytest = ["-q", "--deselect", "test_hang.py::test_s"]`' in run.park_reason
    assert script.asked == []
