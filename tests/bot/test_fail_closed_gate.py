"""A gate that raises, says nothing or hangs publishes nothing, and neither does a sandbox (requirements S 5.9)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.bench import Bench
from bot.run import RunState
from stages.errors import ParkCause, Parked, Stopped
from stages.gate import Attempt, Gate, GateReport
from tests.bot.kit import Script, ScriptedApp, bed
from tests.bot.laid import published


class Broken(Exception):
    """A fault that nobody foresaw."""


class FaultyGate(Gate):
    """A gate that does what its kind says; `release` ends a hang."""

    def __init__(self, kind: str) -> None:
        self.kind, self.release, self.asked = kind, threading.Event(), threading.Event()

    def judge(self, attempt: Attempt, *, stopped: Callable[[], bool] = lambda: False) -> GateReport:
        self.asked.set()
        if self.kind == "raises":
            raise Broken
        if self.kind == "hangs":
            self.release.wait(60)
            raise Stopped
        return None  # type: ignore[return-value]


@pytest.mark.parametrize("kind", ["raises", "says nothing", "hangs"])
def test_sec_5_9_nothing_is_published_when_the_gate_fails(kind: str, tmp_path: Path) -> None:
    gate, ground, ended = FaultyGate(kind), bed(tmp_path), list[BaseException]()

    class Faulty(ScriptedApp):
        def _bench(self, *args: Any) -> Bench:
            return replace(super()._bench(*args), gate=gate)

    def work() -> None:
        try:
            ground.fix(ground.app(Script.of(), kind=Faulty))
        except (Broken, TypeError, AttributeError) as error:
            ended.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert gate.asked.wait(60)
    thread.join(0.5 if kind == "hangs" else 60)
    branches = ground.git("for-each-ref", "--format=%(refname:short)", "refs/heads")
    gate.release.set()
    thread.join(60)

    assert branches == "main"
    assert ground.git("for-each-ref", "--format=%(refname:short)", "refs/heads") == "main"
    assert bool(ended) is (kind != "hangs")
    (run,) = ground.app().stores.runs.list()
    assert run.state is not RunState.PUBLISHED


def test_a_gate_that_works_publishes(tmp_path: Path) -> None:
    ground, run = published(tmp_path)

    assert run.branch in ground.git("for-each-ref", "--format=%(refname:short)", "refs/heads"), "the control"


def test_sec_5_9_no_model_is_asked_when_there_is_no_sandbox(tmp_path: Path) -> None:
    ground, script = bed(tmp_path), Script.of()

    class Without(ScriptedApp):
        def _sandbox(self, *_: object) -> Any:
            raise Parked(cause=ParkCause.SANDBOX, reason="no sandbox works here")

    run = ground.fix(ground.app(script, kind=Without))

    assert (run.state, run.park_cause) == (RunState.PARKED, ParkCause.SANDBOX)
    assert script.asked == []
