"""A guard that raises, says nothing or hangs stays a guard: what stands behind it does not happen.

Sandbox, jail, policy and gate are tried in `tests/stages/test_fail_closed_walls.py`.
"""

from __future__ import annotations

import io
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest

from bot.book import Book, upgrade_runs
from bot.course.admission import may_ask
from bot.forge.types import Account, AccountKind, Permission, RepositoryRef
from bot.log import open_log
from bot.outbox.words import Words
from bot.publishing import Publisher
from bot.requeue import RequeueNotes
from memory.database import open_database
from memory.scrub import Scrubber
from memory.types import TicketId
from stages import body
from stages.admission import Admission
from stages.agents.limits import Budget, Limits
from stages.agents.loop import Loop
from stages.base import Desk
from stages.errors import Stopped
from stages.patch import FileChange, Patch
from stages.prompt import EntryPoint
from stages.triage import Triage, TriageGiven
from tests.bot.kit import TICKET, Script, bed, silent
from tests.fakes import (
    SCOPE,
    Clock,
    RecordingJournal,
    ScriptedModel,
    TreeInMemory,
    budget,
    case,
    context,
    prompt,
    says,
)

CANARY: Final = "h7Kd02mPq9xY3zLw"
HANG_SECONDS: Final = 0.4  # a guard that has not answered by then has not let anything pass
FAULTS: Final = ("raises", "says nothing", "hangs")


class Broken(Exception):
    """A fault that nobody foresaw."""


@dataclass
class Fault:
    """Stands in for what a guard asks, and does what its name says; `release` ends a hang."""

    kind: str
    release: threading.Event = field(default_factory=threading.Event)

    def __call__(self, *_: object, **__: object) -> Any:
        if self.kind == "raises":
            raise Broken
        if self.kind == "hangs":
            self.release.wait(30)
            raise Stopped
        return None


class FaultyScrubber(Scrubber):
    """A scrubber whose every method is the fault."""

    def __init__(self, fault: Fault) -> None:
        super().__init__((CANARY,))
        self.scrub = self.leaks = self.holds_value = fault  # type: ignore[method-assign]


@dataclass(frozen=True, kw_only=True)
class Guarded:
    """`act` does what the guard stands before; `happened` tells whether it was done."""

    act: Callable[[], object]
    happened: Callable[[], bool]


def permission(folder: Path, fault: Fault | None) -> Guarded:
    """A run begins for those who may write."""
    begun: list[str] = []
    forge = SimpleNamespace(permission=fault or (lambda *_: Permission.WRITE))
    errand: Any = SimpleNamespace(
        forge=forge,
        ref=RepositoryRef(installation=1, id=2, full_name="acme/till"),
        settings=SimpleNamespace(allowed_bots=()),
    )

    def act() -> None:
        if may_ask(errand, Account(id=7, login="mira", kind=AccountKind.USER)) is None:
            begun.append("run")

    return Guarded(act=act, happened=lambda: bool(begun))


def sanitiser(folder: Path, fault: Fault | None) -> Guarded:
    """A model is asked about a ticket."""
    journal = RecordingJournal()
    model = ScriptedModel(says(("finish", {"ownership": "ours", "reason": "here"})))
    desk = Desk(agent=Loop(journal, model.model()), workspace=TreeInMemory(), limits=budget())

    def act() -> None:
        with pytest.MonkeyPatch.context() as patched:
            if fault:  # a module's function: there is no other place where its fault could be put in
                patched.setattr(body, "sanitise", fault)
            Triage(EntryPoint.TRIAGE, desk).run(TriageGiven(case=case()), context=context(EntryPoint.TRIAGE))

    return Guarded(act=act, happened=lambda: bool(model.requests or journal.prompts))


def recall(folder: Path, fault: Fault | None) -> Guarded:
    """A run asks a model."""
    ground, script = bed(folder), Script.of(triage=Stopped())
    app = ground.app(script)
    run = app.open_run(TICKET, ground.repository, ground.repository.resolve())
    if fault:
        app.__dict__["stores"] = replace(app.stores, recall=fault)  # type: ignore[arg-type]

    def act() -> None:
        app.pursue(run, silent())
        assert script.asked, "the run was taken on, and no model was asked"

    return Guarded(act=act, happened=lambda: bool(script.asked))


def ledger(folder: Path, fault: Fault | None) -> Guarded:
    """A model is called, and paid."""
    model = ScriptedModel(says(("finish", {"quote": "q", "cause": "c", "files": [], "reproduction": "pytest"})))
    own = SimpleNamespace(reserve=fault, settle=lambda **_: None) if fault else None
    limits = Budget(Limits(), clock=Clock(), ledger=own)

    def act() -> None:
        Loop(RecordingJournal(), model.model()).ask(prompt(), TreeInMemory(), limits, lambda answer: answer)

    return Guarded(act=act, happened=lambda: bool(model.requests))


def patch_leak_check(folder: Path, fault: Fault | None) -> Guarded:
    """A patch counts as free of secrets."""
    free: list[Patch] = []
    diff = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n"
    file = FileChange(path="a", status="M", old_mode="100644", new_mode="100644")
    patch = Patch(diff=diff, files=(file,))
    admission = Admission(scrubber=FaultyScrubber(fault) if fault else Scrubber((CANARY,)))

    def act() -> None:
        if not tuple(admission.leaks(patch)):
            free.append(patch)

    return Guarded(act=act, happened=lambda: bool(free))


def outgoing_leak_check(way: str) -> Callable[[Path, Fault | None], Guarded]:
    """Words go out to GitHub."""

    def build(folder: Path, fault: Fault | None) -> Guarded:
        sent: list[object] = []
        words = Words(FaultyScrubber(fault) if fault else Scrubber((CANARY,)))
        ref = RepositoryRef(installation=1, id=2, full_name="acme/till")

        def act() -> None:
            match way:
                case "body":
                    sent.append(words.body("It is 3.", ref, 1, "a comment"))
                case "line":
                    sent.append(words.line("It is 3.", "a title"))
                case _:
                    words.check("It is 3.", "a commit")
                    sent.append("commit")

        return Guarded(act=act, happened=lambda: bool(sent))

    return build


def file_scrubber(folder: Path, fault: Fault | None) -> Guarded:
    """A file is written for people."""
    ground = bed(folder)
    app = ground.app()
    run = app.open_run(TICKET, ground.repository, ground.repository.resolve())
    out = folder / "out"
    publisher = Publisher(out, fault or app.scrubber.scrub)

    def act() -> None:
        publisher.keep(run, f"+key = '{CANARY}'\n")

    return Guarded(act=act, happened=lambda: any(path.is_file() for path in out.rglob("*")))


def table_scrubber(folder: Path, fault: Fault | None) -> Guarded:
    """What a person said is written into a table."""
    path = folder / "t.sqlite"
    engine = open_database(path)
    upgrade_runs(engine)
    notes = RequeueNotes(Book(engine, FaultyScrubber(fault) if fault else Scrubber()))

    def happened() -> bool:
        with sqlite3.connect(path) as connection:
            return bool(connection.execute("SELECT count(*) FROM requeue_note").fetchone()[0])

    return Guarded(act=lambda: notes.add(SCOPE, TicketId("t"), CANARY, "mira"), happened=happened)


def log_scrubber(folder: Path, fault: Fault | None) -> Guarded:
    """A line is logged."""
    stream = io.StringIO()
    log = open_log(fault or Scrubber().scrub, stream)

    return Guarded(act=lambda: log.info("run ended", said=CANARY), happened=lambda: CANARY in stream.getvalue())


GUARDS: Final[dict[str, Callable[[Path, Fault | None], Guarded]]] = {
    "permission": permission,
    "sanitiser": sanitiser,
    "context": recall,
    "ledger": ledger,
    "leak check of a patch": patch_leak_check,
    "leak check of a comment": outgoing_leak_check("body"),
    "leak check of a title": outgoing_leak_check("line"),
    "leak check of a commit": outgoing_leak_check("commit"),
    "scrubber of files": file_scrubber,
    "scrubber of tables": table_scrubber,
    "scrubber of the log": log_scrubber,
}


@pytest.mark.parametrize("guard", GUARDS)
def test_sec_5_9_behind_a_guard_that_works_it_happens(guard: str, tmp_path: Path) -> None:
    guarded = GUARDS[guard](tmp_path, None)

    guarded.act()

    assert guarded.happened()


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("guard", GUARDS)
def test_sec_5_9_behind_a_guard_that_fails_nothing_happens(guard: str, kind: str, tmp_path: Path) -> None:
    fault = Fault(kind)
    guarded = GUARDS[guard](tmp_path, fault)
    ends: list[BaseException | None] = []

    def act() -> None:
        try:
            guarded.act()
            ends.append(None)
        except BaseException as error:  # noqa: BLE001 - looked at below
            ends.append(error)

    thread = threading.Thread(target=act)
    thread.start()
    thread.join(HANG_SECONDS if kind == "hangs" else 60)

    assert not guarded.happened()
    fault.release.set()
    thread.join(60)
    assert not guarded.happened()
    assert ends
    assert ends[0] is not None or guard in WAITS, "it ended as if all were well"


WAITS: Final = {
    "leak check of a patch",  # ends, and the patch is held
    "scrubber of the log",  # ends, with an empty value in the line
}
"""Guards whose silence is an answer: no."""
