"""Git behind one thin wrapper: list arguments, no configuration but ours, no hooks, no programs of a repository."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, Final

from stages.errors import ParkCause, Parked, StageError

AUTHOR: Final = "ticketsmith"
EMAIL: Final = "ticketsmith@localhost"

_SECONDS_AT_MOST = 600.0
_MESSAGE_AT_MOST = 400  # characters of git's own message

# What git would otherwise run or read on behalf of a repository or of the person who started us.
_CONFIG: Final = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.attributesFile": "/dev/null",
    "core.excludesFile": "/dev/null",
    "core.autocrlf": "false",
    "core.safecrlf": "false",
    "core.symlinks": "true",
    "core.fileMode": "true",
    "core.quotePath": "true",
    "core.protectNTFS": "true",
    "core.protectHFS": "true",
    "core.logAllRefUpdates": "false",
    "core.sshCommand": "false",
    "core.abbrev": "12",
    "credential.helper": "",
    "submodule.recurse": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "commit.gpgSign": "false",
    "init.defaultBranch": "main",
    "protocol.allow": "never",
    "safe.bareRepository": "explicit",
    # Whoever owns the folder: nothing of its configuration or hooks is run here, which is what the rule protects from.
    "safe.directory": "*",
}


class GitMissing(StageError):
    """git was not found. Install git 2.38 or newer and put it on PATH."""


class GitFailed(StageError):
    """git {verb} failed (exit {status}): {message}"""


@dataclass(frozen=True, kw_only=True)
class Said:
    """How a git command ended, and what it wrote to its two outputs."""

    status: int
    output: bytes
    message: str


@dataclass(frozen=True, kw_only=True)
class Reach:
    """Leave to reach one address by one protocol. `secret` is configuration that only git itself gets to see."""

    protocol: str
    secret: str = field(default="", repr=False)


@dataclass(frozen=True, kw_only=True)
class Git:
    """Runs git in `folder`, on the repository found there or on the one named by `git_dir` and `work_tree`.

    `settings` are further configuration, `index` is a file to use in place of the repository's index. Without `reach`
    nothing but this machine can be reached. After `seconds` it is killed.
    """

    folder: Path
    git_dir: Path | None = None
    work_tree: Path | None = None
    index: Path | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    reach: Reach | None = None
    seconds: float = _SECONDS_AT_MOST

    def run(self, verb: str, *arguments: str, stdin: bytes = b"", dates: str = "") -> bytes:
        """What git wrote to its standard output. Raises GitFailed, GitMissing, and Parked when the disk is full."""
        said = self.try_to(verb, *arguments, stdin=stdin, dates=dates)
        if said.status != 0:
            message = " ".join(said.message.split())[:_MESSAGE_AT_MOST]
            raise GitFailed(verb=verb, status=said.status, message=message)
        return said.output

    def ask(self, verb: str, *arguments: str, stdin: bytes = b"") -> bytes | None:
        """What git wrote, or None when it said no. Raises GitMissing."""
        said = self._execute(verb, arguments, stdin, "")
        return said.output if said.status == 0 else None

    def line(self, verb: str, *arguments: str) -> str | None:
        """The line that git wrote, or None when it said no. Raises GitMissing."""
        said = self.ask(verb, *arguments)
        return None if said is None else os.fsdecode(said).rstrip("\n")

    def try_to(self, verb: str, *arguments: str, stdin: bytes = b"", dates: str = "") -> Said:
        """How it ended, well or not. Raises GitMissing, and Parked when the disk is full."""
        said = self._execute(verb, arguments, stdin, dates)
        if said.status != 0 and os.strerror(errno.ENOSPC) in said.message:
            raise Parked(cause=ParkCause.DISK, reason=f"no room for git {verb}")
        return said

    def _execute(self, verb: str, arguments: Collection[str], stdin: bytes, dates: str) -> Said:
        # Imported here: importing it runs `git version`, and only those who use git shall pay for it.
        try:
            import git
        except ImportError as error:
            raise GitMissing from error
        program, cleaner = _programs(os.environ.get("PATH"))
        # GitPython hands its whole environment down; `env -i` takes it away again: no token, no GIT_DIR from outside.
        command = [cleaner, "-i", *(f"{name}={value}" for name, value in self._environment(dates).items()), program]
        # GitPython takes `$HOME` in its working folder for a variable, and where that is missing the folder we are in.
        command += ["-C", os.path.abspath(self.folder)]
        command += [f"--git-dir={self.git_dir}"] if self.git_dir else []
        command += [f"--work-tree={self.work_tree}"] if self.work_tree else []
        for name, value in {**_CONFIG, **self.settings}.items():
            command += ["-c", f"{name}={value}"]
        with _file_of(stdin) as given, self._secret() as (secret, inherited):
            command += secret
            status, output, message = git.Git("/").execute(
                [*command, verb, *arguments],
                istream=given,
                with_extended_output=True,
                with_exceptions=False,
                stdout_as_string=False,
                strip_newline_in_stdout=False,
                kill_after_timeout=self.seconds,
                pass_fds=inherited,
            )
        assert isinstance(output, bytes)
        return Said(status=int(status), output=output, message=str(message))

    @contextmanager
    def _secret(self) -> Iterator[tuple[list[str], tuple[int, ...]]]:
        """Arguments and file descriptors that hand the secret configuration over.

        It is a nameless file in memory that only git and what git starts inherit: not the command line, which every
        user of the machine can read, not the environment, and not the disk.
        """
        if self.reach is None:
            yield [], ()
            return
        allowed = ["-c", f"protocol.{self.reach.protocol}.allow=always"]
        handle = os.memfd_create("settings")
        try:
            os.write(handle, self.reach.secret.encode())
            yield [*allowed, "-c", f"include.path=/proc/self/fd/{handle}"], (handle,)
        finally:
            os.close(handle)

    def _environment(self, dates: str) -> dict[str, str]:
        environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": "/nonexistent",
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "false",
            "GIT_ALLOW_PROTOCOL": self.reach.protocol if self.reach else "none",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_AUTHOR_NAME": AUTHOR,
            "GIT_AUTHOR_EMAIL": EMAIL,
            "GIT_COMMITTER_NAME": AUTHOR,
            "GIT_COMMITTER_EMAIL": EMAIL,
        }
        if self.index:
            environment["GIT_INDEX_FILE"] = str(self.index)
        if dates:
            environment["GIT_AUTHOR_DATE"] = environment["GIT_COMMITTER_DATE"] = dates
        return environment


@contextmanager
def _file_of(stdin: bytes) -> Iterator[BinaryIO | None]:
    """What git reads; None for nothing."""
    if not stdin:
        yield None
        return
    with tempfile.TemporaryFile() as given:
        given.write(stdin)
        given.seek(0)
        yield given


@lru_cache(maxsize=1)
def _programs(_: str | None) -> tuple[str, str]:
    """git and env, where this PATH has them; looked for once. Raises GitMissing."""
    program, cleaner = shutil.which("git"), shutil.which("env")
    if program is None or cleaner is None:
        raise GitMissing
    return program, cleaner
