"""What a run of a ticket would read of memory, without starting one."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from bot.alert import asking_of, view_of
from bot.app import App
from bot.failures import renew_keys
from bot.sources import default_commit, fresh, read_config
from bot.why import flaws_told
from memory.calibration import Calibration
from memory.signature import Explanation, explain
from memory.types import ErrorSignature, MemoryContext
from memory.upkeep import Due
from stages.case import Case
from stages.prompt import EntryPoint
from stages.repository import Repository
from stages.ticket import Ticket


@dataclass(frozen=True, kw_only=True)
class Foresight:
    """What was found in a ticket, and what recall chose for it."""

    explanation: Explanation
    context: MemoryContext
    calibration: Calibration | None
    due: Due | None
    unread: tuple[str, ...] = ()  # notes whose front matter cannot be understood, a line each

    @property
    def signatures(self) -> tuple[ErrorSignature, ...]:
        """What was found in the ticket, best first."""
        return tuple(one.signature for one in self.explanation.found)

    @property
    def measured(self) -> str:
        """What the threshold of `calibrated` rests on here, and whether it is time to measure again."""
        told = f"calibration of {self.calibration.at:%Y-%m-%d}: {self.calibration.told()}" if self.calibration else ""
        again = f"calibration is due: {self.due} (ticketsmith memory calibrate)" if self.due else ""
        return "; ".join(filter(None, (told, again))) or "no calibration: too few notes"

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "cleaned": list(self.explanation.cleaned),
            "signatures": [
                {
                    **asdict(one.signature),
                    "lines": one.lines,
                    "chain": one.chain,
                    "seen": [asdict(s) for s in one.frames],
                }
                for one in self.explanation.found
            ],
            "context": {key: value for key, value in asdict(self.context).items() if key != "seal"},
            "calibration": asdict(self.calibration) | {"at": self.calibration.at.isoformat()}
            if self.calibration
            else None,
            "notes_not_read": list(self.unread),
            "calibration_due": self.due.value if self.due else None,
        }


def foresee(app: App, ticket: Ticket, repository: Repository, entry_point: EntryPoint) -> Foresight:
    """Ask memory as a run would that began now; notes that changed are published first, as a run would."""
    commit = default_commit(repository)
    config = read_config(repository, commit)
    now, scope = app.book.now(), app.scope(repository)
    renew_keys(app.stores, scope, repository, commit)
    version = fresh(app.stores.memory, scope, repository, commit, config, now)
    explanation = explain(ticket.title, ticket.text, view_of(repository.files(commit)))
    found = tuple(one.signature for one in explanation.found)
    asking = asking_of(scope, now, found, config.environment, config.memory.rule)
    query = Case(ticket=ticket, asking=asking).query(entry_point)
    return Foresight(
        explanation=explanation,
        context=app.stores.context(query, version),
        calibration=app.stores.memory.calibration(version),
        due=app.stores.upkeep.due(version),
        unread=tuple(flaws_told(app.stores.memory.unread(version))),
    )
