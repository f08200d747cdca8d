"""`ticketsmith serve` as a process: it refuses what is unsafe, takes deliveries, leaves well, and keeps a worker."""

from __future__ import annotations

import gc
import io
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from bot.app_settings import AppSettings
from bot.book import open_book
from bot.config import Settings
from bot.credentials import AppFile, NoSecret, SecretTooShort, write_app_file
from bot.intake import Own
from bot.jobs import Jobs
from bot.log import Log
from bot.serving import AddressTaken, Beside, Serving, own_of, worker_command
from bot.webhooks import PATH
from tests.bot import payloads as p
from tests.bot.served import HOOK_SECRET, headers

ROOT: Final = Path(__file__).parents[2]


def environment(home: Path, **more: str) -> dict[str, str]:
    return {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "TICKETSMITH_APP_PORT": "0",
        "TICKETSMITH_APP_WEBHOOK_SECRET_VARIABLE": "HOOK",
        "HOOK": HOOK_SECRET.decode(),
        **more,
    }


@contextmanager
def serve(home: Path, *options: str, **more: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """The process, and its line that says where it listens. It is dead afterwards."""
    code = "from bot.cli import main; main()"
    command = [sys.executable, "-c", code, "serve", *options]
    process = subprocess.Popen(command, env=environment(home, **more), stderr=subprocess.PIPE, text=True, cwd=home)
    try:
        assert process.stderr is not None
        yield process, json.loads(process.stderr.readline())
    finally:
        process.kill()
        process.communicate()


def post(port: int, payload: Mapping[str, object]) -> int:
    body = json.dumps(payload).encode()
    url = f"http://127.0.0.1:{port}{PATH}"
    return httpx.post(url, content=body, headers=headers(body), trust_env=False).status_code


def test_the_server_takes_deliveries_and_leaves_when_it_is_told(tmp_path: Path) -> None:
    with serve(tmp_path, "--no-work") as (process, began):
        status = post(began["port"], p.labeled().payload)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=20)

    events = [json.loads(line)["event"] for line in err.splitlines()]
    assert (began["event"], began["address"], status, process.returncode) == ("server began", "127.0.0.1", 202, 0)
    assert events == ["delivery", "server left"]
    book = open_book(Settings(home=tmp_path, database=tmp_path / ".local/state/ticketsmith/ticketsmith.sqlite"))
    assert [job.number for job in Jobs(book).waiting()] == [7]


def test_f1_a_delivery_that_was_answered_survives_a_killed_server(tmp_path: Path) -> None:
    with serve(tmp_path, "--no-work") as (process, began):
        status = post(began["port"], p.labeled().payload)
        process.kill()

    book = open_book(Settings(home=tmp_path, database=tmp_path / ".local/state/ticketsmith/ticketsmith.sqlite"))
    assert (status, Jobs(book).deliveries(), len(Jobs(book).waiting())) == (202, 1, 1)


@pytest.mark.parametrize(
    ("more", "said"),
    [({"HOOK": ""}, "There is no secret for webhooks"), ({"HOOK": "x" * 31}, "has 31 bytes, and 32 are the least")],
)
def test_r63_sec_1_the_server_does_not_begin_without_a_secret(tmp_path: Path, more: dict[str, str], said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from bot.cli import main; main()", "serve"],
        env=environment(tmp_path, **more),
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_the_server_imports_no_model_no_git_and_no_client_of_github(tmp_path: Path) -> None:
    code = (
        "import sys, bot.commands.serve; from bot.wire import make_server; make_server(None);"
        "print([one for one in ('litellm', 'git', 'github', 'dbos', 'detect_secrets', 'libcst', 'pytest', 'bot.app')"
        " if one in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], env=environment(tmp_path), capture_output=True, text=True)

    assert done.stdout.strip() == "[]", done.stderr


# --- Parts ---------------------------------------------------------------------------------------------------------


def settings(folder: Path, **app: Any) -> Settings:
    standing = {"credentials": folder / "app.json", "webhook_secret": HOOK_SECRET.decode(), "port": 0, **app}
    return Settings(home=folder, database=folder / "ticketsmith.sqlite", app=AppSettings(**standing))


def test_who_we_are_comes_from_the_settings_and_from_what_app_create_kept(tmp_path: Path) -> None:
    nobody = own_of(settings(tmp_path, label="fix it", allowed_bots=(901,)).app)
    write_app_file(tmp_path / "app.json", AppFile(id=42, bot=900))

    assert nobody == Own(label="fix it", allowed_bots=frozenset({901}))
    assert own_of(settings(tmp_path).app) == Own(app=42, bot=900)


def test_an_unsafe_server_is_never_put_together(tmp_path: Path) -> None:
    with pytest.raises(NoSecret):
        Serving(settings(tmp_path, webhook_secret=""))
    with pytest.raises(SecretTooShort):
        Serving(settings(tmp_path, webhook_secret="x"))
    assert list(tmp_path.iterdir()) == []


def test_an_address_that_is_taken_is_told_with_the_way_out(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        serving = Serving(settings(tmp_path, port=other.getsockname()[1]), log=Log(stream=io.StringIO()))

        with pytest.raises(AddressTaken, match="set `address` and `port`"):
            serving.run(None)


def test_the_server_runs_until_a_signal_and_gives_the_signals_back(tmp_path: Path) -> None:
    lines = io.StringIO()
    serving = Serving(settings(tmp_path), log=Log(stream=lines))
    before = signal.getsignal(signal.SIGTERM)
    statuses: list[int] = []

    def deliver() -> None:
        try:
            while "server began" not in lines.getvalue():
                time.sleep(0.01)
            told = [json.loads(line) for line in lines.getvalue().splitlines()]
            port = next(line["port"] for line in told if line["event"] == "server began")
            statuses.append(post(port, p.labeled().payload))
            statuses.append(httpx.get(f"http://127.0.0.1:{port}/healthz", trust_env=False).status_code)
            logging.getLogger("uvicorn.error").error("canary")
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=deliver)
    thread.start()
    serving.run(["sleep", "60"])
    thread.join()

    events = [json.loads(line)["event"] for line in lines.getvalue().splitlines()]
    assert statuses == [202, 200]
    assert sorted(events) == ["delivery", "server", "server began", "server left", "worker process began"]
    assert signal.getsignal(signal.SIGTERM) is before
    assert not serving.inbox.alive


def test_what_is_there_before_the_first_delivery_is_not_searched_for_garbage_while_the_server_runs(
    tmp_path: Path,
) -> None:
    lines = io.StringIO()
    serving = Serving(settings(tmp_path), log=Log(stream=lines))
    frozen: list[int] = []

    def look() -> None:
        while "server began" not in lines.getvalue():
            time.sleep(0.01)
        frozen.append(gc.get_freeze_count())
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=look)
    thread.start()
    serving.run(None)
    thread.join()

    assert frozen[0] > 10_000
    assert gc.get_freeze_count() == 0


def test_a_worker_that_dies_is_begun_again_and_ends_with_the_server(tmp_path: Path) -> None:
    lines = io.StringIO()
    mark = tmp_path / "mark"
    once = f"test -e {mark} && exec sleep 60; touch {mark}; exit 3"

    with Beside(["sh", "-c", once], Log(stream=lines), again_seconds=0.05) as beside:
        deadline = time.monotonic() + 10
        while lines.getvalue().count("began") < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert beside is not None

    told = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert [line["event"] for line in told] == ["worker process began", "worker process died", "worker process began"]
    assert told[1]["status"] == 3
    with pytest.raises(ProcessLookupError):
        os.kill(told[2]["pid"], 0)


def test_a_worker_that_does_not_leave_is_ended(tmp_path: Path) -> None:
    lines = io.StringIO()
    stubborn = [
        sys.executable,
        "-c",
        "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(60)",
    ]

    with Beside(stubborn, Log(stream=lines), seconds=0.3):
        time.sleep(0.5)

    pid = json.loads(lines.getvalue().splitlines()[0])["pid"]
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_the_worker_has_the_configuration_of_the_server() -> None:
    assert worker_command("/x/t.toml")[-3:] == ["--config", "/x/t.toml", "work"]
    assert worker_command(None)[-1] == "work"
