"""Where one run works: its clones, its gate, and the settings of its repository."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bot.baseline import Baseline, take
from bot.dependencies import Dependencies
from bot.repository_config import RepositoryConfig
from bot.run import Run
from memory.types import CommitId
from stages.gate import Attempt, Gate, GateReport
from stages.installed import Installed
from stages.report import CheckReport, Reproduction
from stages.repository import Repository
from stages.sandbox import remove
from stages.workspace import Workspace, Workspaces

_CLONES: Final = ("work", "gate", "merged")


@dataclass(frozen=True, kw_only=True)
class Bench:
    """`stopped` tells whether a person stopped the run: then whatever runs here ends.

    `clean` takes secrets out of what tests and commands say, before anybody is given it or keeps it.
    """

    run: Run
    repository: Repository
    config: RepositoryConfig
    workspaces: Workspaces
    gate: Gate
    dependencies: Dependencies
    attempts: int
    stopped: Callable[[], bool]
    clean: Callable[[str], str]

    def install(self) -> Installed:
        """Install what the base asks for; from now on every workspace stands on it, the gate's too.

        Raises Stopped, Parked, and Refused where a file cannot be read.
        """
        installed = self.dependencies.install(self.repository, self.run.base, self.stopped)
        self.workspaces.stand_on(self.dependencies.checks(installed), installed.lent)
        return installed

    def workspace(self, commit: CommitId | None = None) -> Workspace:
        """A fresh clone of the base, or of another commit."""
        name = f"{self.run.id}-work" if commit is None else f"{self.run.id}-merged"
        return self.workspaces.make(
            self.repository,
            commit or self.run.base,
            name,
            checks=self.config.checks or None,
            services=self.config.services,
        )

    @property
    def gate_name(self) -> str:
        """Name of the workspace that the gate makes for itself."""
        return f"{self.run.id}-gate"

    def reproduce(self, workspace: Workspace, reproduction: Reproduction, *, at_base: bool = False) -> CheckReport:
        """Run the reproduction, and nothing that it does not need, in the tree as it stands, its file as frozen.

        `at_base` says that the tree is as the base was when its checks ran.
        """
        if reproduction.path and workspace.at_base(reproduction.path) is not None:
            workspace.write(reproduction.path, reproduction.text.encode())  # where it was merged with the patch
        elif reproduction.path:
            workspace.place(reproduction)
        report = workspace.run(
            reproduction.check,
            tests=reproduction.tests,
            with_files=reproduction.with_file,
            at_base=at_base,
            stopped=self.stopped,
        )
        return cleaned(report, self.clean)

    def baseline(self, workspace: Workspace) -> Baseline:
        """What every check says of the tree as it stands. Raises Stopped, and Parked when checks cannot run here."""
        taken = take(workspace, self.stopped)
        return replace(taken, reports=tuple(cleaned(report, self.clean) for report in taken.reports))

    def judge(self, attempt: Attempt) -> GateReport:
        """What the gate sees of an attempt."""
        seen = self.gate.judge(attempt, stopped=self.stopped)
        return replace(
            seen,
            reproduction=seen.reproduction and cleaned(seen.reproduction, self.clean),
            checks=tuple(cleaned(report, self.clean) for report in seen.checks),
        )

    def clear(self) -> None:
        """Take the clones away; what they held that matters is in the tables."""
        for name in _CLONES:
            self.workspaces.remove(f"{self.run.id}-{name}")


def cleaned(report: CheckReport, clean: Callable[[str], str]) -> CheckReport:
    """The report with its free texts cleaned; ids and figures stay as they are."""
    outcomes = (replace(test, message=clean(test.message), text=clean(test.text)) for test in report.outcomes)
    return replace(report, output=clean(report.output), outcomes=tuple(outcomes))


def clear(folder: Path, run: Run) -> None:
    """Take away the clones that a process left behind when it was killed."""
    for name in _CLONES:
        remove(folder / f"{run.id}-{name}")
