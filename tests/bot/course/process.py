"""`ticketsmith work` in a process of its own, with a model that says the same each time."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bot.app import App, Choices
from bot.app_settings import AppSettings
from bot.config import Settings
from bot.engine.durable import Pace
from bot.engine.worker import Rhythm
from bot.working import Working, leave
from tests.bot.clock import Clock
from tests.bot.kit import Script, ScriptedApp, writes

if TYPE_CHECKING:  # a worker needs no GitHub, which takes long to import
    from tests.bot.course.town import Town

_ROOT: Final = Path(__file__).parents[3]
_REAL_SECONDS: Final = 2.0


def start(town: Town) -> subprocess.Popen[bytes]:
    """A worker over the town's tables; its log goes into `worker.log` in the town's folder."""
    with (town.folder / "worker.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.bot.course.process", town.github.url, str(town.key), str(town.home)],
            cwd=_ROOT,
            stderr=log,
        )


def log_of(town: Town) -> str:
    return (town.folder / "worker.log").read_text()


def _made(settings: Settings, choices: Choices, **more: Any) -> App:
    return ScriptedApp(settings, choices, Script.of(refix=writes(text="3\n\n")), **more)


def main(url: str, key: str, home: str) -> None:
    """What the command does, but for the model and for the pauses between writes."""
    clock = Clock()

    def sleep(seconds: float) -> None:
        """Pauses between writes are left out; what waits for GitHub waits."""
        clock.sleep(seconds)
        if seconds >= _REAL_SECONDS:
            time.sleep(seconds)

    app = AppSettings(id=4242, key=Path(key), base_url=url)
    settings = Settings(home=Path(home), database=Path(home) / "ticketsmith.sqlite", app=app)
    working = Working(
        settings,
        Choices(trusted=True, sandbox="plain"),
        app=_made,
        pace=Pace(runs=2, poll_seconds=0.3),
        rhythm=Rhythm(beat_seconds=0.5, look_seconds=0.3, leave_seconds=20.0),
        clock=clock,
        sleep=sleep,
    )
    leave(idle=working.run())


if __name__ == "__main__":
    main(*sys.argv[1:])
