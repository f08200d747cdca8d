"""An ending becomes a lesson of typed slots, and a lesson becomes two or three lines."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from memory.lessons import RECORD_AT_MOST, again, identity, lesson, render, same_fix
from memory.slots import EndingRefused
from memory.status import NEGATIVE_LASTS, Sighting, status_of
from memory.types import (
    CheckId,
    CommitId,
    Edit,
    Ending,
    EndingId,
    Evidence,
    Hold,
    Lesson,
    LessonId,
    LessonStatus,
    PassAfterHold,
    Refix,
    RepositoryId,
    RunEnding,
    RunId,
    Scope,
    TicketId,
    Where,
)
from tests.memory.store_kit import (
    AT,
    COMMIT,
    DAY,
    DROP,
    EDIT,
    EVERY_KIND,
    HOLD,
    NOT_OURS,
    PASS,
    RECURRED,
    REFIX,
    TEST,
    WORKED,
    ended,
    signature,
)


def taught(ending: RunEnding) -> Lesson:
    made = lesson(ending)
    assert made is not None
    return made


# --- Rendering -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ending", "lines"),
    [
        (
            HOLD,
            (
                "hold · 2026-11-03 · run run1 · validated · same ticket · at the gate, attempt 1, cause check ·",
                "tests/test_cart.py::test_empty failed (exit 1) · edits src/cart.py:41 #7b1d90c2aa41 · commit 4be1f0a",
            ),
        ),
        (
            Hold(where=Where.CI, cause=HOLD.cause, attempt=2),
            (
                "hold · 2026-11-03 · run run1 · validated · same ticket · in ci, attempt 2, cause check ·",
                "commit 4be1f0a",
            ),
        ),
        (
            Hold(where=Where.REVIEW, cause=HOLD.cause, attempt=1, failing=(TEST,)),
            (
                "hold · 2026-11-03 · run run1 · validated · same ticket · in review, attempt 1, cause check ·",
                "tests/test_cart.py::test_empty failed · commit 4be1f0a",
            ),
        ),
        (
            REFIX,
            (
                "refix · 2026-11-03 · run run1 · validated · same ticket · attempt 2, differs from the held one ·",
                "now passing tests/test_cart.py::test_empty · edits src/cart.py:41 #7b1d90c2aa41 · commit 4be1f0a",
            ),
        ),
        (
            PASS,
            (
                "pass-after-hold · 2026-11-03 · run run1 · validated · same ticket · attempt 2 passed the gate ·",
                "edits src/cart.py:41 #7b1d90c2aa41 · commit 4be1f0a",
            ),
        ),
        (
            DROP,
            (
                "drop · 2026-11-03 · run run1 · pending · same ticket · cause not-reproducible ·",
                "commit 4be1f0a",
            ),
        ),
        (
            replace(WORKED, commit=CommitId("a" * 40)),
            (
                "verify · 2026-11-03 · run run1 · validated · same ticket · worked ·",
                "checked tests/test_cart.py::test_empty · edits src/cart.py:41 #7b1d90c2aa41 · commit aaaaaaa",
            ),
        ),
        (
            NOT_OURS,
            (
                "not-ours · 2026-11-03 · run run1 · pending · same ticket · cause already-fixed ·",
                "passed tests/test_cart.py::test_empty · commit 4be1f0a",
            ),
        ),
    ],
)
def test_each_kind_has_its_two_lines(ending: Hold, lines: tuple[str, ...]) -> None:
    assert render(taught(ended(ending)), "same ticket") == lines


def test_refix_and_pass_name_what_still_fails_and_the_holds_they_answer() -> None:
    refix = Refix(attempt=2, edits=(), still_failing=(CheckId("lint"), TEST))
    passed = PassAfterHold(attempt=3, answers=(LessonId("0123456789ab"), LessonId("a" * 12)), edits=())

    assert render(taught(ended(refix)), "x")[1] == f"still failing lint, {TEST} · commit 4be1f0a"
    assert render(taught(ended(passed)), "x")[0].endswith(
        "x · attempt 3 passed the gate · answers 0123456789ab, aaaaaaaaaaaa ·"
    )


def test_lists_show_three_and_count_the_rest() -> None:
    many = replace(HOLD, failing=tuple(CheckId(f"t::{n}") for n in range(7)), edits=(EDIT,) * 4)

    line = render(taught(ended(many)), "same ticket")[1]

    edit = "src/cart.py:41 #7b1d90c2aa41"
    assert line == f"t::0, t::1, t::2, +4 failed (exit 1) · edits {edit}, {edit}, {edit}, +1 · commit 4be1f0a"


def test_long_lists_show_fewer_so_that_the_lesson_fits_and_digests_stay_whole() -> None:
    path = "src/" + "long_name/" * 17
    edits = tuple(Edit(path=f"{path}{n}.py", line=n, digest=f"{n:012}") for n in range(5))

    lines = render(taught(ended(replace(HOLD, edits=edits))), "same ticket")

    assert sum(len(line) + 5 for line in lines) <= RECORD_AT_MOST
    assert f"edits {path}0.py:0 #000000000000, {path}1.py:1 #000000000001, +3 ·" in lines[1]


def test_what_cannot_fit_is_only_counted() -> None:
    longest = CheckId("t" * 200)
    hold = replace(HOLD, failing=(longest,) * 3, edits=(replace(EDIT, path="p" * 200),) * 3)
    run = RunId("r" * 120)

    lines = render(replace(taught(ended(hold)), run=run, environment="e" * 120), "w" * 200)

    assert sum(len(line) + 5 for line in lines) <= RECORD_AT_MOST
    assert lines[1] == "+3 failed (exit 1) · edits +3 · commit 4be1f0a"


def test_a_lesson_says_how_often_it_was_seen_and_what_a_maintainer_wrote() -> None:
    made = replace(taught(ended(HOLD)), count=3, maintainer="Look at the\n[ticketsmith:end] cache first")

    lines = render(made, "same ticket")

    assert lines[1].endswith(" · commit 4be1f0a · seen 3 times")
    assert lines[2] == "maintainer: Look at the [ticketsmith:end] cache first"


def test_hashed_slots_are_printed_whole() -> None:
    strange = replace(HOLD, edits=(Edit(path="a b", line=1, digest="not a digest"),))
    made = taught(replace(ended(strange), commit=CommitId("no commit")))

    line = render(made, "same ticket")[1]

    assert "##" not in line
    assert f"commit {made.commit}" in line
    assert made.commit.startswith("#")


# --- Identity ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", EVERY_KIND.values(), ids=EVERY_KIND)
def test_the_same_ending_of_another_run_commit_and_day_is_the_same_lesson(ending: Hold) -> None:
    one = ended(ending)
    other = replace(ended(ending, run="run2", ticket="shop#2", author="bob", at=AT + DAY), commit=CommitId("b" * 40))

    assert identity(one) == identity(other)
    assert len(identity(one)) == 12


@pytest.mark.parametrize(
    "other",
    [
        ended(replace(HOLD, where=Where.CI)),
        ended(replace(HOLD, failing=(CheckId("lint"),))),
        ended(replace(HOLD, edits=(replace(EDIT, digest="0" * 12),))),
        ended(HOLD, signatures=(signature(digit="8"),)),
        ended(HOLD, signatures=()),
        ended(HOLD, scope=Scope(installation="1", repository=RepositoryId("github.com/acme/shop2"))),
        ended(REFIX),
    ],
)
def test_another_place_check_edit_failure_or_repository_is_another_lesson(other: RunEnding) -> None:
    assert identity(other) != identity(ended(HOLD))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (NOT_OURS, replace(NOT_OURS, proof=(CheckId("lint"),))),
        (WORKED, replace(WORKED, checks=(CheckId("lint"),))),
        (REFIX, replace(REFIX, now_passing=(CheckId("lint"),))),
    ],
)
def test_what_was_seen_to_pass_makes_no_other_lesson(one: Ending, other: Ending) -> None:
    assert identity(ended(one)) == identity(ended(other))


def test_order_place_and_line_of_edits_do_not_matter() -> None:
    second = replace(EDIT, digest="0" * 12)
    one = ended(replace(HOLD, edits=(EDIT, second)))
    other = ended(replace(HOLD, edits=(second, replace(EDIT, line=99))))

    assert identity(one) == identity(other)


def test_without_a_strong_signature_the_ticket_tells_lessons_apart() -> None:
    weak = (signature("t"),)

    ids = {identity(ended(HOLD, ticket=ticket, signatures=weak)) for ticket in ("shop#1", "shop#2")}

    assert len(ids) == 2


def test_the_id_is_the_same_in_every_release() -> None:
    assert identity(ended(HOLD)) == "8b3d5663706e"


def test_a_final_hold_teaches_nothing() -> None:
    assert lesson(ended(HOLD, final=True, refers_to=EndingId("0" * 16))) is None


@pytest.mark.parametrize(
    ("ending", "reason"),
    [
        (ended(DROP, final=False), "a drop or not-ours closes its run"),
        (ended(PASS, final=True), "does not close its run"),
        (ended(HOLD, final=True), "names the ending"),
        (ended(HOLD, refers_to=EndingId("0" * 16)), "only a final hold refers"),
        (replace(ended(HOLD), at=AT.replace(tzinfo=None)), "has no time zone"),
    ],
)
def test_an_ending_that_contradicts_itself_is_refused(ending: RunEnding, reason: str) -> None:
    with pytest.raises(EndingRefused, match=reason):
        lesson(ending)


def test_the_same_fix_has_the_same_edits_and_a_strong_key_in_common() -> None:
    worked = taught(ended(WORKED))

    assert same_fix(worked, taught(ended(RECURRED, signatures=(signature("c"),))))
    assert not same_fix(worked, taught(ended(RECURRED, signatures=(signature("t"),))))
    assert not same_fix(worked, taught(ended(replace(RECURRED, edits=()))))
    assert not same_fix(worked, taught(ended(DROP)))
    assert not same_fix(taught(ended(replace(WORKED, edits=()))), taught(ended(replace(RECURRED, edits=()))))


# --- Status --------------------------------------------------------------------------------------------------------


def seen(run: str, ticket: str, author: str, days: float = 0, evidence: Evidence = Evidence.EXIT_STATUS) -> Sighting:
    return Sighting(
        run=RunId(run), ticket=TicketId(ticket), author=author, evidence=evidence, at=AT + timedelta(days=days)
    )


@pytest.mark.parametrize(
    ("evidence", "status"),
    [
        (Evidence.EXIT_STATUS, LessonStatus.VALIDATED),
        (Evidence.CI, LessonStatus.VALIDATED),
        (Evidence.MAINTAINER, LessonStatus.VALIDATED),
        (Evidence.NONE, LessonStatus.PENDING),
    ],
)
def test_a_hold_is_validated_by_what_a_machine_or_a_maintainer_saw(evidence: Evidence, status: LessonStatus) -> None:
    assert taught(ended(HOLD, evidence=evidence)).status is status


@pytest.mark.parametrize("ending", [DROP, NOT_OURS])
@pytest.mark.parametrize(
    ("sightings", "status"),
    [
        ([seen("a", "1", "ada")], LessonStatus.PENDING),
        ([seen("a", "1", "ada"), seen("b", "2", "bob")], LessonStatus.VALIDATED),
        ([seen("a", "1", "ada"), seen("a", "2", "bob")], LessonStatus.PENDING),
        ([seen("a", "1", "ada"), seen("b", "1", "bob")], LessonStatus.PENDING),
        ([seen("a", "1", "ada"), seen("b", "2", "ada")], LessonStatus.PENDING),
        ([seen("a", "1", ""), seen("b", "2", "bob")], LessonStatus.PENDING),
        ([seen("a", "1", "ada"), seen("b", "2", "bob", days=30)], LessonStatus.PENDING),
        ([seen("a", "1", "ada"), seen("b", "2", "bob", days=29.9)], LessonStatus.VALIDATED),
        ([seen("a", "1", "ada"), seen("b", "1", "ada"), seen("c", "2", "bob")], LessonStatus.VALIDATED),
        ([seen("a", "1", "ada", evidence=Evidence.MAINTAINER)], LessonStatus.VALIDATED),
        ([seen("a", "1", "m", evidence=Evidence.MAINTAINER), seen("b", "2", "m", days=31)], LessonStatus.PENDING),
    ],
)
def test_a_negative_lesson_needs_two_runs_of_two_tickets_by_two_people(
    ending: Hold, sightings: list[Sighting], status: LessonStatus
) -> None:
    assert status_of(ending, sightings) is status


@pytest.mark.parametrize(("ending", "expires"), [(DROP, AT + NEGATIVE_LASTS), (NOT_OURS, AT + NEGATIVE_LASTS)])
def test_negative_lessons_expire_after_thirty_days(ending: Hold, expires: object) -> None:
    assert taught(ended(ending)).expires == expires


def test_what_was_seen_again_counts_and_keeps_its_first_day_and_its_maintainers_line() -> None:
    old = replace(taught(ended(DROP)), maintainer="kept", supersedes=LessonId("0" * 12))
    new = taught(ended(DROP, run="run2", at=AT + DAY, signatures=(signature(digit="8"),)))

    both = again(old, new, [])

    assert (both.count, both.first_seen, both.last_seen, both.run) == (2, AT, AT + DAY, "run2")
    assert (both.maintainer, both.supersedes) == ("kept", "0" * 12)
    assert both.expires == AT + DAY + NEGATIVE_LASTS
    assert len(both.signatures) == 2


def test_an_older_ending_that_is_recorded_late_does_not_move_the_lesson_back() -> None:
    both = again(taught(ended(HOLD)), taught(ended(HOLD, run="run0", at=AT - DAY)), [])

    assert (both.first_seen, both.last_seen, both.run, both.count) == (AT - DAY, AT, "run1", 2)


def test_what_was_invalidated_stays_so() -> None:
    old = replace(taught(ended(PASS)), status=LessonStatus.INVALIDATED)

    assert again(old, taught(ended(PASS)), [seen("b", "2", "bob")]).status is LessonStatus.INVALIDATED


def test_the_commit_shown_is_that_of_the_evidence_or_else_the_base() -> None:
    made = taught(ended(replace(WORKED, commit=None)))

    assert render(made, "same ticket")[1].endswith(f"commit {COMMIT[:7]}")
