"""The install phase: the one time at which foreign commands reach the network, before anything of an attempt exists.

What a step sees of the tree is exactly what its key is made from, so that no file can change what is kept under a key
without changing the key.
"""

from __future__ import annotations

import contextlib
import platform
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePath
from typing import Final

from memory.text import one_line
from memory.types import CommitId
from stages.clone import Clone
from stages.errors import ParkCause, Parked, StageError
from stages.installed import Installed, Kept, Note, Shelf, digest_of
from stages.installs import KEPT, PYTHON, Install
from stages.jail import Jail
from stages.repository import Repository
from stages.sandbox import Command, Level, Ran, Sandbox, needed_by, remove
from stages.toolchains import Toolchain, Toolchains

_FORM: Final = 1  # of what is kept; another number makes everything anew
_TOLD_AT_MOST: Final = 400  # characters of what a failed step printed
_HOSTS_TOLD: Final = 5
_NO_HOSTS: Final = (
    "no host is named for it: list those of your registries as `hosts` under [install] in the operator's "
    "ticketsmith.toml"
)
_TOO_WEAK: Final = "only the sandbox bubblewrap can open the network to single hosts"


class CannotInstall(StageError):
    """{step} cannot be done: {problem}"""


@dataclass(frozen=True, kw_only=True)
class Base:
    """A commit of a repository, before any change."""

    repository: Repository
    commit: CommitId

    def read(self, path: str) -> bytes | None:
        """A file as it stands there. Raises Refused for one that is too large."""
        return self.repository.read(self.commit, path)

    def seen_by(self, step: Install) -> Mapping[str, str | None] | str:
        """Ids of all that a step sees."""
        if step.files:
            return {path: self.repository.blob(self.commit, path) for path in step.files}
        return self.repository.git.run("rev-parse", "--verify", f"{self.commit}^{{tree}}").decode().strip()

    @contextlib.contextmanager
    def tree(self, step: Install, folder: Path) -> Iterator[Path]:
        """A folder with what a step sees, and nothing else, in here."""
        remove(folder)
        try:
            if step.files:
                (folder / "tree").mkdir(parents=True)
                jail = Jail(folder / "tree")
                for path in step.files:
                    if (data := self.read(path)) is not None:
                        jail.write(path, data)
            else:
                Clone.make(self.repository.objects, self.commit, folder).check_out()
            yield folder / "tree"
        finally:
            remove(folder)


@dataclass(frozen=True, kw_only=True)
class Installer:
    """Installs in `sandbox`, with the hosts that the operator named; what is then kept lies below `folder`.

    `python` is the interpreter that environments are made from; `owner` and the repository's id say whose it is.
    """

    folder: Path
    sandbox: Sandbox
    hosts: tuple[str, ...]
    python: Path
    owner: str
    toolchains: Toolchains = field(default_factory=Toolchains)

    def install(self, base: Base, steps: Iterable[Install], stopped: Callable[[], bool] = lambda: False) -> Installed:
        """Take these steps, those that were not taken before.

        Raises Parked when a step that was asked for cannot be taken here or fails, Stopped, and Refused for a file that
        cannot be read.
        """
        kept, left_out = list[Kept](), list[str]()
        for step in steps:
            try:
                kept.append(self._kept(base, step, stopped))
            except CannotInstall as error:
                if not step.detected:
                    raise Parked(cause=ParkCause.ENVIRONMENT, reason=str(error)) from error
                left_out.append(str(error))
        return Installed(kept=tuple(kept), left_out=tuple(left_out))

    def _kept(self, base: Base, step: Install, stopped: Callable[[], bool]) -> Kept:
        shelf = Shelf(self.folder, f"{self.owner}\0{base.repository.id}")
        digest = self._digest(base, step)
        with shelf.alone(digest, stopped):
            if note := shelf.note(digest):
                return Kept(folder=shelf.place(digest), note=note, again=True)
            self._must_be_possible(step)
            shelf.tidy()
            try:
                note = self._made(base, step, digest, shelf.begin(digest), stopped)
                shelf.finish(note)
            except BaseException:
                shelf.give_up(digest)
                raise
        return Kept(folder=shelf.place(digest), note=note)

    def _digest(self, base: Base, step: Install) -> str:
        return digest_of(
            {
                "form": _FORM,
                "owner": self.owner,
                "repository": base.repository.id,
                "step": asdict(step),
                "seen": base.seen_by(step),
                "python": _fingerprint(self.python),
                "tools": [_fingerprint(tool) for tool in self._tools(step)],
                "machine": platform.machine(),
            }
        )

    def _tools(self, step: Install) -> Iterator[Path]:
        """What else of this machine decides what is made: packages are compiled for one version of Node."""
        for name in (step.program or PurePath(step.commands[0][0]).name, "node"):
            if found := shutil.which(name, path=self.toolchains.path):
                yield Path(found)

    def _must_be_possible(self, step: Install) -> None:
        if step.program and not self.toolchains.has(step.program):
            raise CannotInstall(step=step.name, problem=f"{step.program} is not on this machine")
        if not self.hosts:
            raise CannotInstall(step=step.name, problem=_NO_HOSTS)
        if self.sandbox.level is not Level.BUBBLEWRAP:
            raise CannotInstall(step=step.name, problem=_TOO_WEAK)

    def _made(self, base: Base, step: Install, digest: str, kept: Path, stopped: Callable[[], bool]) -> Note:
        began, reached = time.monotonic(), dict[str, None]()
        with base.tree(step, kept.with_suffix(".seen")) as tree:
            for arguments in step.commands:
                ran = self.sandbox.run(self._command(step, arguments, tree, kept), stopped=stopped)
                reached |= dict.fromkeys(ran.reached)
                if ran.exit_status != 0:
                    raise CannotInstall(step=step.name, problem=_told(ran))
            _keep(step, tree, kept / "tree")
        return Note(step=step.name, reached=tuple(reached), seconds=time.monotonic() - began, digest=digest)

    def _command(self, step: Install, arguments: tuple[str, ...], tree: Path, kept: Path) -> Command:
        tools = self.toolchains.of_program(step.program or PurePath(arguments[0]).name) or Toolchain()
        alone = shutil.which(step.program, path=self.toolchains.path) if step.program and not tools.path else None
        own = (Path(alone).resolve(),) if alone else ()
        path = (self.python.parent, *tools.path, *(program.parent for program in own))
        ours = {
            "PATH": ":".join([*map(str, path), "/usr/local/bin:/usr/bin:/bin"]),
            "HOME": str(kept / "home"),
            "TMPDIR": str(kept / "tmp"),
            "CI": "true",
            "NO_COLOR": "1",
        }
        filled = {KEPT: str(kept), PYTHON: str(self.python)}
        return Command(
            arguments=tuple(_filled(argument, filled) for argument in arguments),
            tree=tree,
            folder=step.folder,
            environment=ours | {name: _filled(value, filled) for name, value in step.environment},
            readable=tuple(dict.fromkeys((*needed_by(self.python), *tools.readable, *own))),
            timeout_seconds=step.timeout_seconds,
            reserves=True,
            hosts=self.hosts,
            kept=kept,
        )


def _fingerprint(program: Path) -> tuple[str, ...]:
    """Another one when the program is replaced in its place: what it made may be bound to it."""
    real = program.resolve()
    seen = real.stat()
    return (str(program), str(real), str(seen.st_size), str(seen.st_mtime_ns))


def _keep(step: Install, tree: Path, target: Path) -> None:
    # The commands could write beside the target: what stands in its place is theirs.
    if target.is_symlink() or target.is_file():
        target.unlink()
    remove(target)
    target.mkdir()
    for place in sorted(step.keeps):  # the outer folder takes the inner one with it
        made = tree / place
        if made.is_dir() and made.resolve() == made.absolute():
            (target / place).parent.mkdir(parents=True, exist_ok=True)
            made.rename(target / place)


def _filled(text: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def _told(ran: Ran) -> str:
    how = "it did not end in time" if ran.timed_out else f"exit {ran.exit_status}"
    closed = f"; not on the list of hosts: {', '.join(ran.refused[:_HOSTS_TOLD])}" if ran.refused else ""
    return f"{how}{closed}: {one_line(ran.output[-_TOLD_AT_MOST:]).strip()}"
