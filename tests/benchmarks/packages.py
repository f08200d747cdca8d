"""The packages that defects are made in: candidates, the rule that chose among them, and what it chose.

`python -m tests.benchmarks.packages` applies the rule again and prints what it sees. It was applied once, before the
first defect was made; nothing is replaced since.

The rule: the source archive has Python files only and at least 30 tests, and they pass within 10 seconds in our own
interpreter in the sandbox, with nothing installed beside it. Of the candidates that meet it, `CHOSEN_AT_MOST` are
drawn by `SEED`.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from stages.checks import Checks
from stages.detection import detect
from stages.report import Check, CheckReport
from stages.sandbox import choose, remove

SEED: Final = 20_261_130
CHOSEN_AT_MOST: Final = 6
TESTS_AT_LEAST: Final = 30
SECONDS_AT_MOST: Final = 10.0
_DOWNLOAD_SECONDS: Final = 300
_COMPILED: Final = (".c", ".pyx", ".so", ".rs", ".cpp")


@dataclass(frozen=True, kw_only=True)
class Package:
    """A source archive, by name and version."""

    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


# Small packages in pure Python whose source archives were known or thought to hold their tests.
CANDIDATES: Final = tuple(
    Package(name=name, version=version)
    for name, version in (
        line.split()
        for line in """\
toolz 1.2.0
more-itertools 11.2.1
python-slugify 9.2.0
inflection 0.5.1
humanize 4.17.0
tabulate 0.10.0
parse 1.22.4
boltons 26.2.0
semver 3.1.2
isodate 0.7.2
cachetools 8.0.2
jmespath 1.1.0
iniconfig 2.3.1
funcy 2.1
unidiff 1.0.1
schema 0.7.8
voluptuous 0.16.0
deepmerge 4.0.0
webcolors 25.10.0
jsonpointer 3.12
jsonpatch 1.48
hyperlink 21.0.0
uritemplate 4.2.0
xmltodict 1.0.4
sqlparse 0.6.1
intervaltree 3.2.1
portion 2.6.3
wcwidth 0.9.4
texttable 1.7.2
sortedcontainers 2.4.0
natsort 8.4.0
first 2.0.2
roman 5.2
num2words 0.5.14
pathspec 1.1.1
glom 25.12.0
""".splitlines()
    )
)
CHOSEN: Final = (
    Package(name="boltons", version="26.2.0"),
    Package(name="inflection", version="0.5.1"),
    Package(name="schema", version="0.7.8"),
    Package(name="uritemplate", version="4.2.0"),
    Package(name="semver", version="3.1.2"),
    Package(name="pathspec", version="1.1.1"),
)


def fetch(package: Package, folder: Path) -> Mapping[str, bytes]:
    """The files of a source archive, which is kept in `folder`. Raises SystemExit when it cannot be had."""
    folder.mkdir(parents=True, exist_ok=True)
    archive = _kept(package, folder)
    if archive is None:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        wanted = ["--dest", str(folder), f"{package.name}=={package.version}"]
        done = subprocess.run([*command, *wanted], capture_output=True, timeout=_DOWNLOAD_SECONDS, check=False)
        archive = _kept(package, folder)
        if archive is None:
            raise SystemExit(f"{package} cannot be had: {done.stderr.decode(errors='replace')[-300:]}")
    return _unpacked(archive)


def _kept(package: Package, folder: Path) -> Path | None:
    names = {name.casefold() for dash in "-_" for name in (f"{package.name.replace('-', dash)}-{package.version}",)}
    return next((file for file in folder.glob("*.tar.gz") if file.name[: -len(".tar.gz")].casefold() in names), None)


def _unpacked(archive: Path) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    with tarfile.open(archive) as opened:
        for member in opened:
            path = PurePosixPath(member.name)
            content = opened.extractfile(member) if member.isfile() else None
            inside = path.relative_to(path.parts[0]).as_posix()
            if content is not None and ".." not in path.parts and "__pycache__" not in path.parts:
                files[inside] = content.read()
    return files


def laid(files: Mapping[str, bytes], tree: Path) -> Path:
    """A folder with these files and nothing else."""
    if tree.exists():
        remove(tree)
    for path, data in files.items():
        place = tree / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return tree


def checks() -> Checks:
    """What runs tests as the program does: sandboxed, in our own interpreter."""
    return Checks(choose("auto", trusted=False), Path(sys.executable))


def check_of(files: Mapping[str, bytes]) -> Check | None:
    """The pytest check that a tree shows."""
    return next((check for check in detect(files, files.get) if check.name == "pytest"), None)


def why_not(files: Mapping[str, bytes], report: CheckReport | None) -> str:
    """Why a package does not meet the rule; "" when it does."""
    if any(path.endswith(_COMPILED) for path in files):
        return "not Python alone"
    if report is None:
        return "no tests for pytest"
    if not report.passed:
        return f"not green: exit {report.exit_status}, {len(report.failing)} of {len(report.outcomes)} failing"
    if len(report.outcomes) < TESTS_AT_LEAST:
        return f"{len(report.outcomes)} tests"
    return f"{report.seconds:.1f} s" if report.seconds > SECONDS_AT_MOST else ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Apply the rule to all candidates; archives are kept in the folder named as first argument."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if len(given) != 1:
        print("usage: python -m tests.benchmarks.packages FOLDER", file=sys.stderr)
        return 2
    folder, runner = Path(given[0]), checks()
    eligible: list[Package] = []
    for package in CANDIDATES:
        files = fetch(package, folder)
        check = check_of(files)
        tree = laid(files, folder / "tree")
        problem = why_not(files, runner.run(check, tree) if check else None)
        print(f"{package!s:<28} {problem or 'meets the rule'}", flush=True)
        eligible += [] if problem else [package]
        shutil.rmtree(tree, ignore_errors=True)
    chosen = random.Random(SEED).sample(eligible, min(CHOSEN_AT_MOST, len(eligible)))
    print("chosen:", ", ".join(map(str, chosen)))
    return 0 if set(chosen) == set(CHOSEN) else 1


if __name__ == "__main__":
    sys.exit(main())
