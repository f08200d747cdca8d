"""Without a server: pull requests that end, reviews, checks and deployments that speak against a patch."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.ci.bundle import BundleState
from bot.ci.job import Nothing
from bot.ci.publishing import LEFT_NOTHING, BundleRefused
from bot.engine.outcome import ToWork
from stages.prompt import EntryPoint
from tests.bot.ci.acts import head, out, red
from tests.bot.ci.workflow import Workflow
from tests.bot.kit import Script, writes


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


def test_sec_1_a_stranger_s_review_joins_no_queue_while_another_one_waits_there(flow: Workflow) -> None:
    _, pull = out(flow)
    flow.github.people.review(flow.shop, pull, flow.ada, "Why 3?")
    asked = flow.look()
    flow.bob = flow.person("bob", "read")
    flow.github.people.review(flow.shop, pull, flow.bob, "Me too.")

    look = flow.look()

    assert asked.issues
    assert look.issues == ()


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
