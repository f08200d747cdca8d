"""Several connections of one process, and other processes beside them, see one database."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from sqlalchemy import text

from memory.database import open_database, writing

ROOT = Path(__file__).parents[2]
WRITES = """
import sys
from pathlib import Path
from sqlalchemy import text
from memory.database import open_database, writing
engine = open_database(Path(sys.argv[1]))
with writing(engine) as session:
    session.execute(text("insert into counted values (1)"))
engine.dispose()
"""


def test_a_database_that_is_opened_again_in_a_process_loses_no_lock_and_no_row_to_another_process(
    tmp_path: Path,
) -> None:
    file = tmp_path / "one.sqlite"
    first = open_database(file)
    with writing(first) as session:
        session.execute(text("create table counted (number integer)"))
    open_database(file).dispose()

    subprocess.run([sys.executable, "-c", WRITES, str(file)], cwd=ROOT, check=True, timeout=60)

    with writing(first) as session:
        session.execute(text("insert into counted values (2)"))
    with writing(open_database(file)) as session:
        assert session.execute(text("select count(*) from counted")).scalar() == 2
