"""Worlds that many tests begin with, made once: a run takes longer than most of what they do with what it left."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from click.testing import Result

from bot.run import Run
from tests.bot.kit import Bed, bed
from tests.bot.lines import AGENT, NOTE, Line, line

Found = TypeVar("Found")
_made: Final[dict[Path, Any]] = {}


def laid(make: Callable[[Path], Found], folder: Path) -> tuple[Path, Found]:
    """What `make` left, laid anew, and what it gave. `folder` is a test's own.

    A world names its own paths, so it is always laid at the one place where it was made, beside the folders of tests.
    """
    place = folder.parent / f"{make.__module__}.{make.__name__}"
    kept = place.with_name(f"{place.name}-kept")
    shutil.rmtree(place, ignore_errors=True)  # as the test before this one left it
    if place not in _made:
        place.mkdir()
        _made[place] = make(place)
        place.rename(kept)
    shutil.copytree(kept, place, symlinks=True)
    return place, _made[place]


def published(folder: Path) -> tuple[Bed, Run]:
    """A repository with a run that published its patch at the first attempt."""
    place, run = laid(_published, folder)
    return bed(place), run


def merged(folder: Path) -> tuple[Bed, Run]:
    """The same, with the patch in the default branch."""
    ground, run = published(folder)
    ground.merge(run.branch)
    return ground, run


def fixed(folder: Path) -> tuple[Line, Result]:
    """A person who typed `fix`, which published a patch, and what was printed then."""
    place, done = laid(_fixed, folder)
    return line(place, NOTE), done


def held(folder: Path) -> tuple[Line, Result]:
    """The same, with a patch that was wrong and had one attempt."""
    place, done = laid(_held, folder)
    return line(place, NOTE), done


def _published(folder: Path) -> Run:
    ground = bed(folder)
    return ground.fix(ground.app())


def _fixed(folder: Path) -> Result:
    return line(folder, NOTE).fix()


def _held(folder: Path) -> Result:
    return line(folder, NOTE).fix("--attempts", "1", script=AGENT.replace("echo 3 >", "echo 2 >"))
