"""Without a server: jobs that die, what time brings, and how a run stands between two jobs."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any, Final

import pytest

from bot.ci.bundle import BundleState
from bot.ci.publishing import LEFT_NOTHING
from bot.ci.standing import read_standing
from bot.engine.outcome import ToWork
from bot.verify import QUIET
from stages.errors import ParkCause
from tests.bot.ci.acts import age, at_night, changed, text
from tests.bot.ci.workflow import Workflow
from tests.bot.kit import Script, writes

NOON: Final = "2026-11-03T12:00:00+00:00"
GOOD: Final[dict[str, Any]] = {
    "run": {
        "id": "DC6GN5TJHAQX",
        "ticket": "issue:1",
        "ticket_json": '{"id":"issue:1","title":"x","body":"","number":1}',
        "state": "working",
        "base": "a" * 40,
        "generation": 1,
        "attempt": 0,
        "created": NOON,
        "updated": NOON,
    },
    "course": {"actor_id": 1001, "actor_login": "ada", "actor_kind": "User"},
    "trail": {},
}


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


def test_r5_a_run_whose_jobs_were_lost_goes_on_at_night(flow: Workflow) -> None:
    issue = flow.labelled()
    flow.receive()
    at_night(flow)
    young = flow.look()
    age(flow, issue, timedelta(hours=7))

    look = flow.look()

    assert (young.issues, look.issues) == ((), (issue.number,))
    assert isinstance(flow.receive(issue.number), ToWork)


@pytest.mark.parametrize("field", ["updated", "park_cause"])
def test_what_people_wrote_on_the_branch_keeps_no_look_around_back(flow: Workflow, field: str) -> None:
    issue = flow.labelled()
    flow.receive()
    name = f"run-{issue.number}.json"
    there = json.loads(flow.there(name))
    there["run"][field] = "soon"
    flow.shop.git.commit("ticketsmith/memory", {name: json.dumps(there)}, "x", onto=None)
    at_night(flow)

    assert flow.look().issues == ()


def test_lines_that_people_wrote_into_the_log_keep_no_job_back(flow: Workflow) -> None:
    issue = flow.labelled()
    head = {"v": 1, "at": "9999", "final": True}
    lines = [
        {**head, "id": "a", "run": [], "ticket": f"issue:{issue.number}"},
        {**head, "id": "b", "run": {}, "ticket": f"issue:{'9' * 5_000}"},
    ]
    log = "".join(f"{json.dumps(line)}\n" for line in lines)
    flow.shop.git.commit("ticketsmith/memory", {"endings.jsonl": log}, "By hand", onto=None)

    outcome = flow.receive()
    at_night(flow)

    assert isinstance(outcome, ToWork)
    assert flow.look().issues == ()


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


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 1, "run": {}, "course": {}, "trail": {}}', "null"])
def test_a_text_on_the_branch_that_is_no_run_is_no_run(flow: Workflow, text: str) -> None:
    issue = flow.labelled()
    flow.shop.git.commit("ticketsmith/memory", {f"run-{issue.number}.json": text}, "x", onto=None)

    assert isinstance(flow.receive(), ToWork)


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [
        ("run", "id", []),
        ("run", "id", "../../main"),
        ("run", "state", "soon"),
        ("run", "park_cause", "rain"),
        ("run", "stop_cause", "rain"),
        ("run", "base", "--output=x"),
        ("run", "calls", 10**30),
        ("run", "attempt", -1),
        ("run", "ticket_json", "{"),
        ("run", "updated", "2026-11-03T12:00:00"),
        ("course", "pushed", "HEAD"),
        ("course", "pull", 10**30),
        ("course", "pull_state", "ajar"),
        ("course", "actor_kind", "Owner"),
    ],
)
def test_sec_34_a_run_that_people_wrote_is_none_where_it_holds_what_no_job_writes(
    part: str, field: str, value: object
) -> None:
    wrong = {**GOOD, part: {**GOOD[part], field: value}}

    assert read_standing(json.dumps(GOOD)) is not None
    assert read_standing(json.dumps(wrong)) is None


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [
        ("run", "id", []),
        ("run", "ticket_json", '{"id":"issue:9","title":"x","body":"","number":9}'),
        ("course", "branch", "main"),
    ],
)
def test_sec_34_a_run_that_people_made_another_one_keeps_no_job_back(
    flow: Workflow, part: str, field: str, value: object
) -> None:
    issue = flow.labelled()
    flow.receive()
    changed(flow, issue, part, field, value)
    flow.github.people.comment(flow.shop, issue, flow.ada, "/ticketsmith retry")

    look, outcome = flow.look(), flow.receive()

    assert (look.issues, isinstance(outcome, ToWork)) == ((issue.number,), True)
    assert any("A new run begins." in said for said in flow.said(issue))


def test_a_run_that_names_another_repository_is_one_of_this_repository(flow: Workflow) -> None:
    issue = flow.labelled()
    flow.publish(flow.made(issue))
    for field, value in {"repository": 1, "installation": 9, "full_name": "acme/other", "number": 9}.items():
        changed(flow, issue, "course", field, value)
    flow.github.people.comment(flow.shop, issue, flow.ada, "/ticketsmith stop")

    flow.through()

    assert [pull.state for pull in flow.pulls()] == ["closed"]


def test_steps_that_this_version_does_not_know_are_made_anew(flow: Workflow) -> None:
    issue = flow.labelled()
    flow.receive()
    flow.work()
    flow.publish_nothing()
    steps = [{"generation": 1, "name": "dream", "attempt": 1, "result": "1", "started": NOON, "finished": NOON}]
    changed(flow, issue, "trail", "steps", steps)
    flow.github.people.comment(flow.shop, issue, flow.ada, "/ticketsmith retry")

    came = flow.through()

    assert came == [f"published: #{flow.pulls()[0].number}"]


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
