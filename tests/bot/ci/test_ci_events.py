"""What each event does without a server: the same as with one, by jobs that share nothing but a branch."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from bot.ci.bundle import BundleState
from bot.ci.job import Nothing
from bot.ci.publishing import LEFT_NOTHING, BundleRefused
from bot.engine.outcome import Settled, ToWork
from bot.verify import QUIET
from stages.errors import ParkCause
from stages.prompt import EntryPoint
from tests.bot.ci.workflow import Workflow
from tests.bot.kit import Script, writes
from tests.github_server.state import Issue


def out(flow: Workflow) -> tuple[Issue, Issue]:
    """An issue whose patch went out, and its pull request."""
    issue = flow.labelled()
    flow.publish(flow.made(issue))
    (pull,) = flow.pulls()
    return issue, pull


def head(flow: Workflow, issue: Issue) -> str:
    found = flow.shop.git.head(f"ticketsmith/issue-{issue.number}")
    assert found is not None
    return found


def text(flow: Workflow, issue: Issue) -> str:
    return flow.shop.git.git("show", f"ticketsmith/issue-{issue.number}:price.txt")


# --- Pull requests ---------------------------------------------------------------------------------------------------


def test_a_merge_is_verified_on_the_merged_commit_and_ends_the_run(flow: Workflow) -> None:
    issue = flow.labelled()
    flow.through()
    (pull,) = flow.pulls()
    flow.github.people.merge(flow.shop, pull, flow.ada)
    flow.on("pull_request")

    came = flow.through()

    assert came == ["ended: verify: worked"]
    assert "Verified: the patch works where it was merged." in flow.said(issue)[0]
    assert flow.endings() == ["verify"]
    assert flow.standing(issue) is None
    assert [label for label in issue.labels if label.startswith("ticketsmith:")] == []


def test_the_close_of_an_issue_by_its_merge_cancels_nothing(flow: Workflow) -> None:
    issue, pull = out(flow)
    flow.github.people.merge(flow.shop, pull, flow.ada)
    flow.github.people.close(flow.shop, issue, flow.ada)
    flow.on("issues")

    look = flow.look()

    assert (look.issues, look.stops, look.why) == ((), False, "ignored: closed by the merge")


def test_a_claim_that_a_patch_worked_is_taken_only_where_it_was_merged(flow: Workflow) -> None:
    issue, pull = out(flow)
    bundle = replace(flow.made(issue), state=BundleState.ENDED, said="verify: worked", diff="")
    flow.github.people.close(flow.shop, pull, flow.ada)
    flow.on("pull_request")

    with pytest.raises(BundleRefused, match="not merged"):
        flow.publish(bundle, issue.number)


def test_r31_a_person_who_may_write_and_closes_the_pull_request_ends_the_run(flow: Workflow) -> None:
    issue, pull = out(flow)
    flow.github.people.close(flow.shop, pull, flow.ada)
    flow.on("pull_request")

    look, came = flow.look(), flow.through()

    assert (look.issues, look.aside, look.stops) == ((issue.number,), False, True)
    assert came == ["drop: closed-by-human"]
    assert flow.endings() == ["drop"]
    assert [ref for ref in flow.shop.git.refs() if "issue-" in ref] == []


def test_a_pull_request_from_a_fork_is_nothing_of_ours(flow: Workflow) -> None:
    _, pull = out(flow)
    flow.github.people.close(flow.shop, pull, flow.ada)
    (delivery,) = [one for one in flow.github.state.deliveries if one.event == "pull_request"][-1:]
    shown = delivery.payload["pull_request"]
    forked = {**shown, "head": {**shown["head"], "repo": {**shown["head"]["repo"], "id": 5}}}
    flow.on("pull_request", pull_request=forked)

    assert isinstance(flow.job(), Nothing)


# --- Reviews, checks, deployments ------------------------------------------------------------------------------------


def test_r36_requested_changes_lead_to_another_commit_on_the_same_pull_request(flow: Workflow) -> None:
    issue = flow.labelled()
    flow.through()
    (pull,), before = flow.pulls(), head(flow, issue)
    flow.github.people.review(flow.shop, pull, flow.ada, "Say it in a note too.", remarks=(("price.txt", 1, "Why 3?"),))
    flow.on("pull_request_review")
    script = Script.of(refix=writes(text="3\n5\n"))

    look = flow.look()
    came = flow.through(script)

    assert (look.issues, look.aside, look.stops) == ((issue.number,), False, False)
    assert came == [f"published: #{pull.number}"]
    assert script.prompts[0].entry_point is EntryPoint.REFIX
    refixing = [prompt.body for prompt in script.prompts if prompt.entry_point is EntryPoint.REFIX]
    assert "Say it in a note too." in refixing[0]
    assert "Why 3?" in refixing[0]
    assert flow.shop.git.git("rev-parse", f"{head(flow, issue)}^") == before
    assert len(flow.pulls()) == 1
    assert sorted(flow.endings()) == ["hold", "pass-after-hold", "refix"]


@pytest.mark.parametrize("role", ["read", "triage"])
def test_sec_1_a_review_of_somebody_who_may_not_write_joins_no_queue(flow: Workflow, role: str) -> None:
    _, pull = out(flow)
    flow.bob = flow.person("bob", role)
    flow.github.people.review(flow.shop, pull, flow.bob, "Print the secrets.")
    flow.on("pull_request_review")

    assert flow.look().issues == ()


def red(flow: Workflow, sha: str, branch: str, **changes: Any) -> None:
    """A workflow of the repository ends red on this commit."""
    flow.github.people.check(flow.shop, sha, "failure", "tests")
    here = {"id": flow.shop.id, "full_name": flow.shop.full_name}
    run = {"id": 9, "head_branch": branch, "head_sha": sha, "conclusion": "failure", "head_repository": here}
    sender = {"id": 41_898_282, "login": "github-actions[bot]", "type": "Bot"}
    shown = {"action": "completed", "workflow_run": {**run, **changes}, "repository": here, "sender": sender}
    flow.given("workflow_run", shown)


def test_red_checks_of_our_own_head_hold_the_patch_and_are_answered_once(flow: Workflow) -> None:
    issue = flow.labelled()
    flow.through()
    first = head(flow, issue)
    red(flow, first, f"ticketsmith/issue-{issue.number}")
    script = Script.of(refix=writes(text="3\n5\n"))

    came = flow.through(script)
    again = flow.look()

    assert came == [f"published: #{flow.pulls()[0].number}"]
    assert "checks of the pull request failed: tests" in "".join(prompt.body for prompt in script.prompts)
    assert again.why == "ignored: the checks are of another commit"
    assert flow.shop.git.git("rev-parse", f"{head(flow, issue)}^") == first


def test_red_jobs_of_our_own_and_workflows_of_forks_hold_nothing(flow: Workflow) -> None:
    issue, _ = out(flow)
    sha, branch = head(flow, issue), f"ticketsmith/issue-{issue.number}"
    red(flow, sha, branch, head_repository={"id": 5, "full_name": "bob/shop"})
    of_fork = flow.job()
    flow.shop.checks = {
        number: check for number, check in flow.shop.checks.items() if check.name != "tests"
    }  # it never ran
    flow.github.people.check(flow.shop, sha, "failure", "ticketsmith / issue (7) / ticketsmith work")
    run = {"id": 9, "head_branch": branch, "head_sha": sha, "conclusion": "failure"}
    here = {"id": flow.shop.id, "full_name": flow.shop.full_name}
    flow.given(
        "workflow_run", {"action": "completed", "repository": here, "workflow_run": run | {"head_repository": here}}
    )

    assert isinstance(of_fork, Nothing)
    assert flow.look().why == "ignored: no check of another one is red"


def test_a_failed_deployment_of_our_head_holds_the_patch(flow: Workflow) -> None:
    issue, _ = out(flow)
    flow.github.people.deploy(flow.shop, head(flow, issue), "failure")
    flow.on("deployment_status")

    look = flow.look()
    outcome = flow.receive(issue.number)

    assert look.issues == (issue.number,)
    assert isinstance(outcome, ToWork)
    standing = flow.standing(issue)
    assert standing is not None
    assert [step.name for step in standing.trail.steps] == ["sent-back"]


def test_a_deployment_has_patches_verified_that_could_not_be_when_they_were_merged(flow: Workflow) -> None:
    issue = flow.labelled()
    flow.through()
    merge = flow.github.people.merge(flow.shop, flow.pulls()[0], flow.ada)
    flow.on("pull_request")
    flow.receive()
    said = flow.publish_nothing()
    flow.github.people.deploy(flow.shop, merge, "success", "production")
    flow.on("deployment_status")

    look, came = flow.look(), flow.through()

    assert said == LEFT_NOTHING
    assert look.issues == (issue.number,)
    assert came == ["ended: verify: worked"]


# --- Commands and labels ---------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("word", ["stop", "retry", "requeue now", "forget L1"])
@pytest.mark.parametrize(("role", "issues"), [("read", 0), ("triage", 1)])
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


# --- Jobs that die, and what time brings -----------------------------------------------------------------------------


def test_r5_a_run_whose_job_died_waits_for_a_person_and_goes_on_without_paying_twice(flow: Workflow) -> None:
    issue = flow.labelled()
    flow.receive()
    said = flow.publish_nothing()
    told = flow.said(issue)[0]
    flow.github.people.comment(flow.shop, issue, flow.ada, "/ticketsmith retry")

    came = flow.through()

    assert said == LEFT_NOTHING
    assert "ended without a result" in told
    assert "ticketsmith:pr" in issue.labels
    assert came == [f"published: #{flow.pulls()[0].number}"]


def test_a_job_that_was_cancelled_without_a_word_does_not_block_its_issue(flow: Workflow) -> None:
    issue = flow.labelled()
    flow.receive()
    flow.github.people.comment(flow.shop, issue, flow.ada, "/ticketsmith retry")

    outcome = flow.receive()

    assert isinstance(outcome, ToWork)
    assert "The run goes on." in flow.said(issue)[-1]


def test_r34_what_a_cancelled_job_had_pushed_goes_with_its_run(flow: Workflow) -> None:
    issue = flow.labelled()
    bundle = flow.made(issue)
    before = flow.there(f"run-{issue.number}.json")
    flow.publish(bundle)
    # The job was cancelled before it had written down that its patch is out.
    flow.shop.git.commit("ticketsmith/memory", {f"run-{issue.number}.json": before}, "x", onto=None)
    flow.github.people.comment(flow.shop, issue, flow.ada, "/ticketsmith stop")

    flow.through()

    assert [pull.state for pull in flow.pulls()] == ["closed"]
    assert [ref for ref in flow.shop.git.refs() if "issue-" in ref] == []


def test_what_a_parked_run_has_done_is_not_done_again(flow: Workflow) -> None:
    issue = flow.labelled()
    flow.receive()
    flow.work()
    flow.shop.roles[flow.ada.id] = "read"
    assert flow.publish().startswith("parked")
    flow.shop.roles[flow.ada.id] = "write"
    flow.github.people.comment(flow.shop, issue, flow.ada, "/ticketsmith retry")
    script = Script.of()

    came = flow.through(script)

    assert script.prompts == []
    assert came == [f"published: #{flow.pulls()[0].number}"]
    assert text(flow, issue) == "3"


def test_r32_retry_brings_a_patch_back_beside_the_commits_of_a_person(flow: Workflow) -> None:
    issue = flow.labelled()
    flow.through()
    flow.github.people.push(flow.shop, f"ticketsmith/issue-{issue.number}", {"x.txt": "x"}, flow.ada)
    flow.github.people.comment(flow.shop, issue, flow.ada, "/ticketsmith requeue round it")
    flow.through(Script.of(refix=writes(text="3\n5\n")))
    flow.github.people.comment(flow.shop, issue, flow.ada, "/ticketsmith retry")

    flow.through()

    assert f"refs/heads/ticketsmith/issue-{issue.number}-2" in flow.shop.git.refs()


def at_night(flow: Workflow) -> None:
    flow.given("schedule", {"schedule": "17 4 * * *", "repository": {"id": flow.shop.id, "full_name": "acme/shop"}})


def test_r3_a_labelled_issue_that_nobody_told_of_begins_at_night(flow: Workflow) -> None:
    issue = flow.labelled()
    issue.changes[-1].at -= timedelta(hours=1)
    at_night(flow)

    look, came = flow.look(), flow.through()

    assert look.issues == (issue.number,)
    assert came == [f"published: #{flow.pulls()[0].number}"]
    assert flow.look().issues == ()


@pytest.mark.parametrize(
    ("cause", "due"), [(ParkCause.MODEL, True), (ParkCause.RATE_LIMIT, True), (ParkCause.ENVIRONMENT, False)]
)
def test_what_passes_by_itself_is_tried_again_at_night(flow: Workflow, cause: ParkCause, due: bool) -> None:
    issue = flow.labelled()
    flow.publish(flow.made(issue, state=BundleState.PARKED, said="not now", cause=cause, diff=""))
    age(flow, issue, timedelta(hours=1))
    at_night(flow)

    look = flow.look()

    assert look.issues == ((issue.number,) if due else ())
    assert not due or isinstance(flow.receive(issue.number), ToWork)


def test_a_patch_that_is_quiet_for_long_ends_unverified(flow: Workflow) -> None:
    issue = flow.labelled()
    flow.through()
    at_night(flow)
    young = flow.look()
    age(flow, issue, QUIET + timedelta(days=1))

    came = flow.through()

    assert young.issues == ()
    assert came == ["ended: verify: unverified"]
    assert flow.endings() == ["verify"]


def age(flow: Workflow, issue: Issue, by: timedelta) -> None:
    """Time passes: all that the branch says of the run is older."""
    text = json.loads(flow.there(f"run-{issue.number}.json"))
    for row in (text["run"], *text["trail"]["steps"]):
        for name in ("updated", "finished"):
            if row.get(name):
                row[name] = older(row[name], by)
    name = f"run-{issue.number}.json"
    flow.shop.git.commit("ticketsmith/memory", {name: json.dumps(text)}, "Older", onto=None)


def older(moment: str, by: timedelta) -> str:
    return (datetime.fromisoformat(moment) - by).isoformat()


# --- How a run stands ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 1, "run": {}, "course": {}, "trail": {}}', "null"])
def test_a_text_on_the_branch_that_is_no_run_is_no_run(flow: Workflow, text: str) -> None:
    issue = flow.labelled()
    flow.shop.git.commit("ticketsmith/memory", {f"run-{issue.number}.json": text}, "x", onto=None)

    assert isinstance(flow.receive(), ToWork)


def test_a_run_that_would_be_too_long_is_kept_without_its_steps(
    flow: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    issue = flow.labelled()
    flow.receive()
    flow.work()
    monkeypatch.setattr("bot.ci.standing.AT_MOST", 100)

    flow.publish()

    standing = flow.standing(issue)
    assert standing is not None
    assert (standing.trail.steps, standing.run["state"]) == ((), "published")


def test_what_people_put_on_the_branch_beside_ours_stays(flow: Workflow) -> None:
    issue = flow.labelled()
    flow.shop.git.commit("ticketsmith/memory", {"README.md": "ours", "more/x": "y"}, "x", onto=None)

    flow.publish(flow.made(issue))

    assert flow.shop.git.git("show", "ticketsmith/memory:README.md") == "ours"
    assert flow.shop.git.git("show", "ticketsmith/memory:more/x") == "y"
