"""A test that never ends is waited for once; after that the base is known to hang there."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.run import RunState
from memory.types import CheckId
from stages.checks import Checks, Wish
from stages.report import Check, CheckReport
from tests.bot.kit import DIAGNOSED, Script, bed, writes

SETTINGS = """\
[checks.tests]
pytest = ["-q"]
timeout_seconds = 15
"""
TESTS = """\
import time
from pathlib import Path

def test_price():
    while Path("price.txt").read_text() != "3\\n":
        time.sleep(0.02)

def test_other():
    pass
"""
HANGS = CheckId("test_price.py::test_price")


def test_what_hung_at_the_base_has_less_time_there_and_all_of_it_at_the_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[tuple[CheckId, ...], float | None, bool]] = []
    run = Checks.run

    def watched(self: Checks, check: Check, tree: Path, wish: Wish | None = None, **more: object) -> CheckReport:
        report = run(self, check, tree, wish, **more)  # type: ignore[arg-type]
        if wish and not wish.coverage:
            asked.append((tuple(wish.tests), wish.test_seconds, report.passed))
        return report

    monkeypatch.setattr(Checks, "run", watched)
    shop = bed(tmp_path, {".github/ticketsmith.toml": SETTINGS, "test_price.py": TESTS})
    script = Script.of(diagnose={**DIAGNOSED, "reproduction": HANGS}, develop=writes())

    ended = shop.fix(shop.app(script))

    assert ended.state is RunState.PUBLISHED
    assert asked == [
        ((), None, False),  # the base: a fifth of what the check may take
        ((HANGS,), 2.0, False),  # the diagnosis
        ((HANGS,), 2.0, False),  # the reproduction
        ((HANGS,), 3.0, True),  # the gate
        ((), 3.0, True),
    ]
