"""A bare git folder as `git init` makes it, without a process, a template or anything else of this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from memory.types import CommitId

_SETTINGS: Final = {
    "sha1": "[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
    "sha256": "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n",
}
_SHA1_DIGITS: Final = 40  # of an id; SHA-256 has 64


def lay_out(folder: Path, *, object_format: str, head: str = "ref: refs/heads/main") -> None:
    """Make `folder`, which must not be there yet. Ids of its commits are of a kind that git knows by that name."""
    folder.mkdir(mode=0o700)
    for name in ("info", "objects/info", "objects/pack", "refs"):
        (folder / name).mkdir(parents=True)
    (folder / "HEAD").write_text(f"{head}\n", "utf-8")
    (folder / "config").write_text(_SETTINGS[object_format], "utf-8")


def object_format_of(commit: CommitId) -> str:
    """The kind of ids in the repository of a commit."""
    return "sha1" if len(commit) == _SHA1_DIGITS else "sha256"
