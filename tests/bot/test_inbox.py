"""What writes deliveries: all of a group or those that can be written, and never more than can wait."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bot.inbox import WAITING_AT_MOST, Inbox, NotKept
from bot.job import Added, Decision
from bot.log import Log
from tests.bot.served import impatient
from tests.bot.test_jobs import arrival, asks, start


def test_a_group_is_kept_in_order_and_what_is_left_when_it_closes_too(tmp_path: Path) -> None:
    jobs = impatient(tmp_path)

    async def act() -> list[Added]:
        async with Inbox(jobs, Log(stream=io.StringIO())) as inbox:
            kept = [inbox.put(arrival(), asks(start(number))) for number in (3, 1, 2)]
        return [one.result() for one in kept]

    assert asyncio.run(act()) == [Added.STORED] * 3
    assert [job.number for job in jobs.waiting()] == [3, 1, 2]


def test_one_that_no_table_holds_keeps_no_other_from_being_kept(tmp_path: Path) -> None:
    jobs, lines = impatient(tmp_path), io.StringIO()
    broken = asks(replace(start(), number=2**70))

    async def act() -> Sequence[object]:
        async with Inbox(jobs, Log(stream=lines)) as inbox:
            kept = [inbox.put(arrival(), one) for one in (asks(start(1)), broken, asks(start(2)))]
            found = await asyncio.gather(*kept, return_exceptions=True)
            assert inbox.alive
            return found

    first, second, third = asyncio.run(act())
    assert (first, third) == (Added.STORED, Added.STORED)
    assert isinstance(second, NotKept)
    assert [job.number for job in jobs.waiting()] == [1, 2]
    assert "deliveries not kept" in lines.getvalue()


def test_one_whose_sender_was_sent_away_is_not_kept(tmp_path: Path) -> None:
    jobs = impatient(tmp_path)

    async def act() -> None:
        async with Inbox(jobs, Log(stream=io.StringIO())) as inbox:
            inbox.put(arrival(), asks(start(1))).cancel()
            await inbox.put(arrival(), asks(start(2)))

    asyncio.run(act())
    assert [job.number for job in jobs.waiting()] == [2]


def test_more_than_can_wait_are_sent_away(tmp_path: Path) -> None:
    async def act() -> None:
        inbox = Inbox(impatient(tmp_path), Log(stream=io.StringIO()))
        for _ in range(WAITING_AT_MOST):
            inbox.put(arrival("g"), Decision(reason="ignored"))
        with pytest.raises(NotKept):
            inbox.put(arrival(), Decision(reason="ignored"))

    asyncio.run(act())
