"""The demo is `fix` on a bundled repository: any other small defect can take its place."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.app import App, Choices
from bot.commands.demo import Demo
from bot.config import Settings
from bot.demo import stage
from bot.run import RunState
from stages import offline
from stages.agents.limits import Limits
from tests.bot.kit import told

DEMO = Path(stage.__file__).parent
BUNDLED = ("till/lines.py", "self.quantity > BULK_FROM", "self.quantity >= BULK_FROM")


@dataclass(frozen=True)
class Defect:
    """What stands in a file in place of what would be right, and what the nightly job says of it."""

    path: str
    right: str
    wrong: str
    test: str
    says: str


DEFECTS = {
    "swapped arguments": Defect(
        "till/lines.py",
        "int(quantity), int(price))",
        "int(price), int(quantity))",
        "tests/test_lines.py::test_a_line_is_read_from_text",
        "AssertionError: assert Line(article='tea pot', quantity=1999, price=3) == Line('tea pot', 3, 1999)",
    ),
    "a wrong constant": Defect(
        "till/orders.py",
        "VOUCHER = 1000",
        "VOUCHER = 999",
        "tests/test_orders.py::test_a_voucher_counts_above_a_hundred_euros",
        "AssertionError: assert 11001 == 11000",
    ),
}


def demo_with(defect: Defect, folder: Path) -> Path:
    """A copy of the bundled demo whose own defect is mended and which has this one."""
    shutil.copytree(DEMO / "repository", folder / "repository", ignore=shutil.ignore_patterns("__pycache__"))
    for path, old, new in (BUNDLED, (defect.path, defect.right, defect.wrong)):
        file = folder / "repository" / path
        text = file.read_text()
        assert text.count(old) == 1
        file.write_text(text.replace(old, new))
    (folder / "tickets").mkdir()
    line = f"FAILED {defect.test} - {defect.says}"
    for name, author, title in (("first.md", "mira", "The nightly run is red"), ("second.md", "jonas", "1.x is red")):
        (folder / "tickets" / name).write_text(f"---\nauthor: {author}\n---\n# {title}\n\n```\n{line}\n```\n")
    return folder


@pytest.mark.parametrize("defect", DEFECTS.values(), ids=DEFECTS)
def test_another_small_defect_can_take_the_place_of_the_bundled_one(
    defect: Defect, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    settings = Settings(home=home, database=home / "t.sqlite", model=offline.MODEL, limits=Limits())
    app = App(settings, Choices(model=offline.MODEL, trusted=True))

    status = Demo(app).show(demo_with(defect, tmp_path / "demo"))

    second, first = app.stores.runs.list()
    shown = capsys.readouterr().out
    assert status == 0, shown
    assert (first.state, first.outcome, told(app, first)[-1]) == (
        RunState.ENDED,
        "verify: worked",
        "final verify: worked",
    )
    assert second.state is RunState.PUBLISHED
    assert defect.right in second.patch
    assert re.search(r"\[ticketsmith:lessons\] [1-9]", shown)
    assert "same signature" in shown
