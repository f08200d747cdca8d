"""The servers whose answers to webhooks are timed: ours with a database of its own, and probot, which keeps nothing."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

SECRET: Final = "0123456789abcdef0123456789abcdef"
ROOT: Final = Path(__file__).parents[2]
PROBOT: Final = """\
import { run } from "probot";
run((app) => { app.on("issue_comment.created", async () => {}); });
"""


@dataclass(frozen=True, kw_only=True)
class Server:
    """A server under load."""

    name: str
    url: str
    pid: int

    def cpu(self) -> float:
        """Seconds of a processor that it used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak(self) -> float:
        """MiB that it held at most."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024


@contextmanager
def ours(folder: Path) -> Iterator[Server]:
    """`ticketsmith serve --no-work`, with its database in the folder."""
    environment = {
        "HOME": str(folder),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "TICKETSMITH_HOME": str(folder),
        "TICKETSMITH_APP_PORT": "0",
        "TICKETSMITH_APP_WEBHOOK_SECRET_VARIABLE": "HOOK",
        "HOOK": SECRET,
    }
    log = folder / "log"
    with log.open("w") as lines:
        command = [sys.executable, "-c", "from bot.cli import main; main()", "serve", "--no-work"]
        with ended(subprocess.Popen(command, env=environment, stderr=lines)) as process:
            wait_for(lambda: "server began" in log.read_text())
            port = json.loads(log.read_text().splitlines()[0])["port"]
            yield Server(name="ours", url=f"http://127.0.0.1:{port}", pid=process.pid)


@contextmanager
def probot(folder: Path) -> Iterator[Server]:
    """probot with a handler that does nothing."""
    (folder / "app.mjs").write_text(PROBOT)
    key = subprocess.run(["openssl", "genrsa", "2048"], capture_output=True, text=True, check=True).stdout
    port = free_port()
    environment = {
        "HOME": str(folder), "PATH": os.environ["PATH"], "APP_ID": "1", "PRIVATE_KEY": key, "WEBHOOK_SECRET": SECRET,
        "PORT": str(port), "HOST": "127.0.0.1", "WEBHOOK_PATH": "/webhook", "LOG_LEVEL": "fatal",
        "NODE_ENV": "production",
    }  # fmt: skip
    quiet = subprocess.DEVNULL
    with ended(
        subprocess.Popen(["node", "app.mjs"], cwd=folder, env=environment, stdout=quiet, stderr=quiet)
    ) as process:
        wait_for(lambda: listens(port))
        yield Server(name="probot", url=f"http://127.0.0.1:{port}", pid=process.pid)


def install_probot(folder: Path) -> str:
    """Empty when probot is in the folder now; else why not."""
    if not shutil.which("npm") or not shutil.which("node"):
        return "npm is not here"
    folder.mkdir()
    command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent", "probot@14"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=180)
    except subprocess.TimeoutExpired:
        return "npm did not end in three minutes"
    return "" if done.returncode == 0 else f"npm ended with {done.returncode}"


@contextmanager
def ended(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    try:
        yield process
    finally:
        process.terminate()
        process.wait(30)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        port: int = one.getsockname()[1]
        return port


def listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def wait_for(true: Any, seconds: float = 30.0) -> None:
    ends = time.monotonic() + seconds
    while not true():
        if time.monotonic() > ends:
            raise SystemExit("a server did not begin")
        time.sleep(0.05)
