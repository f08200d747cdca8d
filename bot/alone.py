"""One process at a time works on a run."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.errors import BeingWorkedOn
from memory.types import RunId


@contextmanager
def alone(folder: Path, run: RunId) -> Iterator[None]:
    """Hold a run for this process; the lock goes with the process, however it dies. Raises BeingWorkedOn."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{run}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BeingWorkedOn(run=run) from error
        yield
