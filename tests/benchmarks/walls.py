"""What the walls cost: the start of a sandbox, a clone from a mirror, and patterns over hostile text.

`python -m tests.benchmarks.walls [--json] [--files N] [--folder F]`. Starts and clones are ratios to bubblewrap alone
and to `git worktree add`, taken in turn in the same run, of processor time, which other programs on the machine do not
change; of times on the clock the quicker half counts. Namespaces are taken down by the kernel, which charges nobody.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Final

from memory.text import one_line
from memory.types import CommitId
from stages.branches import _BRANCH
from stages.clone import Clone
from stages.errors import Refused
from stages.installs import detect_installs
from stages.origin import remote_id
from stages.patch import Patch
from stages.paths import plain
from stages.protected import is_entry_point, is_protected
from stages.repository import _REF, Repository
from stages.sandbox import Command, Host, Sandbox
from stages.sandbox.bubblewrap import Bubblewrap
from stages.sandbox.proxy_request import _ADDRESS, _HEADER, _LINE
from tests.benchmarks.costs import Figure
from tests.stages.sandbox.ways import WE_ARE_ROOT, as_ordinary_user

ROUNDS: Final = 60
CLONES: Final = 3
FILES: Final = 100_000
_HOSTILE_BYTES: Final = 64 * 1024
_MILLISECONDS: Final = 1_000


def quicker_half(times: list[float]) -> float:
    """The median of the quicker half."""
    return statistics.median(sorted(times)[: max(1, len(times) // 2)])


# --- the start of a sandbox ------------------------------------------------------------------------------------------


def alone(tree: Path) -> list[str]:
    """bubblewrap with the namespaces and mounts that a command has, and without all else: no filter, limits or user."""
    links = [word for top in ("bin", "lib", "lib64", "sbin") if Path(f"/{top}").is_symlink()
             for word in ("--symlink", f"usr/{top}", f"/{top}")]  # fmt: skip
    etc = [word for path in ("/etc/ld.so.cache", "/etc/alternatives", "/etc/ssl/certs", "/etc/ssl/openssl.cnf")
           for word in ("--ro-bind-try", path, path)]  # fmt: skip
    folders = [word for path in ("/tmp", "/dev/shm", "/home/run") for word in ("--size", "536870912", "--tmpfs", path)]
    user = [] if os.geteuid() == 0 else ["--unshare-user", "--uid", "1000", "--gid", "1000"]
    return [
        *("bwrap", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", *user),
        *("--die-with-parent", "--new-session", "--clearenv", "--ro-bind", "/usr", "/usr", *links, *etc),
        *("--proc", "/proc", "--dev", "/dev", *folders, "--bind", str(tree), "/tree", "--chdir", "/tree"),
        *("--remount-ro", "/dev", "--remount-ro", "/", "--setenv", "PATH", "/usr/bin:/bin", "--", "true"),
    ]


@dataclass(frozen=True, kw_only=True)
class Start:
    """Seconds of one start: on the clock, and of processors, ours and those of all that it started."""

    clock: float
    processor: float


def starts(sandbox: Sandbox, rounds: int = ROUNDS) -> tuple[Start, Start]:
    """A command that does nothing: by bubblewrap alone, and by the sandbox."""
    tree = Path(tempfile.mkdtemp(prefix="ticketsmith-start-"))
    try:
        command, words = Command(arguments=("true",), tree=tree), alone(tree)
        sandbox.run(command)
        bare, ours = list[Start](), list[Start]()
        for _ in range(rounds):
            bare.append(_start(lambda: subprocess.run(words, check=True, capture_output=True)))
            ours.append(_start(lambda: sandbox.run(command)))
        return _typical(bare), _typical(ours)
    finally:
        shutil.rmtree(tree)


def _start(work: Callable[[], object]) -> Start:
    began, spent = time.perf_counter(), _spent()
    work()
    return Start(clock=time.perf_counter() - began, processor=_spent() - spent)


def _spent() -> float:
    """Seconds of processors that this process and its children have used, more finely than os.times tells."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _typical(times: list[Start]) -> Start:
    return Start(
        clock=quicker_half([one.clock for one in times]), processor=statistics.mean(one.processor for one in times)
    )


def start_figures() -> Iterator[Figure]:
    ways: dict[str, Callable[[], tuple[Start, Start]]] = {"as we are": lambda: starts(Bubblewrap())}
    if WE_ARE_ROOT:
        ways = {
            "as root": ways["as we are"],
            "as an ordinary user": lambda: as_ordinary_user(lambda: starts(Bubblewrap())),
        }
    for way, measured in ways.items():
        bare, ours = measured()
        told = f"start of a sandbox {way}"
        yield Figure(
            what=f"{told} against bwrap alone, processor time",
            value=ours.processor / bare.processor,
            unit="times",
            at_most=1.5,
        )
        yield Figure(what=f"{told} against bwrap alone, on the clock", value=ours.clock / bare.clock, unit="times")
        yield Figure(what=f"{told}, on the clock", value=ours.clock * _MILLISECONDS, unit="ms")


# --- a clone from a mirror -------------------------------------------------------------------------------------------


def make_mirror(folder: Path, files: int) -> Path:
    """A bare copy with one commit of so many files, packed, as a mirror holds them."""
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", str(folder)], check=True)
    with subprocess.Popen(
        ["git", "-C", str(folder), "fast-import", "--quiet"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"commit refs/heads/main\ncommitter a <a@b.example> 1700000000 +0000\ndata 1\nx\n")
        for number in range(files):
            data = f"line {number}\n".encode() * 20
            name = f"d{number % 100}/e{number // 100 % 100}/f{number}.py"
            process.stdin.write(f"M 100644 inline {name}\ndata {len(data)}\n".encode() + data + b"\n")
    return folder


def clones(folder: Path, files: int, rounds: int = CLONES) -> tuple[float, float]:
    """Seconds of processor time: of `git worktree add`, and of a workspace's clone."""
    mirror = make_mirror(folder / "mirror", files)
    repository = Repository.open(mirror)
    base, tree, ours = repository.resolve(), list[float](), list[float]()
    for number in range(rounds):
        tree.append(_processor_time(lambda: _work_tree(mirror, folder / "tree")))
        shutil.rmtree(folder / "tree")
        subprocess.run(["git", "-C", str(mirror), "worktree", "prune"], check=True)
        place = folder / f"clone{number}"
        ours.append(_processor_time(partial(_clone, repository, base, place)))
        shutil.rmtree(place)
    return quicker_half(tree), quicker_half(ours)


def _clone(repository: Repository, base: CommitId, place: Path) -> None:
    Clone.make(repository.objects, base, place).check_out()


def _work_tree(mirror: Path, place: Path) -> None:
    subprocess.run(["git", "-C", str(mirror), "worktree", "add", "--quiet", "--detach", str(place)], check=True)


def _processor_time(work: Callable[[], object]) -> float:
    before = _spent()
    work()
    return _spent() - before


def clone_figures(folder: str | None, files: int) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(dir=folder) as place:
        tree, ours = clones(Path(place), files)
    yield Figure(
        what=f"clone of {files:,} files from a mirror against git worktree add",
        value=ours / tree,
        unit="times",
        at_most=2,
    )
    yield Figure(what=f"clone of {files:,} files, processor time", value=ours, unit="s")


# --- patterns over hostile text --------------------------------------------------------------------------------------


HOSTILE: Final[Mapping[str, str]] = {
    "one letter": "a" * _HOSTILE_BYTES,
    "slashes": "/" * _HOSTILE_BYTES,
    "folders": "a/" * (_HOSTILE_BYTES // 2),
    "dots": "../" * (_HOSTILE_BYTES // 3),
    "names of git": ".git" * (_HOSTILE_BYTES // 4),
    "unseen characters": ".g\u200cit/" * (_HOSTILE_BYTES // 8),
    "marks": "e\u0301" * (_HOSTILE_BYTES // 3),
    "stars": "*" * _HOSTILE_BYTES,
    "references": "-r " * (_HOSTILE_BYTES // 3),
    "at signs": "a@" * (_HOSTILE_BYTES // 2),
    "hunks": "@@ -1 +1 @@\n" * (_HOSTILE_BYTES // 12),
    "headers": "a: b\r\n" * (_HOSTILE_BYTES // 6),
    "colons and blanks": ": \t" * (_HOSTILE_BYTES // 3),
    "labels": "a." * (_HOSTILE_BYTES // 2),
}


def _refused(work: Callable[[str], object], text: str) -> None:
    try:
        work(text)
    except (Refused, ValueError):
        return


def _matched(pattern: re.Pattern[str], text: str) -> object:
    return pattern.fullmatch(text)


def _matched_bytes(pattern: re.Pattern[bytes], text: str) -> object:
    return pattern.fullmatch(text.encode())


def readers() -> Mapping[str, Callable[[str], object]]:
    """What reads text from strangers in the walls, by its name."""
    of_bytes: dict[str, re.Pattern[bytes]] = {"line": _LINE, "address": _ADDRESS, "header": _HEADER}
    of_text: dict[str, re.Pattern[str]] = {"a branch": _BRANCH, "a revision": _REF}
    by_pattern: dict[str, Callable[[str], object]] = {
        **{f"the proxy's {name}": partial(_matched_bytes, pattern) for name, pattern in of_bytes.items()},
        **{name: partial(_matched, pattern) for name, pattern in of_text.items()},
    }
    return {
        "a path": lambda text: _refused(plain, text),
        "a protected path": is_protected,
        "an entry point": is_entry_point,
        "a host": lambda text: _refused(Host.parse, text),
        "a patch": lambda text: list(Patch(diff=text).sections),
        "one line": one_line,
        "requirements": lambda text: detect_installs(["requirements.txt"], lambda _: text.encode()),
        "an address of a repository": lambda text: _refused(remote_id, text),
        **by_pattern,
    }


def slowest() -> tuple[str, float]:
    """The slowest of all readers over all texts, and its milliseconds of processor time."""
    worst = ("", 0.0)
    for reader, read in readers().items():
        for kind, text in HOSTILE.items():
            began = time.process_time()
            read(text)
            spent = (time.process_time() - began) * _MILLISECONDS
            worst = max(worst, (f"{reader} of {kind}", spent), key=lambda one: one[1])
    return worst


def pattern_figures() -> Iterator[Figure]:
    what, value = slowest()
    yield Figure(what=f"64 KiB of hostile text, the slowest: {what}", value=value, unit="ms", at_most=50)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--folder", default=None, help="where the clones are made; a folder in memory spares the disk")
    given = parser.parse_args()
    found = [*pattern_figures(), *start_figures(), *clone_figures(given.folder, given.files)]
    if given.json:
        print(json.dumps([asdict(figure) for figure in found], indent=2))
    else:
        for figure in found:
            print(figure.told)
    return 0


if __name__ == "__main__":
    sys.exit(main())
