"""The entry points that need no search: triage, review, verify, summarise."""

from __future__ import annotations

from stages.agents.embedded import Call, call
from stages.offline.account import frames
from stages.offline.body import Body
from stages.offline.steps import Steps

_ELSEWHERE = ("site-packages", "dist-packages", "node_modules", "/lib/python")


def triage(body: Body) -> Steps[None]:
    """Ours, unless every frame of the ticket's traceback lies in installed packages."""
    places = [path for path, _ in frames(body.ticket)]
    if places and all(any(folder in path for folder in _ELSEWHERE) for path in places):
        reason = f"Each of the {len(places)} frames in the ticket lies in an installed package."
        yield from always(call("finish", ownership="not-here", reason=reason))
    yield from always(call("finish", ownership="ours", reason="Nothing in the ticket says that it belongs elsewhere."))


def review() -> Steps[None]:
    """No findings: what this model knows of a patch, the gate has checked."""
    yield from always(call("finish", findings=[]))


def verify(body: Body) -> Steps[None]:
    """The check that showed the failure."""
    yield from always(call("finish", check=body.test or body.check))


def summarise(body: Body) -> Steps[None]:
    """The facts of the body, one a line, in its own words."""
    said = [line for name, field in body.fields.items() for line in _fact(name, field.value, field.quoted)]
    yield from always(call("finish", text="\n".join(said)[:_CHARACTERS_AT_MOST] or "Nothing is known of this run."))


_CHARACTERS_AT_MOST = 2_000
_LINES_OF_A_FACT = 4


def _fact(name: str, value: str, quoted: tuple[str, ...]) -> list[str]:
    shown = [line.strip() for line in quoted if line.strip()][:_LINES_OF_A_FACT]
    if value:
        return [f"{name}: {value}", *shown]
    return [f"{name}: {' '.join(shown)}"] if shown else []


def lost() -> Steps[None]:
    """The conversation has turns that this model did not ask for: it hands in nothing."""
    yield from always(call("finish", summary="Given up: the conversation is not the one that was begun."))


def always(asked: Call) -> Steps[None]:
    """The same answer, as often as it is asked for."""
    while True:
        yield (asked,)
