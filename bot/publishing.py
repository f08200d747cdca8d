"""What a run leaves for people on this machine: a branch, a patch file and a summary."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.outbox.words import unlinked
from bot.run import Run
from memory.text import one_line
from memory.types import CommitId
from stages.patch import Patch
from stages.quoting import sanitise
from stages.repository import Repository
from stages.workspace import Workspace

BRANCH: Final = "ticketsmith/"
_TITLE_AT_MOST: Final = 60  # characters of a subject line
_NAME: Final = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, kw_only=True)
class Published:
    """Where the patch went."""

    branch: str
    commit: CommitId
    patch_file: Path
    summary_file: Path


class Publisher:
    """Writes results under one folder, a folder for each run.

    `scrub` takes secrets out of what no gate has seen: summaries, and patches that were not published.
    """

    def __init__(self, folder: Path, scrub: Callable[[str], str]) -> None:
        self._folder, self._scrub = folder, scrub

    def publish(self, run: Run, repository: Repository, workspace: Workspace, patch: Patch, summary: str) -> Published:
        """Branch, patch file and summary. Doing it again changes nothing."""
        branch, commit = repository.publish(branch_name(run), workspace, patch, commit_message(run))
        return Published(
            branch=branch,
            commit=commit,
            patch_file=self._write(run, "patch.diff", patch.diff),
            summary_file=self.summarise(run, summary),
        )

    def summarise(self, run: Run, summary: str) -> Path:
        """Write the summary of a run."""
        return self._write(run, "summary.md", self._scrub(f"# {one_line(run.ticket.title)}\n\n{summary}\n"))

    def keep(self, run: Run, diff: str) -> Path:
        """Keep the patch of a run that ended without a branch, for people to read."""
        return self._write(run, "patch.diff", self._scrub(diff))

    def path(self, run: Run, name: str) -> Path:
        """Where a result of a run stands: `patch.diff` or `summary.md`."""
        return self._folder / run.id / name

    def _write(self, run: Run, name: str, text: str) -> Path:
        path = self.path(run, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        new.write_text(text, "utf-8", errors="replace")
        new.replace(path)
        return path


def branch_name(run: Run) -> str:
    """`ticketsmith/issue-7` for a numbered ticket, else from the ticket's own name; made by code alone."""
    if run.ticket.number is not None:
        return f"{BRANCH}issue-{run.ticket.number}"
    return BRANCH + (_NAME.sub("-", run.ticket.id.removeprefix("local:").lower()).strip("-")[:60] or "ticket")


def commit_message(run: Run) -> str:
    """A subject from the ticket's title, cleaned, and where it comes from; no trailer can be forged in it.

    Merged, a commit closes the issues that it names and calls who it mentions: it names none.
    """
    subject = unlinked(one_line(run.ticket.title)[:_TITLE_AT_MOST].strip()) or "Fix a ticket"
    return f"Fix: {subject}\n\nRun {run.id}, ticket {run.ticket.id}.\n"


def told_without_model(ended: str, evidence: tuple[str, ...]) -> str:
    """The summary where no model can be asked."""
    return "\n".join([f"{ended[:1].upper()}{ended[1:]}.", *map(_item, evidence)])


def with_evidence(summary: str, evidence: tuple[str, ...]) -> str:
    """A summary in a model's words, and below it what code saw and the model left out."""
    left = [item for item in map(_item, evidence) if item.removeprefix("- ") not in summary]
    return "\n".join([summary, "", "What code saw:", "", *left]) if left else summary


def _item(line: str) -> str:
    return f"- {' '.join(sanitise(line).text.split())}"
