"""A first choice that another test refuses, and what its lesson is worth to the next run."""

from __future__ import annotations

import pytest

from tests.stages.offline.playground import Played, play
from tests.stages.offline.scenes import edits, gate, ground, held, prompt, worked_through

SHIPPING = """
    FREE_FROM = 50


    def shipping(total, express):
        if total > FREE_FROM and not express:
            return 0
        if express:
            return 12
        return 5


    def label(total, express):
        return 'free' if shipping(total, express) == 0 else 'paid'
    """
SHIPPING_TESTS = """
    def test_below():
        assert shipping(49, False) == 5

    def test_express_at_fifty():
        assert shipping(50, True) == 12

    def test_label():
        assert label(80, False) == 'free'

    def test_work():
        assert shipping(50, False) == 0
    """
MEAN = """
    def mean(numbers):
        return sum(numbers) / len(numbers)


    def spread(numbers):
        return max(numbers) - mean(numbers)
    """
# Taking the division away answers the ticket, and is wrong.
MEAN_TESTS = """
    def test_two():
        assert mean([2, 6]) == 4

    def test_spread():
        assert spread([2, 6, 7]) == 2

    def test_work():
        assert mean([]) == 0
    """


def test_a_held_first_choice_is_followed_by_one_that_passes_everything() -> None:
    first = play(prompt("Develop"), ground(MEAN, MEAN_TESTS))

    second = play(prompt("Refix", held(first, MEAN)), ground(MEAN, MEAN_TESTS))

    assert gate(first.ground) == ["tests/test_work.py::test_two", "tests/test_work.py::test_spread"]
    assert gate(second.ground) == []
    assert not set(edits(first, MEAN)) & set(edits(second, MEAN))


def lesson_of_hold(played: Played, work: str) -> str:
    failed = ", ".join(gate(played.ground))
    return (
        "| - hold · 2026-11-03 · run 01 · validated · same ticket · at the gate, attempt 1, cause check ·\n"
        f"|   {failed} failed (exit 1) · edits {', '.join(edits(played, work))} · commit 4be1f0a\n"
    )


def lesson_of_pass(played: Played, work: str) -> str:
    return (
        "| - pass-after-hold · 2026-11-03 · run 01 · validated · same ticket · attempt 2 passed the gate ·\n"
        f"|   edits {', '.join(edits(played, work))} · commit 4be1f0a\n"
    )


def test_a_lesson_of_what_worked_saves_the_search() -> None:
    good = worked_through(MEAN, MEAN_TESTS)

    without = play(prompt("Develop"), ground(MEAN, MEAN_TESTS))
    with_lesson = play(prompt("Develop", lessons=lesson_of_pass(good, MEAN)), ground(MEAN, MEAN_TESTS))

    assert with_lesson.ground.candidate_runs == 1
    assert gate(with_lesson.ground) == []
    assert without.ground.candidate_runs + good.ground.candidate_runs > 10
    assert with_lesson.calls <= (without.calls + good.calls) / 4


def test_without_the_lesson_in_the_prompt_the_advantage_is_gone() -> None:
    good = worked_through(MEAN, MEAN_TESTS)
    told = prompt("Develop", lessons=lesson_of_pass(good, MEAN))
    stripped = "\n".join(line for line in told.split("\n") if not line.startswith(("| - pass", "|   edits")))

    before = play(prompt("Develop"), ground(MEAN, MEAN_TESTS))
    after = play(stripped, ground(MEAN, MEAN_TESTS))

    assert after.ground.asked == before.ground.asked
    assert gate(after.ground) != []


def test_a_lesson_of_a_hold_keeps_its_edit_from_being_tried_first() -> None:
    first = play(prompt("Develop"), ground(MEAN, MEAN_TESTS))

    second = play(prompt("Develop", lessons=lesson_of_hold(first, MEAN)), ground(MEAN, MEAN_TESTS))

    assert not set(edits(first, MEAN)) & set(edits(second, MEAN))
    assert gate(second.ground) == []


@pytest.mark.parametrize("kind", ["verify", "refix"])
def test_verified_and_refixed_edits_are_tried_first_too(kind: str) -> None:
    good = worked_through(MEAN, MEAN_TESTS)
    told = "worked" if kind == "verify" else "attempt 2, differs from the held one"
    lesson = lesson_of_pass(good, MEAN).replace("pass-after-hold", kind).replace("attempt 2 passed the gate", told)

    played = play(prompt("Develop", lessons=lesson), ground(MEAN, MEAN_TESTS))

    assert played.ground.candidate_runs == 1


def test_an_edit_after_which_the_failure_came_back_is_put_off() -> None:
    first = play(prompt("Develop"), ground(SHIPPING, SHIPPING_TESTS))
    lesson = lesson_of_pass(first, SHIPPING).replace("pass-after-hold", "verify")
    lesson = lesson.replace("attempt 2 passed the gate", "recurred")

    second = play(prompt("Develop", lessons=lesson), ground(SHIPPING, SHIPPING_TESTS))

    assert not set(edits(first, SHIPPING)) & set(edits(second, SHIPPING))


def test_a_lesson_that_names_a_test_that_is_gone_does_no_harm() -> None:
    lesson = (
        "| - hold · 2026-11-03 · run 01 · validated · same ticket · at the gate, attempt 1, cause check ·\n"
        "|   tests/test_gone.py::test_gone failed (exit 1) · edits src/work.py:3 #000000000000 · commit 4be1f0a\n"
    )
    tree = ground(SHIPPING, SHIPPING_TESTS)

    play(prompt("Develop", lessons=lesson), tree)

    assert tree.run_test("tests/test_work.py::test_work").error is None
