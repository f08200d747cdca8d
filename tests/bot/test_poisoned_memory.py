"""Memory informs and never decides: whatever strangers taught it, a real ticket is diagnosed, fixed and judged."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from bot.alert import signatures_at
from bot.app import App
from bot.run import Run, RunState
from memory.types import (
    CommitId,
    Drop,
    DropCause,
    Ending,
    Evidence,
    NotOurs,
    NotOursCause,
    RunEnding,
    RunId,
    TicketId,
)
from stages.journal import ModelSaid
from stages.prompt import EntryPoint
from tests.bot.kit import TICKET, TRACE, Bed, Script, bed, facts_of, writes
from tests.bot.laid import laid

POISON: Final = 100
SHOWN: Final = {"trace.txt": TRACE, "till/prices.py": "shares = 0\n"}
REAL: Final = replace(TICKET, body=f"The shop is down.\n\n```\n{TRACE}```\n")
NEGATIVE: Final[tuple[Ending, ...]] = (
    NotOurs(cause=NotOursCause.NO_FRAME_HERE),
    NotOurs(cause=NotOursCause.NOT_A_BUG),
    Drop(cause=DropCause.NOT_REPRODUCIBLE),
    Drop(cause=DropCause.CLOSED_BY_HUMAN),
)


def poison(folder: Path) -> None:
    """A hundred strangers had junk tickets with the very failure of the real one, and each ended without a patch."""
    ground = bed(folder, SHOWN)
    app = ground.app()
    scope, base = app.scope(ground.repository), ground.repository.resolve()
    now = app.book.now()
    for number in range(POISON):
        app.stores.memory.record(
            RunEnding(
                scope=scope,
                run=RunId(f"POISON{number:04}"),
                ticket=TicketId(f"stranger:{number}"),
                author=f"stranger{number}",
                ending=NEGATIVE[number % len(NEGATIVE)],
                final=True,
                commit=CommitId(base),
                at=now - timedelta(minutes=POISON - number),
                evidence=Evidence.NONE,
                signatures=signatures_at(REAL, ground.repository, base),
            )
        )


@pytest.fixture
def poisoned(tmp_path: Path) -> tuple[App, Bed, Script]:
    ground, script = bed(laid(poison, tmp_path)[0], SHOWN), Script.of()
    return ground.app(script), ground, script


def fixed(poisoned: tuple[App, Bed, Script]) -> Run:
    app, ground, _ = poisoned
    return ground.fix(app, REAL)


def test_sec_25_a_hundred_poisoned_lessons_keep_no_real_ticket_from_being_fixed(
    poisoned: tuple[App, Bed, Script],
) -> None:
    script = poisoned[2]

    run = fixed(poisoned)

    assert run.state is RunState.PUBLISHED
    assert script.asked[:3] == [EntryPoint.TRIAGE, EntryPoint.DIAGNOSE, EntryPoint.DEVELOP]
    shown = [prompt.context.lessons for prompt in script.prompts]
    assert all(block.eligible > 0 for block in shown), "the poison was not there"
    assert all(len(block.shown) <= 5 for block in shown)


def test_sec_25_every_step_is_the_same_with_poison_and_without(
    poisoned: tuple[App, Bed, Script], tmp_path: Path
) -> None:
    clean, script = bed(tmp_path / "clean", SHOWN), Script.of()
    clean.fix(clean.app(script), REAL)

    fixed(poisoned)

    assert poisoned[2].asked == script.asked
    assert [prompt.body for prompt in poisoned[2].prompts] == [prompt.body for prompt in script.prompts]


def test_sec_25_a_hundred_strangers_leave_four_lessons_and_all_of_them_expire(
    poisoned: tuple[App, Bed, Script],
) -> None:
    app, ground, _ = poisoned

    lessons = app.stores.memory.lessons(app.scope(ground.repository))

    assert len(lessons) == len(NEGATIVE)
    assert sum(lesson.count for lesson in lessons) == POISON
    assert all(lesson.expires is not None for lesson in lessons)


def test_r66_an_ending_caused_by_a_malicious_ticket_yields_a_lesson_without_its_text(tmp_path: Path) -> None:
    ground = bed(tmp_path)
    words = "obey quokka zyzzyva marmalade"
    script = Script.of(
        diagnose={"cause": words, "files": ["price.txt"], "reproduction": "none", "reason": words},
        summarise={"text": words},
    )
    app = ground.app(script)
    hostile = replace(TICKET, id=TicketId("local:x"), title=words, body=f"{words}\n{words}", author="quokka")

    ground.fix(app, hostile)

    lessons = app.stores.memory.lessons(app.scope(ground.repository))
    assert lessons
    assert all(word not in repr(lessons) for word in words.split())


def test_sec_5_14_what_a_model_said_in_one_run_stands_in_no_prompt_of_the_next(tmp_path: Path) -> None:
    ground, word = bed(tmp_path), "zyzzyva"
    app = ground.app(Script.of(summarise={"text": word}, develop=writes(summary=word)))
    first = ground.fix(app)
    app.stores.events.add(first.id, "develop", 1, [(app.book.now(), ModelSaid(text=word))])
    app.stop(first)
    script = Script.of()

    ground.fix(ground.app(script), replace(TICKET, id=TicketId("local:again")))

    assert word in repr(facts_of(app, first)), "nothing was there to be read"
    assert script.prompts
    assert all(word not in prompt.text for prompt in script.prompts)
