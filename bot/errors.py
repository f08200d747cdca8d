"""What can go wrong on the outside: each error is one sentence with a way out, and has an exit status."""

from __future__ import annotations

from typing import ClassVar

from memory.errors import Told
from stages.errors import NoPython


class BotError(Told):
    """The program cannot go on."""

    exit_status: ClassVar[int] = 1


class WrongInput(BotError):
    """What was given cannot be used."""

    exit_status: ClassVar[int] = 2


# --- Configuration -------------------------------------------------------------------------------------------------


class ConfigMissing(WrongInput):
    """There is no configuration file {path}: write it, or name another with --config or TICKETSMITH_CONFIG."""


class ConfigUnreadable(WrongInput):
    """The configuration {source} cannot be read: {reason}."""


class ConfigBroken(WrongInput):
    """The configuration {source} is not valid TOML, perhaps written only by half: {reason}."""


class UnknownSetting(WrongInput):
    """Unknown setting {key} in {source}. {hint}"""


class WrongSetting(WrongInput):
    """In {source}, {key} must be {wanted}, not {got}."""


class NoHome(WrongInput):
    """Nothing can be kept in {home}, because {file} is no folder: move it away, or name another folder as `home` in the
    operator's ticketsmith.toml or by TICKETSMITH_HOME.
    """


# --- Ticket files --------------------------------------------------------------------------------------------------


class TicketUnusable(WrongInput):
    """The ticket file {path} cannot be used."""


class TicketMissing(TicketUnusable):
    """There is no ticket file {path}."""


class TicketNotAFile(TicketUnusable):
    """{path} is {what}, not a file: give a markdown or JSON file with one ticket."""


class TicketForbidden(TicketUnusable):
    """The ticket file {path} cannot be read: {reason}."""


class TicketEmpty(TicketUnusable):
    """The ticket file {path} is empty: write a title on its first line, and below it what is wrong."""


class TicketTooBig(TicketUnusable):
    """The ticket file {path} has more than {most} bytes: keep the part that shows the failure."""


class TicketBinary(TicketUnusable):
    """The ticket file {path} holds binary data: give markdown or JSON in UTF-8."""


class TicketNotUtf8(TicketUnusable):
    """The ticket file {path} is not UTF-8 (byte {offset}): save it as UTF-8."""


class TicketNotJson(TicketUnusable):
    """The ticket file {path} is not valid JSON: {reason}."""


class TicketWrong(TicketUnusable):
    """In the ticket file {path}, {field} must be {wanted}, not {got}."""


class TicketWithoutContent(TicketUnusable):
    """The ticket file {path} has neither a title nor a body: there is nothing to work on."""


# --- Runs ----------------------------------------------------------------------------------------------------------


class RunError(BotError):
    """The run cannot be used like this."""


class NoSuchRun(RunError, WrongInput):
    """There is no run {given}. {hint}"""


class AmbiguousRun(RunError, WrongInput):
    """{given} begins the ids of several runs: {candidates}. Write more of it."""


class AlreadyOpen(RunError, WrongInput):
    """Ticket {ticket} has the open run {run} ({state}): go on with it by `ticketsmith runs retry {run}`, send it back
    with a note by `ticketsmith runs requeue {run} NOTE`, or begin again by `ticketsmith fix TICKET --anew`.
    """


class AlreadyPublished(AlreadyOpen):
    """Ticket {ticket} has the run {run}, whose patch is published: judge it by `ticketsmith runs verify {run}` once it
    is merged, send it back with a note by `ticketsmith runs requeue {run} NOTE`, or begin again by
    `ticketsmith fix TICKET --anew`.
    """


class RunIsOver(RunError):
    """Run {run} is over ({outcome}): `ticketsmith runs requeue {run} NOTE` begins a new run of its ticket."""


class NoInterpreter(NoPython, WrongInput):
    """The interpreter {python} of this repository {problem}: name one in .github/ticketsmith.toml that is on PATH, such
    as python3.12, or the path of one, such as .venv/bin/python, from the top of the repository.
    """


class ForeignInterpreter(NoPython, WrongInput):
    """The interpreter {python} comes with the repository itself, whose {path} could open any folder of this machine to
    its tests: name one that is on PATH, such as python3.12, as `python` in .github/ticketsmith.toml, or take {path} out
    of git and make the environment here.
    """


# --- Verification --------------------------------------------------------------------------------------------------


class NotPublished(RunError):
    """Run {run} has no published patch to verify ({state}). While it is parked or working,
    `ticketsmith runs retry {run}` goes on with it; once it has ended, `ticketsmith runs requeue {run} NOTE` begins
    another run of its ticket.
    """


class NotMerged(RunError):
    """The patch of run {run} is not in {commit}: merge the branch {branch}, or name the commit with --commit."""


class NotVerified(RunError):
    """Run {run} cannot be verified on {commit}: {reason}. Mend that first, or name another commit with --commit."""


class BeingWorkedOn(RunError):
    """Run {run} is being worked on by another process: wait for it, or end it with `ticketsmith runs stop {run}`."""


class NothingToRetry(RunError):
    """Run {run} is {state}: only a parked or an interrupted run can be retried. `ticketsmith runs requeue {run} NOTE`
    sends its ticket back, and `ticketsmith runs verify {run}` judges a published patch that was merged.
    """


class SecretInCommand(WrongInput):
    """The command of the agent {program} holds a secret, and a run keeps its command: pass it by a file that the agent
    reads.
    """


class NoProgram(WrongInput):
    """There is no program {program}: put it on PATH, or name it with its path."""


class VariableNotSet(WrongInput):
    """The variable {variable} of the agent's program has no value here: set it, or take its name out of the table
    [program] of the operator's ticketsmith.toml.
    """


# --- GitHub --------------------------------------------------------------------------------------------------------


class NoSuchJob(BotError):
    """There is no job {job}."""


# --- Work that is durable ------------------------------------------------------------------------------------------


class LetGo(BotError):
    """This process stops working on a run, which goes on elsewhere or later: nothing of that is an ending."""


class Fenced(LetGo):
    """Run {run} was taken over by another process while this one did not answer."""


class Interrupted(LetGo):
    """The program was told to leave: run {run} goes on when it is started again."""
