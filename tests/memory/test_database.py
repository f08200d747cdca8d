"""The database file is opened safely, and what is wrong with it is told with the way out."""

from __future__ import annotations

import errno
import hashlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import event
from sqlalchemy.exc import IntegrityError
from sqlmodel import SQLModel, text

import memory.tables as rows
from memory.database import (
    DatabaseCorrupt,
    DatabaseFault,
    DatabaseFull,
    DatabaseLocked,
    DatabaseNewer,
    DatabaseReadOnly,
    _fault,
    _fault_of_file,
    open_database,
    reading,
    upgrade,
    upgrade_memory,
    writing,
)
from tests.memory.nobody import as_nobody
from tests.memory.store_kit import HOLD, SHOP, ended, make_store, tables


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "made" / "memory.sqlite"


def test_a_new_file_and_its_folder_are_made_for_the_owner_alone(file: Path) -> None:
    open_database(file)

    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(("pragma", "value"), [("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1)])
def test_the_file_is_durable_and_foreign_keys_hold(file: Path, pragma: str, value: object) -> None:
    with reading(open_database(file)) as session:
        assert session.connection().execute(text(f"PRAGMA {pragma}")).scalar() == value


def test_a_reader_waits_for_no_writer_and_sees_what_was_there_when_it_began(file: Path) -> None:
    store = make_store(file)
    other = open_database(file, busy_seconds=0.1)

    with writing(other) as session:
        session.connection().execute(text("INSERT INTO tuning VALUES (1, 'a', 'b', 'c', 1, NULL)"))
        with reading(store._engine) as reader:
            seen = reader.connection().execute(text("SELECT COUNT(*) FROM tuning")).scalar()

    assert seen == 0
    assert store.current(SHOP).number == 0


def test_a_locked_database_is_told_after_the_wait(file: Path) -> None:
    engine = open_database(file, busy_seconds=0.05)
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")

    with pytest.raises(DatabaseLocked, match=r"memory\.sqlite stays locked: end the other program"), writing(engine):
        pass

    holder.close()


def test_who_opens_a_database_waits_for_no_writer(file: Path) -> None:
    make_store(file)
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    began = time.perf_counter()

    with reading(open_database(file, busy_seconds=20)) as session:
        assert session.connection().execute(text("SELECT COUNT(*) FROM tuning")).scalar() == 0

    assert time.perf_counter() - began < 5
    holder.close()


def test_what_is_not_a_database_is_told_and_left_alone(file: Path) -> None:
    file.parent.mkdir()
    file.write_bytes(b"no database at all" * 100)

    with pytest.raises(DatabaseCorrupt, match="is damaged"):
        open_database(file)

    assert file.read_bytes() == b"no database at all" * 100


def test_a_damaged_page_is_told_when_it_is_read(file: Path) -> None:
    store = make_store(file)
    store.record(ended(HOLD))
    store._engine.dispose()
    size = file.stat().st_size
    with file.open("r+b") as handle:
        handle.seek(4096)
        handle.write(b"\xff" * (size - 4096))

    with pytest.raises(DatabaseCorrupt, match="move it aside"):
        make_store(file).lessons(SHOP)


def test_f47_a_read_only_file_is_told_when_it_is_opened(open_folder: Path) -> None:
    file = open_folder / "memory.sqlite"
    make_store(file)._engine.dispose()
    file.chmod(0o444)
    open_folder.chmod(0o555)

    with as_nobody(), pytest.raises(DatabaseReadOnly, match="give its file and folder write permission"):
        open_database(file)


def test_f47_a_folder_that_cannot_be_written_is_told(open_folder: Path) -> None:
    open_folder.chmod(0o555)

    with as_nobody(), pytest.raises(DatabaseReadOnly):
        open_database(open_folder / "memory.sqlite")


def test_a_file_in_a_folder_that_takes_no_log_is_told(open_folder: Path) -> None:
    file = open_folder / "memory.sqlite"
    make_store(file)._engine.dispose()
    file.chmod(0o666)
    open_folder.chmod(0o555)

    with as_nobody(), pytest.raises(DatabaseReadOnly):
        open_database(file)


def test_a_folder_in_place_of_the_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(DatabaseFault, match="cannot be used"):
        open_database(tmp_path)


def test_a_file_in_place_of_the_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "made").write_text("")

    with pytest.raises(DatabaseFault, match=r"Not a directory|File exists"):
        open_database(tmp_path / "made" / "memory.sqlite")


def test_a_full_database_is_told_and_nothing_is_half_written(file: Path) -> None:
    store = make_store(file)
    store.record(ended(HOLD))
    before = tables(file)

    @event.listens_for(store._engine, "checkout")
    def _no_room(connection: sqlite3.Connection, *_: object) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")

    def fill() -> None:
        for number in range(200):
            store.record(ended(HOLD, run=f"run{number}x", ticket="shop#7"))

    with pytest.raises(DatabaseFull, match="Nothing was half-written"):
        fill()

    after = tables(file)
    assert len(after["lesson"]) == len(after["ending"]) == len(after["memory_version"]) >= len(before["lesson"])


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_f47_no_room_for_a_new_file_is_told(number: int) -> None:
    assert isinstance(_fault_of_file(Path("x"), OSError(number, "no room")), DatabaseFull)


@pytest.mark.parametrize(
    ("code", "folder", "fault"),
    [
        (sqlite3.SQLITE_IOERR_SHMSIZE, "/proc", DatabaseFull),  # a file system without a free block
        (sqlite3.SQLITE_IOERR, "/", DatabaseFault),
        (sqlite3.SQLITE_IOERR, "/nowhere", DatabaseFault),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, "/", DatabaseLocked),
        (sqlite3.SQLITE_READONLY_DBMOVED, "/", DatabaseReadOnly),
        (sqlite3.SQLITE_CANTOPEN, "/", DatabaseFault),
        (None, "/", DatabaseFault),
    ],
)
def test_each_result_code_has_its_fault(code: int | None, folder: str, fault: type[DatabaseFault]) -> None:
    error = sqlite3.OperationalError("as SQLite says it")
    if code is not None:
        error.sqlite_errorcode = code

    told = _fault(Path(folder) / "memory.sqlite", error)

    assert type(told) is fault


def test_a_constraint_is_no_fault_of_the_file(file: Path) -> None:
    engine = make_store(file)._engine

    with pytest.raises(IntegrityError), writing(engine) as session:
        session.connection().execute(text("INSERT INTO injected VALUES (99, 0, 'a', 1, '', NULL)"))


# --- Migrations ----------------------------------------------------------------------------------------------------


def test_the_migrations_make_the_tables_that_the_code_names(file: Path) -> None:
    engine = make_store(file)._engine
    mine = {row.__tablename__ for row in vars(rows).values() if hasattr(row, "__table__")}

    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"include_object": lambda _, name, kind, *__: kind != "table" or name in mine}
        )
        differences = compare_metadata(context, SQLModel.metadata)

    # Indexes and foreign keys stand in the migrations alone.
    assert [one for one in differences if "index" not in str(one[0]) and "fk" not in str(one[0])] == []
    assert len(mine) == 13


def test_upgrading_twice_changes_nothing_and_does_not_import_alembic(file: Path) -> None:
    make_store(file)._engine.dispose()
    before = digest(file)
    program = (
        "import sys; from pathlib import Path; from memory.database import open_database, upgrade_memory;"
        f"upgrade_memory(open_database(Path({str(file)!r}))); print('alembic' in sys.modules)"
    )

    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert told.stdout.strip() == "False"
    assert digest(file) == before


def newest_revision() -> str:
    return max(step.name[:5] for step in Path(rows.__file__).parent.glob("migrations/versions/m*.py"))


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_f50_a_newer_schema_is_refused_and_left_untouched(file: Path) -> None:
    make_store(file)._engine.dispose()
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE memory_schema SET version_num = 'm9999'")
    connection.close()
    before = digest(file)
    engine = open_database(file)

    with pytest.raises(DatabaseNewer, match=f"schema m9999, made by .*; this one knows {newest_revision()}"):
        upgrade_memory(engine)

    engine.dispose()
    assert digest(file) == before


def migrations(folder: Path, *bodies: str) -> Path:
    steps = folder / "100 % steps" / "versions"
    steps.mkdir(parents=True)
    for number, body in enumerate(bodies, 1):
        before = f"'m{number - 1:04}'" if number > 1 else None
        (steps / f"m{number:04}_step.py").write_text(
            f"import os, signal\nfrom alembic import op\nrevision = 'm{number:04}'\ndown_revision = {before}\n"
            f"def upgrade():\n    op.execute('CREATE TABLE t{number} (a)')\n    {body}\n"
        )
    return steps.parent


def names(file: Path) -> set[str]:
    return set(tables(file)) - {"sqlite_sequence"}


def test_steps_run_in_order_and_only_the_missing_ones(tmp_path: Path, file: Path) -> None:
    engine = open_database(file)
    upgrade(engine, migrations(tmp_path / "old", "pass"), "steps")

    upgrade(engine, migrations(tmp_path / "new", "raise RuntimeError('again')", "pass"), "steps")

    assert names(file) == {"steps", "t1", "t2"}


def test_f50_a_step_that_fails_leaves_nothing_of_all_steps(tmp_path: Path, file: Path) -> None:
    engine = open_database(file)

    with pytest.raises(RuntimeError):
        upgrade(engine, migrations(tmp_path, "pass", "raise RuntimeError('broken')"), "steps")

    assert names(file) == set()


def test_f50_a_killed_upgrade_can_be_run_again(tmp_path: Path, file: Path) -> None:
    deadly = migrations(tmp_path / "deadly", "pass", "os.kill(os.getpid(), signal.SIGKILL)")
    engine = open_database(file)
    engine.dispose()

    status = in_child(lambda: upgrade(open_database(file), deadly, "steps"))
    left = names(file)
    upgrade(engine, migrations(tmp_path / "sound", "pass", "pass"), "steps")

    assert os.WTERMSIG(status) == signal.SIGKILL
    assert left == set()
    assert names(file) == {"steps", "t1", "t2"}


def test_two_processes_upgrade_one_database(file: Path) -> None:
    children = [fork(lambda: make_store(file)) for _ in range(4)]

    statuses = [os.waitpid(child, 0)[1] for child in children]

    assert statuses == [0] * 4
    assert tables(file)["memory_schema"] == [(newest_revision(),)]


def in_child(work: Callable[[], object]) -> int:
    return os.waitpid(fork(work), 0)[1]


def fork(work: Callable[[], object]) -> int:
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        work()
        status = 0
    finally:
        os._exit(status)
