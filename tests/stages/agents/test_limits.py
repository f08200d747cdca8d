"""The budget of a run."""

from __future__ import annotations

from typing import Any

import pytest

from stages.agents.limits import Budget, Limits, Spent
from stages.errors import LimitReached, Stopped
from tests.fakes import Clock, budget


@pytest.mark.parametrize(
    ("limits", "expected", "name"),
    [
        ({"calls": 0}, {}, "calls"),
        ({"tokens": 99}, {"tokens": 100}, "tokens"),
        ({"money": 0.99}, {"money": 1.0}, "money"),
    ],
)
def test_a_call_that_would_pass_a_limit_is_refused_before_it_is_made(
    limits: dict[str, Any], expected: dict[str, Any], name: str
) -> None:
    run = budget(**limits)

    with pytest.raises(LimitReached, match=name):
        run.before_call(**expected)

    assert run.spent.calls == 0


def test_r17_minutes_run_by_the_clock_and_count_from_before_an_interruption() -> None:
    clock = Clock()
    run = Budget(Limits(minutes=2), clock=clock, spent=Spent(minutes=1, calls=3, tokens=7, money=0.5))

    clock.sleep(30)

    assert run.seconds_left == 30
    assert run.spent == Spent(minutes=1.5, calls=3, tokens=7, money=0.5)
    clock.sleep(31)
    with pytest.raises(LimitReached, match="minutes"):
        run.before_call()


def test_every_call_counts_and_so_does_its_cost() -> None:
    run = budget(calls=2, tokens=100, money=1.0)

    for _ in range(2):
        run.before_call()
        run.after_call(tokens=60, money=0.6)

    assert (run.spent.calls, run.spent.tokens, run.spent.money) == (2, 120, 1.2)
    assert (run.left.calls, run.left.tokens, run.left.money) == (0, 0, 0.0)
    with pytest.raises(LimitReached, match="used up its calls: 3 of 2"):
        run.before_call()


def test_a_stopped_run_makes_no_further_call() -> None:
    run = budget(stopped=lambda: True)

    with pytest.raises(Stopped):
        run.before_call()

    assert run.stopped
    assert run.spent.calls == 0
