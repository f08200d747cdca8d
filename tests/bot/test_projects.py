"""Projects below one top: one check as long as that reads their tests, else a check for each that is read by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.baseline import Baseline
from memory.types import CheckId
from stages.report import Check, CheckKind
from tests.bot.test_checks_left_out import taken

PASSES = "def test_it():\n    pass\n"


def project(folder: str, name: str) -> dict[str, str]:
    """A project with a `src` layout, whose test imports it."""
    return {
        f"{folder}/pyproject.toml": "[project]\n",
        f"{folder}/src/{name}/__init__.py": "VALUE = 1\n",
        f"{folder}/tests/test_{name}.py": f"import {name}\n\n\ndef test_value():\n    assert {name}.VALUE == 1\n",
    }


def by_check(base: Baseline) -> dict[str, list[str]]:
    """The tests that passed, by check."""
    return {report.check: [test.id for test in report.outcomes] for report in base.reports}


def test_two_projects_that_cannot_be_read_together_are_two_checks(tmp_path: Path) -> None:
    base = taken(tmp_path, {**project("packages/alpha", "alpha"), **project("packages/beta", "beta")})

    assert by_check(base) == {
        "pytest-packages-alpha": ["packages/alpha/tests/test_alpha.py::test_value"],
        "pytest-packages-beta": ["packages/beta/tests/test_beta.py::test_value"],
    }
    assert all(report.passed for report in base.reports)


def test_a_project_reads_those_beside_it(tmp_path: Path) -> None:
    uses = "from alpha import VALUE\nfrom common import MORE\n\n\ndef test_sum():\n    assert VALUE + MORE == 2\n"
    alpha, beta = project("packages/alpha", "alpha"), project("packages/beta", "beta")

    base = taken(tmp_path, {**alpha, **beta, "packages/beta/tests/test_sum.py": uses, "common.py": "MORE = 1\n"})

    assert by_check(base)["pytest-packages-beta"] == [
        "packages/beta/tests/test_beta.py::test_value",
        "packages/beta/tests/test_sum.py::test_sum",
    ]
    assert all(report.passed for report in base.reports)


def test_what_stands_at_the_top_is_run_from_there_without_them(tmp_path: Path) -> None:
    base = taken(tmp_path, {**project("one", "alpha"), "tests/test_top.py": PASSES})

    assert by_check(base) == {
        "pytest": ["tests/test_top.py::test_it"],
        "pytest-one": ["one/tests/test_alpha.py::test_value"],
    }
    assert base.checks[0].arguments == ("--ignore=one",)


def test_a_conftest_that_cannot_be_read_from_the_top_leads_to_its_project(tmp_path: Path) -> None:
    files = {**project("one", "alpha"), "one/conftest.py": "import alpha\n", "test_top.py": PASSES}

    assert set(by_check(taken(tmp_path, files))) == {"pytest", "pytest-one"}


def test_files_of_one_name_in_two_projects_are_both_read(tmp_path: Path) -> None:
    files = {f"{name}/{path}": text for name in "ab" for path, text in (("setup.py", ""), ("tests/test_it.py", PASSES))}

    base = taken(tmp_path, files)

    assert sorted(one for found in by_check(base).values() for one in found) == [
        "a/tests/test_it.py::test_it",
        "b/tests/test_it.py::test_it",
    ]
    assert all(report.passed for report in base.reports)


FIXTURE = "import pytest\n\n\n@pytest.fixture\ndef db():\n    return 1\n"


@pytest.mark.parametrize(
    "files",
    [
        {"backend/pyproject.toml": "", "backend/app/setup.cfg": "", "backend/app/tests/test_x.py": PASSES},
        {"conftest.py": FIXTURE, "plugin/pytest.ini": "", "plugin/test_b.py": "def test_b(db):\n    assert db\n"},
        {"common/__init__.py": "", "a/pyproject.toml": "", "a/test_a.py": f"import common\n{PASSES}"},
        {"svc/setup.py": "", "data.txt": "", "svc/test_s.py": "def test_s():\n    open('data.txt').close()\n"},
        {
            "packages/core/setup.py": "",
            "packages/core/core/__init__.py": "",
            "packages/web/setup.py": "",
            "packages/web/tests/test_web.py": f"import packages.core.core\n{PASSES}",
        },
    ],
)
def test_what_is_read_as_a_whole_stays_one_check(files: dict[str, str], tmp_path: Path) -> None:
    base = taken(tmp_path, {"test_top.py": PASSES, **files})

    assert list(by_check(base)) == ["pytest"]
    assert base.reports[0].passed


@pytest.mark.parametrize(
    "more",
    [
        {"web/setup.py": "", "web/test_web.py": f"import not_installed\n{PASSES}"},
        {"web/test_web.py": f"import not_installed\n{PASSES}"},
        {"web/setup.py": "", "web/test_web.py": "def broken(\n"},
    ],
)
def test_a_project_that_is_read_no_better_by_itself_is_left_where_it_was(more: dict[str, str], tmp_path: Path) -> None:
    base = taken(tmp_path, {"test_top.py": PASSES, **more})

    assert [check.arguments for check in base.checks] == [()]
    assert [test.id for test in base.reports[0].unread] == ["web/test_web.py"]


def test_checks_that_people_named_are_left_as_they_are(tmp_path: Path) -> None:
    named = Check(name=CheckId("all"), kind=CheckKind.PYTEST)

    base = taken(tmp_path, {**project("alpha", "alpha"), "test_top.py": PASSES}, named)

    assert base.checks == (named,)
