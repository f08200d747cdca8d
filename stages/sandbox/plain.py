"""No walls: a cleaned environment, limits, and another user where we are root. For fixtures of our own only."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from stages.sandbox.command import Command, Level
from stages.sandbox.launched import Launched


class Plain(Launched):
    """Commands as ordinary processes, that are killed with all that they started."""

    level: ClassVar[Level] = Level.PLAIN

    def _walls(self, command: Command, home: Path) -> Mapping[str, object]:  # noqa: ARG002
        return {"landlock": None, "filter": ""}
