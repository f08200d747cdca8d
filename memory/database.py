"""The database file: opened safely, every fault told with its way out."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.pool import ConnectionPoolEntry
from sqlmodel import Session, text

from memory.errors import MemoryFault

BUSY_SECONDS: Final = 30.0
_READS: Final = "ticketsmith_reads"
_MEMORY_TABLE: Final = "memory_schema"


class DatabaseFault(MemoryFault):
    """The database {path} cannot be used: {reason}"""


class DatabaseLocked(DatabaseFault):
    """The database {path} stays locked: end the other program that writes to it, then try again."""


class DatabaseReadOnly(DatabaseFault):
    """The database {path} cannot be written: give its file and folder write permission, or name another place."""


class DatabaseFull(DatabaseFault):
    """The disk of the database {path} is full: free space or inodes, then try again. Nothing was half-written."""


class DatabaseCorrupt(DatabaseFault):
    """The database {path} is damaged ({reason}): move it aside and restore a copy, or start without it."""


class DatabaseNewer(DatabaseFault):
    """The database {path} has schema {found}, made by a newer version; this one knows {known}: upgrade ticketsmith."""


def open_database(path: Path, *, busy_seconds: float = BUSY_SECONDS) -> Engine:
    """An engine for the SQLite file at `path`, which is made when missing, readable by its owner alone.

    WAL, synchronous FULL, foreign keys on; a transaction takes the write lock at once, unless it only reads. Raises
    DatabaseReadOnly, DatabaseFull, DatabaseCorrupt, or DatabaseFault; a transaction that writes raises DatabaseLocked
    too, after `busy_seconds`.
    """
    try:
        _make_file(path)
    except OSError as error:
        raise _fault_of_file(path, error) from error
    engine = create_engine(URL.create("sqlite", database=str(path)), connect_args={"timeout": busy_seconds})
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    try:
        with reading(engine):
            pass  # makes the log that readers need
        _try_to_write(path)
    except DatabaseFault:
        engine.dispose()
        raise
    return engine


def _try_to_write(path: Path) -> None:
    """What cannot be written is told now, not in the middle of a run; who writes just now is not waited for."""
    try:
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
    except sqlite3.Error as error:
        fault = _fault(path, error)
        if not isinstance(fault, DatabaseLocked):
            raise fault from error


@contextmanager
def writing(engine: Engine) -> Iterator[Session]:
    """A session in one transaction that holds the write lock from its start: all of it is kept, or nothing.

    Raises the errors of `open_database`.
    """
    with _told(engine.url.database), Session(engine) as session, session.begin():
        session.connection()  # takes the lock now: what is read next is what the writes rest on
        yield session


@contextmanager
def reading(engine: Engine) -> Iterator[Session]:
    """A session that sees one state of the database, and waits for no writer. Raises the errors of `open_database`."""
    with _told(engine.url.database), Session(engine.execution_options(**{_READS: True})) as session, session.begin():
        yield session


def upgrade_memory(engine: Engine) -> None:
    """The tables of memory, up to date. Raises as `upgrade`."""
    upgrade(engine, files("memory").joinpath("migrations"), _MEMORY_TABLE)


def upgrade(engine: Engine, migrations: Traversable, version_table: str) -> None:
    """Run the migrations that are missing, all in one transaction: a killed one leaves nothing and can be run again.

    `migrations` holds a folder `versions` of files `m0001_what_it_does.py` whose `revision` is `m0001`. Raises
    DatabaseNewer, with the database untouched, when the schema is not one of these; else as `open_database`.
    """
    known = _revisions(migrations)
    with reading(engine) as session:
        found = _revision(session, version_table)
    _refuse_newer(engine, found, known)
    if found == known[-1]:
        return  # alembic takes half a second to import: not for nothing
    with as_file(migrations) as folder, writing(engine) as session:
        _refuse_newer(engine, _revision(session, version_table), known)  # another process may have been faster
        _migrate(session, folder, version_table)


def _revisions(migrations: Traversable) -> list[str]:
    names = [entry.name for entry in migrations.joinpath("versions").iterdir()]
    return sorted(name.partition("_")[0] for name in names if name.startswith("m") and name.endswith(".py"))


def _revision(session: Session, version_table: str) -> str | None:
    """The revision of the schema; None in a database that has none yet."""
    connection = session.connection()
    if not inspect(connection).has_table(version_table):
        return None
    found: str | None = connection.execute(text(f'SELECT version_num FROM "{version_table}"')).scalar()  # noqa: S608
    return found


def _refuse_newer(engine: Engine, found: str | None, known: list[str]) -> None:
    if found is not None and found not in known:
        raise DatabaseNewer(path=engine.url.database, found=found, known=known[-1])


def _migrate(session: Session, folder: Path, version_table: str) -> None:
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    script = ScriptDirectory.from_config(config)
    with EnvironmentContext(
        config, script, fn=lambda at, _: script._upgrade_revs("head", at), destination_rev="head"
    ) as environment:
        environment.configure(connection=session.connection(), version_table=version_table, transactional_ddl=True)
        environment.run_migrations()


def _make_file(path: Path) -> None:
    """An empty file that only its owner may read. One that is there is not opened: the end of any descriptor of a file
    ends all locks that this process has on it (POSIX), those of SQLite's open connections too, and then another
    process takes the log away under them (sqlite.org/howtocorrupt.html, 2.2).
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not path.exists():
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDONLY | os.O_CLOEXEC, 0o600))


def _set_up(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    assert isinstance(connection, sqlite3.Connection)
    connection.isolation_level = None  # the driver begins no transaction of its own: _begin does
    (journal,) = connection.execute("PRAGMA journal_mode").fetchone()
    if journal != "wal":
        connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")


def _begin(connection: Connection) -> None:
    reads = connection.get_execution_options().get(_READS, False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


@contextmanager
def _told(path: str | None) -> Iterator[None]:
    try:
        yield
    except IntegrityError:
        raise  # a constraint is no fault of the file
    except DBAPIError as error:
        raise _fault(Path(path or ""), error.orig) from error


def _fault_of_file(path: Path, error: OSError) -> DatabaseFault:
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return DatabaseFull(path=path)
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return DatabaseReadOnly(path=path)
        case errno.ENOTDIR | errno.EEXIST | errno.EISDIR:
            return DatabaseFault(path=path, reason=f"{error.strerror}; name another place, or move away what is there.")
        case _:
            return DatabaseFault(path=path, reason=error.strerror or str(error))


def _fault(path: Path, error: BaseException | None) -> DatabaseFault:
    """The fault behind SQLite's result code; its first eight bits are the kind."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    match code:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return DatabaseLocked(path=path)
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return DatabaseReadOnly(path=path)
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return DatabaseCorrupt(path=path, reason=error)
        case sqlite3.SQLITE_FULL:
            return DatabaseFull(path=path)
        case sqlite3.SQLITE_IOERR | sqlite3.SQLITE_CANTOPEN if _is_full(path.parent):
            return DatabaseFull(path=path)
        case sqlite3.SQLITE_CANTOPEN if not os.access(path.parent, os.W_OK):
            return DatabaseReadOnly(path=path)  # the folder: no room for the log beside the file
        case _:
            return DatabaseFault(path=path, reason=error)


def _is_full(folder: Path) -> bool:
    try:
        room = os.statvfs(folder)
    except OSError:
        return False
    return room.f_bavail == 0 or (room.f_files > 0 and room.f_favail == 0)
