"""Which checks a tree shows, folder by folder, and which of them cannot run on this machine."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import PurePosixPath
from typing import Final

from memory.types import CheckId
from stages.lending import place_of
from stages.npm_scripts import runners
from stages.report import Check, CheckKind
from stages.toolchains import Toolchains, language_of

PYTEST: Final = CheckId("pytest")
UNITTEST_FILES: Final = ("-o", "python_files=test*.py")  # what `python -m unittest` looks for

_SETTINGS: Final = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini")
_SECTIONS: Final = {"pyproject.toml": b"[tool.pytest", "tox.ini": b"[pytest]", "setup.cfg": b"[tool:pytest]"}
_TEST_FILE: Final = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py")
_UNITTEST_FILE: Final = re.compile(r"(?:.*/)?test[^/]*\.py")
_PROJECTS: Final = (*_SETTINGS, *_SECTIONS, "setup.py")
_MANIFESTS: Final = ("package.json", "go.mod", "Cargo.toml", "pom.xml", "build.gradle", "build.gradle.kts")
# Folders whose projects are parts of tests, examples or other people's work.
_NOT_OURS: Final = frozenset(
    {
        *("node_modules", "vendor", "third_party", "testdata", "fixtures", "fixture", "__fixtures__", "dist", "build"),
        *("test", "tests", "__tests__", "spec", "examples", "example", "demo", "docs", "site", "website", "template"),
        *("templates", "benchmarks", "benchmark", "bench", "fuzz", "tools", "scripts"),
    }
)
_FOLDERS_DEEP_AT_MOST: Final = 3
_CHECKS_AT_MOST: Final = 12
_TOO_MANY: Final = f"a run takes {_CHECKS_AT_MOST} detected checks at most; name the ones it needs under [checks]"
_NAME_AT_MOST: Final = 40

Read = Callable[[str], bytes | None]


@dataclass(frozen=True, kw_only=True)
class Detected:
    """The checks that can run here, and one sentence for each that was seen and cannot."""

    checks: tuple[Check, ...] = ()
    left_out: tuple[str, ...] = ()


def is_test_file(path: str) -> bool:
    """True for a file that pytest collects by its name."""
    return _TEST_FILE.fullmatch(path) is not None


def detect(files: Iterable[str], read: Read) -> tuple[Check, ...]:
    """The checks that a tree shows, whether or not they can run here."""
    paths = frozenset(files)
    found: dict[CheckId, Check] = {}
    for check in (*_python(paths, read), *_of_manifests(paths, read)):
        name = next(name for name in _names(check.name) if name not in found)
        found[name] = replace(check, name=name)
    return tuple(found.values())


def _names(name: CheckId) -> Iterator[CheckId]:
    """The name, and then others: two folders may differ in signs only that no name has."""
    yield name
    yield from (CheckId(f"{name[: _NAME_AT_MOST - 4]}-{number}") for number in count(2))


def usable(checks: Iterable[Check], why_not: Callable[[Check], str]) -> Detected:
    """Which of these checks can run here, twelve at most; `why_not` tells what is in the way of one, "" for nothing."""
    can, cannot = list[Check](), list[str]()
    for check in checks:
        if len(can) == _CHECKS_AT_MOST:
            cannot.append(f"{check.name}: {_TOO_MANY}")
        elif problem := why_not(check):
            cannot.append(f"{check.name}: {problem}")
        else:
            can.append(check)
    return Detected(checks=tuple(can), left_out=tuple(cannot))


def why_not(check: Check, toolchains: Toolchains, is_there: Callable[[str], bool]) -> str:
    """Why a check cannot run here, with the way out; "" when it can. `is_there` tells whether a folder of dependencies
    is."""
    program = check.arguments[0] if check.arguments and check.kind is not CheckKind.PYTEST else ""
    if program and toolchains.of(check) is None:
        return f"the toolchain of {language_of(check)} is not on this machine; install it"
    if program and "/" not in program and not toolchains.has(program):
        return f"the program {program} is not on this machine; install it"
    places = (PurePosixPath(place_of(check, folder)) for folder in check.installed)
    missing = next((place for place in places if not is_there(str(place))), None)
    if missing is not None:
        where = f" in {missing.parent}" if missing.parent.name else ""
        return f"{missing.name} is not installed{where}; install the dependencies in your checkout"
    return ""


# --- Python ----------------------------------------------------------------------------------------------------------


def _python(paths: frozenset[str], read: Read) -> Iterator[Check]:
    tests = [path for path in paths if is_test_file(path)]
    folders = () if _has_settings(".", paths, read) else _folders_with_settings(paths, read)
    if folders and all(path.startswith(tuple(f"{folder}/" for folder in folders)) for path in tests):
        yield from (_check(str(PYTEST), CheckKind.PYTEST, folder) for folder in folders)
    elif tests or _has_settings(".", paths, read):
        yield _check(str(PYTEST), CheckKind.PYTEST, ".")
    elif any(b"unittest" in (read(path) or b"") for path in sorted(filter(_UNITTEST_FILE.fullmatch, paths))[:50]):
        yield replace(_check("unittest", CheckKind.PYTEST, "."), arguments=UNITTEST_FILES)


def projects_apart(check: Check, unread: Iterable[str], files: Iterable[str]) -> tuple[Check, ...]:
    """A check of its own for each project further down in which a check of the whole tree cannot read these.

    They are files, or folders whose `conftest.py` fails.
    """
    paths, found = frozenset(files), dict[str, None]()
    for path in sorted(unread):
        above = (_ours(f"{folder}/x") for folder in (PurePosixPath(path), *PurePosixPath(path).parents))
        project = next((one for one in above if one and any(_at(one, name) in paths for name in _PROJECTS)), ".")
        found |= {project: None} if project != "." else {}
    checks = dict[CheckId, Check]()
    for folder in list(found)[: _CHECKS_AT_MOST - 1]:
        own = _check(str(check.name), check.kind, folder)
        name = next(name for name in _names(own.name) if name not in checks)
        checks[name] = replace(own, name=name, arguments=check.arguments, services=check.services)
    return tuple(checks.values())


def without(check: Check, projects: Iterable[Check]) -> Check:
    """The check of the whole tree without what these run."""
    return replace(check, arguments=(*check.arguments, *(f"--ignore={project.folder}" for project in projects)))


def _has_settings(folder: str, paths: frozenset[str], read: Read) -> bool:
    return any(_at(folder, name) in paths for name in _SETTINGS) or any(
        _at(folder, name) in paths and section in (read(_at(folder, name)) or b"")
        for name, section in _SECTIONS.items()
    )


def _folders_with_settings(paths: frozenset[str], read: Read) -> tuple[str, ...]:
    names = {*_SETTINGS, *_SECTIONS}
    folders = {
        folder for path in paths if PurePosixPath(path).name in names and (folder := _ours(path)) not in ("", ".")
    }
    found = sorted(folder for folder in folders if _has_settings(folder, paths, read))
    return tuple(folder for folder in found if not any(folder.startswith(f"{above}/") for above in found))


# --- other languages -------------------------------------------------------------------------------------------------


def _of_manifests(paths: frozenset[str], read: Read) -> Iterator[Check]:
    for manifest in _MANIFESTS:
        folders = {folder for path in paths if PurePosixPath(path).name == manifest and (folder := _ours(path))}
        taken: list[str] = []
        for folder in sorted(folders, key=lambda one: (one != ".", one)):
            above = any(one == "." or folder.startswith(f"{one}/") for one in taken)
            if above and manifest != "go.mod":  # a Go module below another one is no part of it
                continue
            checks = tuple(_of(manifest, folder, paths, read))
            taken += [folder] if checks else []
            yield from checks


def _of(manifest: str, folder: str, paths: frozenset[str], read: Read) -> Iterator[Check]:
    path = _at(folder, manifest)
    match manifest:
        case "package.json":
            yield from _node(folder, paths, read)
        case "go.mod":
            if any(_below(one, folder) and one.endswith("_test.go") for one in paths):
                yield _check("go", CheckKind.GO, folder, ("go", "test", "-json", "./..."))
        case "Cargo.toml":
            whole = ("--workspace",) if b"[workspace]" in (read(path) or b"") else ()
            yield _check("cargo", CheckKind.CARGO, folder, ("cargo", "test", "--no-fail-fast", *whole))
        case "pom.xml":
            command = ("mvn", "-o", "-B", "-ntp", "-fae", "test")
            yield _check("maven", CheckKind.JUNIT, folder, command, "**/target/surefire-reports/*.xml")
        case _:
            command = ("gradle", "--offline", "--no-daemon", "--console=plain", "--continue", "test")
            yield _check("gradle", CheckKind.JUNIT, folder, command, "**/build/test-results/test/*.xml")


def _node(folder: str, paths: frozenset[str], read: Read) -> Iterator[Check]:
    package = read(_at(folder, "package.json")) or b""
    needed = ("node_modules",) if b"ependencies" in package else ()
    shared, programs = _workspace(folder, paths, read) if needed else ("", "")
    for runner in runners(package):
        check = _check(runner.name, runner.kind, folder, runner.arguments, runner.results)
        first, *rest = runner.arguments
        own = first.startswith("node_modules/")
        yield replace(
            check,
            arguments=(f"{programs if own else ''}{first}", *rest),
            installed=(*(f"{shared}{one}" for one in needed if shared), *needed),
            environment=runner.environment,
        )


def _workspace(folder: str, paths: frozenset[str], read: Read) -> tuple[str, str]:
    """The way from a package to what its workspace installed for all, and to their programs; both "" without one.

    npm and yarn put everything at the top as long as versions agree; pnpm links the programs into each package.
    """
    for depth, above in enumerate(PurePosixPath(folder).parents, 1):
        up, top = "../" * depth, str(above)
        if _at(top, "pnpm-workspace.yaml") in paths:
            return up, ""
        if b'"workspaces"' in (read(_at(top, "package.json")) or b""):
            return up, up
    return "", ""


def _check(name: str, kind: CheckKind, folder: str, arguments: tuple[str, ...] = (), results: str = "") -> Check:
    slug = re.sub(r"[^a-z0-9_]+", "-", folder.casefold()).strip("-")
    return Check(
        name=CheckId(f"{name}-{slug}"[:_NAME_AT_MOST] if slug else name),
        kind=kind,
        folder=folder,
        arguments=arguments,
        results=results,
        detected=kind is not CheckKind.PYTEST,
    )


def _ours(path: str) -> str:
    """The folder of a manifest, `.` for the top; "" where it lies too deep or in a folder of other things."""
    folder = PurePosixPath(path).parent
    parts = folder.parts
    if len(parts) > _FOLDERS_DEEP_AT_MOST or any(part in _NOT_OURS or part.startswith(".") for part in parts):
        return ""
    return str(folder)


def _below(path: str, folder: str) -> bool:
    return folder == "." or path.startswith(f"{folder}/")


def _at(folder: str, name: str) -> str:
    return name if folder == "." else f"{folder}/{name}"
