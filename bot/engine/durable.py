"""The durable queue: the only import of DBOS, which keeps what is to be done in a database of its own."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from bot.engine.leases import WorkerId
from bot.engine.taken import Round

ANSWERS: Final = "answers"  # short work: no run stands before it
RUNS: Final = "runs"  # long work: one at a time for each repository

# A hash of the source would leave runs of an older program lying for ever. What a new program cannot go on with, our
# own steps tell.
_APPLICATION_VERSION: Final = "1"
_SQLITE: Final = "sqlite:///"
_DIGITS: Final = 12  # of the number of a job


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How many at once, and how often the queue is looked at."""

    runs: int = 2  # runs at the same time, in this process
    answers: int = 4
    poll_seconds: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Work:
    """What a job needs from us. `receive` says whether it has to be worked on; both are harmless when repeated."""

    receive: Callable[[int], bool]
    work: Callable[[int], None]


class Durable:
    """One worker's hold on the queue."""

    def __init__(self, url: str, worker: WorkerId, pace: Pace) -> None:
        self._url, self._worker, self._pace = url, worker, pace
        self._dbos: Any = None
        self._received: Any = None

    def start(self, work: Work) -> None:
        """Begin to take jobs from the queue."""
        # Imported here: it takes half a second, which no other command shall pay for.
        from dbos import DBOS, SetEnqueueOptions, SetWorkflowID

        _set_up(self._url)
        DBOS(
            config={
                "name": "ticketsmith",
                "system_database_url": self._url,
                "application_version": _APPLICATION_VERSION,
                "executor_id": self._worker,
                "log_level": "ERROR",
                "enable_otlp": False,
                "notification_listener_polling_interval_sec": self._pace.poll_seconds,
            }
        )

        # The names stand in the database: they stay as they are.
        @DBOS.step(name="receive")
        def receive(job: int) -> bool:
            return work.receive(job)

        @DBOS.step(name="work")
        def do(job: int) -> None:
            work.work(job)

        @DBOS.workflow(name="worked")
        def worked(job: int) -> None:
            do(job)

        @DBOS.workflow(name="received")
        def received(job: int, repository: str, number: int) -> None:
            if receive(job):
                with (
                    SetWorkflowID(f"{repository}#{_name(job)}~{number}/work"),
                    SetEnqueueOptions(queue_partition_key=repository),
                ):
                    DBOS.enqueue_workflow(RUNS, worked, job)

        DBOS.launch()
        pace = self._pace
        DBOS.register_queue(
            ANSWERS, partition_concurrency=1, worker_concurrency=pace.answers, polling_interval_sec=pace.poll_seconds
        )
        DBOS.register_queue(
            RUNS, partition_concurrency=1, worker_concurrency=pace.runs, polling_interval_sec=pace.poll_seconds
        )
        self._dbos, self._received = DBOS, received

    def put(self, taken: Round, *, repository: str, issue: str) -> None:
        """Put a job into the queue; the same round again changes nothing. Jobs of one issue stay in order."""
        from dbos import SetEnqueueOptions, SetWorkflowID

        with SetWorkflowID(f"{issue}#{_name(taken.job)}~{taken.number}"), SetEnqueueOptions(queue_partition_key=issue):
            self._dbos.enqueue_workflow(ANSWERS, self._received, taken.job, repository, taken.number)

    def take_over(self, dead: WorkerId) -> int:
        """Put back what a dead worker had in its hands; gives how much that was."""
        left = self._dbos.list_workflows(status="PENDING", executor_id=dead, load_input=False, load_output=False)
        for workflow in left:
            self._dbos.resume_workflow(workflow.workflow_id, queue_name=workflow.queue_name)
        return len(left)

    def prune(self, before: datetime) -> int:
        """Forget what was done before; gives how much that was."""
        over = self._dbos.list_workflows(
            completed_before=before.isoformat(), load_input=False, load_output=False, limit=1_000
        )
        if over:
            self._dbos.delete_workflows([workflow.workflow_id for workflow in over])
        return len(over)

    def close(self, seconds: float) -> None:
        """Take nothing new, and wait so long for what is being done."""
        if self._dbos is not None:
            self._dbos.destroy(workflow_completion_timeout_sec=int(seconds), destroy_registry=True)


def _name(job: int) -> str:
    """All of one length: in its file, the queue orders what came within one second by name."""
    return f"{job:0{_DIGITS}d}"


def engine_url(url: str, home: Path) -> str:
    """Where the queue is: as the settings say, else a file in `home`."""
    return url or f"{_SQLITE}{home / 'engine.sqlite'}"


def _set_up(url: str) -> None:
    """Readers and writers of the file shall not wait for each other."""
    if not url.startswith(_SQLITE):
        return
    file = Path(url.removeprefix(_SQLITE))
    file.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(file)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()
