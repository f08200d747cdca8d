"""The queue in PostgreSQL: a server of its own on loopback, for as long as these tests take."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.bot.engine.kit import Plan, Shop, wish

TOOLS: Final = {name: shutil.which(name) for name in ("initdb", "pg_ctl")}
NOBODY: Final = 65534  # PostgreSQL refuses to run as root
needs_postgres = pytest.mark.skipif(not all(TOOLS.values()), reason="PostgreSQL's initdb and pg_ctl are not here")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server; the queue makes its database itself."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        user = NOBODY if os.geteuid() == 0 else None
        if user is not None:
            os.chown(folder, user, user)
        data, log = folder / "data", folder / "log"

        def run(*command: str) -> None:
            subprocess.run(
                command, check=True, cwd=folder, stdout=subprocess.DEVNULL, timeout=60, user=user, group=user
            )

        run("initdb", "-D", str(data), "-U", "queue", "-A", "trust", "--no-sync")
        settings = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories='' -c fsync=off"
        run("pg_ctl", "-D", str(data), "-l", str(log), "-o", settings, "-w", "start")
        try:
            yield f"postgresql://queue@127.0.0.1:{port}"
        finally:
            run("pg_ctl", "-D", str(data), "-m", "immediate", "stop")


@needs_postgres
def test_jobs_are_taken_from_a_queue_in_postgresql(server: str, tmp_path: Path) -> None:
    shop = Shop(tmp_path, url=f"{server}/jobs")
    plan = Plan()
    wish(shop.jobs, 1)
    wish(shop.jobs, 2)

    with shop.working(plan):
        shop.wait(lambda: shop.states() == ["done", "done"])

    assert sorted(call for call in plan.called if call[0] == "work") == [("work", 1), ("work", 2)]
    assert not (tmp_path / "engine.sqlite").exists()


@needs_postgres
def test_a_job_that_was_interrupted_is_taken_again_from_postgresql(server: str, tmp_path: Path) -> None:
    shop = Shop(tmp_path, url=f"{server}/interrupted")
    plan, second = Plan(act=shop.interrupted), Plan()
    wish(shop.jobs, 1)
    with shop.working(plan):
        shop.wait(lambda: ("work", 1) in plan.called)

    was_put_down = bool(shop.taken.due())  # else it is taken over at its work
    shop.leaving.clear()
    with shop.working(second):
        shop.wait(lambda: shop.states() == ["done"])

    assert second.called == [*([("receive", 1)] if was_put_down else []), ("work", 1)]
