"""How a run ends or is published: what people are told, what memory is told, what is left behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import TypeAdapter

from bot import facts
from bot.bench import Bench
from bot.publishing import Published, Publisher, told_without_model, with_evidence
from bot.pursuit import Pursuit
from bot.run import Run, RunState
from memory.types import Drop, DropCause, Ending, EndingId, Evidence, Hold, HoldCause, MemoryVersion
from stages.case import Case
from stages.errors import LimitReached, Parked, Stopped, UnreadableAnswer
from stages.patch import Patch
from stages.prompt import EntryPoint
from stages.summary import Summary, SummaryGiven
from stages.workspace import Workspace

_TEXT: Final = TypeAdapter(str)
_PUBLISHED: Final = TypeAdapter(Published)
_AT_THE_END: Final = 0  # the summary of a final ending belongs to no attempt
WHY_STOPPED: Final[Mapping[DropCause, str]] = {
    DropCause.STOPPED: "stopped by a person",
    DropCause.CLOSED_BY_HUMAN: "a person closed it",
    DropCause.MOVED: "its issue was moved to another repository",
    DropCause.DELETED: "its issue was deleted",
    DropCause.SUPERSEDED: "another run took its place",
}
_SEEN_AT_MOST: Final = 5  # lines
HOW_IT_ENDED: Final = "the run is over"
_SAYS_NO_MORE: Final = frozenset({*WHY_STOPPED, DropCause.BUDGET})


@dataclass(frozen=True, kw_only=True)
class End:
    """A final ending, and in code's words how it came to it."""

    ending: Ending
    told: str
    evidence: Evidence = Evidence.NONE
    refers_to: EndingId | None = None
    seen: tuple[str, ...] = ()  # lines of evidence for people
    patch: Patch | None = None  # the last one, which people may want to look at


def stopped(run: Run) -> End:
    """The end of a run that somebody stopped, or that GitHub has taken the ground from."""
    return End(ending=Drop(cause=run.stop_cause), told=WHY_STOPPED[run.stop_cause])


class Conclusion:
    """Ends runs and publishes patches."""

    def __init__(self, pursuit: Pursuit, bench: Bench, publisher: Publisher) -> None:
        self._pursuit, self._bench, self._publisher = pursuit, bench, publisher

    def end(self, end: End, case: Case | None, version: MemoryVersion | None) -> None:
        """Tell people, write the final ending down, and close the run."""
        run = self._pursuit.run
        summary = told_without_model(end.told, end.seen)
        quiet = isinstance(end.ending, Drop) and end.ending.cause in _SAYS_NO_MORE
        if case is not None and version is not None and not quiet:
            summary = self._summary(case, version, end.told, end.seen, end.patch, _AT_THE_END)
        self._publisher.summarise(run, with_evidence(summary, end.seen))
        leaks = isinstance(end.ending, Hold) and end.ending.cause is HoldCause.LEAK
        diff = end.patch.diff if end.patch else self._pursuit.stores.runs.get(run.id).patch
        if diff and not leaks:  # a secret may be in it that shows only where its lines stand together
            self._publisher.keep(run, diff)
        self._pursuit.journal.at("end")
        because = "; ".join((end.told, *end.seen[:_SEEN_AT_MOST]))
        self._pursuit.tell(facts.Decided(what=HOW_IT_ENDED, because=because), facts.Summarised(text=summary))
        self._pursuit.stores.runs.save_spent(run.id, self._pursuit.budget.spent)
        self._pursuit.record(
            end.ending,
            final=True,
            evidence=end.evidence,
            paths=end.patch.paths if end.patch else (),
            refers_to=end.refers_to,
        )

    def publish(
        self,
        case: Case,
        version: MemoryVersion,
        workspace: Workspace,
        patch: Patch,
        seen: Sequence[str],
        *,
        attempt: int,
    ) -> None:
        """Leave branch, patch file and summary; the run stays open until it is verified. Raises Stopped."""
        run = self._pursuit.run
        told = "the gate passed; the patch is on its own branch and waits for a person to merge it"
        summary = self._summary(case, version, told, tuple(seen), patch, attempt)
        if self._bench.stopped():
            raise Stopped
        kept = with_evidence(summary, tuple(seen))
        published = self._pursuit.once(
            "publish",
            _PUBLISHED,
            lambda: self._publisher.publish(run, self._pursuit.repository, workspace, patch, kept),
            attempt=attempt,
        )
        self._pursuit.tell(
            facts.Summarised(text=summary),
            facts.Published(branch=published.branch, commit=published.commit, patch_file=str(published.patch_file)),
        )
        self._pursuit.stores.runs.save_branch(run.id, published.branch, published.commit)
        self._pursuit.stores.runs.set_state(run.id, RunState.PUBLISHED)

    def _summary(
        self, case: Case, version: MemoryVersion, told: str, seen: tuple[str, ...], patch: Patch | None, attempt: int
    ) -> str:
        given = SummaryGiven(case=case, ended=told, evidence=seen, patch=patch)
        return self._pursuit.once("summarise", _TEXT, lambda: self._ask_for_summary(given, version), attempt=attempt)

    def _ask_for_summary(self, given: SummaryGiven, version: MemoryVersion) -> str:
        """The model's words; code's own where it has none to give. A summary never keeps a result back."""
        try:
            return self._pursuit.ask(
                Summary, EntryPoint.SUMMARISE, given, workspace=self._bench.workspace(), version=version
            )
        except (UnreadableAnswer, LimitReached, Parked, Stopped) as error:
            self._pursuit.tell(facts.Decided(what="code wrote the summary", because=str(error)))
            return told_without_model(given.ended, given.evidence)
