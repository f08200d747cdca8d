"""The order of stages: a ticket goes in; one final ending comes out, or a published patch that awaits its ending."""

from __future__ import annotations

import errno
from datetime import datetime
from typing import Final

from pydantic import TypeAdapter

from bot import decisions, facts, witness
from bot.alert import asking_of, both, signatures_of_red, view_of
from bot.attempts import Attempts, Found
from bot.baseline import Baseline
from bot.bench import Bench
from bot.conclusion import Conclusion, End, stopped
from bot.dependencies import told
from bot.failures import renew_keys
from bot.pursuit import Pursuit
from bot.related import duplicate_of, mark_recurred
from bot.run import Run, RunState
from bot.sent_back import next_attempt
from bot.sources import default_commit, fresh
from bot.why import flaws_told
from bot.why_signature import in_short
from bot.wording import count, listed
from memory.database import DatabaseFull
from memory.errors import MemoryFault
from memory.signature import explain, label
from memory.types import Drop, DropCause, Evidence, MemoryVersion, NotOurs, NotOursCause
from stages.agents.model import NoModel, UnknownPrice
from stages.body import changed
from stages.case import Case
from stages.comparison import shows_red
from stages.diagnosis import Absent, Diagnosed, Diagnosis, DiagnosisGiven
from stages.errors import DoesNotFit, LimitReached, ParkCause, Parked, StageError, Stopped, UnreadableAnswer
from stages.prompt import EntryPoint, MarkerForgery
from stages.report import CheckReport, Reproduction
from stages.repository import BadBranchName, BranchTaken, RepositoryFault
from stages.reproducing import NotShown
from stages.triage import Ownership, Triage, TriageGiven
from stages.workspace import Workspace

_BASELINE: Final = TypeAdapter(Baseline)
_VERSION: Final = TypeAdapter(MemoryVersion)
_OWNERSHIP: Final = TypeAdapter(Ownership)
_DIAGNOSED: Final = TypeAdapter(Diagnosed)
_REPORT: Final = TypeAdapter(CheckReport)


class Runner:
    """Takes one run as far as it goes. What was done before is not done again."""

    def __init__(self, pursuit: Pursuit, bench: Bench, conclusion: Conclusion) -> None:
        self._pursuit, self._bench, self._conclusion = pursuit, bench, conclusion

    def work(self) -> Run:
        """The run as it stands afterwards: published, ended or parked."""
        runs, run = self._pursuit.stores.runs, self._pursuit.run.id
        try:
            runs.set_state(run, RunState.WORKING)
            self._know_all_steps()
            self._pursue()
        except Parked as parked:
            self._park(parked.cause, parked.reason, parked.wake)
        except DatabaseFull as full:
            self._park(ParkCause.DISK, str(full))
        except MemoryFault as fault:
            self._park(ParkCause.MEMORY, str(fault))
        except (BranchTaken, BadBranchName) as taken:
            self._park(ParkCause.BRANCH, str(taken))
        except RepositoryFault as fault:
            self._park(ParkCause.BASE_GONE, str(fault))
        except MarkerForgery as forgery:
            self._park(ParkCause.PROGRAM, f"{forgery} Report this fault, and retry with a version that mends it.")
        except (NoModel, UnknownPrice) as error:
            self._park(ParkCause.MODEL, str(error))
        except StageError as error:
            self._park(ParkCause.ENVIRONMENT, str(error))
        except OSError as error:
            no_room = error.errno in (errno.ENOSPC, errno.EDQUOT)
            self._park(ParkCause.DISK if no_room else ParkCause.ENVIRONMENT, _of_file(error))
        finally:
            self._bench.clear()
            self._pursuit.save()
        return runs.get(run)

    def _know_all_steps(self) -> None:
        """Raises Parked for a run of a later version: what its steps mean is not guessed."""
        if unknown := self._pursuit.stores.steps.unknown(self._pursuit.run):
            names = ", ".join(unknown)
            reason = f"a later version of ticketsmith worked on it (step {names}): retry it with that version"
            raise Parked(cause=ParkCause.PROGRAM, reason=reason)

    def _park(self, cause: ParkCause, reason: str, wake: datetime | None = None) -> None:
        """Wait for what is outside; a person who wants the run to end does not."""
        if self._bench.stopped():
            return self._conclusion.end(self._stopped(), None, None)
        self._pursuit.tell(facts.Waits(cause=cause.value, reason=reason))
        runs, run = self._pursuit.stores.runs, self._pursuit.run.id
        runs.set_state(run, RunState.PARKED, cause=cause, reason=reason, wake=wake)
        return None

    def _pursue(self) -> None:
        case: Case | None = None
        version: MemoryVersion | None = None
        try:
            self._go_on()
            self._pursuit.journal.at("install")
            self._pursuit.tell(*told(self._bench.install()))
            workspace = self._bench.workspace()
            base = self._pursuit.once("baseline", _BASELINE, lambda: self._take_baseline(workspace))
            workspace.use(base.checks)
            version = self._pursuit.once("memory", _VERSION, self._pin_memory)
            self._pursuit.stores.runs.pin(self._pursuit.run.id, version.number)
            workspace.reset()
            case = self._case(base)
            end = self._stages(case, base, workspace, version)
            self._go_on()
        except Stopped:
            end = self._stopped()
        except LimitReached as limit:
            end = End(ending=Drop(cause=DropCause.BUDGET), told=_sentence(limit))
        except NotShown as shown:
            end = _not_reproduced(_NOT_SHOWN, case, str(shown))
        except UnreadableAnswer as answer:
            end = End(ending=Drop(cause=DropCause.MODEL_FORMAT), told=_UNREADABLE, seen=(str(answer),))
        except DoesNotFit as misfit:  # a recorded patch stays as it is: trying again would give the same
            end = End(ending=Drop(cause=DropCause.MODEL_FORMAT), told=_MISFIT, seen=(str(misfit),))
        if end is not None:
            self._conclusion.end(end, case, version)

    def _stopped(self) -> End:
        return stopped(self._pursuit.stores.runs.get(self._pursuit.run.id))

    def _go_on(self) -> None:
        """Raises Stopped when a person stopped the run while nobody worked on it."""
        if self._bench.stopped():
            raise Stopped

    # --- What the run stands on ------------------------------------------------------------------------------------

    def _take_baseline(self, workspace: Workspace) -> Baseline:
        taken = self._bench.baseline(workspace)
        self._pursuit.tell(*(witness.checked(report, "the base commit") for report in taken.reports))
        self._pursuit.tell(*(facts.Decided(what="a check is left out", because=why) for why in taken.left_out))
        early = "a check ends early on the base commit"
        self._pursuit.tell(*(facts.Decided(what=early, because=why) for why in taken.early))
        alike = "all tests of a check fail alike on the base commit"
        self._pursuit.tell(*(facts.Decided(what=alike, because=why) for why in taken.alike))
        return taken

    def _pin_memory(self) -> MemoryVersion:
        """Publish what people changed in notes and rules, then read exactly that version for the whole run."""
        repository, now = self._pursuit.repository, self._pursuit.stores.now()
        if renewed := renew_keys(self._pursuit.stores, self._pursuit.run.scope, repository, self._pursuit.run.base):
            self._pursuit.tell(facts.Decided(what="keys of lessons are made anew", because=renewed.told()))
        commit, config = default_commit(repository), self._bench.config
        memory = self._pursuit.stores.memory
        version = fresh(memory, self._pursuit.run.scope, repository, commit, config, now)
        if flaws := tuple(flaws_told(memory.unread(version))):
            self._pursuit.tell(facts.Decided(what=f"{count(len(flaws), 'note')} cannot be used", because=listed(flaws)))
        return version

    def _case(self, base: Baseline) -> Case:
        pursuit, run = self._pursuit, self._pursuit.run
        pursuit.environment, pursuit.known = self._bench.config.environment, base.known
        pursuit.view = view_of(pursuit.repository.files(run.base))
        read = explain(run.ticket.title, run.ticket.text, pursuit.view).found
        pursuit.signatures = tuple(one.signature for one in read)
        pursuit.journal.at("ticket")
        pursuit.tell(
            *(facts.Decided(what=f"the ticket shows {label(one.signature)}", because=in_short(one)) for one in read)
        )
        if not read:
            pursuit.tell(facts.Decided(what="the ticket shows no error text"))
        if without := changed(run.ticket):
            pursuit.tell(facts.Decided(what="no model reads all of the ticket", because=without))
        asking = asking_of(
            run.scope, run.created, pursuit.signatures, pursuit.environment, self._bench.config.memory.rule
        )
        case = Case.of(run.ticket, asking, checks=base.checks, baseline=base.reports)
        return pursuit.with_notes(case, next_attempt(pursuit.stores.steps, run))

    # --- The stages ------------------------------------------------------------------------------------------------

    def _stages(self, case: Case, base: Baseline, workspace: Workspace, version: MemoryVersion) -> End | None:
        """The run's end, or None when a patch was published."""
        if end := self._triage(case, workspace, version):
            return end
        diagnosed = self._diagnose(case, workspace, version)
        reproduction = diagnosed.reproduction
        if reproduction is None:
            return _without_reproduction(diagnosed, case)
        red = self._pursuit.once("reproduce", _REPORT, lambda: self._reproduce(workspace, reproduction))
        if not shows_red(red, reproduction.test):
            told = "the test that showed the failure does not fail when code runs it on the clean base"
            return End(ending=Drop(cause=DropCause.NOT_REPRODUCIBLE), told=told)
        case = self._with_signature_of(red, reproduction, case)
        if other := duplicate_of(self._pursuit, reproduction):
            return End(
                ending=NotOurs(cause=NotOursCause.DUPLICATE, proof=(reproduction.test,)),
                told=f"the same failure is fixed on branch {other.branch} by run {other.id}, which is not merged yet",
            )
        mark_recurred(self._pursuit)
        found = Found(diagnosed=diagnosed, reproduction=reproduction, red=red)
        return Attempts(self._pursuit, self._bench, self._conclusion, version).work(case, base, workspace, found)

    def _triage(self, case: Case, workspace: Workspace, version: MemoryVersion) -> End | None:
        ownership = self._pursuit.once(
            "triage",
            _OWNERSHIP,
            lambda: self._pursuit.ask(
                Triage, EntryPoint.TRIAGE, TriageGiven(case=case), workspace=workspace, version=version
            ),
        )
        signatures, files = self._pursuit.signatures, self._pursuit.view.files
        cause = decisions.not_ours(ownership, case.ticket, signatures, files, case.red)
        self._pursuit.tell(
            facts.Decided(
                what="not ours" if cause else "ours",
                because=f"the model says {ownership}; "
                + ("no frame, file or red test of this tree is named" if cause else "code looks closer"),
            )
        )
        return None if cause is None else End(ending=NotOurs(cause=cause), told=_NOT_OURS[cause])

    def _diagnose(self, case: Case, workspace: Workspace, version: MemoryVersion) -> Diagnosed:
        given = DiagnosisGiven(case=case)
        return self._pursuit.once(
            "diagnose",
            _DIAGNOSED,
            lambda: self._asked_for_cause(given, workspace, version),
        )

    def _asked_for_cause(self, given: DiagnosisGiven, workspace: Workspace, version: MemoryVersion) -> Diagnosed:
        diagnosed = self._pursuit.ask(Diagnosis, EntryPoint.DIAGNOSE, given, workspace=workspace, version=version)
        self._pursuit.tell(witness.found(diagnosed))
        return diagnosed

    def _reproduce(self, workspace: Workspace, reproduction: Reproduction) -> CheckReport:
        workspace.reset()
        report = self._bench.reproduce(workspace, reproduction, at_base=True)
        self._pursuit.tell(witness.checked(report, "the base commit, the reproduction"))
        return report

    def _with_signature_of(self, red: CheckReport, reproduction: Reproduction, case: Case) -> Case:
        """The case, asked from now on with the signature of the red output too."""
        pursuit = self._pursuit
        pursuit.red = signatures_of_red(red, reproduction, pursuit.view)
        pursuit.signatures = both(pursuit.signatures, pursuit.red)
        return case.asked_with(pursuit.signatures)


_NOT_SHOWN: Final = "no test was found that shows the failure"
_NOT_WRITTEN: Final = "no test shows the failure, and none could be written"
_FILES_TOLD: Final = 3
_UNREADABLE: Final = "the model gave no answer that can be used"
_MISFIT: Final = "the patch cannot be put on the base commit"
_NOT_OURS: Final = {
    NotOursCause.NO_FRAME_HERE: "nothing of the failure lies in this repository",
    NotOursCause.NOT_A_BUG: "the ticket asks for no repair",
}


def _without_reproduction(diagnosed: Diagnosed, case: Case) -> End:
    if diagnosed.absent is Absent.DOES_NOT_FAIL and diagnosed.passing:
        return End(
            ending=NotOurs(cause=NotOursCause.ALREADY_FIXED, proof=(diagnosed.passing,)),
            told=f"{diagnosed.passing} passes on the base commit: this is fixed already",
            evidence=Evidence.EXIT_STATUS,
        )
    return _not_reproduced(_NOT_WRITTEN, case)


def _not_reproduced(told: str, case: Case | None, *seen: str) -> End:
    """The end of a run that found no red test, with the files in which there may be one that nobody could read."""
    unread = case.unread if case else {}
    if unread:
        told = f"{told}; {count(len(unread), 'test file')} cannot be read on the base commit"
        seen += tuple(f"{file} cannot be read: {why}" for file, why in list(unread.items())[:_FILES_TOLD])
    return End(ending=Drop(cause=DropCause.NOT_REPRODUCIBLE), told=told, seen=seen)


def _sentence(error: Exception) -> str:
    text = str(error).strip().rstrip(".")
    return text[:1].lower() + text[1:]


def _of_file(error: OSError) -> str:
    where = f" ({error.filename})" if error.filename else ""
    return f"{error.strerror or error}{where}: make room or give access, then go on"
