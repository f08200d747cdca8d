"""How long tests may take is known from how long they took at the base."""

from __future__ import annotations

import pytest

from memory.types import CheckId, CommitId
from stages.pace import Pace
from stages.report import TIMEOUT, Check, CheckKind, CheckReport, Outcome, TestOutcome

BASE = CommitId("1" * 40)
CHECK = Check(name=CheckId("pytest"), kind=CheckKind.PYTEST, timeout_seconds=600.0)


def outcome(name: str, seconds: float, result: Outcome = Outcome.PASSED, kind: str = "") -> TestOutcome:
    return TestOutcome(id=CheckId(f"test_a.py::{name}"), outcome=result, seconds=seconds, type=kind)


def pace(*outcomes: TestOutcome, seconds: float = 0.0, complete: bool = True) -> Pace:
    made = Pace()
    made.saw(
        BASE,
        CheckReport(check=CHECK.name, exit_status=0, seconds=seconds, outcomes=outcomes, complete=complete),
    )
    return made


def test_nothing_is_known_before_a_run_has_come_to_its_end() -> None:
    assert Pace().patience(BASE, CHECK) is None
    assert pace(outcome("one", 1.0), complete=False).patience(BASE, CHECK) is None
    assert pace(outcome("one", 1.0)).patience(CommitId("2" * 40), CHECK) is None


@pytest.mark.parametrize(("took", "may_take"), [(0.01, 10.0), (1.0, 10.0), (3.0, 30.0)])
def test_a_test_that_is_named_may_take_ten_times_as_long_and_ten_seconds_at_least(took: float, may_take: float) -> None:
    known = pace(outcome("one", took), outcome("slow", 20.0))

    patience = known.patience(BASE, CHECK, [CheckId("test_a.py::one")])

    assert patience is not None
    assert patience.test == may_take


def test_a_whole_check_may_take_thirty_times_its_slowest_test_for_each() -> None:
    patience = pace(outcome("one", 0.5), outcome("two", 2.0)).patience(BASE, CHECK)

    assert patience is not None
    assert (patience.test, patience.command) == (60.0, 600.0)


def test_a_test_that_hung_says_nothing_of_how_long_the_others_take() -> None:
    hung = outcome("hangs", 120.0, Outcome.FAILED, TIMEOUT)
    killed = outcome("kills", 120.0, Outcome.FAILED, TIMEOUT)

    patience = pace(outcome("one", 0.1), hung, killed).patience(BASE, CHECK, [hung.id])

    assert patience is not None
    assert patience.test == 10.0


def test_at_the_base_a_test_that_hung_there_is_not_waited_for_as_long_again() -> None:
    hung = outcome("hangs", 120.0, Outcome.FAILED, TIMEOUT)
    known = pace(outcome("one", 0.1), hung)

    again = known.patience(BASE, CHECK, [hung.id], at_base=True)
    with_another = known.patience(BASE, CHECK, [hung.id, CheckId("test_a.py::one")], at_base=True)

    assert again is not None
    assert with_another is not None
    assert (again.test, again.command) == (2.0, 26.0)
    assert with_another.test == 10.0


def test_at_the_base_a_test_that_hung_once_and_ended_once_has_its_time() -> None:
    known = pace(outcome("flips", 120.0, Outcome.FAILED, TIMEOUT))
    known.saw(
        BASE, CheckReport(check=CHECK.name, exit_status=0, seconds=0, outcomes=(outcome("flips", 4.0),), complete=True)
    )

    patience = known.patience(BASE, CHECK, [CheckId("test_a.py::flips")], at_base=True)

    assert patience is not None
    assert patience.test == 40.0


@pytest.mark.parametrize(("slowest", "seconds"), [(0.01, 0.25), (0.05, 0.5), (0.5, 1.0), (3.0, 1.0)])
def test_in_a_hurry_what_hung_at_the_base_has_a_moment_or_what_others_would_need(
    slowest: float, seconds: float
) -> None:
    hung = outcome("hangs", 120.0, Outcome.FAILED, "Timeout")
    known = pace(outcome("other", slowest), hung)

    patience = known.patience(BASE, CHECK, [hung.id], hurry=1.0)

    assert patience is not None
    assert patience.test == seconds


def test_in_a_hurry_what_hung_at_the_base_and_ended_with_a_candidate_still_has_a_moment() -> None:
    hung = outcome("hangs", 120.0, Outcome.FAILED, "Timeout")
    known = pace(outcome("other", 0.01), hung)
    ended = CheckReport(
        check=CHECK.name, exit_status=1, seconds=0, outcomes=(outcome("hangs", 0.04, Outcome.FAILED),), complete=True
    )
    known.saw(BASE, ended)

    patience = known.patience(BASE, CHECK, [hung.id], hurry=1.0)

    assert patience is not None
    assert patience.test == 0.4


def test_in_a_hurry_what_hangs_with_a_candidate_only_has_what_was_asked_for() -> None:
    known = pace(outcome("one", 0.01))
    hung = CheckReport(
        check=CHECK.name,
        exit_status=1,
        seconds=0,
        outcomes=(outcome("one", 1.0, Outcome.FAILED, "Timeout"),),
        complete=True,
    )
    known.saw(BASE, hung)

    patience = known.patience(BASE, CHECK, [CheckId("test_a.py::one")], hurry=1.0)

    assert patience is not None
    assert patience.test == 1.0


def test_where_the_others_take_long_at_the_base_so_may_one_that_hung() -> None:
    hung = outcome("hangs", 120.0, Outcome.FAILED, TIMEOUT)

    patience = pace(outcome("slow", 0.8), hung).patience(BASE, CHECK, [hung.id], at_base=True)

    assert patience is not None
    assert patience.test == 8.0


def test_in_a_hurry_a_test_has_five_times_what_it_took() -> None:
    known = pace(outcome("quick", 0.01), outcome("slow", 1.5))

    quick = known.patience(BASE, CHECK, [CheckId("test_a.py::quick")], hurry=2.0)
    slow = known.patience(BASE, CHECK, [CheckId("test_a.py::slow")], hurry=2.0)

    assert quick is not None
    assert slow is not None
    assert (quick.test, slow.test) == (2.0, 7.5)


def test_a_hurry_never_gives_more_time() -> None:
    patience = pace(outcome("quick", 0.01)).patience(BASE, CHECK, [CheckId("test_a.py::quick")], hurry=500.0)

    assert patience is not None
    assert patience.test == 10.0


def test_a_run_of_single_tests_ends_soon_even_when_no_alarm_reaches_the_code() -> None:
    known = pace(outcome("quick", 0.01), seconds=1.0)

    quick = [CheckId("test_a.py::quick")]
    calm, alone = known.patience(BASE, CHECK, quick), known.patience(BASE, CHECK, quick, hurry=2.0)
    with_start = pace(outcome("quick", 0.0), seconds=9.0).patience(BASE, CHECK, quick, hurry=2.0)

    assert calm is not None
    assert alone is not None
    assert with_start is not None
    assert (calm.command, alone.command, with_start.command) == (50.0, 11.0, 51.0)


def test_a_class_has_the_time_of_its_slowest_test_and_the_check_all_of_its_own() -> None:
    known = pace(outcome("Case::one", 0.1), outcome("Case::two", 2.0), outcome("other", 30.0))

    patience = known.patience(BASE, CHECK, [CheckId("test_a.py::Case")])

    assert patience is not None
    assert (patience.test, patience.command) == (20.0, 600.0)


def test_watched_lines_slow_a_test_so_it_has_more_time() -> None:
    patience = pace(outcome("one", 0.5)).patience(BASE, CHECK, [CheckId("test_a.py::one")], coverage=True)

    assert patience is not None
    assert patience.test == 15.0
