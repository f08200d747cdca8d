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
    """How it stands, what was changed, and what was seen, each a line, in the words of the body."""
    said = [f"{body.get('Ended').value}."] if body.get("Ended").value else []
    said += _changes(body.get("Patch").quoted)
    said += [line.strip() for line in body.get("Evidence").quoted[:_LINES_AT_MOST] if line.strip()]
    yield from always(call("finish", text="\n".join(said)[:_CHARACTERS_AT_MOST] or "Nothing is known of this run."))


_CHARACTERS_AT_MOST = 2_000
_LINES_AT_MOST = 12


def _changes(diff: tuple[str, ...]) -> list[str]:
    """The lines of a diff that differ, below the names of their files."""
    said: list[str] = []
    for line in diff:
        if line.startswith("+++ "):
            said.append(f"Changed {line.removeprefix('+++ ').removeprefix('b/')}:")
        elif line[:1] in ("+", "-") and not line.startswith("--- "):
            said.append(line)
    return said[:_LINES_AT_MOST]


def lost() -> Steps[None]:
    """The conversation has turns that this model did not ask for: it hands in nothing."""
    yield from always(call("finish", summary="Given up: the conversation is not the one that was begun."))


def always(asked: Call) -> Steps[None]:
    """The same answer, as often as it is asked for."""
    while True:
        yield (asked,)
