"""How fast webhooks are answered: ours, which are kept on the disk, beside probot's, which are not.

`python -m tests.benchmarks.webhooks [--seconds S] [--rounds N] [--json]`. Needs `wrk`; probot is put into a temporary
folder by npm, or left out with the reason. Loopback only. Every delivery is signed, has an id of its own, and asks for
something, so that ours writes a row for it and one for its job. Rounds in turn, medians of them.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import json
import os
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from tests.bot.payloads import MIRA, around, issue

RATE: Final = 500  # deliveries a second at which the answer is timed
CONNECTIONS: Final = 32
BODIES: Final = 12_000
SECRET: Final = "0123456789abcdef0123456789abcdef"
ROOT: Final = Path(__file__).parents[2]
PROBOT: Final = """\
import { run } from "probot";
run((app) => { app.on("issue_comment.created", async () => {}); });
"""
_TYPICAL_MS: Final = 4  # of an answer: what the pause between two deliveries of a connection is less by


@dataclass(frozen=True, kw_only=True)
class Load:
    """What wrk saw of one load; times in milliseconds."""

    requests: int
    seconds: float
    p50: float
    p99: float
    most: float
    refused: int
    broken: int

    @property
    def rate(self) -> float:
        return self.requests / self.seconds


@dataclass(frozen=True, kw_only=True)
class Server:
    """A server under load."""

    name: str
    url: str
    pid: int

    def peak(self) -> float:
        """MiB that it held at most."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def write_bodies(path: Path, count: int) -> None:
    """Comments with a command, as large as GitHub's are, each signed."""
    filler = {
        f"{name}_url": f"https://github.example/repos/acme/till/{name}{{/id}}" * 2 for name in map(str, range(70))
    }
    with path.open("w") as file:
        for number in range(count):
            comment = {"id": number + 1, "body": "/ticketsmith why", "user": MIRA, "created_at": "2026-11-03T09:10:00Z"}
            payload = around(action="created", issue=issue(number=number + 1), comment=comment, filler=filler)
            body = json.dumps(payload, separators=(",", ":"))
            file.write(f"sha256={hmac.new(SECRET.encode(), body.encode(), hashlib.sha256).hexdigest()} {body}\n")


def load(server: Server, bodies: Path, seconds: float, rate: int = 0, first: int = 0) -> Load:
    """One load of wrk: at a rate, or as fast as it is answered."""
    pause = round(CONNECTIONS * 1000 / rate) - _TYPICAL_MS if rate else 0
    script = Path(__file__).with_name("webhooks.lua")
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds:g}s", "--timeout", "10s", "-s", str(script), server.url]
    command += ["--", str(bodies), str(pause), str(first)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=seconds + 60)
    return Load(**json.loads(done.stdout.splitlines()[-1]))


# --- Servers -------------------------------------------------------------------------------------------------------


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


# --- Bare commits --------------------------------------------------------------------------------------------------


def bare(rows: Path, folder: Path, seconds: float) -> float:
    """Transactions a second of a loop that does nothing but keep the same rows: a delivery and its job in each."""
    with closing(sqlite3.connect(rows)) as source:
        schema = [
            sql
            for (sql,) in source.execute("SELECT sql FROM sqlite_master WHERE tbl_name IN ('delivery', 'job')")
            if sql
        ]
        deliveries = source.execute("SELECT * FROM delivery").fetchall()
        jobs = source.execute("SELECT * FROM job").fetchall()
    with closing(sqlite3.connect(folder / "bare.sqlite", isolation_level=None)) as target:
        target.execute("PRAGMA journal_mode = WAL")
        target.execute("PRAGMA synchronous = FULL")
        for sql in schema:
            target.execute(sql)
        into_delivery = f"INSERT INTO delivery VALUES ({', '.join('?' * len(deliveries[0]))})"
        into_job = f"INSERT INTO job VALUES ({', '.join('?' * len(jobs[0]))})"
        began, count = time.perf_counter(), 0
        for delivery, job in zip(deliveries, jobs, strict=False):
            target.execute("BEGIN IMMEDIATE")
            target.execute(into_delivery, delivery)
            target.execute(into_job, job)
            target.execute("COMMIT")
            count += 1
            if time.perf_counter() - began > seconds:
                break
        return count / (time.perf_counter() - began)


# --- The whole -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Result:
    """Medians of the rounds; times in milliseconds, memory in MiB. Of probot, None where it was left out."""

    paced_rate: float
    p50: float
    p99: float
    sustained: float
    bare: float
    ratio: float
    peak: float
    kept: bool
    probot_paced_rate: float | None
    probot_p50: float | None
    probot_p99: float | None
    probot_sustained: float | None
    probot_peak: float | None
    left_out: str


def measure(seconds: float, rounds: int) -> Result:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_bodies(folder / "bodies", BODIES)
        left_out = install_probot(folder / "probot")
        taken = [_round(folder / f"round{at}", folder, seconds, without_probot=bool(left_out)) for at in range(rounds)]

    def median(values: Sequence[float]) -> float:
        return statistics.median(values)

    own = [one["ours"] for one in taken]
    other = [one["probot"] for one in taken if "probot" in one]
    return Result(
        paced_rate=median([one["paced"].rate for one in own]),
        p50=median([one["paced"].p50 for one in own]),
        p99=median([one["paced"].p99 for one in own]),
        sustained=median([one["full"].rate for one in own]),
        bare=median([one["bare"] for one in own]),
        ratio=median([one["full"].rate / one["bare"] for one in own]),
        peak=max(one["peak"] for one in own),
        kept=all(one["kept"] for one in own),
        probot_paced_rate=median([one["paced"].rate for one in other]) if other else None,
        probot_p50=median([one["paced"].p50 for one in other]) if other else None,
        probot_p99=median([one["paced"].p99 for one in other]) if other else None,
        probot_sustained=median([one["full"].rate for one in other]) if other else None,
        probot_peak=max(one["peak"] for one in other) if other else None,
        left_out=left_out,
    )


def _round(place: Path, folder: Path, seconds: float, *, without_probot: bool) -> dict[str, dict[str, Any]]:
    place.mkdir()
    bodies = folder / "bodies"
    found: dict[str, dict[str, Any]] = {}
    with ours(place) as server:
        paced, full = _loads(server, bodies, seconds)
        answered = paced.requests + full.requests
        wait_for(lambda: _kept(place) >= answered)
        found["ours"] = {"paced": paced, "full": full, "peak": server.peak(), "kept": _all_kept(place, paced, full)}
    found["ours"]["bare"] = bare(place / "ticketsmith.sqlite", place, seconds)
    if not without_probot:
        with probot(folder / "probot") as server:
            paced, full = _loads(server, bodies, seconds)
            found["probot"] = {"paced": paced, "full": full, "peak": server.peak()}
    return found


def _loads(server: Server, bodies: Path, seconds: float) -> tuple[Load, Load]:
    load(server, bodies, 1)  # warm
    paced = load(server, bodies, seconds, RATE, first=2_000)
    full = load(server, bodies, min(seconds, 6), first=2_000 + round(RATE * seconds))
    for one in (paced, full):
        if one.refused or one.broken:
            raise SystemExit(f"{server.name}: {one.refused} refused, {one.broken} broken")
    return paced, full


def _kept(place: Path) -> int:
    with closing(sqlite3.connect(place / "ticketsmith.sqlite")) as database:
        count: int = database.execute("SELECT count(*) FROM delivery").fetchone()[0]
        return count


def _all_kept(place: Path, *loads: Load) -> bool:
    """Whether every answered delivery is a row."""
    return _kept(place) >= sum(one.requests for one in loads)


def told(result: Result) -> str:
    lines = [
        f"ours at {result.paced_rate:.0f}/s          p50 {result.p50:.1f} ms, p99 {result.p99:.1f} ms  (p99 below 50)",
        f"ours, as fast as it goes  {result.sustained:.0f}/s",
        f"bare commits of its rows  {result.bare:.0f}/s, so ours is {result.ratio:.2f} of it  (at least 0.5)",
        f"ours, peak memory         {result.peak:.0f} MiB  (at most 150)",
        f"every answer is kept      {'yes' if result.kept else 'NO'}",
    ]
    if result.probot_sustained is None:
        return "\n".join([*lines, f"probot                    left out: {result.left_out}"])
    lines.append(
        f"probot at {result.probot_paced_rate:.0f}/s        p50 {result.probot_p50:.1f} ms, "
        f"p99 {result.probot_p99:.1f} ms; it keeps nothing"
    )
    lines.append(f"probot, as fast as it goes {result.probot_sustained:.0f}/s, peak {result.probot_peak:.0f} MiB")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=6.0, help="of each load")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if not shutil.which("wrk"):
        print("Skipped: wrk is not here (apt-get install wrk).")
        return 0
    result = measure(given.seconds, given.rounds)
    print(json.dumps(asdict(result)) if given.json else told(result))
    return 0 if result.p99 < 50 and result.ratio >= 0.5 and result.peak <= 150 and result.kept else 1


if __name__ == "__main__":
    sys.exit(main())
