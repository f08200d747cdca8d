"""What a diff may touch: decided by code from paths, modes and sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, assert_never

from memory.types import HoldCause
from stages.errors import Refused
from stages.files_of_tests import is_of_tests
from stages.patch import FileChange, Patch, added
from stages.paths import plain
from stages.protected import is_entry_point, is_protected

_KNOWS_OF_TESTS: Final = re.compile(r"PYTEST_CURRENT_TEST|\bdef pytest_\w+|\bpytest_plugins\b|\bimport _?pytest\b")
_NO_FILE: Final = "000000"
_PLAIN: Final = "100644"
_PROGRAM: Final = "100755"
_LINKS: Final = frozenset({"120000", "160000"})  # symbolic links and submodules
_ALLOWED_MODES: Final = frozenset(
    {(_NO_FILE, _PLAIN), (_PLAIN, _PLAIN), (_PROGRAM, _PROGRAM), (_PLAIN, _NO_FILE), (_PROGRAM, _NO_FILE)}
)


class Rule(StrEnum):
    """The rules of the policy."""

    PROTECTED = "protected"  # a path that only people change
    NAME = "name"  # a name that git, a file system or a reader could take for another
    LINK = "link"  # a symbolic link or a submodule
    MODE = "mode"  # a mode changed, or a new file that can be executed
    FILES = "files"  # too many files
    SIZE = "size"  # too long a diff
    BINARY = "binary"  # content that nobody can review
    ENTRY_POINT = "entry-point"  # code that runs by itself: allowed, and shown first
    TESTS = "tests"  # what existing tests say: allowed, and shown first


@dataclass(frozen=True, kw_only=True)
class Violation:
    """A rule that a patch breaks; `path` is empty where it is the whole patch that does."""

    rule: Rule
    path: str = ""
    detail: str = ""

    @property
    def cause(self) -> HoldCause:
        """What an attempt is held for."""
        match self.rule:
            case Rule.PROTECTED | Rule.NAME | Rule.LINK | Rule.MODE | Rule.ENTRY_POINT | Rule.TESTS:
                return HoldCause.PROTECTED
            case Rule.FILES | Rule.SIZE | Rule.BINARY:
                return HoldCause.TOO_BIG
        assert_never(self.rule)

    def __str__(self) -> str:
        return ": ".join(part for part in (self.rule.value, self.path, self.detail) if part)


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What a patch may touch and how big it may be.

    `protected` are patterns that maintainers add to those that are always protected. `lines_at_most` counts added and
    removed lines; None sets no limit of its own.
    """

    protected: tuple[str, ...] = ()
    files_at_most: int = 20
    bytes_at_most: int = 200_000
    lines_at_most: int | None = None
    binary_allowed: bool = False


def judge(patch: Patch, policy: Policy) -> tuple[Violation, ...]:
    """Every rule that the patch breaks."""
    return (*(broken for file in patch.files for broken in _of_file(file, policy)), *_of_size(patch, policy))


def notices(patch: Patch) -> tuple[Violation, ...]:
    """What the patch may do, and what people should look at first."""
    return (
        *(Violation(rule=Rule.ENTRY_POINT, path=path) for path in patch.paths if is_entry_point(path)),
        *(
            Violation(rule=Rule.TESTS, path=path, detail="knows of the tests that run it")
            for path, section in patch.sections
            if not is_of_tests(path) and any(_KNOWS_OF_TESTS.search(line) for _, line in added(section))
        ),
    )


def _of_file(file: FileChange, policy: Policy) -> Iterator[Violation]:
    if is_protected(file.path, policy.protected):
        yield Violation(rule=Rule.PROTECTED, path=file.path)
    if detail := _odd_name(file.path):
        yield Violation(rule=Rule.NAME, path=file.path, detail=detail)
    modes = (file.old_mode, file.new_mode)
    if not _LINKS.isdisjoint(modes):
        yield Violation(rule=Rule.LINK, path=file.path, detail=" → ".join(modes))
    elif modes not in _ALLOWED_MODES:
        yield Violation(rule=Rule.MODE, path=file.path, detail=" → ".join(modes))
    if file.binary and not policy.binary_allowed:
        yield Violation(rule=Rule.BINARY, path=file.path)


def _odd_name(path: str) -> str:
    try:
        return "" if plain(path) == path else "not its plain spelling"
    except Refused as refused:
        return str(refused)


def _of_size(patch: Patch, policy: Policy) -> Iterator[Violation]:
    files, size = len(patch.files), len(patch.diff.encode())
    lines = sum(file.added + file.removed for file in patch.files)
    if files > policy.files_at_most:
        yield Violation(rule=Rule.FILES, detail=f"{files} files, at most {policy.files_at_most}")
    if patch.cut:
        yield Violation(rule=Rule.SIZE, detail=f"the diff is too long to keep, at most {policy.bytes_at_most} bytes")
    elif size > policy.bytes_at_most:
        yield Violation(rule=Rule.SIZE, detail=f"{size} bytes, at most {policy.bytes_at_most}")
    if policy.lines_at_most is not None and lines > policy.lines_at_most:
        yield Violation(rule=Rule.SIZE, detail=f"{lines} lines, at most {policy.lines_at_most}")
