"""`ticketsmith ci`: the event of a job, and the commands that take it from label to pull request."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import click.testing
import pytest

from bot.ci.job import NoEvent, Nothing, asked
from bot.ci.publishing import LEFT_NOTHING
from bot.cli import ticketsmith
from tests.bot.ci.workflow import LOOKS, READS, RECEIVES, WRITES, Workflow


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
