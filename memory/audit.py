"""The injection audit: which memory each prompt was given, and what was left out."""

from __future__ import annotations

from typing import Final

from sqlmodel import Session, col, select

from memory.slots import Scrub, slotted_run
from memory.tables import InjectedRow, InjectionRow
from memory.text import one_line
from memory.types import Injection, LeftOut, Record, RepositoryId, RunId, Scope
from memory.versions import of

_TEXT_AT_MOST: Final = 500


def audit(session: Session, injection: Injection, scrub: Scrub) -> None:
    """One row for a prompt, one for each candidate. Ids, scores and reasons are kept; the lines shown are not."""

    def short(text: str) -> str:
        return one_line(scrub(text))[:_TEXT_AT_MOST]

    row = InjectionRow(
        installation=injection.scope.installation,
        repository=injection.scope.repository,
        run=slotted_run(injection.run, scrub),
        entry_point=short(injection.entry_point),
        prompt_hash=short(injection.prompt_hash),
        version=injection.version,
        rule=short(injection.rule),
        looked_for=short(" ".join(injection.looked_for)),
        at=injection.at,
    )
    session.add(row)
    session.flush()
    assert row.id is not None
    candidates = [(True, record) for record in injection.shown] + [(False, out) for out in injection.left_out]
    session.add_all(
        InjectedRow(
            injection=row.id,
            position=position,
            record=short(candidate.id),
            shown=shown,
            why=short(candidate.why),
            score=candidate.score,
        )
        for position, (shown, candidate) in enumerate(candidates)
    )


def injections(session: Session, scope: Scope, run: RunId) -> tuple[Injection, ...]:
    """A run's prompts, in order. Their records have no lines."""
    of_run = select(InjectionRow).where(*of(InjectionRow, scope), col(InjectionRow.run) == run)
    rows = of_run.order_by(col(InjectionRow.id))
    return tuple(_injection(session, row) for row in session.exec(rows).all())


def _injection(session: Session, row: InjectionRow) -> Injection:
    candidates = session.exec(
        select(InjectedRow).where(col(InjectedRow.injection) == row.id).order_by(col(InjectedRow.position))
    ).all()
    return Injection(
        scope=Scope(installation=row.installation, repository=RepositoryId(row.repository)),
        run=RunId(row.run),
        entry_point=row.entry_point,
        prompt_hash=row.prompt_hash,
        version=row.version,
        rule=row.rule,
        shown=tuple(Record(id=one.record, lines=(), score=one.score, why=one.why) for one in candidates if one.shown),
        left_out=tuple(LeftOut(id=one.record, why=one.why, score=one.score) for one in candidates if not one.shown),
        looked_for=tuple(row.looked_for.split()),
        at=row.at,
    )
