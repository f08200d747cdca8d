"""How far a patch goes without a person."""

from __future__ import annotations

import pytest

from bot.app_settings import PublishMode
from bot.course.mode import mode_for

DRAFT, READY, BRANCH, PATCH = PublishMode


@pytest.mark.parametrize(
    ("chosen", "private", "plain", "at_ci"),
    [
        (DRAFT, False, DRAFT, PATCH),
        (READY, False, READY, PATCH),
        (BRANCH, False, BRANCH, PATCH),
        (PATCH, False, PATCH, PATCH),
        (DRAFT, True, DRAFT, DRAFT),
        (READY, True, READY, DRAFT),
        (BRANCH, True, BRANCH, BRANCH),
        (PATCH, True, PATCH, PATCH),
    ],
)
def test_sec_21_what_ci_would_run_unread_raises_the_mode(
    chosen: PublishMode, private: bool, plain: PublishMode, at_ci: PublishMode
) -> None:
    found = [mode_for(chosen, paths, private=private).mode for paths in (["src/till.py"], ["src/till.py", "setup.py"])]

    assert found == [plain, at_ci]


@pytest.mark.parametrize(
    "path",
    ["conftest.py", "tests/conftest.py", "noxfile.py", "tox.ini", "pyproject.toml", "package.json", "Makefile",
     "build.gradle", "ci/build.sh", "Dockerfile", "x/vite.config.ts", "site.pth", "CMakeLists.txt"],
)  # fmt: skip
def test_sec_21_files_that_ci_runs_are_known(path: str) -> None:
    assert mode_for(DRAFT, [path], private=False).mode is PATCH


@pytest.mark.parametrize("path", ["src/setup_till.py", "docs/makefile.md", "package.json.txt", "test_conftest.py"])
def test_other_files_raise_nothing(path: str) -> None:
    assert mode_for(READY, [path], private=False).mode is READY


def test_what_raised_the_mode_is_told() -> None:
    mode = mode_for(DRAFT, ["b.py", "setup.py"], private=False)

    assert "setup.py" in mode.why
    assert (mode.pushes, mode.pulls) == (False, False)
