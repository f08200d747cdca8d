"""Attempts: a patch and its passage through gate and review, until one passes or they are used up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from typing import Final

from pydantic import TypeAdapter

from bot import decisions, facts, witness
from bot.baseline import Baseline
from bot.bench import Bench
from bot.conclusion import Conclusion, End
from bot.endings import evidence_of, refix
from bot.pursuit import Pursuit
from bot.sent_back import sent_back
from memory.recording import Recorded
from memory.types import Drop, DropCause, Evidence, Hold, LessonId, MemoryVersion, PassAfterHold, Where
from stages.case import Case, HeldAttempt
from stages.comparison import shows_red
from stages.development import Development, DevelopmentGiven
from stages.diagnosis import Diagnosed, Diagnosis, DiagnosisGiven
from stages.errors import UnreadableAnswer
from stages.evaluation import evaluated
from stages.gate import Attempt, Finding, GateReport, Held, Passed, Verdict, decide
from stages.patch import Patch
from stages.prompt import EntryPoint
from stages.report import CheckReport, Reproduction
from stages.review import Review, ReviewGiven
from stages.workspace import Workspace

_DIAGNOSED: Final = TypeAdapter(Diagnosed)
_REPORT: Final = TypeAdapter(CheckReport)
_PATCH: Final = TypeAdapter(Patch)
_GATE: Final = TypeAdapter(GateReport)
_FINDINGS: Final[TypeAdapter[tuple[Finding, ...]]] = TypeAdapter(tuple[Finding, ...])


@dataclass(frozen=True, kw_only=True)
class Found:
    """What a diagnosis found, and the failure as it shows on the base."""

    diagnosed: Diagnosed
    reproduction: Reproduction
    red: CheckReport


@dataclass(frozen=True, kw_only=True)
class Refused:
    """An attempt that was held, with what was written down of it."""

    attempt: HeldAttempt
    report: GateReport
    recorded: Recorded


class Attempts:
    """The attempts of one run."""

    def __init__(self, pursuit: Pursuit, bench: Bench, conclusion: Conclusion, version: MemoryVersion) -> None:
        self._pursuit, self._bench, self._conclusion, self._version = pursuit, bench, conclusion, version
        self._holds: list[LessonId] = []

    def work(self, case: Case, base: Baseline, workspace: Workspace, found: Found) -> End | None:
        """None when a patch was published, else how the run ends."""
        refused: Refused | None = None
        last = self._bench.attempts
        for number in count(1):
            if number > last:
                break
            self._begin(number)
            case = self._pursuit.with_notes(case, number)
            if refused and EntryPoint.REDIAGNOSE in decisions.after_hold(refused.report):
                found = self._rediagnose(case, workspace, found, refused, number)
            patch = self._develop(case, workspace, found, refused, number)
            if not patch:
                return End(ending=Drop(cause=DropCause.EMPTY_PATCH), told="no change was found that repairs it")
            report = self._judge(base, found, patch, number)
            verdict = self._verdict(case, workspace, found, patch, report, number)
            if refused:
                self._record_refix(refused, patch, report, number)
            match verdict:
                case Passed():
                    self._record_pass(patch, number)
                    refused = self._sent_back(patch, report, number)
                    if refused is None:
                        workspace.place(found.reproduction)
                        seen = seen_of(report, verdict)
                        self._conclusion.publish(case, self._version, workspace, patch, seen, attempt=number)
                        return None
                    last = number + self._bench.attempts
                case Held():
                    refused = self._hold(patch, report, verdict, number)
        return self._used_up(refused)

    def _begin(self, number: int) -> None:
        self._pursuit.progress.attempt(number)
        self._pursuit.stores.runs.begin_attempt(self._pursuit.run.id, number)

    def _rediagnose(self, case: Case, workspace: Workspace, found: Found, refused: Refused, number: int) -> Found:
        """A new diagnosis with the failure that shows it; the old one when the model has no better."""
        workspace.reset()
        given = DiagnosisGiven(case=case, held=refused.attempt)
        diagnosed = self._pursuit.once(
            "rediagnose", _DIAGNOSED, lambda: self._ask_again(given, workspace, found.diagnosed), attempt=number
        )
        shown = diagnosed.reproduction
        if shown is None or shown == found.reproduction:
            return Found(diagnosed=diagnosed, reproduction=found.reproduction, red=found.red)
        red = self._pursuit.once(
            "reproduce", _REPORT, lambda: self._bench.reproduce(workspace, shown, at_base=True), attempt=number
        )
        if not shows_red(red, shown.test):
            self._pursuit.tell(facts.Decided(what="the first reproduction stands", because="the new one is not red"))
            return Found(diagnosed=diagnosed, reproduction=found.reproduction, red=found.red)
        return Found(diagnosed=diagnosed, reproduction=shown, red=red)

    def _ask_again(self, given: DiagnosisGiven, workspace: Workspace, before: Diagnosed) -> Diagnosed:
        try:
            return self._pursuit.ask(
                Diagnosis, EntryPoint.REDIAGNOSE, given, workspace=workspace, version=self._version
            )
        except UnreadableAnswer as answer:
            self._pursuit.tell(facts.Decided(what="the first diagnosis stands", because=str(answer)))
            return before

    def _develop(self, case: Case, workspace: Workspace, found: Found, refused: Refused | None, number: int) -> Patch:
        entry_point = EntryPoint.REFIX if refused else EntryPoint.DEVELOP
        given = DevelopmentGiven(
            case=case,
            cause=found.diagnosed.cause,
            files=found.diagnosed.files,
            reproduction=found.reproduction,
            held=refused.attempt if refused else None,
        )

        def ask() -> Patch:
            self._stand(workspace, found)
            return self._pursuit.ask(Development, entry_point, given, workspace=workspace, version=self._version)

        patch = self._pursuit.once(entry_point.value, _PATCH, ask, attempt=number)
        self._pursuit.stores.runs.save_patch(self._pursuit.run.id, patch.diff)
        return patch

    @staticmethod
    def _stand(workspace: Workspace, found: Found) -> None:
        """The clean base, with the reproduction frozen in it."""
        workspace.place(found.reproduction)
        workspace.reset()

    def _judge(self, base: Baseline, found: Found, patch: Patch, number: int) -> GateReport:
        attempt = Attempt(
            number=number,
            repository=self._pursuit.repository,
            base=self._pursuit.run.base,
            patch=patch,
            reproduction=found.reproduction,
            red=found.red,
            baseline=base.reports,
            checks=base.checks,
            workspace=self._bench.gate_name,
        )

        def judged() -> GateReport:
            report = self._bench.judge(attempt)
            self._pursuit.tell(*_checked_by(report))
            return report

        return self._pursuit.once("gate", _GATE, judged, attempt=number)

    def _verdict(
        self, case: Case, workspace: Workspace, found: Found, patch: Patch, report: GateReport, number: int
    ) -> Verdict:
        """The gate's; where it passes, a review may still bring a finding that code can evaluate."""
        verdict = decide(report, ())
        if isinstance(verdict, Passed):
            given = ReviewGiven(case=case, cause=found.diagnosed.cause, patch=patch, report=report)

            def ask() -> tuple[Finding, ...]:
                self._stand(workspace, found)
                workspace.apply(patch)
                said = self._pursuit.ask(Review, EntryPoint.REVIEW, given, workspace=workspace, version=self._version)
                found_true = evaluated(said, case, workspace, stopped=self._bench.stopped)
                self._pursuit.tell(*witness.findings(found_true))
                return found_true

            findings = self._pursuit.once("review", _FINDINGS, lambda: self._findings(ask), attempt=number)
            verdict = decide(report, findings)
        self._pursuit.tell(witness.judged(number, verdict, patch, report))
        return verdict

    def _findings(self, ask: Callable[[], tuple[Finding, ...]]) -> tuple[Finding, ...]:
        """The review's; none where its answer cannot be read: the gate has judged, and code evaluates no word of it."""
        try:
            return ask()
        except UnreadableAnswer as answer:
            self._pursuit.tell(facts.Decided(what="no finding of the review counts", because=str(answer)))
            return ()

    def _record_refix(self, refused: Refused, patch: Patch, report: GateReport, number: int) -> None:
        was = refused.attempt.hold.failing
        told = refix(number, refused.attempt.patch, patch, was, decisions.passes_now(report))
        evidence = Evidence.EXIT_STATUS if report.reproduction else Evidence.NONE
        self._pursuit.record(told, final=False, evidence=evidence, paths=patch.paths)

    def _hold(self, patch: Patch, report: GateReport, held: Held, number: int) -> Refused:
        hold = Hold(
            where=Where.GATE,
            cause=held.cause,
            attempt=number,
            failing=held.failing,
            exit_status=held.exit_status,
            edits=patch.edits,
        )
        return self._refuse(hold, evidence_of(hold), patch, report, held.why)

    def _refuse(
        self, hold: Hold, evidence: Evidence, patch: Patch, report: GateReport, why: tuple[str, ...]
    ) -> Refused:
        recorded = self._pursuit.record(hold, final=False, evidence=evidence, paths=patch.paths)
        if recorded.lesson:
            self._holds.append(recorded.lesson.id)
        return Refused(attempt=HeldAttempt(hold=hold, patch=patch, why=why), report=report, recorded=recorded)

    def _record_pass(self, patch: Patch, number: int) -> None:
        if self._holds:
            answered = PassAfterHold(attempt=number, answers=tuple(dict.fromkeys(self._holds)), edits=patch.edits)
            self._pursuit.record(answered, final=False, evidence=Evidence.EXIT_STATUS, paths=patch.paths)

    def _sent_back(self, patch: Patch, report: GateReport, number: int) -> Refused | None:
        """The hold of whoever sent the patch back, once it was published or while it was made; None when nobody did."""
        sent = sent_back(self._pursuit.stores.steps, self._pursuit.run, number)
        if sent is None:
            return None
        refused = self._refuse(sent.hold(patch, number), sent.evidence, patch, report, (sent.why,))
        return replace(refused, attempt=replace(refused.attempt, said=sent.said))

    def _used_up(self, refused: Refused | None) -> End:
        assert refused is not None, "there is at least one attempt"
        hold = refused.attempt.hold
        return End(
            ending=hold,
            told=f"all attempts were held, {hold.attempt} in number; the last one for {hold.cause}",
            evidence=evidence_of(hold),
            refers_to=refused.recorded.ending,
            seen=refused.attempt.why,
            patch=refused.attempt.patch,
        )


def _checked_by(report: GateReport) -> tuple[facts.Checked, ...]:
    """What the gate ran."""
    on = f"attempt {report.attempt}"
    shown = (witness.checked(report.reproduction, f"{on}, the reproduction"),) if report.reproduction else ()
    return (*shown, *(witness.checked(one, on) for one in report.checks))


def seen_of(report: GateReport, passed: Passed) -> tuple[str, ...]:
    """What the gate saw, one line each, for people."""
    runs = (*((report.reproduction,) if report.reproduction else ()), *report.checks)
    return (
        *(
            f"{run.check}: exit {run.exit_status}, {len(run.outcomes)} tests, {len(run.failing)} failing"
            for run in runs
        ),
        *(f"red before, green now: {test}" for test in passed.fixed),
        *(f"red before, still red: {test}" for test in passed.still_failing),
        *(f"flips, and says nothing: {test}" for test in passed.flaky),
        *(
            [f"changed lines that tests ran: {report.covered_lines} of {report.changed_lines}"]
            if report.changed_lines
            else ()
        ),
        *witness.noticed(report),
    )
