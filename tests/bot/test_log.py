"""The log: one JSON object a line, whatever is put into it."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

import pytest

from bot.log import VALUE_AT_MOST, Log
from memory.scrub import Scrubber
from tests.bot.small_disk import NoRoom

AT: Final = datetime(2026, 11, 3, 9, 30, tzinfo=UTC)


@pytest.fixture
def stream() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def log(stream: io.StringIO) -> Log:
    return Log(Scrubber(("correct-horse-battery",)).scrub, stream, now=lambda: AT)


def only(stream: io.StringIO) -> dict[str, Any]:
    (line,) = stream.getvalue().splitlines()
    found: dict[str, Any] = json.loads(line)
    return found


def test_an_event_is_one_object_with_its_fields(log: Log, stream: io.StringIO) -> None:
    log.info("delivery", status=202, seconds=0.5, of=None, ok=True)

    assert only(stream) == {
        "at": "2026-11-03T09:30:00.000+00:00", "level": "info", "event": "delivery",
        "status": 202, "seconds": 0.5, "of": None, "ok": True,
    }  # fmt: skip


def test_each_level_has_its_name(log: Log, stream: io.StringIO) -> None:
    log.info("a")
    log.warning("b")
    log.error("c")

    assert [json.loads(line)["level"] for line in stream.getvalue().splitlines()] == ["info", "warning", "error"]


@pytest.mark.parametrize(
    "forged",
    ["a\nb", "a\r\n{}", "\x1b[31mred", "\x1b]8;;https://evil\x07", "x\u2028y", "\u202egnp", "\x9b1m", "\x7f", "\ud800"],
)
def test_sec_38_no_value_breaks_or_colours_a_line(log: Log, stream: io.StringIO, forged: str) -> None:
    log.warning("seen", title=forged)

    raw = stream.getvalue()
    assert raw.count("\n") == 1
    assert raw[:-1].isascii()
    assert raw[:-1].isprintable()


def test_a_token_in_a_value_is_not_written(log: Log, stream: io.StringIO) -> None:
    log.error("failed", said="Bearer ghs_" + "a1B2" * 9, path="correct-horse-battery")

    assert "a1B2" not in stream.getvalue()
    assert "correct-horse" not in stream.getvalue()


def test_a_long_value_is_cut(log: Log, stream: io.StringIO) -> None:
    log.info("seen", text="x " * 10_000)

    assert len(only(stream)["text"]) == VALUE_AT_MOST + 1


def test_what_is_raised_is_told_with_where_it_came_from(log: Log, stream: io.StringIO) -> None:
    try:
        int("two\nlines")
    except ValueError:
        log.exception("job failed", job=7)

    line = only(stream)
    assert (line["level"], line["job"], line["error"]) == ("error", 7, "ValueError")
    assert "two" in line["said"]
    assert line["where"].startswith("test_log.py:")


def test_an_exception_without_one_is_an_error(log: Log, stream: io.StringIO) -> None:
    log.exception("odd")

    assert only(stream)["level"] == "error"


def test_an_id_of_a_known_form_is_written_whole_and_is_not_searched_for_secrets(stream: io.StringIO) -> None:
    log = Log(lambda _: "(cleaned)", stream)

    log.info("delivery", id=UUID("72d3162e-cc78-11e3-81ab-4c9367dc0958"), text="72d3162e-cc78-11e3-81ab-4c9367dc0958")

    line = json.loads(stream.getvalue())
    assert (line["id"], line["text"]) == ("72d3162e-cc78-11e3-81ab-4c9367dc0958", "(cleaned)")


def test_a_log_that_cannot_be_written_costs_the_line_and_nothing_else() -> None:
    full = NoRoom()
    log = Log(stream=full)

    log.info("delivered", delivery="d1")
    log.warning("waits")
    log.exception("failed")

    assert full.tried == 3
