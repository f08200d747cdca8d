"""Notes that no run can use are named where people look: in what is written of a run, and by `doctor`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from bot.doctor import Doctor
from bot.facts import Decided
from memory.types import NoteFile, Sources
from tests.bot.kit import bed, facts_of
from tests.bot.test_doctor import settings
from tests.github_server.fixtures import github  # noqa: F401
from tests.github_server.github import GitHub
from tests.memory.store_kit import AT, COMMIT, SHOP, make_store

FLAWED = "---\ntitle: Mugs\nstatus: retird\n---\nA mug costs 3.\n"
TOLD = "mugs.md:3 · not read: the status 'retird' is not known; `active` and `retired` are"


def test_what_is_written_of_a_run_names_the_notes_that_it_could_not_use(tmp_path: Path) -> None:
    notes = {
        ".github/ticketsmith/notes/mugs.md": FLAWED,
        ".github/ticketsmith/notes/old.md": "---\nstatus: retired\n---",
    }
    made = bed(tmp_path, notes)
    app = made.app()

    run = made.fix(app)

    named = [one for one in facts_of(app, run) if isinstance(one, Decided) and "cannot be used" in one.what]
    assert named == [Decided(what="1 note cannot be used", because=TOLD)]


def test_a_run_that_can_use_all_notes_says_nothing_of_them(tmp_path: Path) -> None:
    made = bed(tmp_path, {".github/ticketsmith/notes/mugs.md": FLAWED.replace("retird", "active")})
    app = made.app()

    run = made.fix(app)

    assert not any(isinstance(one, Decided) and "cannot be used" in one.what for one in facts_of(app, run))


def test_doctor_names_the_notes_of_each_repository_that_cannot_be_used(github: GitHub, tmp_path: Path) -> None:  # noqa: F811
    given = settings(github, tmp_path)
    many = tuple(NoteFile(path=f"mugs{number}.md", text=FLAWED) for number in range(7))
    make_store(given.database).publish_sources(SHOP, Sources(commit=COMMIT, notes=many), AT)

    (found,) = (one for one in Doctor(given, now=lambda: datetime.now(UTC)).look() if one.name == "notes")

    assert found.ok is False
    assert found.said.startswith("7 notes of github.com/acme/shop cannot be used: mugs0.md:3 · not read: the status")
    assert found.said.endswith(", +2")
    assert found.way_out == "mend these lines on the default branch"
