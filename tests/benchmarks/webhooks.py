"""How fast webhooks are answered: ours, which are kept on the disk, beside probot's, which are not.

`python -m tests.benchmarks.webhooks [--seconds S] [--rounds N] [--json]`. Needs `wrk`; probot is put into a temporary
folder by npm, or left out with the reason. Loopback only. Every delivery is signed, has an id of its own, and asks for
something, so that ours writes a row for it and one for its job. Rounds in turn, medians of them. What ours sustains and
what bare commits do take turns in short slices, so that a machine that is busy with something else slows both.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from tests.benchmarks.webhook_servers import SECRET, Server, install_probot, ours, probot, wait_for
from tests.bot.payloads import MIRA, around, issue

RATE: Final = 500  # deliveries a second at which the answer is timed
CONNECTIONS: Final = 32
BODIES: Final = 10_000  # of one load: more than it can send, for one that is sent twice asks for nothing new
SLICES: Final = 3  # of a round, as fast as it goes
SLICE_SECONDS: Final = 2
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


def write_bodies(folder: Path, files: int) -> list[Path]:
    """Comments with a command, as large as GitHub's are, each signed; in a file for each load."""
    filler = {
        f"{name}_url": f"https://github.example/repos/acme/till/{name}{{/id}}" * 2 for name in map(str, range(70))
    }
    paths = [folder / f"bodies{at}" for at in range(files)]
    for at, path in enumerate(paths):
        with path.open("w") as file:
            for number in range(at * BODIES + 1, (at + 1) * BODIES + 1):
                comment = {"id": number, "body": "/ticketsmith why", "user": MIRA, "created_at": "2026-11-03T09:10:00Z"}
                payload = around(action="created", issue=issue(number=number), comment=comment, filler=filler)
                body = json.dumps(payload, separators=(",", ":"))
                file.write(f"sha256={hmac.new(SECRET.encode(), body.encode(), hashlib.sha256).hexdigest()} {body}\n")
    return paths


def load(server: Server, bodies: Path, seconds: float, rate: int = 0) -> Load:
    """One load of wrk: at a rate, or as fast as it is answered. Ends the program where an answer is no good one."""
    pause = round(CONNECTIONS * 1000 / rate) - _TYPICAL_MS if rate else 0
    script = Path(__file__).with_name("webhooks.lua")
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds:g}s", "--timeout", "10s", "-s", str(script), server.url]
    command += ["--", str(bodies), str(pause)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=seconds + 60)
    found = Load(**json.loads(done.stdout.splitlines()[-1]))
    if found.refused or found.broken:
        raise SystemExit(f"{server.name}: {found.refused} refused, {found.broken} broken")
    return found


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
    with (
        tempfile.TemporaryDirectory(dir=folder) as name,
        closing(sqlite3.connect(Path(name, "bare.sqlite"), isolation_level=None)) as target,
    ):
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
class Seen:
    """What a round saw of a server; `bare` belongs to the slices of `full`, and is empty for what keeps nothing."""

    paced: Load
    full: list[Load]
    bare: list[float]
    cpu: float
    peak: float
    kept: bool

    @property
    def ratios(self) -> list[float]:
        return [full.rate / bare for full, bare in zip(self.full, self.bare, strict=True)]


@dataclass(frozen=True, kw_only=True)
class Result:
    """Medians of the rounds; times in milliseconds, memory in MiB. Of probot, None where it was left out.

    `least` and `most` are the ratios of single slices; `cpu` is seconds of a processor for a thousand deliveries;
    `busy` is the load average of the machine at the beginning and at the end.
    """

    paced_rate: float
    p50: float
    p99: float
    sustained: float
    bare: float
    ratio: float
    least: float
    most: float
    cpu: float
    peak: float
    kept: bool
    busy: tuple[float, float]
    probot_paced_rate: float | None
    probot_p50: float | None
    probot_p99: float | None
    probot_sustained: float | None
    probot_peak: float | None
    left_out: str


def measure(seconds: float, rounds: int) -> Result:
    busy = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bodies = write_bodies(folder, SLICES + 2)
        left_out = install_probot(folder / "probot")
        own, other = [], []
        for at in range(rounds):
            own.append(_ours(folder / f"round{at}", bodies, seconds))
            if not left_out:
                other.append(_probots(folder / "probot", bodies, seconds))

    def median(values: Sequence[float]) -> float:
        return statistics.median(values)

    ratios = [one for round_ in own for one in round_.ratios]
    return Result(
        paced_rate=median([one.paced.rate for one in own]),
        p50=median([one.paced.p50 for one in own]),
        p99=median([one.paced.p99 for one in own]),
        sustained=median([full.rate for one in own for full in one.full]),
        bare=median([rate for one in own for rate in one.bare]),
        ratio=median(ratios),
        least=min(ratios),
        most=max(ratios),
        cpu=median([one.cpu for one in own]),
        peak=max(one.peak for one in own),
        kept=all(one.kept for one in own),
        busy=(busy, os.getloadavg()[0]),
        probot_paced_rate=median([one.paced.rate for one in other]) if other else None,
        probot_p50=median([one.paced.p50 for one in other]) if other else None,
        probot_p99=median([one.paced.p99 for one in other]) if other else None,
        probot_sustained=median([full.rate for one in other for full in one.full]) if other else None,
        probot_peak=max(one.peak for one in other) if other else None,
        left_out=left_out,
    )


def _ours(place: Path, bodies: list[Path], seconds: float) -> Seen:
    place.mkdir()
    rows = place / "ticketsmith.sqlite"
    with ours(place) as server:
        seen = _loads(server, bodies, seconds, lambda: bare(rows, place, SLICE_SECONDS))
        if max(one.requests for one in seen.full) > BODIES:
            raise SystemExit(f"a load sent more than its {BODIES} bodies")
        answered = seen.paced.requests + sum(one.requests for one in seen.full)
        wait_for(lambda: _rows(rows, "delivery") >= answered)
    return Seen(**{**vars(seen), "kept": _rows(rows, "delivery") == _rows(rows, "job")})


def _probots(place: Path, bodies: list[Path], seconds: float) -> Seen:
    with probot(place) as server:
        return _loads(server, bodies, seconds, None)


def _loads(server: Server, bodies: list[Path], seconds: float, between: Callable[[], float] | None) -> Seen:
    load(server, bodies[0], 1)  # warm
    paced = load(server, bodies[1], seconds, RATE)
    before, full, commits = server.cpu(), [], []
    for one in bodies[2:]:
        full.append(load(server, one, SLICE_SECONDS))
        if between:
            commits.append(between())
    cpu = (server.cpu() - before) / sum(one.requests for one in full) * 1000
    return Seen(paced=paced, full=full, bare=commits, cpu=cpu, peak=server.peak(), kept=False)


def _rows(database: Path, table: str) -> int:
    with closing(sqlite3.connect(database)) as connection:
        count: int = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        return count


def told(result: Result) -> str:
    lines = [
        f"ours at {result.paced_rate:.0f}/s          p50 {result.p50:.1f} ms, p99 {result.p99:.1f} ms  (p99 below 50)",
        f"ours, as fast as it goes  {result.sustained:.0f}/s, {result.cpu * 1000:.0f} µs of a processor each",
        f"bare commits of its rows  {result.bare:.0f}/s, so ours is {result.ratio:.2f} of it  (at least 0.5)",
        f"of it in single slices    {result.least:.2f} to {result.most:.2f}",
        f"ours, peak memory         {result.peak:.0f} MiB  (at most 150)",
        f"every answer is kept      {'yes' if result.kept else 'NO'}",
        f"load of the machine       {result.busy[0]:.1f}, then {result.busy[1]:.1f}",
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
    parser.add_argument("--seconds", type=float, default=6.0, help="of the load at a rate")
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
