"""A diagnosis quotes its ticket; code looks whether the ticket says so."""

from __future__ import annotations

from typing import Any

import pytest

from stages.answers import FIELDS
from stages.case import Case
from stages.diagnosis import Diagnosed, Diagnosis, DiagnosisGiven
from stages.errors import UnreadableAnswer
from stages.prompt import EntryPoint
from stages.ticket import Ticket
from tests.fakes import case, ticket
from tests.stages.test_readings import answer, at

BODY = "The total of a cart is one too high.\n\nSince Monday,  with <!-- hidden words of mine --> vouchers."
CART = ticket("Wrong", BODY, "It is caf\u00e9 orders that are hit\u200b first.")


def read(quote: object, about: Ticket = CART, point: EntryPoint = EntryPoint.DIAGNOSE) -> Diagnosed:
    given: Case = case(about)
    said: dict[str, Any] = {"cause": "Off by one.", "files": [], "quote": quote}
    return Diagnosis(point, at()).read(answer(**said), DiagnosisGiven(case=given))


@pytest.mark.parametrize("point", [EntryPoint.DIAGNOSE, EntryPoint.REDIAGNOSE])
@pytest.mark.parametrize(
    ("quote", "kept"),
    [
        ("The total of a cart is one too high.", "The total of a cart is one too high."),
        ("  the TOTAL of a\n cart\tis ", "the TOTAL of a cart is"),
        ("Since Monday, with vouchers.", "Since Monday, with vouchers."),
        ("cafe\u0301 orders that are hit first", "caf\u00e9 orders that are hit first"),
        ("Wrong", "Wrong"),  # the whole title, however short
    ],
)
def test_r53_what_stands_in_the_ticket_is_kept_as_one_line(quote: str, kept: str, point: EntryPoint) -> None:
    assert read(quote, point=point).quote == kept


@pytest.mark.parametrize(
    ("quote", "why"),
    [
        (None, "copied from the ticket"),
        ("", "copied from the ticket"),
        (" \u200b\n", "copied from the ticket"),
        (["The total of a cart is one too high."], "copied from the ticket"),
        ("The total of another issue is wrong.", "does not stand in the ticket"),
        ("hidden words of mine", "does not stand in the ticket"),
        ("a cart", "shorter than 8"),
        ("x" * 301, "301 characters"),
        ("comment by ada", "does not stand in the ticket"),
    ],
)
def test_r53_a_diagnosis_that_does_not_quote_its_ticket_is_refused(quote: object, why: str) -> None:
    with pytest.raises(UnreadableAnswer, match=why):
        read(quote)


def test_r53_a_ticket_of_one_short_line_can_be_quoted() -> None:
    assert read("Help", ticket("", "Help")).quote == "Help"


def test_r53_both_diagnoses_are_asked_for_a_quote() -> None:
    assert all("quote" in FIELDS[point]["required"] for point in (EntryPoint.DIAGNOSE, EntryPoint.REDIAGNOSE))
