"""A bare repository of our GitHub: read and changed by plain git."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

AUTHOR: Final = "Ada Coder <ada@example.org>"
_ENVIRONMENT: Final = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_COMMITTER_NAME": "GitHub",
    "GIT_COMMITTER_EMAIL": "noreply@github.example",
}
_COMMITTER: Final = "GitHub <noreply@github.example>"
_CONFIG: Final = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
[http]
\treceivepack = true
[uploadpack]
\tallowFilter = true
\tallowAnySHA1InWant = true
"""


@dataclass(frozen=True)
class Bare:
    path: Path

    @classmethod
    def make(cls, path: Path, branch: str) -> Bare:
        """What `git init --bare` makes, with leave to push and to fetch any commit."""
        for folder in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "hooks"):
            (path / folder).mkdir(parents=True)
        (path / "HEAD").write_text(f"ref: refs/heads/{branch}\n")
        (path / "config").write_text(_CONFIG)
        return cls(path)

    def git(self, *arguments: str, stdin: bytes = b"", author: str = AUTHOR) -> str:
        name, _, mail = author.rstrip(">").partition(" <")
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.path,
            env=_ENVIRONMENT | {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": mail},
            input=stdin,
            capture_output=True,
            check=False,
        )
        if done.returncode != 0:
            raise AssertionError(f"git {arguments}: {done.stderr.decode()}")
        return done.stdout.decode().strip()

    def head(self, branch: str) -> str | None:
        return self.refs().get(f"refs/heads/{branch}")

    def refs(self) -> dict[str, str]:
        """Every ref by its full name, read as git stores it: each is asked for a thousand times."""
        loose: dict[str, str] = {}
        for folder, _, names in os.walk(self.path / "refs"):
            for name in names:
                place = Path(folder) / name
                if not name.endswith(".lock") and place.exists():
                    loose[place.relative_to(self.path).as_posix()] = place.read_text().strip()
        packed = self.path / "packed-refs"  # last: what is packed meanwhile is there before its file goes
        lines = packed.read_text().splitlines() if packed.exists() else []
        found = {name: sha for sha, _, name in (line.partition(" ") for line in lines if line[0] not in "#^")} | loose
        return dict(sorted(found.items()))

    def has(self, sha: str) -> bool:
        try:
            return self.git("cat-file", "-t", sha) == "commit"
        except AssertionError:
            return False

    def commit(
        self,
        branch: str,
        files: Mapping[str, str | None],
        message: str,
        *,
        onto: str | None = None,
        author: str = AUTHOR,
    ) -> str:
        """One commit on a branch, made where there is none; None takes a file away."""
        parent = self.head(branch) or onto
        self._check(parent, files)
        now = f"{int(time.time())} +0000"
        stream = [
            f"commit refs/heads/{branch}\nauthor {author} {now}\ncommitter {_COMMITTER} {now}\n",
            _data(message.rstrip("\n") + "\n"),
            f"from {parent}\n" if parent else "",
            *(
                f"D {_quoted_path(path)}\n" if text is None else f"M 100644 inline {_quoted_path(path)}\n{_data(text)}"
                for path, text in files.items()
            ),
        ]
        self.git("fast-import", "--quiet", "--force", "--date-format=raw", stdin="".join(stream).encode())
        sha = self.head(branch)
        assert sha
        return sha

    def _check(self, parent: str | None, files: Mapping[str, str | None]) -> None:
        """Refuse paths that git would not check out, and a file below another one: `fast-import` takes both."""
        there = set(self.git("ls-tree", "-r", "-z", "--name-only", parent).split("\0")) if parent else set()
        there = {*there, *files} - {path for path, text in files.items() if text is None}
        for path in files:
            parts = path.split("/")
            assert not {"", ".", "..", ".git"}.intersection(part.lower() for part in parts), path
            assert "\n" not in path, path
            assert not there.intersection("/".join(parts[:depth]) for depth in range(1, len(parts))), path

    def merge(self, base: str, head: str, message: str) -> str | None:
        """A merge commit on the branch `base`; None when they conflict."""
        ours = self.head(base)
        assert ours
        try:
            tree = self.git("merge-tree", "--write-tree", ours, head).splitlines()[0]
        except AssertionError:
            return None
        sha = self.git("commit-tree", "-p", ours, "-p", head, "-m", message, tree)
        self.git("update-ref", f"refs/heads/{base}", sha)
        return sha

    def delete(self, branch: str) -> None:
        self.git("update-ref", "-d", f"refs/heads/{branch}")

    def commits(self, base: str, head: str) -> list[tuple[str, str]]:
        """Ids and e-mail addresses of the authors of what `head` has and `base` has not, oldest first."""
        listed = self.git("log", "--reverse", "--format=%H %ae", f"{base}..{head}").splitlines()
        return [(line.split(" ")[0], line.split(" ", 1)[1]) for line in listed]

    def count(self, base: str, head: str) -> tuple[int, int]:
        """How many commits `head` is ahead and behind."""
        behind, ahead = self.git("rev-list", "--left-right", "--count", f"{base}...{head}").split()
        return int(ahead), int(behind)

    def reject(self, message: str, *, status: int = 1) -> None:
        """Refuse every push with this text, as a ruleset or a protected branch does."""
        lines = "\n".join(f"echo {_quoted(line)} >&2" for line in message.splitlines())
        self._hook(f"{lines}\nexit {status}\n")

    def before_push(self, script: str) -> None:
        """Run a shell script when a push arrives, before it is taken."""
        self._hook(script)

    def accept(self) -> None:
        (self.path / "hooks" / "pre-receive").unlink(missing_ok=True)

    def _hook(self, script: str) -> None:
        hook = self.path / "hooks" / "pre-receive"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ncat > /dev/null\n{script}", "utf-8")
        hook.chmod(0o755)


def _data(text: str) -> str:
    """A text as `git fast-import` reads it."""
    return f"data {len(text.encode())}\n{text}\n"


def _quoted_path(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
