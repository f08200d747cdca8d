"""Tickets that strangers made to hurt: a run takes them as it takes any other, and writes them down."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from bot.errors import WrongInput
from bot.run import RunState
from bot.ticket_file import read_ticket
from memory.index import FtsSearch
from memory.recall import Recall
from memory.types import CommitId, MemoryQuery, NoteFile, Sources, TicketId
from stages.agents.schemas import offered
from stages.prompt import EntryPoint
from stages.ticket import Comment
from tests.bot.kit import TICKET, Script, bed, facts_of
from tests.machine import at_most
from tests.memory.store_kit import AT, COMMIT, SHOP, make_store

ROWS: Final = {
    "b37": ("Price", "a\n" * 50_000 + "b" * 200_000),
    "b39": ("Price \ud800\x00\ufffe", "lone \udfff surrogate, NUL \x00, \ufffd and \ufffe"),
    "b40 emoji": ("\U0001f4a5", ""),
    "b40 blank body": ("Price", " \n\t\u200b\n"),
    "b42": ("{{ 7*7 }} ${{ secrets.X }} %s%n {0.__class__} $(id) `id`", "$answer ${case} {x} %(y)s\n{{ y }}"),
}


@pytest.mark.parametrize("row", ROWS)
def test_b37_to_b42_a_run_takes_such_a_ticket_and_keeps_it(row: str, tmp_path: Path) -> None:
    title, body = ROWS[row]
    script = Script.of()
    ground = bed(tmp_path)
    app = ground.app(script)
    ticket = replace(
        TICKET, id=TicketId("local:x"), title=title, body=body, comments=(Comment(author="\ud800", text=body[:900]),)
    )

    run = ground.fix(app, ticket)

    assert run.state is RunState.PUBLISHED
    assert app.stores.runs.get(run.id).ticket.id == "local:x"
    assert facts_of(app, run)
    assert all(len(prompt.text.encode()) < 60_000 for prompt in script.prompts)
    assert "49" not in script.bodies(EntryPoint.TRIAGE)[0]


@pytest.mark.parametrize("text", ["", " \n\t\n", "# \n\n", "<!-- only a comment -->\n"])
def test_r53_b40_without_a_text_there_is_no_run(text: str, tmp_path: Path) -> None:
    path = tmp_path / "ticket.md"
    path.write_text(text)

    with pytest.raises(WrongInput):
        read_ticket(path, tmp_path)


TITLES: Final = [
    *("C++ crash", "can't open \"x", "foo AND", "NEAR(", "-x", "a*", "{a b}:c", "^", '"', "'; DROP TABLE note; --"),
    *("price OR 1=1", "col:price", "price NOT", "\x00price", "(((((", "x" * 100_000, "price " * 50_000),
]


@pytest.mark.parametrize("title", TITLES, ids=range(len(TITLES)))
def test_b44_b46_sec_26_no_title_breaks_the_search_of_notes_or_makes_it_long(title: str, tmp_path: Path) -> None:
    store = make_store(tmp_path / "t.sqlite")
    notes = tuple(
        NoteFile(path=f"n{number}.md", text=f"# Price {number}\n\nprice of mug {number}\n") for number in range(25)
    )
    version = store.publish_sources(SHOP, Sources(commit=CommitId(COMMIT), notes=notes), AT)
    recall = Recall(store, FtsSearch(tmp_path / "index"))
    began = time.process_time()

    context = recall(MemoryQuery(scope=SHOP, ticket=TicketId("t"), entry_point="diagnose", title=title, at=AT), version)

    assert len(context.looked_for) <= 24
    assert len(context.notes.shown) <= 2
    assert time.process_time() - began < at_most(2)


@pytest.mark.parametrize("entry_point", EntryPoint)
def test_r56_no_tool_of_an_agent_reaches_beyond_the_clone(entry_point: EntryPoint) -> None:
    tools = {tool.name: set(tool.parameters["properties"]) for tool in offered(entry_point)}

    assert set(tools) <= {"list", "read", "search", "edit", "write", "run", "finish"}
    del tools["finish"]
    taken = set().union(*tools.values())
    assert taken <= {
        "path",
        "start",
        "end",
        "text",
        "old",
        "new",
        "check",
        "tests",
        "with_files",
        "coverage",
        "stop_at_first",
        "seconds",
    }
