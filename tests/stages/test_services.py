"""Services run beside a check, in its sandbox, from before it begins until it ends."""

from __future__ import annotations

import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from memory.types import CheckId
from stages.detection import PYTEST
from stages.errors import ParkCause, Parked
from stages.report import Check, CheckKind, CheckReport, Service
from stages.sandbox import Level, Sandbox
from stages.sandbox.landlock import Landlock
from stages.workspace import Workspaces
from tests.stages.repositories import checks, make, put
from tests.stages.sandbox.ways import Way, usable

SERVER = """
import http.server, pathlib, sys
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"hello")
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
"""
ASKS = """
import urllib.request
def test_it_answers():
    assert urllib.request.urlopen("http://127.0.0.1:{port}/").read() == b"hello"
"""


def asking(port: int) -> str:
    return ASKS.replace("{port}", str(port))


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def serving(port: int, *, seconds: float = 30.0, program: str = "server.py") -> Service:
    arguments = (sys.executable, "-B", program, str(port))
    return Service(name="web", arguments=arguments, folder="services", port=port, timeout_seconds=seconds)


def check(*services: Service, kind: CheckKind = CheckKind.PYTEST, arguments: tuple[str, ...] = ()) -> Check:
    return Check(name=CheckId("unit"), kind=kind, arguments=arguments, services=services, timeout_seconds=60.0)


def run(folder: Path, given: Check, port: int, sandbox: Sandbox | None = None) -> CheckReport:
    files = {"services/server.py": SERVER, "services/dies.py": "raise SystemExit(3)", "test_a.py": asking(port)}
    put(folder / "tree", files)
    return checks(sandbox).run(given, folder / "tree")


def test_a_check_reaches_its_service_and_the_service_ends_with_it(tmp_path: Path) -> None:
    port = free_port()

    report = run(tmp_path, check(serving(port)), port)

    assert report.passed, report.output
    with socket.socket() as one, pytest.raises(ConnectionRefusedError):
        one.connect(("127.0.0.1", port))


def test_behind_walls_the_service_is_in_the_same_network_and_nobody_else_is(tmp_path: Path) -> None:
    walled = usable(Way(level=Level.BUBBLEWRAP)).sandbox()
    port = free_port()

    report = run(tmp_path, check(serving(port)), port, walled)

    assert report.passed, report.output


def test_a_service_runs_beside_checks_that_are_only_seen_in_the_tree(tmp_path: Path) -> None:
    port = free_port()
    repository = make(tmp_path / "repository", {"services/server.py": SERVER, "test_a.py": asking(port)})
    spaces = Workspaces(tmp_path / "work", checks())

    space = spaces.make(repository, repository.resolve(), "one", services=(serving(port),))

    assert [check.services for check in space.checks] == [(serving(port),)]
    assert space.run(PYTEST).passed


def test_without_its_service_the_same_test_fails(tmp_path: Path) -> None:
    port = free_port()

    report = run(tmp_path, check(), port)

    assert report.failing == ("test_a.py::test_it_answers",)


@pytest.mark.parametrize(
    ("service", "told"),
    [
        (serving(1, program="dies.py"), "it ended with exit status 3"),
        (replace(serving(1), arguments=("nothing-of-this-name",)), "it cannot be started"),
        (replace(serving(1, seconds=1.0), arguments=("sleep", "60")), "it did not answer on port 1 within 1 seconds"),
    ],
    ids=["ends", "no program", "not ready"],
)
@pytest.mark.parametrize("kind", [CheckKind.PYTEST, CheckKind.COMMAND])
def test_a_service_that_does_not_come_up_makes_the_run_incomplete_and_says_why(
    tmp_path: Path, service: Service, told: str, kind: CheckKind
) -> None:
    arguments = () if kind is CheckKind.PYTEST else ("true",)

    report = run(tmp_path, check(service, kind=kind, arguments=arguments), 1)

    assert not report.complete
    assert not report.outcomes
    assert f"the service web is not ready: {told}" in report.output


@pytest.mark.parametrize(("command", "status"), [("exit 7", 7), ("kill -9 $$", 137), ("exit 0", 0)])
def test_the_exit_status_is_the_commands(tmp_path: Path, command: str, status: int) -> None:
    service = Service(name="idle", arguments=("sleep", "60"))

    report = run(tmp_path, check(service, kind=CheckKind.COMMAND, arguments=("sh", "-c", command)), 1)

    assert report.exit_status == status


def test_a_sandbox_without_network_parks_a_check_with_services(tmp_path: Path) -> None:
    with pytest.raises(Parked, match="need the sandbox bubblewrap") as parked:
        run(tmp_path, check(serving(1)), 1, Landlock())

    assert parked.value.cause is ParkCause.SANDBOX
