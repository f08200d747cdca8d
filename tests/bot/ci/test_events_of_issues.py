"""Without a server: commands and labels, of those who may write and of those who may not."""

from __future__ import annotations

import json

import pytest

from bot.engine.outcome import Settled
from stages.prompt import EntryPoint
from tests.bot.ci.acts import out
from tests.bot.ci.workflow import Workflow
from tests.bot.kit import Script, writes


def test_r34_stop_of_somebody_who_may_write_cancels_and_ends_the_run(flow: Workflow) -> None:
    issue, pull = out(flow)
    flow.github.people.comment(flow.shop, issue, flow.ada, "/ticketsmith stop")

    look, came = flow.look(), flow.through()

    assert (look.issues, look.aside, look.stops) == ((issue.number,), False, True)
    assert came == ["drop: stopped"]
    assert pull.state == "closed"
    assert "is over: drop: stopped" in flow.said(issue)[-1]
    assert [ref for ref in flow.shop.git.refs() if "issue-" in ref] == []
    assert flow.standing(issue) is None


@pytest.mark.parametrize(
    ("word", "role", "issues"),
    [("stop", "read", 0), ("stop", "triage", 1), ("retry", "triage", 1), ("requeue now", "triage", 1),
     ("forget L1", "triage", 1)],
)  # fmt: skip
def test_sec_2_a_command_of_somebody_who_may_not_write_cancels_and_pushes_out_nothing(
    flow: Workflow, word: str, role: str, issues: int
) -> None:
    issue = flow.labelled()
    flow.made(issue)
    flow.bob = flow.person("bob", role)
    flow.github.people.comment(flow.shop, issue, flow.bob, f"/ticketsmith {word}")
    before = flow.there(f"run-{issue.number}.json")

    look, came = flow.look(), flow.through()

    assert (len(look.issues), look.aside or not look.issues, look.stops) == (issues, True, False)
    assert came == ["refused: this needs write permission in the repository"] * issues
    assert flow.there(f"run-{issue.number}.json") == before


def test_who_may_only_triage_ends_a_run_by_taking_the_label_away_and_cancels_nothing(flow: Workflow) -> None:
    issue = flow.labelled()
    bundle = flow.made(issue)
    began = flow.event()
    flow.bob = flow.person("bob", "triage")
    flow.github.people.unlabel(flow.shop, issue, flow.bob)

    look, came = flow.look(), flow.through()
    flow.fixed = began
    late = flow.publish(bundle, issue.number)

    assert (look.aside, look.stops) == (True, False)
    assert came == ["drop: stopped"]
    assert late == "no longer wanted: its run is over"
    assert flow.pulls() == []


def test_an_issue_that_a_person_closes_ends_its_run(flow: Workflow) -> None:
    issue, pull = out(flow)
    flow.github.people.close(flow.shop, issue, flow.ada)

    look, came = flow.look(), flow.through()

    assert look.stops
    assert came == ["drop: closed-by-human"]
    assert pull.state == "closed"


def test_r5_a_label_on_an_issue_whose_run_goes_on_pushes_nothing_out(flow: Workflow) -> None:
    issue = flow.labelled()
    flow.receive()
    at_work = flow.look()
    flow.publish(flow.made(issue))
    out_already = flow.look()

    assert {(one.issues, one.why) for one in (at_work, out_already)} == {((), "ignored: joined its run")}


def test_stop_takes_back_what_a_job_announced_that_was_cancelled_at_once(flow: Workflow) -> None:
    issue = flow.labelled()
    flow.receive()
    flow.shop.git.delete("ticketsmith/memory")  # it was cancelled before it had written anything down
    flow.github.people.comment(flow.shop, issue, flow.ada, "/ticketsmith stop")

    came = flow.through()

    assert came == ["nothing to stop"]
    assert [label for label in issue.labels if label.startswith("ticketsmith:")] == []


def test_an_issue_that_was_deleted_ends_its_run(flow: Workflow) -> None:
    issue = flow.labelled()
    flow.made(issue)
    flow.github.people.delete(flow.shop, issue, flow.ada)

    look, came = flow.look(), flow.through()

    assert look.stops
    assert came == ["deleted: runs ended: 1"]
    assert flow.endings() == ["drop"]
    assert flow.standing(issue) is None


def test_questions_are_answered_aside(flow: Workflow) -> None:
    issue = flow.labelled()
    flow.through(Script.of(develop=writes(text="4\n"), refix=writes(text="3\n")))
    flow.bob = flow.person("bob", "triage")
    answers = []
    for word in ("help", "why"):
        flow.github.people.comment(flow.shop, issue, flow.bob, f"/ticketsmith {word}")
        assert flow.look().aside
        flow.through()
        answers.append(flow.said(issue)[-1])

    assert "`/ticketsmith requeue NOTE`" in answers[0]
    assert "read memory version" in answers[1]


def test_a_lesson_that_was_forgotten_comes_back_in_no_later_job(flow: Workflow) -> None:
    issue = flow.labelled()
    flow.through(Script.of(develop=writes(text="4\n"), refix=writes(text="3\n")))
    flow.github.people.comment(flow.shop, issue, flow.ada, "/ticketsmith stop")
    flow.through()
    flow.github.people.label(flow.shop, issue, flow.ada, "bug")
    flow.github.people.comment(flow.shop, issue, flow.ada, "/ticketsmith retry")
    script = Script.of()
    flow.through(script)
    shown = next(one for one in script.prompts if one.entry_point is EntryPoint.DEVELOP).context.lessons.shown
    flow.github.people.comment(flow.shop, issue, flow.ada, f"/ticketsmith forget {shown[0].id}")
    flow.through()
    told = flow.said(issue)[-1]
    flow.github.people.comment(flow.shop, issue, flow.ada, "/ticketsmith requeue once more")
    script = Script.of(refix=writes(text="3\n5\n"))

    flow.through(script)

    assert told.startswith(f"Lesson `{shown[0].id}` is forgotten.")
    assert flow.there("forgotten.txt") == f"{shown[0].id}\n"
    later = {one.id for prompt in script.prompts for one in prompt.context.lessons.shown}
    assert shown[0].id not in later
    assert {one.id for one in shown[1:]} & later


def test_a_command_on_the_pull_request_is_about_its_issue(flow: Workflow) -> None:
    issue, pull = out(flow)
    flow.github.people.comment(flow.shop, pull, flow.ada, "/ticketsmith stop")

    look = flow.look()
    outcome = flow.receive(issue.number)

    assert look.issues == (issue.number,)
    assert outcome == Settled(outcome="drop: stopped")
    assert "is over" in flow.said(pull)[-1]


def test_r9_five_runs_of_an_issue_are_enough_for_a_day(flow: Workflow) -> None:
    issue = flow.labelled()
    line = {"v": 1, "at": flow.github.state.now().isoformat(), "final": True, "ticket": f"issue:{issue.number}"}
    log = "".join(json.dumps({**line, "id": f"e{number}", "run": f"run{number}"}) + "\n" for number in range(5))
    flow.shop.git.commit("ticketsmith/memory", {"endings.jsonl": log}, "x", onto=None)

    came = flow.through()

    assert came == ["refused: enough for a day"]
    assert "which are enough" in flow.said(issue)[-1]
