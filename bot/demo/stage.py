"""Sets the demo up: the bundled repository with a history of its own, in a new folder."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import datetime
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from stages.git import Git

OLD_BRANCH: Final = "1.x"
MAIN_BRANCH: Final = "main"


@dataclass(frozen=True, kw_only=True)
class Set:
    """Where the demo's things are."""

    repository: Path
    first: Path
    second: Path


def bundled() -> Traversable:
    """What comes with the program: a folder `repository`, and the tickets `first.md` and `second.md` in `tickets`."""
    return resources.files("bot").joinpath("demo")


def build(folder: Path, now: datetime, source: Traversable) -> Set:
    """A new repository below `folder` with the branches `main` and `1.x`, which share the defect."""
    home = folder / f"{now:%Y%m%d-%H%M%S-%f}"
    home.mkdir(parents=True)
    with resources.as_file(source.joinpath("repository")) as repository:
        shutil.copytree(repository, home / "till", ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
    for name in ("first.md", "second.md"):
        (home / name).write_text(source.joinpath("tickets", name).read_text("utf-8"), "utf-8")
    git = Git(folder=home / "till")
    git.run("init", "--quiet", f"--initial-branch={MAIN_BRANCH}")
    git.run("add", "--all")
    git.run("commit", "--quiet", "--message=Sell cups and lamps")
    git.run("branch", OLD_BRANCH)
    (home / "till" / "CHANGES.md").write_text("# Changes\n\n- 2.0: sold in two shops now\n", "utf-8")
    git.run("add", "--all")
    git.run("commit", "--quiet", "--message=Open a second shop")
    return Set(repository=home / "till", first=home / "first.md", second=home / "second.md")


def merge(repository: Path, branch: str) -> None:
    """What a maintainer does who likes the patch."""
    Git(folder=repository).run("merge", "--quiet", "--no-ff", "--message=Merge a repair", branch)
