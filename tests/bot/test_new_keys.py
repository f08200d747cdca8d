"""A new algorithm of signatures finds what was learnt before it: through whole runs."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from bot.failures import renew_keys
from memory.signature import ALGO, signatures
from memory.types import TicketId
from stages.prompt import EntryPoint
from tests.bot.kit import TICKET, TRACE, Bed, Script, bed, told, writes
from tests.bot.laid import laid

TRACED = replace(TICKET, id=TicketId("local:traced"), title="Reading a price fails", body=TRACE)
AGAIN = replace(TRACED, id=TicketId("local:again"), title="It fails once more", author="jonas")
LOUD = {"trace.txt": TRACE}


def learnt(folder: Path) -> Bed:
    """A run that ended with a hold, and whose lesson has keys of the failure."""
    return bed(laid(_learnt, folder)[0], LOUD)


def _learnt(folder: Path) -> None:
    made = bed(folder, LOUD)
    app = made.app(Script.of(develop=writes(text="3\n4\n")), attempts=1)
    assert told(app, made.fix(app, TRACED)) == ["hold: check", "final hold: check"]


def grow_old(made: Bed) -> None:
    """As if the lessons had been learnt under the algorithm before this one."""
    with closing(sqlite3.connect(made.home / "ticketsmith.sqlite")) as connection, connection:
        connection.execute("UPDATE lesson_key SET algo = 'es0', key = REPLACE(key, ?, 'es0:')", (f"{ALGO}:",))
        for table in ("lesson", "ending"):
            connection.execute(f"UPDATE {table} SET signatures = REPLACE(signatures, ?, 'es0:')", (f"{ALGO}:",))
    app = made.app(Script.of())
    app.stores.memory.take_over(app.scope(made.repository))


def shown(made: Bed, point: EntryPoint = EntryPoint.DIAGNOSE) -> str:
    """What a run of another ticket of the same failure reads at one entry point."""
    script = Script.of()
    app = made.app(script)
    made.fix(app, AGAIN)
    return next(prompt.section for prompt in script.prompts if prompt.entry_point is point)


def test_a_run_finds_lessons_that_were_learnt_under_another_algorithm(tmp_path: Path) -> None:
    made = learnt(tmp_path)
    grow_old(made)

    read = shown(made)

    assert f"same signature {ALGO}:" in read


def test_the_run_says_that_it_made_keys_anew_and_the_next_one_does_not(tmp_path: Path) -> None:
    made = learnt(tmp_path)
    grow_old(made)
    app = made.app(Script.of())

    first = app.stores.memory.current(app.scope(made.repository)).number
    done = renew_keys(app.stores, app.scope(made.repository), made.repository, made.repository.resolve(None))
    again = renew_keys(app.stores, app.scope(made.repository), made.repository, made.repository.resolve(None))

    assert done is not None
    assert done.lessons > 0
    assert done.version.number == first + 1
    assert again is None


def test_later_stages_are_asked_with_the_failure_that_code_saw_and_not_only_with_the_tickets(tmp_path: Path) -> None:
    """The ticket tells of no error; the red reproduction prints the trace that a lesson was learnt from."""
    made = learnt(tmp_path)
    silent_ticket = replace(AGAIN, body="price.txt says 1, we agreed on 3.")
    script = Script.of()
    app = made.app(script)

    made.fix(app, silent_ticket)

    read = {prompt.entry_point: prompt.section for prompt in script.prompts}
    assert "same signature" not in read[EntryPoint.DIAGNOSE]
    assert f"same signature {ALGO}:" in read[EntryPoint.DEVELOP]
    assert f"same signature {ALGO}:" in read[EntryPoint.REVIEW]


def test_lessons_carry_the_signature_of_the_alert_and_of_the_red_output(tmp_path: Path) -> None:
    """The red output shows the alert, through another caller."""
    caller = '  File "till/orders.py", line 3, in total\n    read_price(row)\n'
    printed = TRACE.replace("last):\n", f"last):\n{caller}")
    made = bed(tmp_path, {"trace.txt": printed})
    app = made.app(Script.of(develop=writes(text="3\n4\n")), attempts=1)

    run = made.fix(app, TRACED)

    (alert,), (red,) = signatures("", TRACE), signatures("", printed)
    (lesson,) = app.stores.memory.lessons(run.scope)
    keys = {key for signature in lesson.signatures for key in signature.keys.values()}
    assert alert.keys["f"] != red.keys["f"]
    assert {alert.keys["f"], red.keys["f"]} <= keys
