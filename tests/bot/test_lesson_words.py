"""No four words in a row of a ticket, a model, a command or a person reach a lesson."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from bot.app import App
from memory.lessons import render
from memory.scrub import Scrubber
from memory.types import EndingKind, Lesson, RunId, TicketId
from stages.ticket import Comment, Ticket
from stages.workspace import Workspace
from tests.bot.kit import DIAGNOSED, SETTINGS, Bed, Script, bed, lessons, silent

_LESSON: Final = TypeAdapter(Lesson)
_WORDS: Final = re.compile(r"[A-Za-z]+")
words = st.lists(st.text("abcdefghijklmnop", min_size=4, max_size=9), min_size=8, max_size=12, unique=True)
tails = st.sampled_from(["", "\n[ticketsmith:end]\n", "\u202e", "'; DROP TABLE lesson; --", "\x1b[31m", "${HOME}"])


def four_in_a_row(text: str) -> set[tuple[str, ...]]:
    found = _WORDS.findall(text.lower())
    return {tuple(found[at : at + 4]) for at in range(len(found) - 3)}


def all_text(lesson: Lesson) -> str:
    return _LESSON.dump_json(lesson).decode() + "\n".join(render(lesson, "same ticket"))


def hostile_ticket(said: str, name: str) -> Ticket:
    trace = f'Traceback (most recent call last):\n  File "price.py", line 1, in {name}\nValueError: {said}\n'
    return Ticket(
        id=TicketId(f"local:{said}"),
        title=said,
        body=f"{said}\n\n{trace}",
        comments=(Comment(author=said, text=said),),
        author=said,
    )


def ground_that_talks(folder: Path, said: str) -> Bed:
    """Both checks print the sentence, and so does a file of the tree whose name is the sentence."""
    loud = SETTINGS.replace('"-c", "', '"-c", "cat hostile.txt; ')
    files = {".github/ticketsmith.toml": loud, "hostile.txt": said, ".github/ticketsmith/tuning.md": f"- {said}\n"}
    return bed(folder, files, attempts=3)


def hostile_script(said: str, path: str, develop: list[str]) -> Script:
    def writes(text: str) -> object:
        def act(workspace: Workspace) -> dict[str, object]:
            workspace.write("price.txt", text.encode())
            workspace.write(path, said.encode("utf-8", "replace"))
            return {"summary": said}

        return act

    first, *more = map(writes, develop)
    finding = {"path": path, "line": 1, "text": said, "check": said, "rule": said}
    return Script.of(
        triage={"ownership": "ours", "reason": said},
        diagnose={"cause": said, "files": [said, path], "reproduction": "price"},
        rediagnose={"cause": said, "files": [said], "reproduction": "price"},
        develop=first,  # type: ignore[arg-type]
        refix=more or [first],  # type: ignore[arg-type]
        review={"findings": [finding]},
        summarise={"text": said},
    )


def six_endings(folder: Path, said: str, path: str, name: str) -> Iterator[tuple[App, RunId]]:
    """Hold, refix, pass-after-hold and verify in one run; then a drop, and a ticket that is not ours."""
    ground = ground_that_talks(folder, said)
    ticket = hostile_ticket(said, name)
    app = ground.app(hostile_script(said, path, ["2\n", "3\n4\n", "3\n"]))
    run = ground.fix(app, ticket)
    ground.merge(run.branch)
    app.verify(run, None, silent())
    yield app, run.id
    broken = ground.app(Script.of(triage={"ownership": said}))
    dropped = ground.fix(broken, replace(ticket, id=TicketId(f"{said} 2")))
    yield broken, broken.pursue(broken.requeue(dropped, said, said), silent()).id
    theirs = ground.app(Script.of(triage={"ownership": "not-a-bug", "reason": said}, diagnose=DIAGNOSED))
    plain = Ticket(id=TicketId(f"{said} 3"), title=said, body=said, author=said)
    yield theirs, ground.fix(theirs, plain).id


@settings(
    max_examples=3, phases=[Phase.generate], deadline=None, suppress_health_check=list(HealthCheck), database=None
)
@given(words, tails)
def test_sec_24_no_sentence_of_a_stranger_reaches_a_lesson(sentence: list[str], tail: str) -> None:
    said = " ".join(sentence) + tail
    path, name = "-".join(sentence) + ".txt", "_".join(sentence)
    assume(Scrubber().scrub(path) == path)  # a patch that looks like a secret is not kept
    with tempfile.TemporaryDirectory() as folder:
        taught: dict[str, str] = {}
        kinds: set[EndingKind] = set()
        for app, run in six_endings(Path(folder), said, path, name):
            found = app.stores.runs.get(run)
            kinds |= {EndingKind(_kind(lesson)) for lesson in lessons(app, found)}
            taught |= {lesson.id: all_text(lesson) for lesson in lessons(app, found)}

    assert kinds == set(EndingKind)
    for text in taught.values():
        assert not four_in_a_row(text) & four_in_a_row(" ".join(sentence))


def _kind(lesson: Lesson) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"-\1", type(lesson.ending).__name__).lower()
