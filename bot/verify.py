"""Verification on this machine: is the published patch in the default branch, and does the failure stay away there."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from bot import facts, witness
from bot.alert import asking_of, both, signatures_of, signatures_of_red, view_of
from bot.baseline import Baseline
from bot.bench import Bench, cleaned
from bot.conclusion import Conclusion, End, stopped
from bot.dependencies import told
from bot.errors import NotMerged, NotPublished, NotVerified
from bot.fix import Fix, fix_of
from bot.pursuit import Pursuit
from bot.run import Run, RunState
from bot.sources import default_commit
from memory.types import CheckId, CommitId, Evidence, Verify, VerifyOutcome
from stages.case import Case
from stages.comparison import shows_green, shows_red
from stages.errors import LimitReached, Stopped, UnreadableAnswer
from stages.prompt import EntryPoint
from stages.report import CheckReport
from stages.verification import Verification, VerificationGiven
from stages.workspace import Workspace

QUIET: Final = timedelta(days=14)


class Verifier:
    """Judges the published patch of one run."""

    def __init__(self, pursuit: Pursuit, bench: Bench, conclusion: Conclusion) -> None:
        self._pursuit, self._bench, self._conclusion = pursuit, bench, conclusion

    def verify(self, ref: str | None = None) -> Run:
        """The run, with its final ending. `ref` is the merged commit; the tip of the default branch without it.

        Raises NotPublished, NotMerged, NotVerified when nothing can be said of it there, and Parked.
        """
        run, stores = self._pursuit.run, self._pursuit.stores
        fix = fix_of(stores.steps, run)
        if run.state is not RunState.PUBLISHED or fix is None:
            state = "its steps are not kept whole" if run.state is RunState.PUBLISHED else run.state.value
            raise NotPublished(run=run.id, state=run.outcome or state)
        commit = self._pursuit.repository.resolve(ref) if ref else default_commit(self._pursuit.repository)
        try:
            self._verify(fix, commit)
        except Stopped:
            self._conclusion.end(stopped(stores.runs.get(run.id)), None, None)
        finally:
            self._bench.clear()
            self._pursuit.save()
        return stores.runs.get(run.id)

    def _verify(self, fix: Fix, commit: CommitId) -> None:
        try:
            self._judge_if_merged(fix, commit)
        except (NotMerged, NotVerified) as unknown:
            if self._pursuit.stores.now() - self._published() < QUIET:
                raise
            self._pursuit.tell(facts.Decided(what="unverified", because=str(unknown)))
            end = End(ending=Verify(outcome=VerifyOutcome.UNVERIFIED), told="quiet for 14 days, and not verified")
            self._conclusion.end(end, None, None)

    def _judge_if_merged(self, fix: Fix, commit: CommitId) -> None:
        run = self._pursuit.run
        if not self._pursuit.repository.contains(commit, fix.patch):
            raise NotMerged(run=run.id, commit=commit[:7], branch=run.branch)
        self._judge(fix, commit)

    def _published(self) -> datetime:
        """When the patch went out; looking at the run since then does not count as news of it."""
        run = self._pursuit.run
        steps = self._pursuit.stores.steps.of(run.id)
        return max((step.finished for step in steps if step.name == "publish" and step.finished), default=run.updated)

    def _judge(self, fix: Fix, commit: CommitId) -> None:
        self._pursuit.tell(*told(self._bench.install()))
        workspace = self._bench.workspace(commit)
        self._pursuit.journal.at(EntryPoint.VERIFY)
        self._pursuit.progress.stage(EntryPoint.VERIFY)
        now = self._bench.baseline(workspace)
        if fix.reproduction.check not in {check.name for check in workspace.checks}:
            gone = f"there is no check {fix.reproduction.check} any more, which showed the failure"
            raise NotVerified(run=self._pursuit.run.id, commit=commit[:7], reason=gone)
        case = self._case(fix, now, workspace)
        named = self._named(fix, VerificationGiven(case=case, patch=fix.patch, commit=commit), workspace)
        shown = self._bench.reproduce(workspace, fix.reproduction)
        asked = shown if named == fix.reproduction.test else self._run(workspace, case, named)
        where = f"the merged commit {commit[:7]}"
        self._pursuit.tell(*(witness.checked(report, where) for report in (*now.reports, asked, shown)))
        was_red = {test for report in fix.before.reports for test in report.failing}
        red = _newly_red(fix.before, now) or tuple(test for test in asked.failing if test not in was_red)
        if shows_red(shown, fix.reproduction.test):
            self._end(fix, commit, VerifyOutcome.RECURRED, (fix.reproduction.test,), case)
        elif shows_green(shown, fix.reproduction.test) and not red:
            self._end(fix, commit, VerifyOutcome.WORKED, (fix.reproduction.test, named), case)
        elif red:
            raise NotVerified(run=self._pursuit.run.id, commit=commit[:7], reason=f"{', '.join(red[:3])} is red there")
        else:
            raise NotVerified(
                run=self._pursuit.run.id, commit=commit[:7], reason=f"{fix.reproduction.test} was not run there"
            )

    def _named(self, fix: Fix, given: VerificationGiven, workspace: Workspace) -> CheckId:
        """The check that the model names; the reproduction where it names none. Code runs that one anyway."""
        try:
            return self._pursuit.ask(Verification, EntryPoint.VERIFY, given, workspace=workspace, version=fix.version)
        except (UnreadableAnswer, LimitReached) as error:
            self._pursuit.tell(facts.Decided(what="the check of the reproduction is run", because=str(error)))
            return fix.reproduction.test

    def _end(
        self,
        fix: Fix,
        commit: CommitId,
        outcome: VerifyOutcome,
        checks: tuple[CheckId, ...],
        case: Case,
    ) -> None:
        ending = Verify(outcome=outcome, edits=fix.patch.edits, checks=tuple(dict.fromkeys(checks)), commit=commit)
        told = {
            VerifyOutcome.WORKED: f"the fix holds on {commit[:7]}",
            VerifyOutcome.RECURRED: f"the failure is there again on {commit[:7]}, with the patch in it",
            VerifyOutcome.UNVERIFIED: "nothing was heard of it",
        }[outcome]
        end = End(ending=ending, told=told, evidence=Evidence.EXIT_STATUS, patch=fix.patch)
        self._conclusion.end(end, case, fix.version)

    def _case(self, fix: Fix, now: Baseline, workspace: Workspace) -> Case:
        """The case as it stands on the merged commit."""
        pursuit, run = self._pursuit, self._pursuit.run
        pursuit.environment, pursuit.known = self._bench.config.environment, fix.before.known
        pursuit.view = view_of(workspace.files())
        alert = signatures_of(run.ticket, pursuit.view)
        red = signatures_of_red(fix.red, fix.reproduction, pursuit.view) if fix.red else ()
        pursuit.signatures = both(alert, red)
        asking = asking_of(run.scope, run.created, alert, pursuit.environment, self._bench.config.memory.rule)
        case = Case.of(run.ticket, asking, checks=now.checks, baseline=now.reports)
        return case.asked_with(pursuit.signatures)

    def _run(self, workspace: Workspace, case: Case, named: CheckId) -> CheckReport:
        check = case.check_of(named)
        if check is None:
            reason = f"there is no check {named} any more"
            raise NotVerified(run=self._pursuit.run.id, commit=workspace.base[:7], reason=reason)
        tests = () if named == check.name else (named,)
        return cleaned(workspace.run(check.name, tests=tests, stopped=self._bench.stopped), self._bench.clean)


def _newly_red(before: Baseline, now: Baseline) -> tuple[CheckId, ...]:
    """What was there and green at the run's base, and is red now."""
    was_red = {test for report in before.reports for test in report.failing}
    known = {test for report in before.reports for test in (report.check, *report.collected)}
    return tuple(test for report in now.reports for test in report.failing if test in known and test not in was_red)
