"""Imports go one way, each library has one door, and importing does nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MAY_IMPORT = {"memory": {"memory"}, "stages": {"stages", "memory"}, "bot": {"bot", "stages", "memory"}}
SOURCES = sorted(
    path for folder in MAY_IMPORT for path in (ROOT / folder).rglob("*.py") if "repository" not in path.parts
)
ONE_DOOR = {
    "git": 1,
    "litellm": 3,  # the loop, models of this process, and a type for the embedded one
    "github": 1,
    "dbos": 1,
    "jwt": 1,
    "markdown_it": 1,
    "detect_secrets": 1,
    "alembic": 1,  # beside the migrations themselves
}
JUDGES = (
    "stages.gate",
    "stages.verdict",
    "stages.policy",
    "stages.admission",
    "stages.evaluation",
    "bot.decisions",
    "bot.publishing",
    "bot.outbox.words",
    "bot.course.mode",
    "bot.course.placing",
    "bot.intake.issues",
)
# What these are given holds the whole program: they may name nothing of memory, and read nothing of it.
OF_PERMISSION = ("bot.course.admission", "bot.course.may")
# They keep their own ledger in the database that memory is in.
KEEPERS = ("bot.outbox.outbox", "bot.spending")
MEMORYS_OWN = {"memory", "recall", "lessons", "lesson", "notes", "context"}
WHAT_JUDGES_MAY_SEE = {"memory", "memory.errors", "memory.types", "memory.scope", "memory.ending", "memory.text"}
# With what `memory.scrub` is made of.
WHAT_JUDGES_MAY_SEE |= {"memory.scrub", "memory.leak", "memory.escapes"}
WHAT_JUDGES_MAY_SEE |= {f"memory.secret_{part}" for part in ("shapes", "values", "hiding")}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports(path: Path) -> frozenset[str]:
    """Every module that a file names, wherever in the file."""
    found = set[str]()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} uses a relative import"
            found |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def reached(module: str, graph: dict[str, set[str]]) -> set[str]:
    """All modules of ours that importing `module` brings in."""
    seen, todo = set[str](), [module]
    while todo:
        name = todo.pop()
        if name in graph and name not in seen:
            seen.add(name)
            todo.extend(graph[name])
            todo.extend(name.rsplit(".", depth)[0] for depth in range(1, name.count(".") + 1))
    return seen


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_imports_go_from_bot_to_stages_to_memory(path: Path) -> None:
    allowed = MAY_IMPORT[module_name(path).split(".")[0]]

    ours = {name.split(".")[0] for name in imports(path)} & {"bot", "stages", "memory", "tests"}

    assert ours <= allowed


@pytest.mark.parametrize(("library", "doors"), ONE_DOOR.items())
def test_a_library_has_one_door(library: str, doors: int) -> None:
    users = {
        module_name(path)
        for path in SOURCES
        if "migrations" not in path.parts and library in {name.split(".")[0] for name in imports(path)}
    }

    assert len(users) <= doors, users


def calls_of(method: str, owner: str) -> list[str]:
    """Modules of ours that call `….owner.method(…)`, or `….owner(…)` where `method` is empty."""
    found = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                named = [node.func.attr]
                if isinstance(node.func.value, ast.Attribute | ast.Name):
                    value = node.func.value
                    named.insert(0, value.attr if isinstance(value, ast.Attribute) else value.id)
                if named[-1] == method and (not owner or named[0] == owner):
                    found.append(module_name(path))
    return found


def test_recall_is_called_in_one_place_and_so_is_record() -> None:
    assert calls_of("recall", "self") == ["bot.stores"]
    # The probe writes its known memory itself: no run has told it.
    assert calls_of("record", "memory") == ["bot.closing", "bot.markers.scene"]


@pytest.mark.parametrize("judge", JUDGES)
def test_memory_informs_and_never_decides(judge: str) -> None:
    graph = {module_name(path): set(imports(path)) for path in SOURCES}

    of_memory = {name for name in reached(judge, graph) if name.split(".")[0] == "memory"}

    assert reached(judge, graph), f"{judge} is gone: name the judges anew"
    assert {name for name in of_memory if not name.startswith("memory.signature")} <= WHAT_JUDGES_MAY_SEE


@pytest.mark.parametrize("keeper", KEEPERS)
def test_what_writes_to_github_and_what_counts_money_reads_no_lesson(keeper: str) -> None:
    graph = {module_name(path): set(imports(path)) for path in SOURCES}

    of_memory = {name for name in reached(keeper, graph) if name.split(".")[0] == "memory"}

    assert {name for name in of_memory if not name.startswith("memory.signature")} <= {
        *WHAT_JUDGES_MAY_SEE,
        "memory.database",
        "memory.tables",
    }


@pytest.mark.parametrize("guard", OF_PERMISSION)
def test_who_may_what_is_decided_without_memory(guard: str) -> None:
    (path,) = (path for path in SOURCES if module_name(path) == guard)
    tree = ast.parse(path.read_text("utf-8"))

    named = {name for name in imports(path) if name.split(".")[0] == "memory"}
    read = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}

    assert {name for name in named if name.split(".")[:2] != ["memory", "types"]} == set()
    assert read & MEMORYS_OWN == set()


def test_importing_everything_writes_nothing_and_brings_no_litellm(tmp_path: Path) -> None:
    names = [module_name(path) for path in SOURCES if "migrations" not in path.parts and "collector" not in path.parts]
    code = f"import sys, importlib\nfor n in {names!r}: importlib.import_module(n)\nassert 'litellm' not in sys.modules"

    done = subprocess.run(
        [sys.executable, "-B", "-c", code],
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []
