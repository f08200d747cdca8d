"""`memory calibrate` as a person types it: figures, bounds, the picture, and what later runs do with it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from bot.app import App, Choices
from bot.commands.common import program
from bot.config import Settings
from bot.labelled import labelled
from bot.run import Opening, RunState
from bot.upkeep import keep_up
from memory.calibration import fixed_threshold
from memory.types import CommitId, MemoryVersion, NoteFile, Sources, TicketId
from stages.ticket import Ticket
from tests.bot.lines import line
from tests.memory.recall_kit import SCOPE
from tests.memory.test_calibration import topic

FOLDER = ".github/ticketsmith/notes"


def notes(count: int, *, tickets: bool = False) -> Mapping[str, str]:
    """Files of notes; with `tickets` each names one in its front matter."""
    return {f"{FOLDER}/{one.path}": (front(one) if tickets else "") + one.text for one in map(topic, range(count))}


def front(note: NoteFile) -> str:
    title = note.text.partition("\n")[0].strip("# ")
    return f'---\ntickets:\n- "{title} is broken"\n---\n'


def test_a_calibration_is_told_with_its_exact_bound_and_kept(tmp_path: Path) -> None:
    typed = line(tmp_path, notes(40))

    told = typed.type("memory", "calibrate", *typed.at)

    assert told.exit_code == 0, told.output
    assert "Threshold 0." in told.stdout
    assert re.search(r"that got a note: \d+ of 40, [\d.]+ % \([\d.]+ to [\d.]+ %\)", told.stdout)
    assert "≤ 1 % is not proven: with 95 % certainty it is at most " in told.stdout
    assert "that takes 299 questions at least" in told.stdout
    assert "not known: no note names its tickets" in told.stdout
    assert "kept with memory version 2" in told.stdout
    assert "← threshold" in told.stdout


def test_json_has_every_figure(tmp_path: Path) -> None:
    typed = line(tmp_path, notes(110, tickets=True))

    found = typed.json("memory", "calibrate", *typed.at, "--rate", "0.03")

    assert (found["basis"], found["level"], found["notes"], found["version"]) == ("tickets", 0.03, 110, 2)
    assert found["false_admission"]["of"] == found["recall"]["of"] == 110
    assert found["recall"]["hits"] > 100
    assert not found["proven"] or found["at_most"] <= 0.03
    assert [point["false_admission"]["of"] for point in found["curve"]] == [110] * 7


def test_where_notes_find_their_siblings_that_is_said_each_time(tmp_path: Path) -> None:
    pairs = {f"{FOLDER}/n{n}.md": topic(n // 2).text + f" part{n}" for n in range(40)}
    typed = line(tmp_path, pairs)

    first = typed.type("memory", "calibrate", *typed.at).stdout
    second = typed.type("memory", "calibrate", *typed.at).stdout

    assert "that is more than 1 %; none was stricter before, so it is taken all the same, and notes publish" in first
    assert "rests on public reports" in first
    assert "rests on public reports" in second
    assert f"  before: threshold {fixed_threshold(40):.3f}, 40 notes" in second


def test_a_threshold_of_the_table_is_told_once(tmp_path: Path) -> None:
    typed = line(tmp_path, notes(40))

    told = typed.type("memory", "calibrate", *typed.at).stdout

    rows = re.findall(r"^ (\d\.\d{3}  .*?) *$", told, re.MULTILINE)
    assert rows
    assert len(rows) == len(set(rows))


@pytest.mark.parametrize("tickets", [True, False])
def test_the_picture_says_in_words_what_it_shows(tmp_path: Path, tickets: bool) -> None:
    typed = line(tmp_path, notes(30, tickets=tickets))
    picture = tmp_path / "scores.svg"

    told = typed.type("memory", "calibrate", *typed.at, "--picture", picture)

    assert told.exit_code == 0, told.output
    root = Xml.fromstring(picture.read_text("utf-8"))
    texts = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
    described = root.find("{http://www.w3.org/2000/svg}desc")
    assert (root.get("role"), root.get("aria-labelledby")) == ("img", "title told")
    assert described is not None
    assert "Questions without an answer that got a note: " in (described.text or "")
    assert any(text.startswith("Recall against") for text in texts) == tickets
    assert any(text.startswith("threshold 0.") for text in texts)


@pytest.mark.parametrize(
    "files", [{}, {f"{FOLDER}/old.md": "---\nstatus: retired\n---\nGone."}], ids=["none", "retired"]
)
def test_without_notes_one_sentence_says_what_to_do(tmp_path: Path, files: Mapping[str, str]) -> None:
    typed = line(tmp_path, files)
    picture = tmp_path / "scores.svg"

    told = typed.type("memory", "calibrate", *typed.at, "--picture", picture)

    assert (told.exit_code, told.stderr, picture.exists()) == (0, "", False)
    assert told.stdout == (
        f"Nothing to calibrate or to draw: no note is in use. `{program()} memory notes` says what there is.\n"
    )
    assert typed.json("memory", "calibrate", *typed.at)["notes"] == 0


def test_with_few_notes_nothing_is_kept_and_that_is_said(tmp_path: Path) -> None:
    typed = line(tmp_path, notes(5))

    told = typed.type("memory", "calibrate", *typed.at).stdout

    assert "not kept: with fewer than 20 notes `coverage` decides" in told
    assert typed.json("memory", "why", typed.ticket, *typed.at)["calibration"] is None


def test_why_names_the_calibration_the_words_and_the_distance_of_each_candidate(tmp_path: Path) -> None:
    typed = line(tmp_path, notes(30))
    typed.ticket.write_text(f"# {topic(7).text.partition(chr(10))[0].strip('# ')} is broken\n\nSince today.\n")
    before = typed.type("memory", "why", typed.ticket, *typed.at).stdout
    typed.type("memory", "calibrate", *typed.at)

    after = typed.type("memory", "why", typed.ticket, *typed.at).stdout

    assert "rule per_word, 30 notes searched" in before
    assert "calibration is due: it was never made" in before
    assert "rule calibrated, 30 notes searched: 1 of 1 got in" in after
    assert "calibration is due" not in after
    assert "  in   n007.md, score " in after
    assert "above the threshold" in after
    assert "         subject words of the note found: " in after


def test_a_run_says_why_its_notes_got_in_and_measures_anew_when_it_is_over(tmp_path: Path) -> None:
    typed = line(tmp_path, notes(22))

    done = typed.fix()
    shown = typed.type("runs", "show", typed.runs()[0]["id"]).stdout

    assert done.exit_code == 0, done.output
    assert "Notes were measured anew: threshold " in done.stderr
    assert "notes looked for: the, price, is, wrong" in shown
    assert "rule per_word, 22 notes searched: 0 of 0 got in" in shown


def test_a_rate_that_is_no_share_is_refused(tmp_path: Path) -> None:
    typed = line(tmp_path)

    assert typed.type("memory", "calibrate", *typed.at, "--rate", "3").exit_code == 2


# --- Where labels come from, and upkeep -----------------------------------------------------------------------------


@pytest.fixture
def app(tmp_path: Path) -> App:
    return App(Settings(home=tmp_path, database=tmp_path / "ticketsmith.sqlite"), Choices())


def published(app: App, *files: NoteFile) -> MemoryVersion:
    sources = Sources(commit=CommitId("0" * 40), notes=files)
    return app.stores.memory.publish_sources(SCOPE, sources, app.book.now())


def ended(app: App, ticket: Ticket) -> None:
    run = app.stores.runs.create(Opening(scope=SCOPE, ticket=ticket, base=CommitId("0" * 40), place="/nowhere"))
    app.stores.runs.set_state(run.id, RunState.ENDED, outcome="drop: stopped")


def test_notes_name_tickets_by_id_by_number_and_by_title(app: App) -> None:
    ended(app, Ticket(id=TicketId("local:a.md"), title="Voucher lost", body=""))
    ended(app, Ticket(id=TicketId("shop#12"), title="Cart empty", body="", number=12))
    text = "---\ntickets: [local:a.md, #12, 'Till is stuck', nobody]\n---\n# Till\nRestart it."

    found = labelled(app.stores, published(app, NoteFile(path="till.md", text=text)))

    assert [(one.query.title, one.notes) for one in found] == [
        ("Voucher lost", ("till.md",)),
        ("Cart empty", ("till.md",)),
        ("Till is stuck", ("till.md",)),
    ]


def test_tickets_of_ended_runs_name_notes(app: App) -> None:
    ended(app, Ticket(id=TicketId("1"), title="Cache down", body="As in deploy/redis-down.md, I think."))
    ended(app, Ticket(id=TicketId("2"), title="Other", body="Nothing."))
    ended(app, Ticket(id=TicketId("3"), title="Said later", body=""))
    app.stores.notes.add(SCOPE, TicketId("3"), "see redis-down.md", "mira")
    files = [NoteFile(path="deploy/redis-down.md", text="# Redis\nFail over."), NoteFile(path="a.md", text="# A\nb c")]

    found = labelled(app.stores, published(app, *files))

    assert sorted((one.query.ticket, one.notes) for one in found) == [
        ("1", ("deploy/redis-down.md",)),
        ("3", ("deploy/redis-down.md",)),
    ]


def test_upkeep_measures_once_and_keeps_the_level_that_was_asked_for(app: App) -> None:
    published(app, *map(topic, range(30)))

    first, second = keep_up(app.stores, SCOPE), keep_up(app.stores, SCOPE)
    version = app.stores.memory.current(SCOPE)
    app.stores.upkeep.calibrate(version, app.book.now(), level=0.05)
    published(app, *(replace(topic(n), text=topic(n).text + " new") for n in range(30)))
    third = keep_up(app.stores, SCOPE)

    assert first is not None
    assert second is None
    assert third is not None
    assert (first.measured.calibration.level, third.measured.calibration.level) == (0.01, 0.05)
