"""Commands in comments: each has a result, and only people who may write are obeyed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import CliRunner

from bot.cli import ticketsmith
from bot.course.points import CourseStep, Moment
from bot.course.waking import requeue, stop, wake
from bot.engine.outcome import Settled
from bot.run import RunState
from stages.errors import ParkCause, Parked
from stages.prompt import EntryPoint
from tests.bot.course.beginnings import DROPPED
from tests.bot.course.kept import Copies
from tests.bot.course.town import Town
from tests.bot.kit import Script, writes


def test_help_lists_what_can_be_said(town: Town) -> None:
    issue = town.issue()

    town.say(issue, "/ticketsmith help")
    town.drain()

    (answer,) = town.comments(issue)
    assert all(f"/ticketsmith {name}" in answer for name in ("stop", "retry", "requeue", "why", "forget", "help"))


def test_a_command_that_is_not_known_is_answered_with_help(town: Town) -> None:
    issue = town.issue()

    town.say(issue, "/ticketsmith make coffee")
    town.drain()

    assert "What you can say" in town.comments(issue)[0]


@pytest.mark.parametrize("command", ["stop", "retry", "requeue Look again.", "forget 0a1b2c3d4e5f"])
def test_r12_who_may_not_write_is_not_obeyed(town: Town, command: str) -> None:
    issue = town.issue()
    reader = town.github.state.add_person("reader")
    triager = town.github.state.add_person("triager")
    town.shop.roles |= {reader.id: "read", triager.id: "triage"}

    town.say(issue, f"/ticketsmith {command}", by=reader)
    town.say(issue, f"/ticketsmith {command}", by=triager)
    outcomes = town.drain()

    refused = Settled(outcome="refused: this needs write permission in the repository")
    assert outcomes == [refused, refused]
    assert [text.split("\n")[0] for text in town.comments(issue)] == [
        "Nothing was done: this needs write permission in the repository."
    ]
    assert town.courses_of(issue) == ()


def test_r34_stop_ends_the_run_closes_its_pull_request_and_says_so(solved: Copies) -> None:
    town, issue = solved()

    town.say(issue, "/ticketsmith stop")
    town.drain()

    assert town.run(issue).outcome == "drop: stopped"
    assert town.pull().state == "closed"
    assert "is over: drop: stopped" in town.comments(issue)[1]
    town.check()


def test_stop_without_a_run_says_so(town: Town) -> None:
    issue = town.issue()

    town.say(issue, "/ticketsmith stop")
    town.drain()

    assert town.comments(issue)[0].startswith("There is no run to stop.")


def test_retry_begins_a_run_of_an_issue_without_a_label(town: Town) -> None:
    issue = town.issue()

    town.say(issue, "/ticketsmith retry")
    town.drain()

    assert town.run(issue).state is RunState.PUBLISHED
    assert town.course(issue).commanded
    town.check()


def test_retry_wakes_a_run_that_waits(found: Callable[..., Town]) -> None:
    town = found(script=Script.of(triage=[Parked(cause=ParkCause.ENVIRONMENT, reason="no make here"),
                                          {"ownership": "ours", "reason": "It is."}]))  # fmt: skip
    issue = town.labelled()
    town.drain()
    assert town.own_labels(issue) == ["ticketsmith:held"]
    assert "no make here" in town.comments(issue)[0]

    town.say(issue, "/ticketsmith retry")
    town.drain()

    assert town.run(issue).state is RunState.PUBLISHED
    assert town.own_labels(issue) == ["ticketsmith:pr"]


def test_retry_of_a_patch_that_is_out_points_to_it(solved: Copies) -> None:
    town, issue = solved()

    town.say(issue, "/ticketsmith retry")
    town.drain()

    assert f"out already: #{town.pull().number}" in town.comments(issue)[1]


def test_r37_requeue_sends_the_patch_back_with_a_note_that_the_next_attempt_reads(solved: Copies) -> None:
    town, issue = solved(refix=writes(text="3\n\n"))

    town.say(issue, "/ticketsmith requeue A line break is missing.")
    town.drain()

    assert any("ada: A line break is missing." in prompt.body for prompt in town.script.prompts)
    assert town.told(issue) == ["hold: finding", "refix", "pass-after-hold"]
    assert len(town.pulls()) == 1
    town.check()


def test_r37_while_a_patch_that_was_sent_back_is_worked_on_the_label_says_so(solved: Copies) -> None:
    seen: list[list[str]] = []

    def look(step: CourseStep, moment: Moment) -> None:
        if (step, moment) == (CourseStep.PURSUE, Moment.BEFORE_EFFECT):
            seen.append(town.own_labels(issue))

    town, issue = solved(refix=writes("price.txt", "3\n"))
    town.reached = look
    town.say(issue, "/ticketsmith requeue A line break is missing.")
    town.drain()

    assert seen == [["ticketsmith:working"]]
    assert town.own_labels(issue) == ["ticketsmith:pr"]


def test_requeue_of_a_run_that_is_over_begins_another_that_reads_the_note(after: Copies) -> None:
    town, issue = after(DROPPED)
    assert town.run(issue).outcome == "drop: empty-patch"
    town.script.answers[EntryPoint.DEVELOP] = [writes()]

    town.say(issue, "/ticketsmith requeue It is in price.txt.")
    town.drain()

    assert len(town.courses_of(issue)) == 2
    assert town.run(issue).state is RunState.PUBLISHED
    assert any("It is in price.txt." in prompt.body for prompt in town.script.prompts)


def test_an_empty_note_is_refused(town: Town) -> None:
    issue = town.issue()

    town.say(issue, "/ticketsmith requeue")
    town.drain()

    assert town.comments(issue)[0].startswith("The note is empty")


def test_why_shows_what_memory_gave_and_forget_takes_a_lesson_back(after: Copies) -> None:
    town, issue = after(DROPPED)
    town.say(issue, "/ticketsmith retry")
    town.drain()
    (lesson,) = {one.id for one in town.app.stores.memory.lessons(town.run(issue).scope)}

    town.say(issue, "/ticketsmith why")
    town.say(issue, f"/ticketsmith forget {lesson}")
    town.say(issue, f"/ticketsmith forget {lesson}")
    town.drain()

    said = town.comments(issue)[-3:]
    assert f"- lesson `{lesson}`: same ticket" in said[0]
    assert "is forgotten" in said[1]
    assert "There is no lesson" in said[2]
    assert town.app.stores.memory.lessons(town.run(issue).scope) == ()


def test_why_without_a_run_says_so(town: Town) -> None:
    issue = town.issue()

    town.say(issue, "/ticketsmith why")
    town.drain()

    assert town.comments(issue)[0].startswith("There was no run")


def test_f69_a_lesson_that_is_taken_back_stays_in_the_version_that_a_run_has_pinned(after: Copies) -> None:
    town, issue = after(DROPPED)
    memory, scope = town.app.stores.memory, town.run(issue).scope
    pinned = memory.current(scope)
    (lesson,) = memory.lessons(scope)

    memory.retract(scope, lesson.id, town.app.book.now())

    assert memory.lessons(scope, pinned) == (lesson,)
    assert memory.lessons(scope) == ()


def test_a_run_that_the_operator_retries_here_goes_on_and_tells_github(found: Callable[..., Town]) -> None:
    town = found(script=Script.of(triage=[Parked(cause=ParkCause.TOKEN, reason="no key"),
                                          {"ownership": "ours", "reason": "It is."}]))  # fmt: skip
    issue = town.labelled()
    town.drain()
    assert town.run(issue).wake is not None

    woken = wake(town.app, town.run(issue))
    town.drain()

    assert woken
    assert town.run(issue).state is RunState.PUBLISHED
    assert len(town.pulls()) == 1


def test_what_the_operator_stops_here_is_ended_by_a_worker_with_its_pull_request(solved: Copies) -> None:
    town, issue = solved()

    left_to_a_worker = stop(town.app, town.run(issue), "mira")
    town.drain()

    assert left_to_a_worker
    assert town.run(issue).outcome == "drop: stopped"
    assert (town.pull().state, town.branches()) == ("closed", [])
    assert len(town.comments(issue)) == 1
    assert not stop(town.app, town.run(issue), "mira")  # it is over
    town.check()


def test_r37_what_the_operator_sends_back_here_is_delivered_by_a_worker(solved: Copies) -> None:
    town, issue = solved(refix=writes(text="3\n\n"))
    before = town.course(issue).pushed

    left_to_a_worker = requeue(town.app, town.run(issue), "A line break is missing.", "mira")
    town.drain()

    assert left_to_a_worker
    assert any("mira: A line break is missing." in prompt.body for prompt in town.script.prompts)
    assert town.course(issue).pushed not in (None, before)
    assert len(town.pulls()) == 1
    town.check()


def test_what_the_operator_sends_back_after_its_run_is_over_is_a_new_run_for_who_asked(solved: Copies) -> None:
    town, issue = solved()
    stop(town.app, town.run(issue), "mira")
    town.drain()

    requeue(town.app, town.run(issue), "Once more.", "mira")
    town.drain()

    assert len(town.courses_of(issue)) == 2
    assert town.run(issue).state is RunState.PUBLISHED
    assert any("mira: Once more." in prompt.body for prompt in town.script.prompts)
    town.check()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["stop"], "its pull request closed, by `ticketsmith work`"),
        (["requeue", "Look again."], "taken up by `ticketsmith work`"),
    ],
)
def test_the_command_line_leaves_a_run_of_an_issue_to_a_worker_and_says_so(
    solved: Copies, words: list[str], said: str
) -> None:
    town, issue = solved()
    run, (name, *rest) = town.run(issue), words

    done = CliRunner(env={"TICKETSMITH_HOME": str(town.home)}).invoke(ticketsmith, ["runs", name, run.id, *rest])

    assert done.exit_code == 0, done.output
    assert said in done.output
    assert [job.kind.value for job in town.jobs.waiting()] == [name]
    assert town.run(issue).state is RunState.PUBLISHED
