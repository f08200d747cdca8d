"""Whether notes and rules are what they were when they were read last, without reading them again.

A repository says in what state they are (the ids that git has for them); memory remembers which state its newest notes
were made from. The row is a cache: without it, or when it does not fit, everything is read and compared.
"""

from __future__ import annotations

from sqlmodel import Session

from memory.prepared import PREPARED_FORMAT, digest_of
from memory.scrub import Scrubber
from memory.tables import SourceStateRow
from memory.types import MemoryVersion, Scope
from memory.versions import current, tuning


def unchanged(session: Session, scope: Scope, state: str, scrubber: Scrubber) -> MemoryVersion | None:
    """The newest version, when its notes and rules were made from just this state and no new secret is known since."""
    row = session.get(SourceStateRow, (scope.installation, scope.repository))
    if row is None or not state or row.state != _named(state, scrubber):
        return None
    newest = current(session, scope)
    return newest if (row.notes, row.tuning) == _held(session, newest) else None


def remember(session: Session, version: MemoryVersion, state: str, scrubber: Scrubber) -> None:
    """Keep what the newest notes and rules were made from."""
    notes, rules = _held(session, version)
    row = SourceStateRow(
        installation=version.scope.installation,
        repository=version.scope.repository,
        state=_named(state, scrubber),
        notes=notes,
        tuning=rules,
    )
    session.merge(row)


def _named(state: str, scrubber: Scrubber) -> str:
    return f"{digest_of([PREPARED_FORMAT, state])} {scrubber.mark}"


def _held(session: Session, version: MemoryVersion) -> tuple[str, str]:
    return version.digest, digest_of(tuning(session, version))
