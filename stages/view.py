"""What a tree tells the signatures of failures."""

from __future__ import annotations

from collections.abc import Iterable

from memory.signature import RepoView


def view_of(files: Iterable[str]) -> RepoView:
    """The tree's files, and the packages that it is."""
    paths = frozenset(files)
    packages = {path.split("/")[-2] for path in paths if path.endswith("/__init__.py") and path.count("/") in (1, 2)}
    return RepoView(files=paths, own_packages=tuple(sorted(packages - {"tests", "test"})))
