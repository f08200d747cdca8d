"""The run's budget: what may be spent, what was spent, and the one check before each call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from stages.errors import LedgerSilent, LimitReached, Stopped


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one run may spend. `money` in US dollars."""

    calls: int = 200
    tokens: int = 2_000_000
    money: float = 5.0
    minutes: float = 60.0


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What was spent. `money` in US dollars."""

    calls: int = 0
    tokens: int = 0
    money: float = 0.0
    minutes: float = 0.0


class Ledger(Protocol):
    """Where what all runs together spend is written down: before a call what it may cost at most, after it the truth.

    `money` in US dollars; `minutes` are those that passed since the last call of either.
    """

    def reserve(self, *, tokens: int, money: float, minutes: float) -> bool:
        """True when a call may pass; what stands in its way is raised."""

    def settle(self, *, tokens: int, money: float, minutes: float) -> None:
        """Say what the call cost."""

    def of_run(self) -> Spent:
        """What this run spent until now, with what was taken for calls of which nobody knows how they ended."""


class NoLedger:
    """For what costs nothing."""

    def reserve(self, *, tokens: int, money: float, minutes: float) -> bool:  # noqa: ARG002 - as a Ledger has it
        """Nothing is written down."""
        return True

    def settle(self, *, tokens: int, money: float, minutes: float) -> None:
        """Nothing is written down."""

    def of_run(self) -> Spent:
        """Nothing was written down."""
        return Spent()


class Budget:
    """Limits and what was spent of them, over all calls of a run, retries included.

    `clock` gives seconds from any fixed point; `stopped` tells whether a person stopped the run; `ledger` knows of
    what may be spent beyond this run.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        clock: Callable[[], float],
        spent: Spent | None = None,
        stopped: Callable[[], bool] = lambda: False,
        ledger: Ledger | None = None,
    ) -> None:
        self.limits = limits
        self._before = spent or Spent()
        self._calls, self._tokens, self._money = self._before.calls, self._before.tokens, self._before.money
        self._clock, self._start, self._stopped = clock, clock(), stopped
        self._ledger, self._told = ledger or NoLedger(), self._start

    @property
    def spent(self) -> Spent:
        minutes = self._before.minutes + (self._clock() - self._start) / 60
        return Spent(calls=self._calls, tokens=self._tokens, money=self._money, minutes=minutes)

    @property
    def stopped(self) -> bool:
        """True when a person stopped the run."""
        return self._stopped()

    @property
    def left(self) -> Spent:
        """What may still be spent."""
        spent = self.spent
        return Spent(
            calls=max(0, self.limits.calls - spent.calls),
            tokens=max(0, self.limits.tokens - spent.tokens),
            money=max(0.0, self.limits.money - spent.money),
            minutes=max(0.0, self.limits.minutes - spent.minutes),
        )

    def before_call(self, *, tokens: int = 0, money: float = 0.0) -> None:
        """Let one more call pass, that is expected to cost at least this much.

        Raises LimitReached when a limit would be passed, Stopped when a person stopped the run, and what the ledger
        raises: without its word no call is made.
        """
        if self._stopped():
            raise Stopped
        spent = self.spent
        for limit, allowed, would_be in (
            ("calls", self.limits.calls, spent.calls + 1),
            ("tokens", self.limits.tokens, spent.tokens + tokens),
            ("money", self.limits.money, spent.money + money),
            ("minutes", self.limits.minutes, spent.minutes),
        ):
            if would_be > allowed:
                raise LimitReached(limit=limit, spent=round(would_be, 4), allowed=allowed)
        if self._ledger.reserve(tokens=tokens, money=money, minutes=self._passed()) is not True:
            raise LedgerSilent
        self._calls += 1

    def after_call(self, *, tokens: int, money: float) -> None:
        """Count what a call cost; an answer that cannot be read counts too."""
        self._tokens += tokens
        self._money += money
        self._ledger.settle(tokens=tokens, money=money, minutes=self._passed())

    def _passed(self) -> float:
        """Minutes since the ledger was last told."""
        before, self._told = self._told, self._clock()
        return (self._told - before) / 60

    @property
    def seconds_left(self) -> float:
        """Seconds until the limit of minutes."""
        return max(0.0, (self.limits.minutes - self.spent.minutes) * 60)
