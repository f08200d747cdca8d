"""What code decides between stages: whose ticket it is, whether checks can run here, what comes after a hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.baseline import Baseline, why_broken
from bot.decisions import after_hold, named_files, not_ours, passes_now
from memory.types import CheckId, CommitId, ErrorSignature, NotOursCause, TicketId
from stages.gate import GateReport
from stages.prompt import EntryPoint
from stages.report import Check, CheckKind, CheckReport, Outcome, TestOutcome
from stages.ticket import Ticket
from stages.triage import Ownership

FILES = ("src/shop/cart.py", "docs/cart.md", "README.md")
VAGUE = Ticket(id=TicketId("1"), title="It is slow", body="Since Tuesday.")
PYTEST = Check(name=CheckId("pytest"), kind=CheckKind.PYTEST)
LINT = Check(name=CheckId("lint"), kind=CheckKind.COMMAND, arguments=("lint",))


def signature(*frames: str) -> ErrorSignature:
    return ErrorSignature(kind="trace", language="python", type="KeyError", template="", frames=frames, keys={})


def report(check: Check = PYTEST, *outcomes: TestOutcome, exit_status: int | None = 1, **more: object) -> CheckReport:
    plain = CheckReport(check=check.name, exit_status=exit_status, seconds=0.1, outcomes=outcomes)
    return replace(plain, **more)  # type: ignore[arg-type]


def failed(message: str) -> TestOutcome:
    return TestOutcome(id=CheckId("t.py::t"), outcome=Outcome.FAILED, message=message)


@pytest.mark.parametrize(
    ("ownership", "cause"),
    [
        (Ownership.NOT_HERE, NotOursCause.NO_FRAME_HERE),
        (Ownership.NOT_A_BUG, NotOursCause.NOT_A_BUG),
        (Ownership.OURS, None),
    ],
)
def test_a_model_alone_names_the_cause_only_where_code_sees_nothing_here(
    ownership: Ownership, cause: NotOursCause | None
) -> None:
    assert not_ours(ownership, VAGUE, [signature("lib:requests.get")], FILES) == cause


@pytest.mark.parametrize(
    ("ticket", "frames"),
    [
        (VAGUE, ("lib:requests.get", "shop.cart:total")),
        (replace(VAGUE, body="See src/shop/cart.py."), ()),
        (replace(VAGUE, title="cart.py:41 is wrong"), ()),
        (replace(VAGUE, body=r"C:\work\src\shop\cart.py line 3"), ()),
    ],
)
def test_b56_a_frame_or_a_file_of_this_tree_makes_a_ticket_ours(ticket: Ticket, frames: tuple[str, ...]) -> None:
    assert not_ours(Ownership.NOT_HERE, ticket, [signature(*frames)], FILES) is None


@pytest.mark.parametrize(
    ("text", "ours"),
    [("___ test_total ___", True), ("test_total_of_all", False), ("my_test_total", False), ("total", False)],
)
def test_a_red_test_that_is_named_makes_a_ticket_ours(text: str, ours: bool) -> None:
    red = [CheckId("tests/test_cart.py::TestCart::test_total[1]"), CheckId("lint")]

    cause = not_ours(Ownership.NOT_HERE, replace(VAGUE, body=text), [], FILES, red)

    assert (cause is None) is ours


def test_a_base_whose_tests_all_fail_alike_is_told() -> None:
    refused = [replace(failed("no"), id=CheckId(f"t.py::{name}"), type="ConnectionRefusedError") for name in "abc"]

    def told(*outcomes: TestOutcome) -> tuple[str, ...]:
        return Baseline(checks=(PYTEST,), reports=(report(PYTEST, *outcomes),)).alike

    (why,) = told(*refused)
    assert why.startswith("pytest: 3 tests, ConnectionRefusedError; if they need a service or a file that is not here")
    assert told(*refused[:2]) == told(*refused[:2], failed("other")) == ()
    assert told(*refused, replace(refused[0], id=CheckId("t.py::d"), outcome=Outcome.PASSED)) == ()
    assert "one error" in told(*(replace(one, type="what a test printed") for one in refused))[0]


@pytest.mark.parametrize("text", ["cart is slow", "other/cart.pyx", "e.g. at 3.5 s", "..", "cart.py.bak"])
def test_a_word_is_no_file(text: str) -> None:
    assert named_files(replace(VAGUE, body=text), FILES) == ()


def test_a_new_diagnosis_comes_first_when_the_reproduction_stayed_red() -> None:
    base = GateReport(attempt=1, base=CommitId("a" * 40))
    red = replace(base, reproduction=report(PYTEST, failed("no")), newly_failing=(CheckId("t.py::u"),))

    assert after_hold(red) == (EntryPoint.REDIAGNOSE, EntryPoint.REFIX)
    assert after_hold(base) == (EntryPoint.REFIX,)
    assert after_hold(replace(base, reproduction=report(exit_status=0))) == (EntryPoint.REFIX,)


def test_only_what_was_run_and_passed_counts_as_passing() -> None:
    passed = TestOutcome(id=CheckId("t.py::u"), outcome=Outcome.PASSED)
    skipped = TestOutcome(id=CheckId("t.py::v"), outcome=Outcome.SKIPPED)
    seen = GateReport(
        attempt=1,
        base=CommitId("a" * 40),
        reproduction=report(PYTEST, failed("no"), passed, skipped),
        checks=(report(LINT, exit_status=0), report(PYTEST, exit_status=None)),
    )

    assert passes_now(seen) == {"t.py::u", "lint"}
    assert passes_now(replace(seen, reproduction=None, checks=())) == frozenset()


@pytest.mark.parametrize(
    ("check", "shown", "says"),
    [
        (PYTEST, report(exit_status=None, timed_out=True), "did not end"),
        (PYTEST, report(exit_status=4, complete=False, output="usage: pytest"), "usage: pytest"),
        (
            PYTEST,
            report(complete=False, output="Trace\nModuleNotFoundError: No module named 'pytest'\n"),
            "Install it there",
        ),
        (LINT, report(LINT, exit_status=127, output="lint: not found"), "lint: not found"),
        (PYTEST, report(PYTEST, failed("No module named 'numpy.core'")), "the module numpy is not installed"),
        (PYTEST, report(exit_status=4, output="E  No module named 'numpy'"), "the module numpy is not installed"),
    ],
)
def test_a_check_that_cannot_run_here_is_told(check: Check, shown: CheckReport, says: str) -> None:
    assert says in why_broken(check, shown, FILES)


@pytest.mark.parametrize(
    ("check", "shown"),
    [
        (PYTEST, report(PYTEST, failed("assert 3 == 4"))),
        (PYTEST, report(PYTEST, failed("No module named 'shop.basket'"))),  # a part of the tree that is not there yet
        (PYTEST, report(PYTEST, failed("No module named 'cart'"))),
        (PYTEST, report(PYTEST, failed("No module named 'numpy'"), failed("assert 3 == 4"))),
        (PYTEST, report(exit_status=4, output="E  No module named 'shop.basket'")),
        (PYTEST, report(exit_status=127)),
        (LINT, report(LINT, exit_status=1)),
    ],
)
def test_a_red_check_is_no_broken_one(check: Check, shown: CheckReport) -> None:
    assert why_broken(check, shown, FILES) == ""
