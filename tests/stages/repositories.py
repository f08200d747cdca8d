"""Small git repositories for tests, made through the wrapper."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from memory.types import CheckId, CommitId
from stages.checks import PYTEST, Checks
from stages.git import Git
from stages.report import Reproduction
from stages.repository import Repository
from stages.sandbox import Sandbox
from stages.sandbox.plain import Plain
from stages.workspace import Workspace, Workspaces

SHOP: Final[Mapping[str, str]] = {
    "src/shop/__init__.py": "",
    "src/shop/cart.py": (
        "def total(prices):\n    return sum(prices[1:])\n\n\ndef count(prices):\n    return len(prices)\n"
    ),
    "tests/test_cart.py": (
        "from shop.cart import count, total\n\n\n"
        "def test_total():\n    assert total([1, 2]) == 3\n\n\n"
        "def test_count():\n    assert count([1, 2]) == 2\n    assert count([]) == 0\n"
    ),
}
"""A package with one defect that one of its two tests shows."""
FIXED: Final = SHOP["src/shop/cart.py"].replace("[1:]", "")


def git(folder: Path, verb: str, *arguments: str) -> str:
    """What git says, run as the bot runs it, with folders of others allowed."""
    return Git(folder=folder).run(verb, *arguments).decode().strip()


def put(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for path, content in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())


def commit(folder: Path, files: Mapping[str, str | bytes] | None = None, message: str = "change") -> CommitId:
    put(folder, files or {})
    git(folder, "add", "--all", "--force", "--", ".")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", message)
    return CommitId(git(folder, "rev-parse", "HEAD"))


def make(folder: Path, files: Mapping[str, str | bytes] = SHOP) -> Repository:
    """A repository with one commit of these files, and of what lies there already, on `main`."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        _begin(folder, files)
    else:
        put(folder, files)
        put(folder / ".git", _begun(tuple(files.items())))
        for empty in ("hooks", "objects/pack", "refs/tags"):
            (folder / ".git" / empty).mkdir(parents=True, exist_ok=True)
    return Repository.open(folder)


def _begin(folder: Path, files: Mapping[str, str | bytes]) -> None:
    git(folder, "init", "--quiet", "--initial-branch=main", ".")
    commit(folder, files, "begin")


@lru_cache(maxsize=64)
def _begun(files: tuple[tuple[str, str | bytes], ...]) -> Mapping[str, bytes]:
    """What a git folder with one commit of these files holds, made once: it takes four processes."""
    with TemporaryDirectory() as name:
        _begin(Path(name), dict(files))
        inside = Path(name) / ".git"
        made = [path for path in inside.rglob("*") if path.is_file() and path.suffix != ".sample"]
        return {path.relative_to(inside).as_posix(): path.read_bytes() for path in made}


def checks(sandbox: Sandbox | None = None) -> Checks:
    """Checks as plain processes: these trees are our own."""
    return Checks(sandbox or Plain(), Path(sys.executable))


def workspace(folder: Path, files: Mapping[str, str | bytes] = SHOP, name: str = "one") -> Workspace:
    """A workspace of a fresh repository."""
    repository = make(folder / "repository", files)
    return Workspaces(folder / "work", checks()).make(repository, repository.resolve(), name)


def reproduction(path: str, text: str, test: str = "") -> Reproduction:
    """A new test file that shows a failure."""
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return Reproduction(check=PYTEST, test=CheckId(test or path), path=path, text=text, sha256=sha256)
