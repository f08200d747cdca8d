"""The trusted git directory of a workspace: it lies outside the tree and knows exactly one commit."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from memory.types import CommitId
from stages.diff import ATTRIBUTES, changed, compare
from stages.errors import DoesNotFit, Refused
from stages.git import Git, GitFailed
from stages.patch import FileChange, Patch

# What tests, interpreters and editors leave; files that the base tracks are not affected.
_LEFT_BEHIND = """\
__pycache__/
*.py[cod]
.pytest_cache/
.mypy_cache/
.ruff_cache/
.hypothesis/
.coverage
.coverage.*
.tox/
.nox/
.venv/
*.egg-info/
node_modules/
"""
_SHA1_DIGITS = 40  # of an id; SHA-256 has 64


class Clone:
    """One commit of a repository in a git directory of its own, with a tree that holds no `.git`.

    What an attempt wrote is kept as an index, apart from what its tests left in the tree.
    """

    def __init__(self, folder: Path, base: CommitId) -> None:
        self.git_dir, self.tree, self.base = folder / "git", folder / "tree", base
        self._git = Git(folder=folder, git_dir=self.git_dir, work_tree=self.tree)
        self._written = replace(self._git, index=self.git_dir / "written.index")

    @classmethod
    def make(cls, source: Git, base: CommitId, folder: Path) -> Clone:
        """Take the objects of exactly one commit over, nothing else: no parent, ref, remote, reflog or alternate."""
        clone = cls(folder, base)
        clone.tree.mkdir(parents=True)
        clone.git_dir.mkdir(mode=0o700)
        kind = "sha1" if len(base) == _SHA1_DIGITS else "sha256"
        Git(folder=folder).run(
            "init", "--quiet", "--bare", "--template=", f"--object-format={kind}", str(clone.git_dir)
        )
        objects = source.run("rev-list", "--objects", "--no-walk", "--no-object-names", base)
        source.run("pack-objects", "-q", "--window=0", str(clone.git_dir / "objects" / "pack" / "pack"), stdin=objects)
        (clone.git_dir / "shallow").write_text(f"{base}\n")  # its parents are not here
        (clone.git_dir / "info").mkdir()
        (clone.git_dir / "info" / "exclude").write_text(_LEFT_BEHIND)
        (clone.git_dir / "info" / "attributes").write_text(ATTRIBUTES)
        (clone.git_dir / "HEAD").write_text(f"{base}\n")  # no branch
        return clone

    # --- the tree ----------------------------------------------------------------------------------------------------

    def check_out(self) -> None:
        """Forget what was written, and fill the tree, which must be empty, with the base commit."""
        self._written.run("read-tree", self.base)
        self._written.run("checkout-index", "--all", "--force", "--quiet")

    def put(self, paths: Iterable[str]) -> None:
        """Write these files into the tree, as they were written last."""
        listed = "".join(f"{path}\0" for path in paths).encode()
        self._written.run("checkout-index", "--force", "--quiet", "-z", "--stdin", stdin=listed)

    def files_at_base(self) -> tuple[str, ...]:
        """Paths of the regular files at the base; names that are not UTF-8 are left out."""
        entries = self._git.run("ls-tree", "-r", "-z", self.base).split(b"\0")
        return tuple(name for entry in entries if entry.startswith(b"100") and (name := _name(entry)))

    def at_base(self, path: str) -> bytes | None:
        """A file's content at the base; None where there is no regular file."""
        entry = self._git.run("ls-tree", "-z", self.base, "--", path).split(b"\0")[0]
        if not entry.startswith(b"100") or _name(entry) != path:
            return None
        return self._git.run("cat-file", "blob", entry.split(b"\t")[0].split(b" ")[2].decode())

    # --- what was written --------------------------------------------------------------------------------------------

    def write(self, contents: Mapping[str, bytes | None]) -> None:
        """Count these files as written; None is a file taken away."""
        modes = self._modes(contents)
        blobs = self._keep([data for data in contents.values() if data is not None])
        # Files that go are named first: one may stand where a folder of another must be.
        entries = [f"0 {'0' * len(self.base)}\t{path}\0" for path, data in contents.items() if data is None]
        entries += [
            f"{modes.get(path, '100644')} {next(blobs)}\t{path}\0"
            for path, data in contents.items()
            if data is not None
        ]
        self._written.run("update-index", "--replace", "-z", "--index-info", stdin="".join(entries).encode())

    def absorb(self) -> None:
        """Count everything in the tree that is not ignored as written. Raises Refused where git cannot take it."""
        self._take_tree(self._written)

    def apply(self, patch: Patch) -> tuple[FileChange, ...]:
        """Count a patch as written, and give what changed by it. Raises Refused where it does not fit."""
        before = self._written.run("write-tree").decode().strip()
        try:
            self._written.run("apply", "--cached", "--whitespace=nowarn", "-", stdin=patch.diff.encode())
        except GitFailed as error:
            raise DoesNotFit(reason=error.fields["message"]) from error
        return changed(self._git, before, self._written.run("write-tree").decode().strip())

    def patch(self, *, touched_only: bool, without: str = "") -> Patch:
        """The diff from the base to what was written, or to the whole tree; the path `without` is left out."""
        with self._copy_of_index() as index:
            if not touched_only:
                self._take_tree(index)
            if without:
                index.run("update-index", "--force-remove", "-z", "--stdin", stdin=f"{without}\0".encode())
            tree = index.run("write-tree").decode().strip()
        return compare(self._git, self.git_dir, f"{self.base}^{{tree}}", tree)

    @contextmanager
    def _copy_of_index(self) -> Iterator[Git]:
        with tempfile.TemporaryDirectory(dir=self.git_dir) as folder:
            shutil.copyfile(self.git_dir / "written.index", Path(folder) / "index")
            yield replace(self._git, index=Path(folder) / "index")

    def _take_tree(self, index: Git) -> None:
        _remove_git_folders(self.tree)
        # Read anew: without time stamps in the index none can be forged to equal them, every file is hashed.
        index.run("read-tree", self.base)
        try:
            replace(index, folder=self.tree).run("add", "--all", "--", ".")
        except GitFailed as error:
            raise Refused(reason=f"the tree cannot be read: {error.fields['message']}") from error

    def _keep(self, contents: list[bytes]) -> Iterator[str]:
        """Ids of the blobs, stored."""
        with tempfile.TemporaryDirectory() as folder:
            for number, data in enumerate(contents):
                (Path(folder) / str(number)).write_bytes(data)
            names = "".join(f"{folder}/{number}\n" for number in range(len(contents)))
            stored = self._git.run("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=names.encode())
        return iter(stored.decode().split())

    def _modes(self, paths: Iterable[str]) -> dict[str, str]:
        listed = self._written.run("ls-files", "-s", "-z", "--", *paths).split(b"\0")
        return {name: entry[:6].decode() for entry in listed if entry.startswith(b"100") and (name := _name(entry))}


def _name(entry: bytes) -> str:
    try:
        return entry.split(b"\t", 1)[1].decode()
    except UnicodeDecodeError:
        return ""


def _remove_git_folders(tree: Path) -> None:
    """Take away every `.git` that something running in the tree has made: git would read its settings."""
    for folder, folders, files in os.walk(tree):
        for name in [name for name in (*folders, *files) if name.casefold() == ".git"]:
            found = Path(folder) / name
            if name in folders and not found.is_symlink():
                shutil.rmtree(found)
                folders.remove(name)
            else:
                found.unlink()
