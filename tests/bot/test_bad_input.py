"""What cannot be used gets one clear sentence and the exit status of the README, and nothing is half-written."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import bot.app
from memory.database import open_database
from stages.git import Git
from stages.sandbox import choose
from tests.bot.kit import SETTINGS
from tests.bot.laid import fixed
from tests.bot.lines import Line, complaint, count, line

UNUSABLE, PARKED = 2, 75
NOTE = {".github/ticketsmith/notes/price.md": "# Price\n\nThe C++ price crash: can't open x NEAR the till.\n"}


@pytest.fixture
def typed(tmp_path: Path) -> Line:
    return line(tmp_path)


# --- The ticket ----------------------------------------------------------------------------------------------------

TICKETS: dict[str, tuple[bytes | None, str]] = {
    "missing": (None, "There is no ticket file"),
    "empty": (b"", "is empty"),
    "blank": (b" \n\n", "is empty"),
    "binary": (b"# Price\n\x00\x01", "binary data"),
    "huge": (b"# Price\n" + b"x" * (1024 * 1024), "more than 1048576 bytes"),
    "not UTF-8": (b"# Pr\xe9is", "not UTF-8"),
}


@pytest.mark.parametrize(("data", "says"), TICKETS.values(), ids=TICKETS)
def test_a_ticket_that_cannot_be_used_begins_nothing(data: bytes | None, says: str, typed: Line) -> None:
    if data is None:
        typed.ticket.unlink()
    else:
        typed.ticket.write_bytes(data)

    done = typed.fix()

    assert (done.exit_code, done.stdout) == (UNUSABLE, "")
    assert says in complaint(done)
    assert count(typed.database, "run") == 0


# --- The repository ------------------------------------------------------------------------------------------------


def no_folder(folder: Path) -> Path:
    return folder / "nowhere"


def no_git(folder: Path) -> Path:
    (folder / "plain").mkdir()
    return folder / "plain"


def bare(folder: Path) -> Path:
    (folder / "bare.git").mkdir()
    Git(folder=folder / "bare.git").run("init", "--quiet", "--bare", ".")
    return folder / "bare.git"


def without_commit(folder: Path) -> Path:
    (folder / "young").mkdir()
    Git(folder=folder / "young").run("init", "--quiet", ".")
    return folder / "young"


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (no_folder, "does not exist"),
        (no_git, "is in no git repository"),
        (bare, "is a bare repository"),
        (without_commit, "has no commit yet"),
    ],
)
def test_a_repository_that_cannot_be_used_begins_nothing(
    make: Callable[[Path], Path], says: str, typed: Line, tmp_path: Path
) -> None:
    done = typed.type("fix", typed.ticket, "--repo", make(tmp_path), *typed.by())

    assert done.exit_code == UNUSABLE
    assert says in complaint(done)
    assert count(typed.database, "run") == 0


def test_a_base_that_is_not_there_is_named(typed: Line) -> None:
    done = typed.fix("--base", "release/9")

    assert (done.exit_code, "release/9" in complaint(done)) == (UNUSABLE, True)


def test_uncommitted_changes_and_no_branch_are_told_and_the_run_goes_on(typed: Line) -> None:
    Git(folder=typed.ground.repository.folder).run("checkout", "--quiet", "--detach")
    (typed.ground.repository.folder / "price.txt").write_text("2\n")

    done = typed.fix()

    assert done.exit_code == 0, done.output
    assert "No branch is checked out" in done.stderr
    assert "1 changed files are not committed" in done.stderr
    assert (typed.ground.repository.folder / "price.txt").read_text() == "2\n"
    assert "-1\n+3" in typed.ground.git("show", typed.runs()[0]["branch"])


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ('enviroment = "shop"\n', "Did you mean environment?"),
        ("checks = [", "not valid TOML"),
        ('python = ".venv/bin/python9"\n', ".venv/bin/python9"),
    ],
)
def test_settings_of_the_repository_that_are_wrong_begin_nothing(settings: str, says: str, typed: Line) -> None:
    typed.ground.commit({".github/ticketsmith.toml": settings})

    done = typed.fix()

    assert done.exit_code == UNUSABLE
    assert says in complaint(done)
    assert count(typed.database, "run") == 0


def test_a_repository_without_tests_parks_the_run(typed: Line) -> None:
    typed.ground.commit({".github/ticketsmith.toml": ""})

    done = typed.fix()

    assert done.exit_code == PARKED
    assert "shows no check" in done.stdout
    assert "runs retry" in done.stdout


def test_a_base_that_is_red_already_is_no_obstacle(typed: Line) -> None:
    typed.ground.commit({".github/ticketsmith.toml": f'{SETTINGS}\n[checks.old]\ncommand = ["false"]\n'})

    done = typed.fix()

    assert done.exit_code == 0, done.output
    assert "red before and still: old" in typed.type("runs", "show", typed.runs()[0]["id"]).stdout


# --- The model -----------------------------------------------------------------------------------------------------


def test_without_a_model_nothing_begins(typed: Line) -> None:
    done = typed.type("fix", typed.ticket, *typed.at, "--sandbox", "plain")

    assert done.exit_code == UNUSABLE
    assert "TICKETSMITH_MODEL" in complaint(done)
    assert "offline/repair" in complaint(done)
    assert count(typed.database, "run") == 0


def test_without_a_known_price_nothing_begins(typed: Line) -> None:
    done = typed.type("fix", typed.ticket, *typed.at, "--model", "acme/one", "--sandbox", "plain")

    assert done.exit_code == UNUSABLE
    assert '[prices."acme/one"]' in complaint(done)
    assert count(typed.database, "run") == 0


def test_without_a_key_the_run_waits_and_names_the_variable(typed: Line) -> None:
    done = typed.type("fix", typed.ticket, *typed.at, "--model", "openai/gpt-4o", "--sandbox", "plain")

    assert done.exit_code == PARKED
    assert "Parked (token): openai/gpt-4o needs a key; set the environment variable OPENAI_API_KEY" in done.stdout
    assert [run["state"] for run in typed.runs()] == ["parked"]


def test_a_program_that_is_not_here_begins_nothing(typed: Line) -> None:
    done = typed.type("fix", typed.ticket, *typed.at, "--agent", "no-such-agent", "--sandbox", "plain")

    assert (done.exit_code, "no-such-agent" in complaint(done)) == (UNUSABLE, True)
    assert count(typed.database, "run") == 0


def test_a_command_with_an_open_quote_is_refused(typed: Line) -> None:
    done = typed.type("fix", typed.ticket, *typed.at, "--agent", "sh -c 'x")

    assert (done.exit_code, "--agent is no command" in complaint(done)) == (UNUSABLE, True)


def test_a_new_run_that_cannot_begin_leaves_the_open_one(typed: Line) -> None:
    assert typed.fix(script="exit 1").exit_code == 1
    assert typed.fix().exit_code == 0

    done = typed.type("fix", typed.ticket, *typed.at, "--anew", "--sandbox", "plain")

    assert done.exit_code == UNUSABLE
    assert sorted(run["state"] for run in typed.runs()) == ["ended", "published"]


# --- The sandbox ---------------------------------------------------------------------------------------------------


def test_f59_without_a_sandbox_the_run_waits_and_the_way_out_is_told(
    typed: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bot.app, "choose", partial(choose, path="/nonexistent"))  # the machine has no bubblewrap

    done = typed.type("fix", typed.ticket, *typed.at, "--agent", "true")

    assert done.exit_code == PARKED
    assert "apt-get install bubblewrap" in done.stdout
    assert "landlock" in done.stdout


# --- The database --------------------------------------------------------------------------------------------------


def test_a_damaged_database_is_told_and_left_as_it_is(typed: Line) -> None:
    typed.ground.home.mkdir()
    typed.database.write_bytes(b"not a database, but long enough to be looked at\n" * 100)

    done = typed.fix()

    assert (done.exit_code, "is damaged" in complaint(done)) == (UNUSABLE, True)
    assert typed.database.read_bytes().startswith(b"not a database")


def test_f50_a_newer_database_is_told_and_left_as_it_is(tmp_path: Path) -> None:
    typed, done = fixed(tmp_path)
    assert done.exit_code == 0
    with sqlite3.connect(typed.database) as connection:
        connection.execute("update bot_schema set version_num = 'm9999'")
    connection.close()

    done = typed.type("runs", "list")

    assert done.exit_code == UNUSABLE
    assert "m9999" in complaint(done)
    assert "upgrade ticketsmith" in complaint(done)
    assert count(typed.database, "run") == 1


def test_a_locked_database_is_told(typed: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    assert typed.type("runs", "list").exit_code == 0
    monkeypatch.setattr(bot.app, "open_database", partial(open_database, busy_seconds=0.1))
    other = sqlite3.connect(typed.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    done = typed.fix()
    other.close()

    assert (done.exit_code, "stays locked" in complaint(done)) == (PARKED, True)
    assert count(typed.database, "run") == 0


def test_f47_a_database_that_cannot_be_written_is_told(typed: Line) -> None:
    done = typed.type("runs", "list", TICKETSMITH_DATABASE="/sys/ticketsmith.sqlite")

    assert done.exit_code == UNUSABLE
    assert "/sys/ticketsmith.sqlite" in complaint(done)


def test_a_home_that_cannot_be_made_is_told(typed: Line, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    done = typed.type("fix", typed.ticket, *typed.at, *typed.by(), TICKETSMITH_HOME=str(tmp_path / "file" / "home"))

    assert done.exit_code == UNUSABLE
    assert "file" in complaint(done)


@pytest.mark.parametrize("below", ["", "new/home"])
@pytest.mark.parametrize(
    "command", ["runs list", "memory lessons", "demo", "work", "doctor", "fix --model offline/repair"]
)
def test_a_home_that_is_a_file_is_told_with_the_way_out(typed: Line, tmp_path: Path, command: str, below: str) -> None:
    file = tmp_path / "file"
    file.write_text("in the way")
    ticket = [typed.ticket] if command.startswith("fix") else []

    done = typed.type(*command.split(), *ticket, TICKETSMITH_HOME=str(file / below))

    assert done.exit_code == UNUSABLE
    assert complaint(done) == (
        f"Nothing can be kept in {file / below}, because {file} is no folder: move it away, or name another folder as "
        "`home` in the operator's ticketsmith.toml or by TICKETSMITH_HOME."
    )


@pytest.mark.parametrize(
    ("below", "reason"), [("", "Is a directory"), ("file/x", "File exists"), ("file/x/y", "Not a directory")]
)
def test_a_database_that_has_no_place_is_told_with_the_way_out(
    typed: Line, tmp_path: Path, below: str, reason: str
) -> None:
    (tmp_path / "file").write_text("in the way")
    database = tmp_path / below

    done = typed.type("runs", "list", TICKETSMITH_DATABASE=str(database))

    assert done.exit_code == UNUSABLE
    assert complaint(done) == (
        f"The database {database} cannot be used: {reason}; name another place, or move away what is there."
    )


def test_a_work_folder_that_cannot_be_made_begins_nothing(typed: Line) -> None:
    typed.ground.home.mkdir()
    (typed.ground.home / "work").write_text("in the way")

    done = typed.fix()

    assert done.exit_code == UNUSABLE
    assert "work" in complaint(done)
    assert count(typed.database, "run") == 0


# --- Titles --------------------------------------------------------------------------------------------------------

TITLES = [
    "C++ crash",
    "can't open \"x",
    '"',
    "NEAR(price till)",
    "price*",
    "AND OR NOT",
    "title:price",
    "^price",
    "(",
    "{x} : -y",
]


@pytest.mark.parametrize("title", TITLES)
def test_a_title_is_no_language_of_queries(title: str, tmp_path: Path) -> None:
    typed = line(tmp_path, NOTE)
    typed.ticket.write_text(f"# {title}\n\nIt is so.\n")

    done = typed.type("memory", "recall", typed.ticket, *typed.at)

    assert done.exit_code == 0, done.output
    assert "[ticketsmith:memory]" in done.stdout
    assert done.stderr == ""


# --- Settings of the operator --------------------------------------------------------------------------------------


def test_a_setting_that_is_unknown_is_refused_by_every_command(typed: Line) -> None:
    for command in (("runs", "list"), ("memory", "lessons", *typed.at), ("demo",)):
        done = typed.type(*command, TICKETSMITH_MODELL="x")

        assert done.exit_code == UNUSABLE
        assert "TICKETSMITH_MODEL" in complaint(done)
