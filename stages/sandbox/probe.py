"""Which levels can be used here, why not the others, and what a person can do about it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stages.errors import Parked
from stages.sandbox.base import Sandbox
from stages.sandbox.bubblewrap import PROGRAMS, Bubblewrap
from stages.sandbox.command import Command, Level
from stages.sandbox.landlock import Landlock
from stages.sandbox.plain import Plain
from stages.sandbox.tree import remove
from stages.sandbox.way_out import look, way_out

_ANSWERS_WITHIN_SECONDS: Final = 10.0


@dataclass(frozen=True, kw_only=True)
class Probe:
    """What was found: the strongest level that works, why each stronger one does not, and what helps against that."""

    level: Level | None
    reasons: Mapping[Level, str]
    way_out: tuple[str, ...]

    @property
    def explanation(self) -> str:
        """Reasons and way out as one line; empty when the strongest level works."""
        return "; ".join([*self.reasons.values(), *(f"to help: {step}" for step in self.way_out)])


def probe(*, path: str = PROGRAMS) -> Probe:
    """Try the levels by running a command in each, strongest first, until one works.

    Takes one start of bubblewrap where that works. `path` is where the programs of bubblewrap are looked for.
    """
    reasons: dict[Level, str] = {}
    steps: tuple[str, ...] = ()
    for sandbox in (Bubblewrap(path=path), Landlock(), Plain()):
        reason = why_not(sandbox)
        if not reason:
            return Probe(level=sandbox.level, reasons=reasons, way_out=steps)
        reasons[sandbox.level] = reason
        steps = steps or way_out(reason, look())
    return Probe(level=None, reasons=reasons, way_out=steps)


def why_not(sandbox: Sandbox) -> str:
    """Why this sandbox cannot run a command here; empty when it can."""
    tree = Path(tempfile.mkdtemp(prefix="ticketsmith-probe-"))
    try:
        ran = sandbox.run(Command(arguments=("true",), tree=tree, timeout_seconds=_ANSWERS_WITHIN_SECONDS))
    except Parked as parked:
        return parked.reason
    finally:
        remove(tree)
    if ran.exit_status != 0:
        return f"the {sandbox.level.value} sandbox ended a command that does nothing: {ran.output.strip()}"
    return ""
