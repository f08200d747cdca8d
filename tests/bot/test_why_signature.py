"""`ticketsmith memory why`: what was read of a ticket, what decides, and the keys that it gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bot.why_signature import in_short, signatures_told
from memory.signature import explain
from memory.types import TicketId
from tests.bot.kit import TICKET, Script, bed
from tests.bot.lines import Line, line

_TRACE = """> Traceback (most recent call last):
>   File "/srv/till/orders.py", line 9, in total
>     read_price(row)
>   File "/usr/lib/python3.11/json/decoder.py", line 3, in decode
>     x()
> ValueError: no price of article 4711 in the list"""


@pytest.fixture
def typed(tmp_path: Path) -> Line:
    made = line(tmp_path)
    made.ticket.write_text(f"# Orders fail\n\nSince Monday:\n\n{_TRACE}\n")
    return made


def test_why_shows_the_cleaned_text_the_exception_the_frames_and_the_keys(typed: Line) -> None:
    told = [one.strip() for one in typed.type("memory", "why", typed.ticket, *typed.at).stdout.splitlines()]

    (signature,) = explain("", _TRACE.replace("> ", "")).found
    for one in (
        "1. trace · python · ValueError, from line 4 of the cleaned text",
        "| Traceback (most recent call last):",
        "exception that decides: ValueError: no price of article 4711 in the list",
        "words without data: no price of article <num> in the list",
        "frame left out (library): /usr/lib/python3.11/json/decoder.py decode",
        "frame kept (app): /srv/till/orders.py total as orders.py:total",
        f"key f: {signature.signature.keys['f']}",
        f"key t: {signature.signature.keys['t']}, of words alone: it admits nothing",
    ):
        assert one in told


def test_a_name_for_what_runtimes_word_differently_is_no_text_of_the_ticket() -> None:
    frames = 'Traceback (most recent call last):\n  File "/srv/till/rows.py", line 1, in get\n    1 / 0\n'
    explanation = explain("", f"{frames}ZeroDivisionError: division by zero")

    told = list(signatures_told(explanation))

    assert "  words by the one name for what runtimes word differently: java-arithmetic" in told
    assert in_short(explanation.found[0]).startswith("words named 'java-arithmetic'; frames rows.py:get")


def test_why_says_the_same_as_json(typed: Line) -> None:
    told = typed.json("memory", "why", typed.ticket, *typed.at)

    (signature,) = told["signatures"]
    assert told["cleaned"][3] == "Traceback (most recent call last):"
    assert signature["chain"] == ["ValueError: no price of article 4711 in the list"]
    assert [(seen["origin"], seen["kept"]) for seen in signature["seen"]] == [("library", False), ("app", True)]
    assert set(signature["keys"]) == {"x", "f", "c", "t"}


def test_a_ticket_without_an_error_is_told_as_that() -> None:
    assert list(signatures_told(explain("A wish", "Please."))) == ["none: no trace, test or error line in 2 lines"]


def test_what_is_long_is_cut_and_counted() -> None:
    frames = "".join(f'  File "/srv/a{at}.py", line 1, in f{at}\n    x()\n' for at in range(40))
    text = f"Traceback (most recent call last):\n{frames}ValueError: no price of article"

    told = list(signatures_told(explain("", text)))

    assert "  | … 52 lines more" in told
    assert "  frames: 20 more" in told


def test_errors_that_are_no_traces_say_what_of_them_is_compared() -> None:
    told = list(signatures_told(explain("", "GET /api/orders/17 returned 502")))

    assert told[0] == "1. http · http · GET, from line 1 of the cleaned text"
    assert "  told apart by: 502" in told
    assert "  compared: /api/orders/<id>" in told


def test_the_record_of_a_run_says_in_a_line_what_its_ticket_shows(tmp_path: Path) -> None:
    made = bed(tmp_path)
    app = made.app(Script.of())

    run = made.fix(app, replace(TICKET, id=TicketId("local:traced"), body=_TRACE.replace("> ", "")))

    (one,) = explain("", _TRACE.replace("> ", "")).found
    because = [getattr(event.fact, "because", "") for event in app.stores.events.of(run.id)]
    assert in_short(one) in because
    assert in_short(one).startswith("words 'no price of article <num> in the list'; frames orders.py:total; es1:x:")
