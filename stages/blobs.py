"""Files at a commit: which may be read, how they are named, and many of them in two steps of git."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePosixPath
from typing import Final, Protocol

from stages.errors import Refused

FULL_ID: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
READ_AT_MOST: Final = 8 * 1024 * 1024  # bytes of one file


class Run(Protocol):
    """Runs git in one repository."""

    def __call__(self, verb: str, *arguments: str, stdin: bytes = b"") -> bytes:
        """What git wrote."""


def inside(path: str) -> str:
    """The path as git takes it. Raises Refused for one that leads out of the repository."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\0" in path:
        raise Refused(reason=f"{path!r} is no path inside the repository")
    return "/".join(parts)


def readable(path: str, size: int) -> bool:
    """True for a file that is not too big; raises Refused for one that is."""
    if size > READ_AT_MOST:
        raise Refused(reason=f"{path} has {size} bytes, more than {READ_AT_MOST}")
    return True


def name_of(entry: bytes) -> str | None:
    """The path in an entry of a listing; None when it is not UTF-8."""
    try:
        return entry.split(b"\t", 1)[1].decode()
    except UnicodeDecodeError:
        return None


def blobs_of(listing: bytes) -> dict[str, str]:
    """Ids of the regular files of a listing (`ls-tree -r -z`), by path; names that are not UTF-8 are left out."""
    regular = [entry for entry in listing.split(b"\0") if entry.startswith(b"100")]
    named = ((name_of(entry), entry) for entry in regular)
    return {name: entry.split(b"\t", 1)[0].split()[2].decode() for name, entry in named if name is not None}


def read_all(run: Run, listed: Iterable[bytes], wanted: Callable[[str, int], bool]) -> dict[str, bytes]:
    """Contents of the regular files of a listing (`ls-tree -l -z`) that `wanted` says yes to, by path.

    Names that are not UTF-8 are left out.
    """
    blobs: dict[str, str] = {}
    for entry in listed:
        found = _regular(entry)
        if found and wanted(found[0], found[2]):
            blobs[found[0]] = found[1]
    if not blobs:
        return {}
    asked = "".join(f"{blob}\n" for blob in blobs.values()).encode()
    return dict(zip(blobs, _contents(run("cat-file", "--batch", stdin=asked)), strict=True))


def _regular(entry: bytes) -> tuple[str, str, int] | None:
    """Path, id and bytes of an entry that is a regular file: links and submodules are not followed."""
    path = name_of(entry) if entry.startswith(b"100") else None
    if path is None:
        return None
    _, _, blob, size = entry.split(b"\t", 1)[0].split()
    return path, blob.decode(), int(size)


def _contents(output: bytes) -> Iterator[bytes]:
    """What `cat-file --batch` wrote, object by object: a line that ends with the size, the content, a line break."""
    at = 0
    while at < len(output):
        end = output.index(b"\n", at)
        size = int(output[at:end].rsplit(b" ", 1)[1])
        yield output[end + 1 : end + 1 + size]
        at = end + 1 + size + 1
