"""Which sandbox a run gets: never a weaker one than somebody asked for by name."""

from __future__ import annotations

from typing import Final

from stages.errors import ParkCause, Parked, Refused
from stages.sandbox.base import Sandbox
from stages.sandbox.bubblewrap import PROGRAMS, Bubblewrap
from stages.sandbox.command import Bounds, Level
from stages.sandbox.landlock import Landlock
from stages.sandbox.plain import Plain
from stages.sandbox.probe import probe, why_not

AUTO: Final = "auto"
_BY_NAME: Final = (
    "with a repository that you trust, ask for a weaker level by name: landlock, or plain for no walls at all"
)


def choose(wanted: str, *, trusted: bool, bounds: Bounds | None = None, path: str = PROGRAMS) -> Sandbox:
    """The sandbox for a run: of the level `wanted`, or the strongest one here for `auto`.

    Below bubblewrap `auto` goes only for what is `trusted`: fixtures of our own, never a foreign repository. Raises
    Parked with the reason and the way out when there is no such sandbox, Refused for a word that names no level.
    """
    if wanted == AUTO:
        return _strongest(trusted, bounds, path)
    if wanted not in list(Level):
        raise Refused(reason=f"{wanted} is no sandbox; there are: auto, {', '.join(Level)}")
    sandbox = _make(Level(wanted), bounds, path)
    reason = why_not(sandbox)
    if reason:
        steps = probe(path=path).way_out if sandbox.level is Level.BUBBLEWRAP else ()
        raise Parked(cause=ParkCause.SANDBOX, reason=_told(reason, *steps))
    return sandbox


def _strongest(trusted: bool, bounds: Bounds | None, path: str) -> Sandbox:
    found = probe(path=path)
    if found.level is Level.BUBBLEWRAP or (trusted and found.level is not None):
        return _make(found.level, bounds, path)
    reasons = found.reasons.values() if found.level is None else [found.reasons[Level.BUBBLEWRAP]]
    raise Parked(cause=ParkCause.SANDBOX, reason=_told(*reasons, *found.way_out, _BY_NAME))


def _told(*parts: str) -> str:
    return "; ".join(part.rstrip(".") for part in parts)


def _make(level: Level, bounds: Bounds | None, path: str) -> Sandbox:
    match level:
        case Level.BUBBLEWRAP:
            return Bubblewrap(bounds, path=path)
        case Level.LANDLOCK:
            return Landlock(bounds)
        case Level.PLAIN:
            return Plain(bounds)
