"""Which file of the repository a frame means, and the name under which that file is compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from memory.signature.inapp import in_library, installed, origin_of
from memory.signature.paths import short_name
from memory.signature.shapes import Origin, RepoView

_SOURCE_ROOTS = ("src/", "lib/", "python/", "src/main/java/", "src/main/kotlin/", "app/")


@dataclass(frozen=True, kw_only=True)
class Located:
    """A file as it is compared, and whose it is."""

    name: str
    origin: Origin
    ours: bool  # known to be the repository's own


def located(path: str, repo: RepoView) -> Located:
    """The file at a path (with `/`).

    Its name is the short one, which survives another folder and a later move; only where the repository has two files
    of one short name it is the path.
    """
    known = tracked(path, repo)
    ours = bool(known) or own(path, repo)
    origin = origin_of(known or path)
    if ours and origin is Origin.LIBRARY:
        origin = Origin.APP
    return Located(name=_name(known, repo) if known else short_name(path), origin=origin, ours=ours)


def own(path: str, repo: RepoView) -> bool:
    """Whether the path goes through a package of the repository itself, installed or not."""
    return any(f"/{name}/" in f"/{path}" for name in repo.own_packages if name)


def tracked(path: str, repo: RepoView) -> str:
    """The tracked file that a frame's path means, or ""."""
    if not repo.files or not path:
        return ""
    candidates = _by_name(repo.files).get(path.rsplit("/", 1)[-1], ())
    inside = installed(path)
    if inside is not None:
        return next((file for file in candidates if inside in _spellings(file)), "")
    if in_library(path):
        return ""
    whole = [file for file in candidates for spelling in _spellings(file) if f"/{path}".endswith(f"/{spelling}")]
    if whole:
        return max(whole, key=len)
    inner = [file for file in candidates if file.endswith(f"/{path.lstrip('./')}")]
    return inner[0] if len(inner) == 1 else ""


def _spellings(file: str) -> tuple[str, ...]:
    return (file, *(file.removeprefix(root) for root in _SOURCE_ROOTS if file.startswith(root)))


def _name(known: str, repo: RepoView) -> str:
    short = short_name(known)
    return short if _namesakes(repo.files).get(short, 0) == 1 else known


@lru_cache(maxsize=8)
def _by_name(files: frozenset[str]) -> Mapping[str, tuple[str, ...]]:
    named: dict[str, list[str]] = {}
    for file in sorted(files):
        named.setdefault(file.rsplit("/", 1)[-1], []).append(file)
    return {name: tuple(paths) for name, paths in named.items()}


@lru_cache(maxsize=8)
def _namesakes(files: frozenset[str]) -> Mapping[str, int]:
    counted: dict[str, int] = {}
    for file in files:
        short = short_name(file)
        counted[short] = counted.get(short, 0) + 1
    return counted
