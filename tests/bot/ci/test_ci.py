"""The CI mode: a job that can write nothing works, a job that runs nothing publishes, and a branch remembers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click.testing
import pytest

from bot.ci.bundle import Bundle, BundleState, BundleUnusable, Carried, read_bundle, write_bundle
from bot.ci.job import NoEvent, Nothing, asked
from bot.ci.publishing import BundleRefused
from bot.cli import ticketsmith
from stages.errors import ParkCause
from stages.prompt import EntryPoint
from tests.bot.ci.workflow import GOOD, READS, WRITES, Workflow
from tests.bot.kit import Script, writes

DROPS: Final[dict[str, Any]] = {"develop": {"summary": "I found nothing."}, "refix": {"summary": "I found nothing."}}


# --- Work, publish, remember ---------------------------------------------------------------------------------------


def test_a_label_leads_to_a_draft_pull_request_through_a_job_that_cannot_write(flow: Workflow) -> None:
    issue = flow.labelled()

    bundle = flow.work()
    before = list(flow.github.writes)
    said = flow.publish()

    assert (bundle.state, before) == (BundleState.PUBLISHED, [])
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
    flow.work(Script.of(develop=writes(text="4\n"), refix=writes(text="3\n")))
    flow.publish()
    flow.github.people.comment(flow.shop, issue, flow.ada, "/ticketsmith requeue mind the cents")
    script = Script.of()

    flow.work(script)

    kinds = [json.loads(line)["kind"] for line in flow.memory().splitlines()]
    assert sorted(kinds) == ["hold", "pass-after-hold", "refix"]
    developing = [prompt for prompt in script.prompts if prompt.entry_point is EntryPoint.DEVELOP]
    assert "[ticketsmith:lessons] 3 of 3" in developing[0].section
    assert ".gitattributes" in flow.shop.git.git("ls-tree", "--name-only", "ticketsmith/memory")


def test_a_second_run_of_an_issue_goes_on_on_its_own_branch_and_pull_request(flow: Workflow) -> None:
    issue = flow.labelled()
    flow.publish(flow.made(issue))
    first = flow.shop.git.head(f"ticketsmith/issue-{issue.number}")
    flow.github.people.comment(flow.shop, issue, flow.ada, "/ticketsmith requeue say it in a note too")

    flow.publish(flow.made(issue, run="DC6D8RKZRPTX", diff=GOOD + NOTE.replace("on: push", "3")))

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
    flow.github.people.label(flow.shop, issue, flow.ada)

    flow.publish(bundle)

    assert flow.shop.git.head(f"ticketsmith/issue-{issue.number}") == theirs
    assert "hands off" in flow.said(issue)[-1]


def test_a_run_that_ends_without_a_patch_says_so_and_is_remembered(flow: Workflow) -> None:
    issue = flow.labelled()
    bundle = flow.work(Script.of(**DROPS))

    said = flow.publish()

    assert (bundle.state, bundle.diff) == (BundleState.ENDED, "")
    assert said == f"ended: {bundle.said}"
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

    flow.work(script)
    flow.publish()

    assert any("mind the cents" in prompt.body for prompt in script.prompts)
    assert len(flow.pulls()) == 1


# --- Who may ask ---------------------------------------------------------------------------------------------------


def test_r10_a_person_who_may_not_ask_gets_a_line_and_no_red_job(flow: Workflow) -> None:
    bob = flow.github.state.add_person("bob")
    flow.shop.roles[bob.id], flow.bob = "triage", bob
    issue = flow.github.people.issue(flow.shop, bob, "The price is wrong", "It says 1.")
    flow.github.people.label(flow.shop, issue, bob)

    bundle = flow.work()
    said = flow.publish()

    assert (bundle.state, bundle.tell) == (BundleState.REFUSED, True)
    assert said == "refused: this needs write permission in the repository"
    assert "this needs write permission" in flow.said(issue)[0]


def test_a_label_that_is_gone_before_the_patch_is_published_stops_it(flow: Workflow) -> None:
    issue = flow.labelled()
    event = flow.event()
    flow.github.people.unlabel(flow.shop, issue, flow.ada)
    flow.fixed = event  # the job still has the event that began it

    said = flow.publish(flow.made(issue))

    assert said == "no longer wanted: the label is gone"
    assert flow.github.writes == []


def test_f39_whoever_lost_the_right_to_write_meanwhile_gets_nothing_published(flow: Workflow) -> None:
    issue = flow.labelled()
    flow.shop.roles[flow.ada.id] = "read"

    assert flow.publish(flow.made(issue)).startswith("no longer wanted: this needs write permission")
    assert flow.github.writes == []


@pytest.mark.parametrize(
    ("act", "why"),
    [
        (lambda flow, issue: flow.github.people.unlabel(flow.shop, issue, flow.ada), "does no stop"),
        (lambda flow, issue: flow.github.people.close(flow.shop, issue, flow.ada), "does no closed"),
        (lambda flow, issue: flow.github.people.comment(flow.shop, issue, flow.ada, "/ticketsmith why"), "does no why"),
        (lambda flow, issue: flow.github.people.label(flow.shop, issue, flow.ada, "bug"), "another label"),
    ],
    ids=["unlabel", "close", "why", "another label"],
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
        ({"base": "0" * 40}, "no commit of the default branch"),
        ({"base": ""}, "no commit of the default branch"),
        ({"run": ""}, "names no run"),
    ],
)
def test_r65_a_bundle_that_says_something_else_is_refused_and_nothing_is_written(
    flow: Workflow, change: dict[str, Any], reason: str
) -> None:
    issue = flow.labelled()

    with pytest.raises(BundleRefused, match=reason):
        flow.publish(flow.made(issue, **change))

    assert flow.github.writes == []
    assert flow.memory() == ""
    assert [ref for ref in flow.shop.git.refs() if "ticketsmith" in ref] == []


def test_a_base_on_another_branch_is_refused(flow: Workflow) -> None:
    issue = flow.labelled()
    elsewhere = flow.github.people.push(flow.shop, "feature", {"price.txt": "2\n"}, flow.ada)

    with pytest.raises(BundleRefused, match="default branch"):
        flow.publish(flow.made(issue, base=elsewhere))


@pytest.mark.parametrize(
    "said", ["@everyone look here", "drop: [look](https://evil.example)", "verify: worked", "drop"]
)
def test_an_ending_that_is_none_is_refused(flow: Workflow, said: str) -> None:
    issue = flow.labelled()

    with pytest.raises(BundleRefused, match="names no ending"):
        flow.publish(flow.made(issue, state=BundleState.ENDED, said=said))

    assert flow.github.writes == []


def test_r65_words_of_a_bundle_that_refuses_are_never_said(flow: Workflow) -> None:
    issue = flow.labelled()

    said = flow.publish(flow.made(issue, state=BundleState.REFUSED, said="pay [here](https://evil.example)", tell=True))

    assert "nothing is told" in said
    assert flow.github.writes == []


def test_endings_of_other_runs_and_tickets_never_reach_the_memory(flow: Workflow) -> None:
    flow.labelled()
    bundle = flow.work(Script.of(**DROPS))
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

    flow.publish(flow.made(issue, facts=facts))

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

    with pytest.raises(BundleUnusable):
        flow.publish(flow.made(issue, facts=facts))

    assert flow.github.writes == []


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
    assert call(flow, "publish", "no-bundle").exit_code == 0


def test_the_command_wants_a_token(flow: Workflow) -> None:
    flow.labelled()

    done = call(flow)

    assert done.exit_code == 2
    assert "give the job the variable GITHUB_TOKEN" in done.output


def test_the_commands_take_an_event_from_label_to_pull_request(flows: Callable[..., Workflow]) -> None:
    till = {"till.py": "def total(a, b):\n    return a - b\n", "test_till.py": TEST, ".github/ticketsmith.toml": CHECKS}
    flow = flows(files=till)
    issue = flow.labelled("The total is wrong", body="test_till.py::test_total fails.")
    repository, bundle = flow.checkout().folder, flow.folder / "b.json"
    options = ["--repo", str(repository), "--bundle", str(bundle), "--model", "offline/repair", "--sandbox", "plain"]
    token = flow.github.ci_token(flow.shop, READS)

    worked = call(flow, *options, GITHUB_TOKEN=token)
    token = flow.github.ci_token(flow.shop, WRITES)
    published = call(flow, "publish", str(bundle), "--repo", str(repository), GITHUB_TOKEN=token)

    assert (worked.exit_code, "Published" in worked.output) == (0, True), worked.output
    assert (published.exit_code, published.output) == (0, f"Published: #{flow.pulls()[0].number}\n")
    assert flow.shop.git.git("show", f"ticketsmith/issue-{issue.number}:till.py").endswith("a + b")
    assert token not in bundle.read_text()


TEST: Final = "from till import total\n\n\ndef test_total():\n    assert total(2, 3) == 5\n"
CHECKS: Final = "[checks.unit]\npytest = []\n"
