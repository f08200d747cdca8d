"""What a tree says about installing its dependencies: from a lock file, one step for each tool that reads one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

KEPT: Final = "{kept}"
"""Stands in commands and variables for the folder that is kept."""
PYTHON: Final = "{python}"
"""Stands for the interpreter that an environment is made from."""

# At the top of a tree, in this order.
_REQUIREMENTS: Final = (
    *("requirements.txt", "requirements-dev.txt", "requirements-test.txt"),
    *("dev-requirements.txt", "test-requirements.txt"),
)
_REFERS: Final = re.compile(rb"(?:-r|--requirement|-c|--constraint)[ =]*(\S+)")
# What is not in the file itself would be installed, and its digest would not say so.
_REACHES_OUT: Final = re.compile(rb"(?:-e\b|--editable|\.(?:$|\[)|\.{1,2}/|/|\S*[ \t]*@[ \t]*file:|file:)")
_ELSEWHERE: Final = frozenset({"node_modules", "vendor", "third_party", "testdata", "fixtures", "examples", "example"})
_FOLDERS_DEEP_AT_MOST: Final = 3
_STEPS_AT_MOST: Final = 8

Read = Callable[[str], bytes | None]


@dataclass(frozen=True, kw_only=True)
class Install:
    """One step. `files` are all that its commands see of the tree, and so all that can decide what they make; empty
    stands for the whole tree. `keeps` are folders that they make in the tree and that checks are lent, read-only."""

    name: str
    commands: tuple[tuple[str, ...], ...]
    folder: str = "."
    files: tuple[str, ...] = ()
    keeps: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    program: str = ""  # without which the step cannot be done
    timeout_seconds: float = 1_800.0
    detected: bool = False  # and not asked for: where it cannot be done, the run goes on without


def detect_installs(files: Iterable[str], read: Read) -> tuple[Install, ...]:
    """The steps that lock files in a tree ask for, where there is one way to take them."""
    paths = frozenset(files)
    steps = (*_python(paths, read), *_node(paths), *_others(paths))
    return steps[:_STEPS_AT_MOST]


def _python(paths: frozenset[str], read: Read) -> Iterator[Install]:
    if {"uv.lock", "pyproject.toml"} <= paths:
        yield Install(
            name="uv sync",
            commands=(("uv", "sync", "--frozen", "--no-install-project", "--python", PYTHON),),
            files=("pyproject.toml", "uv.lock"),
            environment=(("UV_PROJECT_ENVIRONMENT", f"{KEPT}/env"), ("UV_PYTHON_DOWNLOADS", "never")),
            program="uv",
            detected=True,
        )
        return
    found = [name for name in _REQUIREMENTS if name in paths]
    if found and all(_whole(read(name) or b"", found) for name in found):
        wanted = [word for name in found for word in ("-r", name)]
        pip = (f"{KEPT}/env/bin/python", "-m", "pip", "install", "--disable-pip-version-check", "--no-input")
        yield Install(
            name=f"pip install of {', '.join(found)}",
            commands=((PYTHON, "-m", "venv", f"{KEPT}/env"), (*pip, *wanted)),
            files=tuple(found),
            detected=True,
        )


def _whole(text: bytes, known: Iterable[str]) -> bool:
    """True when all that decides what is installed stands in this file and in the known ones beside it."""
    lines = [line.strip() for line in text.replace(b"\\\n", b" ").splitlines()]
    refers = [found[1].decode("utf-8", "replace") for line in lines if (found := _REFERS.match(line))]
    return not any(_REACHES_OUT.match(line) for line in lines) and set(refers) <= set(known)


def _node(paths: frozenset[str]) -> Iterator[Install]:
    for folder in _folders_with("package-lock.json", paths):
        packages = sorted(path for path in paths if _below(path, folder) and path.endswith("package.json"))
        packages = [path for path in packages if PurePosixPath(path).name == "package.json" and not _is_other(path)]
        if _at(folder, "package.json") not in packages:
            continue
        settings = [path for name in ("package-lock.json", ".npmrc") if (path := _at(folder, name)) in paths]
        yield Install(
            name=f"npm ci in {folder}",
            commands=(("npm", "ci", "--no-audit", "--no-fund"),),
            folder=folder,
            files=tuple(sorted({*packages, *settings})),
            keeps=tuple(_at(str(PurePosixPath(path).parent), "node_modules") for path in packages),
            environment=(("npm_config_update_notifier", "false"),),
            program="npm",
            detected=True,
        )


def _others(paths: frozenset[str]) -> Iterator[Install]:
    for folder in _folders_with("go.sum", paths):
        if (manifest := _at(folder, "go.mod")) in paths:
            yield Install(
                name=f"go mod download in {folder}",
                commands=(("go", "mod", "download"),),
                folder=folder,
                files=(manifest, _at(folder, "go.sum")),
                environment=(("GOTOOLCHAIN", "local"), ("GOFLAGS", "-modcacherw")),
                program="go",
                detected=True,
            )
    for folder in _folders_with("Cargo.lock", paths):
        yield Install(
            name=f"cargo fetch in {folder}",
            commands=(("cargo", "fetch", "--locked"),),
            folder=folder,  # the whole tree: which targets there are is seen from its sources
            environment=(("CARGO_HOME", f"{KEPT}/home/.cargo"), ("CARGO_TERM_COLOR", "never")),
            program="cargo",
            detected=True,
        )


def _folders_with(name: str, paths: frozenset[str]) -> list[str]:
    found = (PurePosixPath(path) for path in paths if path.rpartition("/")[2] == name)
    return sorted(
        str(path.parent) for path in found if len(path.parts) <= _FOLDERS_DEEP_AT_MOST and not _is_other(str(path))
    )


def _is_other(path: str) -> bool:
    return not _ELSEWHERE.isdisjoint(PurePosixPath(path).parts)


def _below(path: str, folder: str) -> bool:
    return folder == "." or path.startswith(f"{folder}/")


def _at(folder: str, name: str) -> str:
    return name if folder == "." else f"{folder}/{name}"
