"""The CI mode: jobs that can write run nothing, the job that runs what a stranger wrote can write nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click.testing
import pytest

from bot.ci.bundle import Bundle, BundleState, BundleUnusable, read_bundle, write_bundle
from bot.ci.job import NoEvent, Nothing, asked
from bot.ci.publishing import LEFT_NOTHING, BundleRefused
from bot.ci.trail import Carried, CarriedStep, Trail, TrailUnusable
from bot.cli import ticketsmith
from bot.engine.outcome import Settled, ToWork
from stages.errors import ParkCause
from stages.prompt import EntryPoint
from tests.bot.ci.workflow import GOOD, LOOKS, READS, RECEIVES, WRITES, Workflow
from tests.bot.kit import Script, writes

DROPS: Final[dict[str, Any]] = {"develop": {"summary": "I found nothing."}, "refix": {"summary": "I found nothing."}}


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

    flow.publish(flow.made(issue, attempt=2, diff=GOOD + NOTE.replace("on: push", "3")))

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


# --- The bundle is trusted in nothing ------------------------------------------------------------------------------

OF_WORKFLOWS: Final = """\
diff --git a/.github/workflows/x.yml b/.github/workflows/x.yml
new file mode 100644
--- /dev/null
+++ b/.github/workflows/x.yml
@@ -0,0 +1 @@
+on: push
"""
NOTE: Final = OF_WORKFLOWS.replace(".github/workflows/x.yml", "notes.txt")
SECRET: Final = NOTE.replace("on: push", "ghp_" + "a1B2c3D4e5" * 4)
A_LINK: Final = NOTE.replace("100644", "120000").replace("on: push", "/etc/passwd")
OUTSIDE: Final = OF_WORKFLOWS.replace(".github/workflows/x.yml", "../x")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"number": 999}, "another issue"),
        ({"repository": 1}, "another issue"),
        ({"diff": OF_WORKFLOWS}, "breaks a rule"),
        ({"diff": SECRET}, "a secret stands in line 1"),
        ({"diff": A_LINK}, "breaks a rule"),
        ({"diff": OUTSIDE}, "does not fit"),
        ({"diff": "no diff at all"}, "does not fit"),
        ({"diff": ""}, "changes nothing"),
        ({"base": "0" * 40}, "another base"),
        ({"base": ""}, "another base"),
        ({"run": ""}, "another run"),
        ({"run": "DC6D8RKZRPTX"}, "another run"),
        ({"state": BundleState.STANDS}, "not asked"),
    ],
)
def test_r65_a_bundle_that_says_something_else_is_refused_and_nothing_is_written(
    flow: Workflow, change: dict[str, Any], reason: str
) -> None:
    issue = flow.labelled()
    good = flow.made(issue)
    before = len(flow.github.writes), flow.there(f"run-{issue.number}.json")

    with pytest.raises(BundleRefused, match=reason):
        flow.publish(replace(good, **change))

    assert (len(flow.github.writes), flow.there(f"run-{issue.number}.json")) == before
    assert flow.memory() == ""
    assert [ref for ref in flow.shop.git.refs() if "issue-" in ref] == []


def test_a_base_that_left_the_default_branch_is_refused(flow: Workflow) -> None:
    issue = flow.labelled()
    good = flow.made(issue)
    flow.shop.git.git("update-ref", "refs/heads/kept", "main")
    flow.shop.git.git("update-ref", "refs/heads/main", flow.shop.git.commit("other", {"a": "b"}, "Other", onto=None))

    with pytest.raises(BundleRefused, match="default branch"):
        flow.publish(good)


@pytest.mark.parametrize(
    "said", ["@everyone look here", "drop: [look](https://evil.example)", "verify: worked", "drop"]
)
def test_an_ending_that_is_none_is_refused(flow: Workflow, said: str) -> None:
    issue = flow.labelled()
    bundle = flow.made(issue, state=BundleState.ENDED, said=said)
    before = len(flow.github.writes)

    with pytest.raises(BundleRefused, match="names no ending"):
        flow.publish(bundle)

    assert len(flow.github.writes) == before


def test_endings_of_other_runs_and_tickets_never_reach_the_memory(flow: Workflow) -> None:
    flow.labelled()
    flow.receive()
    bundle = flow.work(Script.of(**DROPS))
    assert isinstance(bundle, Bundle)
    (line,) = [json.loads(one) for one in bundle.log.splitlines() if '"final":true' in one]
    verified = {"kind": "verify", "body": {"outcome": "worked"}, "evidence": "ci"}
    forged = [
        {**line, "id": "f1", "run": "000000000000"},
        {**line, "id": "f2", "ticket": "issue:999"},
        {**line, **verified, "id": "f3", "final": False},
    ]
    log = bundle.log + "".join(f"{json.dumps(one)}\n" for one in forged)

    flow.publish(replace(bundle, log=log))

    assert flow.memory() == bundle.log


def test_words_in_a_bundle_are_shown_as_quoted_text_only(flow: Workflow) -> None:
    issue = flow.labelled()
    said = {"text": "Closes #1 and thanks @octocat\n# Heading"}
    facts = (Carried(kind="summarised", at=flow.github.state.now(), step="publish", attempt=1, data=said),)

    flow.publish(flow.made(issue, trail=Trail(facts=facts)))

    (pull,) = flow.pulls()
    assert "Closes #1" not in pull.body
    assert "@octocat" not in pull.body
    assert "\n# Heading" not in pull.body


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{", '{"version": 2}', '{"repository": 1, "number": 1, "state": "danced"}',
        '{"repository": 1, "number": -1, "state": "ended"}',
        '{"repository": 1, "number": 1, "state": "ended", "run": "x"}',
        '{"repository": 1, "number": 1, "state": "ended", "base": "--upload-pack=x"}',
        '{"repository": 1, "number": 1, "state": "ended", "generation": -1}',
    ],
)  # fmt: skip
def test_a_file_that_is_no_bundle_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "b").write_text(text)

    with pytest.raises(BundleUnusable):
        read_bundle(tmp_path / "b")


def test_a_bundle_that_is_missing_or_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BundleUnusable, match="No such file"):
        read_bundle(tmp_path / "none")
    write_bundle(tmp_path / "b", Bundle(repository=1, number=1, state=BundleState.ENDED))
    monkeypatch.setattr("bot.ci.bundle.BUNDLE_AT_MOST", 10)
    with pytest.raises(BundleUnusable, match="more than 10 bytes"):
        read_bundle(tmp_path / "b")


@pytest.mark.parametrize("kind", ["asked", "danced", "summarised"])
def test_a_fact_of_another_kind_is_refused(flow: Workflow, kind: str) -> None:
    issue = flow.labelled()
    facts = (Carried(kind=kind, at=flow.github.state.now(), step="x", attempt=1, data={"text": 7}),)
    bundle = flow.made(issue, trail=Trail(facts=facts))
    before = len(flow.github.writes)

    with pytest.raises(TrailUnusable):
        flow.publish(bundle)

    assert len(flow.github.writes) == before


@pytest.mark.parametrize(("name", "result"), [("danced", "{}"), ("gate", "no JSON")])
def test_a_step_that_is_none_is_refused(flow: Workflow, name: str, result: str) -> None:
    issue = flow.labelled()
    steps = (step(name, result, flow),)

    with pytest.raises(TrailUnusable):
        flow.publish(flow.made(issue, trail=Trail(steps=steps)))

    assert flow.pulls() == []


def test_sec_7_a_secret_in_what_a_step_gave_never_reaches_the_branch(flow: Workflow) -> None:
    issue = flow.labelled()
    secret = "ghp_" + "a1B2c3D4e5" * 4

    flow.publish(flow.made(issue, trail=Trail(steps=(step("diagnose", json.dumps({"cause": secret}), flow),))))

    there = flow.there(f"run-{issue.number}.json")
    assert "diagnose" in there
    assert secret not in there


def step(name: str, result: str, flow: Workflow) -> CarriedStep:
    now = flow.github.state.now()
    return CarriedStep(generation=1, name=name, attempt=1, result=result, started=now, finished=now)


# --- The event and the command -------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [None, "", "[]", '{"a": 1, "a": 2}'])
def test_an_event_that_cannot_be_read_is_told(flow: Workflow, tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "event.json"
    if text is not None:
        path.write_text(text)

    with pytest.raises(NoEvent, match="GITHUB_EVENT_PATH"):
        asked("issues", path, flow.settings().app, flow.github.state.now())


def call(flow: Workflow, *arguments: str, **variables: str) -> click.testing.Result:
    settings = flow.settings()
    name, path = flow.event()
    environment = {
        "HOME": str(flow.folder), "TICKETSMITH_HOME": str(settings.home), "TICKETSMITH_APP_BASE_URL": flow.github.url,
        "GITHUB_EVENT_PATH": str(path), "GITHUB_EVENT_NAME": name, "GITHUB_TOKEN": "", **variables,
    }  # fmt: skip
    return click.testing.CliRunner(env=environment).invoke(ticketsmith, ["ci", *arguments])


def test_the_command_does_nothing_for_an_event_that_asks_for_nothing(flow: Workflow) -> None:
    flow.github.people.label(flow.shop, flow.labelled(), flow.ada, "bug")

    done = call(flow)

    assert (done.exit_code, done.output) == (0, "Nothing to do: ignored: another label\n")
    others = [call(flow, *arguments) for arguments in (("publish", "no-bundle"), ("receive",), ("look",))]
    assert [one.output for one in others] == [done.output] * 3


def test_a_look_around_needs_to_be_told_the_issue_before_anything_is_received(flow: Workflow) -> None:
    flow.given("schedule", {"schedule": "17 4 * * *"})
    repository, token = str(flow.checkout().folder), flow.github.ci_token(flow.shop, RECEIVES)
    here = {"GITHUB_REPOSITORY": flow.shop.full_name, "GITHUB_REPOSITORY_ID": str(flow.shop.id)}

    looked = call(flow, "look", "--repo", repository, GITHUB_TOKEN=token, **here)
    received = call(flow, "receive", "--repo", repository, GITHUB_TOKEN=token, **here)

    assert (looked.exit_code, looked.output) == (0, "Looked around: issues []\n")
    assert received.exit_code == 2
    assert "`--issue` does" in received.output


def test_an_event_by_time_that_names_no_repository_is_nothing_to_do(flow: Workflow) -> None:
    flow.given("schedule", {"schedule": "17 4 * * *"})

    assert flow.job() == Nothing(why="ignored: The payload cannot be read: repository is missing")


def test_a_job_that_left_no_bundle_is_told_by_the_command(flow: Workflow) -> None:
    issue = flow.labelled()
    flow.receive()
    token = flow.github.ci_token(flow.shop, WRITES)

    done = call(flow, "publish", "none.json", "--repo", str(flow.checkout().folder), GITHUB_TOKEN=token)
    over = call(flow, "--repo", str(flow.checkout().folder), "--issue", "99", GITHUB_TOKEN=token)

    assert (done.exit_code, done.output) == (0, f"{LEFT_NOTHING[0].upper()}{LEFT_NOTHING[1:]}\n")
    assert "ended without a result" in flow.said(issue)[0]
    assert (over.exit_code, over.output) == (0, "Nothing to do: its run is over\n")


def test_a_limit_of_github_makes_the_job_one_that_can_be_run_again(flow: Workflow) -> None:
    flow.labelled()
    body = {"message": "API rate limit exceeded for installation ID 1."}
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "32503680000"}
    flow.github.fault("GET .*/issues/[0-9]+$", times=99, status=403, body=body, headers=headers)
    token = flow.github.ci_token(flow.shop, RECEIVES)

    done = call(flow, "receive", "--repo", str(flow.checkout().folder), GITHUB_TOKEN=token)

    assert done.exit_code == 75
    assert "Not now: rate-limit. Run this job again after" in done.output


def test_the_command_wants_a_token(flow: Workflow) -> None:
    flow.labelled()

    done = call(flow)

    assert done.exit_code == 2
    assert "give the job the variable GITHUB_TOKEN" in done.output


def test_the_commands_take_an_event_from_label_to_pull_request(flows: Callable[..., Workflow]) -> None:
    till = {"till.py": "def total(a, b):\n    return a - b\n", "test_till.py": TEST, ".github/ticketsmith.toml": CHECKS}
    flow = flows(files=till)
    issue = flow.labelled("The total is wrong", body="test_till.py::test_total fails.")
    repository, bundle, output = flow.checkout().folder, flow.folder / "b.json", flow.folder / "output"
    here = ["--repo", str(repository)]
    options = [*here, "--bundle", str(bundle), "--model", "offline/repair", "--sandbox", "plain"]
    tells = {"GITHUB_OUTPUT": str(output), "GITHUB_RUN_ID": "99"}

    looked = call(flow, "look", *here, GITHUB_TOKEN=flow.github.ci_token(flow.shop, LOOKS), **tells)
    received = call(flow, "receive", *here, GITHUB_TOKEN=flow.github.ci_token(flow.shop, RECEIVES), **tells)
    token = flow.github.ci_token(flow.shop, READS)
    worked = call(flow, *options, GITHUB_TOKEN=token)
    published = call(flow, "publish", str(bundle), *here, GITHUB_TOKEN=flow.github.ci_token(flow.shop, WRITES))

    assert (looked.exit_code, received.exit_code) == (0, 0), looked.output + received.output
    assert output.read_text() == f"issues=[{issue.number}]\naside=\nstops=false\nwork=true\n"
    assert (worked.exit_code, "Published" in worked.output) == (0, True), worked.output
    assert (published.exit_code, published.output) == (0, f"Published: #{flow.pulls()[0].number}\n")
    assert flow.shop.git.git("show", f"ticketsmith/issue-{issue.number}:till.py").endswith("a + b")
    assert token not in bundle.read_text()


TEST: Final = "from till import total\n\n\ndef test_total():\n    assert total(2, 3) == 5\n"
CHECKS: Final = "[checks.unit]\npytest = []\n"
