"""Verification on this machine: is the published patch in the default branch, and does the failure stay away there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from pydantic import TypeAdapter

from bot import facts
from bot.baseline import Baseline, take
from bot.bench import Bench
from bot.conclusion import Conclusion, End
from bot.errors import NotMerged, NotPublished, NotVerified
from bot.pursuit import Pursuit
from bot.run import Run, RunState
from bot.sources import default_commit
from memory.signature import headline, signatures
from memory.types import CheckId, CommitId, Evidence, MemoryVersion, Verify, VerifyOutcome
from stages.case import Asking, Case
from stages.diagnosis import Diagnosed
from stages.patch import Patch
from stages.prompt import EntryPoint
from stages.report import CheckReport, Reproduction
from stages.verification import Verification, VerificationGiven
from stages.workspace import Workspace

QUIET: Final = timedelta(days=14)

_BASELINE: Final = TypeAdapter(Baseline)
_DIAGNOSED: Final = TypeAdapter(Diagnosed)
_PATCH: Final = TypeAdapter(Patch)


@dataclass(frozen=True, kw_only=True)
class Fix:
    """A published patch, and what showed the failure before it."""

    patch: Patch
    reproduction: Reproduction
    before: Baseline


class Verifier:
    """Judges the published patch of one run."""

    def __init__(self, pursuit: Pursuit, bench: Bench, conclusion: Conclusion) -> None:
        self._pursuit, self._bench, self._conclusion = pursuit, bench, conclusion

    def verify(self, ref: str | None = None) -> Run:
        """The run, with its final ending. `ref` is the merged commit; the tip of the default branch without it.

        Raises NotPublished, NotMerged, and NotVerified when something else is red there.
        """
        run, repository = self._pursuit.run, self._pursuit.repository
        if run.state is not RunState.PUBLISHED:
            raise NotPublished(run=run.id, state=run.outcome or run.state.value)
        fix, commit = self._fix(), repository.resolve(ref) if ref else default_commit(repository)
        try:
            if repository.contains(commit, fix.patch):
                self._judge(fix, commit)
            elif self._pursuit.stores.now() - run.updated >= QUIET:
                end = End(ending=Verify(outcome=VerifyOutcome.UNVERIFIED), told="quiet for 14 days, and not merged")
                self._conclusion.end(end, None, None)
            else:
                raise NotMerged(run=run.id, commit=commit[:7], branch=run.branch)
        finally:
            self._pursuit.journal.flush()
            self._bench.clear()
        return self._pursuit.stores.runs.get(run.id)

    def _fix(self) -> Fix:
        """What the run's own steps say: the last patch, and the reproduction that it answers."""
        steps, run = self._pursuit.stores.steps, self._pursuit.run
        before = steps.recorded(run.id, "baseline", _BASELINE)
        patches = [
            steps.recorded(run.id, name, _PATCH, attempt=run.attempt) for name in (EntryPoint.DEVELOP, EntryPoint.REFIX)
        ]
        diagnoses = [steps.recorded(run.id, EntryPoint.DIAGNOSE, _DIAGNOSED)] + [
            steps.recorded(run.id, EntryPoint.REDIAGNOSE, _DIAGNOSED, attempt=number)
            for number in range(2, run.attempt + 1)
        ]
        shown = [done.value.reproduction for done in diagnoses if done and done.value.reproduction]
        patch = next((done.value for done in patches if done), None)
        if before is None or patch is None or not shown:
            raise NotPublished(run=run.id, state="its steps are not kept any more")
        return Fix(patch=patch, reproduction=shown[-1], before=before.value)

    def _judge(self, fix: Fix, commit: CommitId) -> None:
        workspace = self._bench.workspace(commit)
        now = take(workspace)
        case, version = self._case(now)
        given = VerificationGiven(case=case, patch=fix.patch, commit=commit)
        self._pursuit.journal.at(EntryPoint.VERIFY)
        self._pursuit.progress.stage(EntryPoint.VERIFY)
        named = self._pursuit.ask(Verification, EntryPoint.VERIFY, given, workspace=workspace, version=version)
        shown = self._bench.reproduce(workspace, fix.reproduction)
        asked = self._run(workspace, case, named)
        where = f"the merged commit {commit[:7]}"
        self._pursuit.tell(*(facts.checked(report, where) for report in (*now.reports, shown, asked)))
        red = _newly_red(fix.before, now)
        if shown.passed and asked.passed and not red:
            self._end(fix, commit, VerifyOutcome.WORKED, (fix.reproduction.test, named), case, version)
        elif not shown.passed:
            self._end(fix, commit, VerifyOutcome.RECURRED, (fix.reproduction.test,), case, version)
        else:
            raise NotVerified(run=self._pursuit.run.id, commit=commit[:7], red=", ".join((red or asked.failing)[:3]))

    def _end(
        self,
        fix: Fix,
        commit: CommitId,
        outcome: VerifyOutcome,
        checks: tuple[CheckId, ...],
        case: Case,
        version: MemoryVersion,
    ) -> None:
        ending = Verify(outcome=outcome, edits=fix.patch.edits, checks=tuple(dict.fromkeys(checks)), commit=commit)
        told = {
            VerifyOutcome.WORKED: f"the fix holds on {commit[:7]}",
            VerifyOutcome.RECURRED: f"the failure is there again on {commit[:7]}, with the patch in it",
            VerifyOutcome.UNVERIFIED: "nothing was heard of it",
        }[outcome]
        end = End(ending=ending, told=told, evidence=Evidence.EXIT_STATUS, patch=fix.patch)
        self._conclusion.end(end, case, version)

    def _case(self, now: Baseline) -> tuple[Case, MemoryVersion]:
        """The case as it stands on the merged commit; what memory says of it now."""
        run, memory = self._pursuit.run, self._pursuit.stores.memory
        self._pursuit.signatures = tuple(signatures(run.ticket.title, run.ticket.text))
        self._pursuit.environment = self._bench.config.environment
        asking = Asking(
            scope=run.scope,
            at=self._pursuit.stores.now(),
            headline=headline(self._pursuit.signatures[0]) if self._pursuit.signatures else "",
            signatures=self._pursuit.signatures,
            environment=self._bench.config.environment,
        )
        return Case.of(run.ticket, asking, checks=now.checks, baseline=now.reports), memory.current(run.scope)

    def _run(self, workspace: Workspace, case: Case, named: CheckId) -> CheckReport:
        check = case.check_of(named)
        assert check is not None, "the stage gives known checks only"
        return workspace.run(check.name, tests=() if named == check.name else (named,), stopped=self._bench.stopped)


def _newly_red(before: Baseline, now: Baseline) -> tuple[CheckId, ...]:
    """What was there and green at the run's base, and is red now."""
    was_red = {test for report in before.reports for test in report.failing}
    known = {test for report in before.reports for test in (report.check, *report.collected)}
    return tuple(test for report in now.reports for test in report.failing if test in known and test not in was_red)
