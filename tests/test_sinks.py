"""Every place where text leaves the program is known, with the reason why no secret leaves there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tests.test_architecture import SOURCES, module_name

WRITES: Final = {"write_text", "write_bytes", "echo", "secho", "print", "msg", "writing"} | {
    *("Popen", "spawn", "posix_spawn", "execvp"),
    *("completion", "requestJson"),
}


def is_sink(call: ast.Call) -> bool:
    """True for a call that writes a file, a table, a screen or a log, starts a process, or sends something."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    owner = getattr(getattr(function, "value", None), "id", "") or getattr(getattr(function, "value", None), "attr", "")
    if name == "write":
        return owner in {"os", "file", "wfile", "stderr", "api"}
    return name in WRITES or (name, owner) in {("add", "session"), ("run", "subprocess")}


SCRUBBED: Final = {
    # Tables. All text goes through `Book.clean`, or memory's own scrubber, or is made by code.
    "bot.book", "bot.events", "bot.requeue", "bot.runs", "bot.steps", "bot.spending", "bot.course.steps",
    "bot.course.breakers", "bot.course.store", "bot.ci.trail", "bot.engine.leases", "bot.engine.taken", "bot.jobs",
    "bot.outbox.ledger",
    "memory.audit", "memory.calibration_table", "memory.publishing", "memory.recording", "memory.store",
    "memory.teaching", "memory.versions", "memory.database", "memory.recomputing",
    # Files for people.
    "bot.publishing", "bot.commands.calibrate", "bot.ci.bundle",
    # Screens and logs.
    "bot.cli", "bot.commands.backfill", "bot.commands.doctor", "bot.commands.memory", "bot.commands.runs",
    "bot.terminal", "bot.log",
    # What a model is told.
    "stages.agents.loop",
    # GitHub. The outbox checks what is sent; what it sends goes through here.
    "bot.outbox.sender", "bot.forge.pygithub",
}  # fmt: skip
RAW: Final = {
    # Made by code, with nothing in it that somebody else wrote.
    "bot.credentials": "the App's own credentials, in the one file that is for them",
    "memory.author_key": "the key that lessons are signed with, in the one file that is for it",
    "bot.app_creation": "the page that makes the App",
    "bot.serving": "starts workers of this program",
    "bot.ci.standing": "rows that were scrubbed when they were first written, brought into another database",
    "bot.demo.stage": "the bundled demo",
    "bot.markers.scene": "the probe's own scene",
    "bot.markers.ways": "the probe's own model",
    # Below the wall: foreign code, and a tree that is thrown away; nothing of ours is within their reach.
    "stages.bare": "git's own settings, made by code",
    "stages.clone": "work trees",
    "stages.diff": "work trees",
    "stages.git": "git's input, by lists of arguments that are looked at below",
    "stages.installed": "work trees",
    "stages.jail": "work trees",
    "stages.remote": "where git finds objects, as git told it",
    "stages.collector.pytest_run": "runs in the sandbox",
    "stages.collector.server": "runs in the sandbox",
    "stages.collector.services": "runs in the sandbox",
    "stages.sandbox.bubblewrap": "starts the sandbox",
    "stages.sandbox.door": "runs in the sandbox",
    "stages.sandbox.launched": "starts the sandbox",
    "stages.sandbox.launcher": "runs in the sandbox",
    "stages.sandbox.pump": "the sandbox's output",
    "stages.sandbox.spawn": "starts the sandbox",
    "stages.sandbox.wires": "starts the sandbox",
}


def sinks() -> Iterator[str]:
    for path in SOURCES:
        if "migrations" in path.parts:
            continue
        calls = (node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call))
        if any(map(is_sink, calls)):
            yield module_name(path)


def test_sec_17_every_module_that_writes_something_is_named_here() -> None:
    found = set(sinks())

    assert found - SCRUBBED - set(RAW) == set(), "a new place where text leaves: say here why no secret leaves there"
    assert (SCRUBBED | set(RAW)) - set(map(module_name, SOURCES)) == set(), "a place that is no more"
