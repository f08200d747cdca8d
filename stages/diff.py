"""What differs between two trees of a trusted git directory, as a patch."""

from __future__ import annotations

import mmap
import re
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

from stages.git import Git
from stages.patch import FileChange, Patch

DIFF_AT_MOST: Final = 8 * 1024 * 1024  # bytes; a longer diff is not kept, only its list of files

# Of highest precedence, so that no `.gitattributes` of the tree can run a filter, change bytes or hide a diff.
ATTRIBUTES: Final = "* -text -eol -crlf -ident -filter -working-tree-encoding -export-subst !diff !merge !whitespace\n"

_LISTED: Final = ("-z", "--no-renames", "--raw", "--numstat", "--no-ext-diff")
_END_OF_LIST: Final = b"\0\0"  # no name is empty

_RAW = re.compile(rb":(\d{6}) (\d{6}) [0-9a-f]+ [0-9a-f]+ ([A-Z])\d*")
_COUNTED = re.compile(rb"(\d+|-)\t(\d+|-)\t(.*)", re.DOTALL)
_SECTION = re.compile(rb"^diff --git ", re.MULTILINE)
_ODD = re.compile(rb"[^A-Za-z0-9_./-]")


def compare(git: Git, git_dir: Path, old: str, new: str = "") -> Patch:
    """The patch that makes `new`, or else what the index of `git` holds, of `old`.

    Content that is not UTF-8 travels as git's binary form.
    """
    attributes = git_dir / "info" / "attributes"
    listed, diff = _listed_with_diff(git, old, new)
    raw, files = _read(listed)
    if odd := _not_utf8(diff, files):
        try:
            attributes.write_bytes(ATTRIBUTES.encode() + b"".join(_binary(raw[number]) for number in odd))
            files = tuple(replace(file, binary=file.binary or number in odd) for number, file in enumerate(files))
            _, diff = _listed_with_diff(git, old, new)
        finally:
            attributes.write_text(ATTRIBUTES)
    if diff is None:
        return Patch(diff="", files=files, cut=True)
    return Patch(diff=diff.decode(), files=files)


def changed(git: Git, old: str) -> tuple[FileChange, ...]:
    """The files that differ from `old` in the index of `git`.

    A name that is not UTF-8 is written with backslashes, which no policy lets pass.
    """
    return _read(git.run("diff-index", "--cached", *_LISTED, old))[1]


def _read(listed: bytes) -> tuple[list[bytes], tuple[FileChange, ...]]:
    """Names as they are, and the changes."""
    raw, counts, pieces = (
        list[tuple[bytes, bytes, bytes, bytes]](),
        dict[bytes, tuple[bytes, bytes]](),
        iter(listed.split(b"\0")),
    )
    for piece in pieces:
        if found := _RAW.fullmatch(piece):
            raw.append((next(pieces), found[3], found[1], found[2]))
        elif counted := _COUNTED.fullmatch(piece):
            counts[counted[3]] = (counted[1], counted[2])
    return [name for name, *_ in raw], tuple(
        _change(name, status, (old_mode, new_mode), counts.get(name, (b"0", b"0")))
        for name, status, old_mode, new_mode in raw
    )


def _change(name: bytes, status: bytes, modes: tuple[bytes, bytes], counted: tuple[bytes, bytes]) -> FileChange:
    binary = counted[0] == b"-"
    return FileChange(
        path=name.decode("utf-8", "backslashreplace"),
        status=status.decode(),
        old_mode=modes[0].decode(),
        new_mode=modes[1].decode(),
        added=0 if binary else int(counted[0]),
        removed=0 if binary else int(counted[1]),
        binary=binary,
    )


def _listed_with_diff(git: Git, old: str, new: str) -> tuple[bytes, bytes | None]:
    """What differs, and how; the second is None when it is too long to keep."""
    verb, sides = (("diff-tree", "-r"), (old, new)) if new else (("diff-index", "--cached"), (old,))
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "diff"
        options = ("-p", "--binary", "--no-textconv", "--no-color", "--unified=3")
        git.run(*verb, *_LISTED, *options, f"--output={output}", *sides)
        if output.stat().st_size == 0:
            return b"", b""
        with output.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as written:
            end = written.find(_END_OF_LIST)
            begin = end + len(_END_OF_LIST)
            return written[:end], written[begin:] if len(written) - begin <= DIFF_AT_MOST else None


def _not_utf8(diff: bytes | None, files: Iterable[FileChange]) -> frozenset[int]:
    """Numbers of the files whose section cannot be decoded."""
    if diff is None or _decodes(diff):
        return frozenset()
    # A change of type has two sections: one takes the old thing away, one makes the new one.
    owners = [number for number, file in enumerate(files) for _ in range(file.sections)]
    starts = [found.start() for found in _SECTION.finditer(diff)]
    ends = [*starts[1:], len(diff)]
    return frozenset(
        owner for owner, start, end in zip(owners, starts, ends, strict=True) if not _decodes(diff[start:end])
    )


def _decodes(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _binary(name: bytes) -> bytes:
    """A line of attributes that makes git take a file for binary; odd bytes of its name match any byte."""
    return b"/" + _ODD.sub(b"?", name) + b" -diff\n"
