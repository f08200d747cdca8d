"""The budget of a run: its limits, and what it spent before an interruption."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from bot.agents import OFFLINE_LIMITS
from bot.facts import EventRecord
from bot.run import Run
from stages.agents.limits import Budget, Ledger, Limits, Spent
from stages.journal import ModelAnswered
from stages.offline import MODEL as OFFLINE


def budget_of(
    run: Run,
    model: str,
    limits: Limits,
    events: Iterable[EventRecord],
    stopped: Callable[[], bool],
    ledger: Ledger | None = None,
) -> Budget:
    """What `run` may still spend; the embedded model costs time only, unless the operator set limits.

    `ledger` knows what may be spent beyond the run; None for nothing that is shared.
    """
    costs = [event.fact for event in events if isinstance(event.fact, ModelAnswered)]
    taken = ledger.of_run() if ledger else Spent()
    # The row knows of calls that failed, the events of those after the row was last written, and the ledger of one
    # that was not answered when the process was killed: it may have been paid for.
    spent = Spent(
        calls=max(run.spent.calls, len(costs), taken.calls),
        tokens=max(run.spent.tokens, sum(cost.tokens_in + cost.tokens_out for cost in costs), taken.tokens),
        money=max(run.spent.money, sum(cost.price for cost in costs), taken.money),
        minutes=max(run.spent.minutes, taken.minutes),
    )
    own = OFFLINE_LIMITS if model == OFFLINE and limits == Limits() else limits
    return Budget(own, clock=time.monotonic, spent=spent, stopped=stopped, ledger=ledger)
