"""Diagnosis: the test that fits the ticket, or a new one made of the ticket's code."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stages.offline.playground import Played, Playground, play

SHOP = """\
def total(prices):
    return sum(prices) + 1


def first(items):
    return items[0]


class Basket:
    def __init__(self, items):
        self.items = items

    def count(self):
        return len(self.items) - 1
"""
TESTS = """\
from shop.cart import Basket, first, total


def test_total_of_prices():
    assert total([1]) == 1


def test_first_of_nothing():
    assert first([]) is None


def test_first():
    assert first([3]) == 3
"""
TOTAL, NOTHING = "tests/test_cart.py::test_total_of_prices", "tests/test_cart.py::test_first_of_nothing"


def tree() -> Playground:
    return Playground({"src/shop/__init__.py": "", "src/shop/cart.py": SHOP, "tests/test_cart.py": TESTS})


def diagnosed(
    ticket: str, *blocks: str, title: str = "Diagnose", refuse: int = 0, checks: str = "lint, pytest"
) -> Played:
    quoted = "\n".join(f"| {line}".rstrip() for line in ticket.split("\n"))
    text = "\n\n".join((f"# {title}: find the cause.", f"Ticket:\n{quoted}", f"Checks: {checks}", *blocks))
    left = [refuse]

    def accept(answer: dict[str, Any]) -> str:
        left[0] -= 1
        return "it passes on the base commit" if left[0] >= 0 else ""

    ground = tree()
    ground.commands = ("lint", "c")
    return play(text, ground, accept=accept)


RED = f"Red before any change:\n| {TOTAL}\n| {NOTHING}"


@pytest.mark.parametrize(
    ("ticket", "test"),
    [
        ("The total is wrong\n\nThe sum of prices is one too high.", TOTAL),
        ("Crash\n\nIndexError: list index out of range", NOTHING),
        (f"{NOTHING} fails", NOTHING),
        ("test_first_of_nothing fails since Monday", NOTHING),
        ('Crash\n\nTraceback:\n  File "/app/src/shop/cart.py", line 6, in first\n    return items[0]', NOTHING),
    ],
)
def test_the_failing_test_that_fits_the_ticket_best_is_named(ticket: str, test: str) -> None:
    played = diagnosed(ticket, RED)

    assert played.answer["reproduction"] == test
    assert played.answer["files"] == ["src/shop/cart.py"]


def test_the_cause_names_the_failure_and_the_lines() -> None:
    played = diagnosed("The total of prices is wrong", RED)

    assert played.answer["cause"].startswith(f"{TOTAL} fails: AssertionError")
    assert "src/shop/cart.py:2" in played.answer["cause"]


def test_a_refused_test_is_followed_by_the_next_one() -> None:
    played = diagnosed("The total of prices is wrong", RED, refuse=1)

    assert played.answer["reproduction"] == NOTHING


def test_a_test_that_the_ticket_names_is_offered_even_when_it_is_green() -> None:
    played = diagnosed("tests/test_cart.py::test_first fails for me", RED)

    assert played.answer["reproduction"] == "tests/test_cart.py::test_first"


def test_after_a_hold_what_the_patch_broke_is_part_of_the_cause() -> None:
    held = "Held: at the gate, attempt 1, cause check\n| failed tests/test_cart.py::test_first"

    played = diagnosed("The total of prices is wrong", RED, held, title="Rediagnose")

    assert played.answer["reproduction"] == TOTAL
    assert "tests/test_cart.py::test_first" in played.answer["cause"]


def test_a_red_check_without_tests_is_named_itself() -> None:
    played = diagnosed("Lint is red", "Red before any change:\n| lint")

    assert played.answer["reproduction"] == "lint"


TRACE = """Wrong

____ test_first_of_nothing ____

    def test_first_of_nothing():
>       assert first([]) is None

tests/test_cart.py:9: IndexError"""


@pytest.mark.parametrize("ticket", [TRACE, "Since Monday\n\n`test_first_of_nothing` is red.", f"{NOTHING} fails"])
@pytest.mark.parametrize("red", [("c", NOTHING), ("c", TOTAL, NOTHING)])
def test_a_test_that_the_ticket_names_goes_before_a_red_check_and_other_red_tests(
    ticket: str, red: tuple[str, ...]
) -> None:
    played = diagnosed(ticket, "\n| ".join(("Red before any change:", *red)), checks="c, p")

    assert played.answer["reproduction"] == NOTHING
    assert played.answer["cause"].startswith(f"{NOTHING} fails: IndexError")
    assert played.answer["files"] == ["src/shop/cart.py"]


def test_a_red_check_goes_behind_red_tests_that_the_ticket_does_not_name_either() -> None:
    played = diagnosed("It is slow.", "Red before any change:\n| c\n| " + TOTAL, checks="c, p")

    assert played.answer["reproduction"] == TOTAL


def test_a_red_check_that_the_ticket_names_goes_before_a_red_test_that_does_not_fit() -> None:
    played = diagnosed("Lint is red", "Red before any change:\n| lint\n| " + NOTHING)

    assert played.answer["reproduction"] == "lint"


@pytest.mark.parametrize("ticket", [TRACE, f"{NOTHING} fails"])
def test_a_test_that_the_ticket_names_is_offered_first_when_the_base_never_came_to_it(ticket: str) -> None:
    played = diagnosed(ticket, f"Red before any change:\n| {TOTAL}")

    assert played.answer["reproduction"] == NOTHING


def test_a_green_test_whose_name_stands_in_the_ticket_is_not_offered() -> None:
    played = diagnosed("Unlike test_first, this is wrong", f"Red before any change:\n| {NOTHING}")

    assert played.answer["reproduction"] == NOTHING


def test_a_red_test_that_the_ticket_names_goes_before_a_green_one_that_it_names() -> None:
    played = diagnosed(f"{NOTHING} fails, tests/test_cart.py::test_first does not", RED)

    assert played.answer["reproduction"] == NOTHING


# --- New tests -----------------------------------------------------------------------------------------------------

ASSERTS = "It counts wrongly:\n\n```python\nbasket = Basket([1, 2])\nassert basket.count() == 2\n```"
DOCTEST = "It counts wrongly:\n\n```pycon\n>>> from shop.cart import Basket\n>>> Basket([1, 2]).count()\n2\n```"
EXPECTED = "It counts wrongly:\n\n```\n>>> basket = Basket([1, 2])\n>>> basket.count()  # expected: 2\n1\n```"
SENTENCE = "`Basket([1, 2]).count()` returns `1`, it should return `2`."
INSTEAD = "`Basket([1, 2]).count()` gives 1 instead of `2`."
SCRIPT = "IndexError\n\n```python\nfrom shop.cart import first\nfirst([])\n```"
CONTINUED = "Wrong:\n\n```\n>>> total([\n...     1,\n... ])\n1\n```"


@pytest.mark.parametrize(
    ("ticket", "line"),
    [
        (ASSERTS, "    assert basket.count() == 2"),
        (DOCTEST, "    assert Basket([1, 2]).count() == 2"),
        (EXPECTED, "    assert basket.count() == 2"),
        (SENTENCE, "    assert Basket([1, 2]).count() == 2"),
        (INSTEAD, "    assert Basket([1, 2]).count() == 2"),
        (SCRIPT, "    first([])"),
        (CONTINUED, "    ]) == 1"),
    ],
)
def test_the_code_of_a_ticket_becomes_a_test_that_fails(ticket: str, line: str) -> None:
    played = diagnosed(ticket)

    path, text = played.answer["test_path"], played.answer["test_text"]
    assert path == "tests/test_ticket.py"
    assert line in text.split("\n")
    assert played.answer["files"] == ["src/shop/cart.py"]
    ground = tree()
    ground.files[path] = text
    assert ground.run_test(f"{path}::test_ticket").error is not None


def test_a_new_test_gets_a_name_that_is_free() -> None:
    ground = tree()
    ground.files["tests/test_ticket.py"] = ""
    quoted = "\n".join(f"| {line}".rstrip() for line in ASSERTS.split("\n"))

    played = play(f"# Diagnose: x\n\nTicket:\n{quoted}\n\nChecks: pytest", ground)

    assert played.answer["test_path"] == "tests/test_ticket_2.py"


@pytest.mark.parametrize(
    ("source", "checks", "module", "place"),
    [
        (
            "packages/shop/src/shop/cart.py",
            "pytest, pytest-shop (in packages/shop)",
            "shop.cart",
            "packages/shop/tests/",
        ),
        ("packages/shop/shop/cart.py", "pytest-shop (in packages/shop)", "shop.cart", "packages/shop/tests/"),
        ("packages/shop/shop/cart.py", "pytest", "packages.shop.shop.cart", ""),
        ("lib/src/cart.py", "pytest", "lib.src.cart", ""),
        ("web/cart.py", "jest-web (in web), pytest", "web.cart", ""),
        ("cart.py", "pytest-shop (in packages/shop), pytest", "cart", ""),
    ],
)
def test_a_new_test_goes_to_the_folder_whose_check_runs_it(source: str, checks: str, module: str, place: str) -> None:
    ground = Playground(
        {
            "packages/shop/pyproject.toml": "",
            "packages/shop/tests/test_cart.py": "",
            "packages/other/setup.py": "",
            source: SHOP,
        }
    )
    quoted = "\n".join(f"| {line}".rstrip() for line in ASSERTS.split("\n"))

    played = play(f"# Diagnose: x\n\nTicket:\n{quoted}\n\nChecks: {checks}", ground)

    assert played.answer["test_path"] == f"{place}test_ticket.py"
    assert played.answer["test_text"].startswith(f"from {module} import Basket\n")


def test_the_ticket_s_own_code_goes_before_a_red_test_that_has_nothing_to_do_with_it() -> None:
    played = diagnosed(ASSERTS, f"Red before any change:\n| {NOTHING}")

    assert played.answer["test_path"] == "tests/test_ticket.py"


def test_without_any_proof_it_says_so_and_names_none() -> None:
    played = diagnosed("It is slow.")

    assert "reproduction" not in played.answer
    assert "test_text" not in played.answer
    assert played.answer["cause"].startswith("No known test fails")


@pytest.mark.parametrize(
    "ticket", ["```python\nthis is no python\n```", "`f(` should be `)`", "```\n>>> f(\n1\n```", "```"]
)
def test_code_that_is_none_makes_no_test(ticket: str) -> None:
    played = diagnosed(ticket)

    assert "test_text" not in played.answer
