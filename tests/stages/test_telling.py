"""A red test is bound to the alert that the ticket shows, and a ticket names a test only by its whole id."""

from __future__ import annotations

from typing import cast

import pytest

from memory.signature import signatures
from memory.types import CheckId, ErrorSignature
from stages.agents.base import Agent
from stages.base import Desk
from stages.case import Asking
from stages.reproducing import NotShown, Passes, Reproducing
from stages.ticket import Ticket
from stages.view import view_of
from tests.fakes import GREEN, LINT, NOW, RED, SCOPE, TreeInMemory, budget, case, failed, passed, report, ticket

FILES = {"till/prices.py": "x", "tests/test_cart.py": "y"}
TRACE = (
    'Traceback (most recent call last):\n  File "/srv/app/till/prices.py", line 12, in read_price\n'
    "    return int(text) / shares\nZeroDivisionError: division by zero\n"
)
ASSERTS = (
    "____ test_total ____\n    def test_total():\n>       assert total([1, 2]) == 3\nE       assert 2 == 3\n\n"
    "tests/test_cart.py:5: AssertionError"
)
SHOWS_IT = (
    "    def read_price(text, shares):\n>       return int(text) / shares\nE       ZeroDivisionError: division by zero"
    "\n\ntill/prices.py:12: ZeroDivisionError"
)
ELSEWHERE = SHOWS_IT.replace("till/prices.py", "till/shares.py").replace("read_price", "split")
NEW = "tests/test_n.py"


def alert(text: str) -> tuple[ErrorSignature, ...]:
    return tuple(signatures("It breaks", text, view_of(FILES)))


def reproducing(given: Ticket, *outcomes: object, output: str = "") -> Reproducing:
    tree = TreeInMemory(
        FILES,
        lambda _, check, __: (
            report(check, *outcomes)  # type: ignore[arg-type]
            if outcomes
            else report(check, exit_status=1, output=output)
        ),
    )
    asked = case(given, asking=Asking(scope=SCOPE, at=NOW, signatures=alert(given.text)))
    return Reproducing(asked, Desk(agent=cast(Agent, None), workspace=tree, limits=budget()))


def new(type_: str, text: str) -> object:
    return failed(f"{NEW}::test_n", type_, "message", text)


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (TRACE, new("ZeroDivisionError", SHOWS_IT)),
        ("It says ZeroDivisionError: division by zero", new("ZeroDivisionError", ELSEWHERE)),
        ("The total is wrong.", new("AssertionError", ASSERTS)),
        (ASSERTS, new("AssertionError", "")),
        (ASSERTS, new("Failed", "")),
    ],
    ids=["same trace", "alert without frames", "no alert", "alert is an assertion", "pytest.fail"],
)
def test_a_new_test_that_shows_the_alert_is_taken(said: str, outcome: object) -> None:
    assert reproducing(ticket("It breaks", said), outcome).write(NEW, "def test_n(): ...\n").path == NEW


@pytest.mark.parametrize(
    "outcome",
    [new("AssertionError", ASSERTS), new("ZeroDivisionError", ELSEWHERE), new("KeyError", ""), new("Failed", "")],
    ids=["asserts", "another place", "another exception", "did not raise"],
)
def test_a_new_test_that_shows_something_else_is_refused_with_the_alert(outcome: object) -> None:
    with pytest.raises(NotShown, match=r"alert shows ZeroDivisionError: call what failed there"):
        reproducing(ticket("It breaks", TRACE), outcome).write(NEW, "def test_n(): ...\n")


def test_a_known_test_that_fails_otherwise_is_refused() -> None:
    with pytest.raises(NotShown, match="another failure than the alert, which shows ZeroDivisionError"):
        reproducing(ticket("It breaks", TRACE), failed(RED, text=ASSERTS)).name(RED)


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (TRACE, failed(RED, "ZeroDivisionError", text=SHOWS_IT)),
        (f"{TRACE}\nSo does {RED}.", failed(RED, text=ASSERTS)),
        ("The total is wrong.", failed(RED, text=ASSERTS)),
        (TRACE, failed(RED, "Timeout", "the run ended in it")),
    ],
    ids=["shows it", "named by the ticket", "no alert", "never came to its end"],
)
def test_a_known_test_that_shows_the_alert_is_taken(said: str, outcome: object) -> None:
    assert reproducing(ticket("It breaks", said), outcome).name(RED).test == RED


def test_a_command_is_compared_where_it_shows_a_failure() -> None:
    told = ticket("It breaks", TRACE)

    assert reproducing(told, output=TRACE).name(LINT.name).check == LINT.name
    assert reproducing(told, output="price.txt differs").name(LINT.name).check == LINT.name
    with pytest.raises(NotShown, match="another failure"):
        reproducing(told, output=TRACE.replace("ZeroDivisionError: division by zero", "KeyError: 'x'")).name(LINT.name)


@pytest.mark.parametrize("said", [f"{GREEN} is red", f"see `{GREEN}`", f"FAILED {GREEN} - assert"])
def test_r51_a_passing_test_whose_whole_id_the_ticket_names_is_fixed_already(said: str) -> None:
    with pytest.raises(Passes):
        reproducing(ticket("Red", said), passed(GREEN)).name(GREEN)


@pytest.mark.parametrize(
    "said",
    ["test_empty is red", "lint", "the lint is red", f"{GREEN}_more is red", f"old/{GREEN}", f"{GREEN}[1]", "pytest"],
)
@pytest.mark.parametrize("test", [GREEN, LINT.name, CheckId("pytest")])
def test_a_word_of_the_ticket_names_no_test(said: str, test: CheckId) -> None:
    green = report(LINT.name) if test == LINT.name else report("pytest", passed(GREEN))
    tree = TreeInMemory(FILES, lambda *_: green)
    desk = Desk(agent=cast(Agent, None), workspace=tree, limits=budget())

    with pytest.raises(NotShown, match="passes on the base commit"):
        Reproducing(case(ticket("Broken", said)), desk).name(test)


def test_a_failing_test_of_the_alert_is_named() -> None:
    total = CheckId("tests/test_cart.py::test_total")

    with pytest.raises(Passes):
        reproducing(ticket("Red", ASSERTS), passed(total)).name(total)
