"""The CI mode: jobs that can write run nothing, the job that runs what a stranger wrote can write nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import pytest

from bot.ci.bundle import Bundle, BundleState
from bot.ci.job import Nothing
from bot.engine.outcome import Settled, ToWork
from stages.errors import ParkCause
from stages.prompt import EntryPoint
from tests.bot.ci.workflow import GOOD, Workflow
from tests.bot.kit import Script, writes

DROPS: Final[dict[str, Any]] = {"develop": {"summary": "I found nothing."}, "refix": {"summary": "I found nothing."}}
NOTE: Final = """\
diff --git a/notes.txt b/notes.txt
new file mode 100644
--- /dev/null
+++ b/notes.txt
@@ -0,0 +1 @@
+3
"""


# --- Work, publish, remember ---------------------------------------------------------------------------------------


def test_a_label_leads_to_a_draft_pull_request_through_a_job_that_cannot_write(flow: Workflow) -> None:
    issue = flow.labelled()

    look = flow.look()
    assert flow.github.writes == []
    received = flow.receive()
    announced, before = flow.said(issue), len(flow.github.writes)
    bundle = flow.work()
    assert len(flow.github.writes) == before
    said = flow.publish()

    assert (look.issues, look.aside, look.stops) == ((issue.number,), False, False)
    assert isinstance(received, ToWork)
    assert "Ticketsmith takes this" in announced[0]
    assert isinstance(bundle, Bundle)
    assert bundle.state is BundleState.PUBLISHED
    (pull,) = flow.pulls()
    assert pull.pull is not None
    assert (said, pull.pull.head, pull.pull.draft) == (
        f"published: #{pull.number}",
        f"ticketsmith/issue-{issue.number}",
        True,
    )
    assert flow.shop.git.git("show", f"ticketsmith/issue-{issue.number}:price.txt") == "3"
    assert [check.conclusion for check in flow.shop.checks.values()] == ["success"]
    assert "ticketsmith:pr" in issue.labels
    (status,) = flow.said(issue)
    assert f"see #{pull.number}" in status


def test_publishing_the_same_bundle_twice_makes_nothing_twice(flow: Workflow) -> None:
    issue = flow.labelled()
    bundle = flow.made(issue)

    flow.publish(bundle)
    flow.publish(bundle)

    assert len(flow.pulls()) == 1
    assert len(flow.said(issue)) == 1
    assert len(flow.shop.checks) == 1


def test_what_one_run_learnt_is_in_the_prompts_of_the_next_without_any_database(flow: Workflow) -> None:
    issue = flow.labelled()
    flow.through(Script.of(develop=writes(text="4\n"), refix=writes(text="3\n")))
    assert sorted(flow.endings()) == ["hold", "pass-after-hold", "refix"]
    flow.github.people.comment(flow.shop, issue, flow.ada, "/ticketsmith stop")
    flow.through()
    flow.github.people.comment(flow.shop, issue, flow.ada, "/ticketsmith requeue mind the cents")
    script = Script.of()

    flow.through(script)

    developing = [prompt for prompt in script.prompts if prompt.entry_point is EntryPoint.DEVELOP]
    assert "[ticketsmith:lessons] 4 of 4" in developing[0].section
    assert ".gitattributes" in flow.shop.git.git("ls-tree", "--name-only", "ticketsmith/memory")


def test_a_patch_that_was_sent_back_is_followed_by_another_on_the_same_branch(flow: Workflow) -> None:
    issue = flow.labelled()
    flow.publish(flow.made(issue))
    first = flow.shop.git.head(f"ticketsmith/issue-{issue.number}")
    flow.github.people.comment(flow.shop, issue, flow.ada, "/ticketsmith requeue say it in a note too")
    assert isinstance(flow.receive(), ToWork)

    flow.publish(flow.made(issue, attempt=2, diff=GOOD + NOTE))

    head = flow.shop.git.head(f"ticketsmith/issue-{issue.number}")
    assert len(flow.pulls()) == 1
    assert head != first
    assert flow.shop.git.git("rev-parse", f"{head}^") == first


def test_where_actions_may_make_no_pull_request_the_issue_says_so(flow: Workflow) -> None:
    issue = flow.labelled()
    said = "GitHub Actions is not permitted to create or approve pull requests."
    flow.github.fault("POST .*/pulls", times=9, status=403, body={"message": said})

    done = flow.publish(flow.made(issue))

    assert done.startswith("parked: ")
    (comment,) = flow.said(issue)
    assert said in comment.replace("\\", "")
    assert "ticketsmith:held" in issue.labels


def test_r32_a_person_s_commit_on_the_branch_is_left_alone(flow: Workflow) -> None:
    issue = flow.labelled()
    bundle = flow.made(issue)
    flow.publish(bundle)
    theirs = flow.github.people.push(flow.shop, f"ticketsmith/issue-{issue.number}", {"x.txt": "x"}, flow.ada)
    flow.github.people.comment(flow.shop, issue, flow.ada, "/ticketsmith requeue round it")
    flow.receive()

    flow.publish(bundle)

    assert flow.shop.git.head(f"ticketsmith/issue-{issue.number}") == theirs
    assert "hands off" in flow.said(issue)[0]


def test_a_run_that_ends_without_a_patch_says_so_and_is_remembered(flow: Workflow) -> None:
    issue = flow.labelled()
    flow.receive()
    bundle = flow.work(Script.of(**DROPS))

    said = flow.publish()

    assert isinstance(bundle, Bundle)
    assert (bundle.state, bundle.diff) == (BundleState.ENDED, "")
    assert said == f"ended: {bundle.said}"
    assert flow.standing(issue) is None
    assert "ticketsmith:dropped" in issue.labels or "ticketsmith:held" in issue.labels
    assert [json.loads(line)["final"] for line in flow.memory().splitlines()][-1] is True
    assert flow.pulls() == []


def test_a_parked_run_says_what_it_waits_for(flow: Workflow) -> None:
    issue = flow.labelled()
    parked = flow.made(issue, state=BundleState.PARKED, said="no sandbox", cause=ParkCause.SANDBOX)

    assert flow.publish(parked) == "parked"
    assert "no sandbox" in flow.said(issue)[0]
    assert "ticketsmith:held" in issue.labels


def test_a_command_begins_a_run_with_its_note(flow: Workflow) -> None:
    issue = flow.labelled()
    flow.github.people.comment(flow.shop, issue, flow.ada, "/ticketsmith requeue mind the cents")
    script = Script.of()

    flow.through(script)

    assert any("mind the cents" in prompt.body for prompt in script.prompts)
    assert len(flow.pulls()) == 1


# --- Who may ask ---------------------------------------------------------------------------------------------------


def test_r10_a_person_who_may_not_ask_gets_a_line_and_no_red_job(flow: Workflow) -> None:
    flow.bob = bob = flow.person("bob", "triage")
    issue = flow.github.people.issue(flow.shop, bob, "The price is wrong", "It says 1.")
    flow.github.people.label(flow.shop, issue, bob)

    look, outcome = flow.look(), flow.receive(aside=True)

    assert (look.issues, look.aside) == ((issue.number,), True)
    assert outcome == Settled(outcome="refused: this needs write permission in the repository")
    assert "this needs write permission" in flow.said(issue)[0]
    assert flow.standing(issue) is None


def test_a_label_that_is_gone_before_the_patch_is_published_stops_it(flow: Workflow) -> None:
    issue = flow.labelled()
    bundle = flow.made(issue)
    flow.fixed = flow.event()  # the job still has the event that began it
    flow.github.people.unlabel(flow.shop, issue, flow.ada)

    said = flow.publish(bundle)

    assert said == "no longer wanted: the label was taken away"
    assert flow.pulls() == []
    assert flow.standing(issue) is None
    assert flow.endings() == ["drop"]


def test_f39_whoever_lost_the_right_to_write_meanwhile_gets_nothing_published(flow: Workflow) -> None:
    issue = flow.labelled()
    bundle = flow.made(issue)
    flow.shop.roles[flow.ada.id] = "read"

    said = flow.publish(bundle)

    assert said.startswith("parked: ada, who asked for the run, can no longer write")
    assert flow.pulls() == []
    assert [ref for ref in flow.shop.git.refs() if "issue-" in ref] == []


@pytest.mark.parametrize(
    ("act", "why"),
    [
        (lambda flow, issue: flow.github.people.label(flow.shop, issue, flow.ada, "bug"), "another label"),
        (lambda flow, issue: flow.github.people.comment(flow.shop, issue, flow.ada, "as said"), "without a command"),
    ],
    ids=["another label", "a remark"],
)
def test_what_a_job_cannot_do_is_nothing_to_do(flow: Workflow, act: Callable[..., object], why: str) -> None:
    act(flow, flow.labelled())

    job = flow.job()

    assert isinstance(job, Nothing)
    assert why in job.why
