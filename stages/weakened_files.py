"""Which files of a patch are about tests, and which of them say less than they did."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from memory.types import CheckId
from stages.errors import Refused
from stages.files_of_tests import TestFiles, is_of_tests
from stages.foreign_tests import is_foreign_settings, is_foreign_test, scripts_changed, weakened_text
from stages.inline_tests import changed_inside
from stages.patch import Patch
from stages.policy import Rule, Violation
from stages.weakening import Weakened, Weakening, is_settings, settings_changed, weakened_file
from stages.workspace import Workspace


def changed_tests(patch: Patch) -> tuple[Violation, ...]:
    """Files of tests that were there before: what they say now is for people to read."""
    changed = [file.path for file in patch.files if file.status != "A" and is_of_tests(file.path)]
    return tuple(Violation(rule=Rule.TESTS, path=path) for path in changed)


def steers_tests(path: str) -> bool:
    """True for a file that decides which tests run and how, and nothing else: the base's is used."""
    return is_settings(path) or is_foreign_settings(path) or PurePosixPath(path).name == "conftest.py"


def weakened_files(workspace: Workspace, patch: Patch, tests: TestFiles) -> Iterator[Weakened]:
    """What the files of a patch that stands in a workspace say less than at its base."""
    for file in patch.files:
        if not _may_weaken(file.path, tests):
            continue
        before = workspace.at_base(file.path)
        try:
            after = workspace.read(file.path) if file.status != "D" else None
        except Refused:  # too large to be read: nobody can say that it asserts what it did
            yield Weakened(what=CheckId(file.path), how=Weakening.ASSERTS)
            continue
        if _settings_changed(file.path, before, after):
            yield Weakened(what=CheckId(file.path), how=Weakening.CONFIGURATION)
        if is_foreign_test(file.path):
            yield from weakened_text(file.path, before, after)
        elif file.path.endswith(".py") and file.path in tests:
            yield from weakened_file(file.path, before, after)
        else:
            inside, documented = tests.inside(file.path), tests.documented(file.path)
            yield from changed_inside(file.path, before, after, tests=inside, documented=documented)


def _may_weaken(path: str, tests: TestFiles) -> bool:
    read = path.endswith((".py", ".rs")) or is_foreign_test(path)
    return read or path in tests or steers_tests(path) or PurePosixPath(path).name == "package.json"


def _settings_changed(path: str, before: bytes | None, after: bytes | None) -> bool:
    if is_settings(path):
        return settings_changed(path, before, after)
    if is_foreign_settings(path):
        return before != after
    return PurePosixPath(path).name == "package.json" and scripts_changed(before, after)
