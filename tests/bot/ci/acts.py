"""What happens on GitHub to the patches of jobs, and what comes of them there."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

from tests.bot.ci.workflow import Workflow
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


def red(flow: Workflow, sha: str, branch: str, **changes: Any) -> None:
    """A workflow of the repository ends red on this commit."""
    flow.github.people.check(flow.shop, sha, "failure", "tests")
    here = {"id": flow.shop.id, "full_name": flow.shop.full_name}
    run = {"id": 9, "head_branch": branch, "head_sha": sha, "conclusion": "failure", "head_repository": here}
    sender = {"id": 41_898_282, "login": "github-actions[bot]", "type": "Bot"}
    shown = {"action": "completed", "workflow_run": {**run, **changes}, "repository": here, "sender": sender}
    flow.given("workflow_run", shown)


def at_night(flow: Workflow) -> None:
    flow.given("schedule", {"schedule": "17 4 * * *", "repository": {"id": flow.shop.id, "full_name": "acme/shop"}})


def age(flow: Workflow, issue: Issue, by: timedelta) -> None:
    """Time passes: all that the branch says of the run is older."""
    text = json.loads(flow.there(f"run-{issue.number}.json"))
    for row in (text["run"], *text["trail"]["steps"]):
        for name in ("updated", "finished"):
            if row.get(name):
                row[name] = older(row[name], by)
    name = f"run-{issue.number}.json"
    flow.shop.git.commit("ticketsmith/memory", {name: json.dumps(text)}, "Older", onto=None)


def changed(flow: Workflow, issue: Issue, part: str, field: str, value: object) -> None:
    """Somebody edits by hand what the branch says of the run."""
    name = f"run-{issue.number}.json"
    text = json.loads(flow.there(name))
    text[part][field] = value
    flow.shop.git.commit("ticketsmith/memory", {name: json.dumps(text)}, "By hand", onto=None)


def older(moment: str, by: timedelta) -> str:
    return (datetime.fromisoformat(moment) - by).isoformat()
