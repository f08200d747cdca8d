"""What a diff may touch: decided by code from paths, modes and sizes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from memory.types import HoldCause
from stages.patch import Patch


class Rule(StrEnum):
    """The rules of the policy."""

    PROTECTED = "protected"  # a path that only people change
    NAME = "name"  # a name that git, a file system or a reader could take for another
    MODE = "mode"  # a mode changed, or a new file that is no plain file
    LINK = "link"  # a symbolic link or a submodule
    FILES = "files"  # too many files
    SIZE = "size"  # too long a diff
    BINARY = "binary"
    CONFIGURATION = "configuration"  # how the tests are run is changed


@dataclass(frozen=True, kw_only=True)
class Violation:
    """A rule that a patch breaks."""

    rule: Rule
    path: str
    detail: str = ""

    @property
    def cause(self) -> HoldCause:
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What a patch may touch and how big it may be. Patterns are added to those that are always protected."""

    protected: tuple[str, ...] = ()
    files_at_most: int = 20
    bytes_at_most: int = 200_000
    lines_at_most: int | None = None
    binary_allowed: bool = False


def judge(patch: Patch, policy: Policy) -> tuple[Violation, ...]:
    """Every rule that the patch breaks."""
    raise NotImplementedError
