"""The trusted git directory of a workspace: it lies outside the tree and knows exactly one commit."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from memory.types import CommitId
from stages.bare import lay_out, object_format_of
from stages.blobs import blobs_of
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
_MODES_STAY = {"core.fileMode": "false"}  # of files that are known; others are not executable
_UPDATE = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")


class Clone:
    """One commit of a repository in a git directory of its own, with a tree that holds no `.git`.

    What an attempt wrote is kept as an index, apart from what its tests left in the tree.
    """

    def __init__(self, folder: Path, base: CommitId) -> None:
        self.git_dir, self.tree, self.base = folder / "git", folder / "tree", base
        self._git = Git(folder=folder, git_dir=self.git_dir, work_tree=self.tree)
        # The index of the base is never changed, and holds no time stamp of any file.
        self._base_index, self._written_index = self.git_dir / "base.index", self.git_dir / "written.index"
        self._written = replace(self._git, index=self._written_index)

    @classmethod
    def make(cls, source: Path, base: CommitId, folder: Path) -> Clone:
        """Take the objects of exactly one commit over, nothing else: no parent, ref, remote, reflog or alternate.

        `source` is the folder of the objects of a repository. It may lie on another disk, and is only read.
        """
        clone = cls(folder, base)
        clone.tree.mkdir(parents=True)
        clone._lay_out()
        with clone._seeing(source):
            pack = str(clone.git_dir / "objects" / "pack" / "pack")
            wanted = f"--shallow {base}\n{base}\n".encode()
            clone._git.run("pack-objects", "-q", "--revs", "--window=0", pack, stdin=wanted)
        replace(clone._git, index=clone._base_index).run("read-tree", base)
        return clone

    @contextmanager
    def _seeing(self, objects: Path) -> Iterator[None]:
        """What git packs here it writes here first: in the repository itself it would begin the file there."""
        alternates = self.git_dir / "objects" / "info" / "alternates"
        path = os.fsencode(objects).replace(b"\\", rb"\\").replace(b'"', rb"\"").replace(b"\n", rb"\n")
        alternates.write_bytes(b'"' + path + b'"\n')  # quoted as git quotes
        try:
            yield
        finally:
            alternates.unlink()

    def _lay_out(self) -> None:
        """A git folder with our own rules."""
        lay_out(self.git_dir, object_format=object_format_of(self.base), head=self.base)  # no branch
        (self.git_dir / "shallow").write_text(f"{self.base}\n")  # its parents are not here
        (self.git_dir / "info" / "exclude").write_text(_LEFT_BEHIND)
        (self.git_dir / "info" / "attributes").write_text(ATTRIBUTES)

    # --- the tree ----------------------------------------------------------------------------------------------------

    def check_out(self) -> None:
        """Forget what was written, and fill the tree, which must be empty, with the base commit."""
        shutil.copyfile(self._base_index, self._written_index)
        self._written.run("checkout-index", "--all", "--force", "--quiet")

    def put(self, paths: Iterable[str]) -> None:
        """Write these files into the tree, as they were written last."""
        self._written.run("checkout-index", "--force", "--quiet", "-z", "--stdin", stdin=_listed(paths))

    def files_at_base(self) -> tuple[str, ...]:
        """Paths of the regular files at the base; names that are not UTF-8 are left out."""
        return tuple(self._blobs)

    def at_base(self, path: str) -> bytes | None:
        """A file's content at the base; None where there is no regular file."""
        blob = self._blobs.get(path)
        return None if blob is None else self._git.run("cat-file", "blob", blob)

    @cached_property
    def _blobs(self) -> dict[str, str]:
        """Ids of the regular files at the base, by path."""
        return blobs_of(self._git.run("ls-tree", "-r", "-z", self.base))

    # --- what was written --------------------------------------------------------------------------------------------

    def write(self, contents: Mapping[str, bytes | None]) -> None:
        """Count these files as written; None is a file taken away. A file that was there keeps its mode."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for path, data in contents.items():
                if data is not None:
                    (folder / path).parent.mkdir(parents=True, exist_ok=True)
                    (folder / path).write_bytes(data)
            # A file whose place a folder took goes with what is written in that folder.
            gone = [path for path, data in contents.items() if data is None and not (folder / path).exists()]
            written = [path for path, data in contents.items() if data is not None]
            # Not from the tree itself: what runs there may have changed these files since.
            index = replace(self._written, folder=folder, work_tree=folder, settings=_MODES_STAY)
            said = index.try_to(*_UPDATE, stdin=_listed([*gone, *written]))
        if said.status != 0 or said.message:  # a name that it does not take it passes over, with a word
            raise GitFailed(verb=_UPDATE[0], status=said.status, message=said.message)

    def absorb(self) -> None:
        """Count everything in the tree that is not ignored as written. Raises Refused where git cannot take it."""
        shutil.copyfile(self._base_index, self._written_index)
        self._add_tree(self._written_index)

    def apply(self, patch: Patch) -> tuple[FileChange, ...]:
        """Count a patch as written, and give what changed by it. Raises Refused where it does not fit."""
        before = self.base if self._is_unwritten() else self._written.run("write-tree").decode().strip()
        try:
            self._written.run("apply", "--cached", "--whitespace=nowarn", "-", stdin=patch.diff.encode())
        except GitFailed as error:
            raise DoesNotFit(reason=error.fields["message"]) from error
        return changed(self._beside_tree(self._written_index), before)

    def patch(self, *, touched_only: bool, without: str = "") -> Patch:
        """The diff from the base to what was written, or to the whole tree; the path `without` is left out."""
        if touched_only:
            return self._patch_of(self._written_index, without)
        with self._copy_of(self._base_index) as index:
            self._add_tree(index)
            return self._patch_of(index, without)

    def _patch_of(self, index: Path, without: str) -> Patch:
        patch = compare(self._beside_tree(index), self.git_dir, self.base)
        if without not in patch.paths:
            return patch
        with self._copy_of(index) as other:
            git = replace(self._git, index=other)
            git.run("update-index", "--force-remove", "-z", "--stdin", stdin=_listed([without]))
            return compare(self._beside_tree(other), self.git_dir, self.base)

    def _is_unwritten(self) -> bool:
        """False also where it was written and taken back."""
        return self._written_index.read_bytes() == self._base_index.read_bytes()

    def _beside_tree(self, index: Path) -> Git:
        """Git where it finds no file of the tree that it could take for what the index holds."""
        return replace(self._git, folder=self.git_dir, work_tree=None, index=index)

    @contextmanager
    def _copy_of(self, index: Path) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(dir=self.git_dir) as folder:
            yield shutil.copyfile(index, Path(folder) / "index")

    def _add_tree(self, index: Path) -> None:
        """`index` is as the base: without time stamps in it none can be forged to equal them, every file is hashed."""
        _remove_git_folders(self.tree)
        try:
            replace(self._git, folder=self.tree, index=index).run("add", "--all", "--", ".")
        except GitFailed as error:
            raise Refused(reason=f"the tree cannot be read: {error.fields['message']}") from error


def _listed(paths: Iterable[str]) -> bytes:
    return "".join(f"{path}\0" for path in paths).encode()


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
