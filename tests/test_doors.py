"""Programs start, sockets open and archives are read in known places only (requirements B42, B55, B64)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.test_architecture import SOURCES, imports, module_name

# What starts programs: the sandbox, what runs inside it, and the processes of the service itself.
STARTS_PROGRAMS = {
    "stages.sandbox.spawn",
    "stages.sandbox.launcher",
    "stages.sandbox.door",
    "stages.collector.server",
    "stages.collector.services",
    "bot.serving",
}
OPENS_SOCKETS = {
    *("stages.sandbox.spawn", "stages.sandbox.door", "stages.sandbox.tunnel", "stages.sandbox.outlet"),
    *("stages.sandbox.proxy_request", "stages.sandbox.wires", "stages.sandbox.hello", "stages.collector.services"),
    *("stages.sandbox.warm", "stages.collector.server"),
    *("bot.engine.leases", "bot.serving"),
}
_CALLS = {"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp"}
_KINDS = ("exec", "spawn")


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(path.read_text("utf-8"))))


@cache
def named(path: Path) -> tuple[str, ...]:
    return tuple(imports(path))


def starters(path: Path) -> Iterator[str]:
    """What a file starts programs with."""
    yield from ({"subprocess", "multiprocessing", "pty", "asyncio.subprocess"} & set(named(path)))
    for node in nodes(path):
        match node:
            case ast.Attribute(value=ast.Name(id="os"), attr=name) if name in _CALLS or name.startswith(_KINDS):
                yield f"os.{name}"


def users(modules: set[str]) -> set[str]:
    """Files of ours that import one of these."""
    return {
        module_name(path)
        for path in SOURCES
        if any(name == module or name.startswith(f"{module}.") for name in named(path) for module in modules)
    }


def test_no_program_is_started_but_by_the_sandbox_the_git_wrapper_and_the_service() -> None:
    found = {module_name(path) for path in SOURCES if any(starters(path))}

    assert found == STARTS_PROGRAMS


def calls_git(node: ast.AST) -> bool:
    """True for a list of arguments that begins with git, which would go past the wrapper's settings."""
    words = node.elts if isinstance(node, ast.List | ast.Tuple) else []
    return len(words) > 1 and isinstance(words[0], ast.Constant) and words[0].value == "git"


def test_only_the_wrapper_runs_git() -> None:
    raw = {module_name(path) for path in SOURCES if any(map(calls_git, nodes(path)))}

    assert raw == set()
    assert any(map(calls_git, ast.walk(ast.parse("run(['git', 'push'])")))), "the control"
    assert users({"git"}) == {"stages.git"}


def test_b64_nothing_fetches_what_a_text_names() -> None:
    clients = {"urllib.request", "http.client", "requests", "httpx", "aiohttp", "urllib3", "ftplib", "smtplib"}

    # GitHub's own addresses only; what PyGithub raises is told apart by what it is built on.
    assert {name for name in users(clients) if not name.startswith("bot.forge.")} == set()
    assert users({"socket"}) <= OPENS_SOCKETS


@pytest.mark.parametrize("archive", ["zipfile", "tarfile", "gzip", "bz2", "lzma", "zlib", "shutil.unpack_archive"])
def test_b55_no_archive_is_unpacked(archive: str) -> None:
    assert users({archive}) == set()
    calls = [path for path in SOURCES if "unpack_archive" in path.read_text("utf-8")]
    assert calls == []


def test_b42_no_text_meets_a_shell_a_template_or_an_evaluation() -> None:
    evaluates = {"eval", "exec", "compile"}
    found = {
        (module_name(path), node.func.id)
        for path in SOURCES
        for node in nodes(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in evaluates
    }
    shells = {
        module_name(path)
        for path in SOURCES
        for node in nodes(path)
        if isinstance(node, ast.keyword) and node.arg == "shell"
    }

    assert found == set()
    assert shells == set()
