"""What a repository's checks stand on: what is here, and what the install phase made of the base's lock files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bot.facts import Decided
from memory.types import CommitId
from stages.checks import Checks, Interpreters
from stages.installed import Installed
from stages.installer import Base, Installer
from stages.installs import Install, detect_installs
from stages.repository import Repository
from stages.sandbox import Sandbox
from stages.toolchains import Toolchains


def told(installed: Installed) -> tuple[Decided, ...]:
    """What a run's record says of it."""
    done = (
        Decided(
            what="dependencies were installed before" if one.again else "installed dependencies", because=str(one.note)
        )
        for one in installed.kept
    )
    return (*done, *(Decided(what="dependencies are not installed", because=why) for why in installed.left_out))


@dataclass(frozen=True, kw_only=True)
class Dependencies:
    """`asked` are the steps of the repository's settings, None where they are to be seen in the tree. `python` gives
    the interpreter of a folder's tests; `named` when the repository named it: then no other one takes its place."""

    installer: Installer
    sandbox: Sandbox
    python: Interpreters
    named: bool
    home: Path
    asked: tuple[Install, ...] | None = None

    def install(self, repository: Repository, commit: CommitId, stopped: Callable[[], bool]) -> Installed:
        """Install for a commit that nobody has changed. Raises what `Installer.install` raises."""
        base = Base(repository=repository, commit=commit)
        steps = detect_installs(repository.files(commit), base.read) if self.asked is None else self.asked
        return self.installer.install(base, steps, stopped)

    def checks(self, installed: Installed) -> Checks:
        """What runs checks, with all that was installed."""
        made = None if self.named else installed.python(self.installer.python)
        return Checks(self.sandbox, made or self.python, Toolchains(home=self.home, caches=installed.home))
