"""Answers that GitHub really gave, recorded by others: they can be read, and our GitHub answers alike."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from bot.forge import parsing
from tests.github_server.fixtures import github
from tests.github_server.github import GitHub
from tests.github_server.openapi import operation_of

__all__ = ["github"]

RECORDED: Final = Path(__file__).parents[3].parent / "shared" / "data" / "github" / "rest_exchanges.jsonl"
HERE: Final = "/repos/{owner}/{repo}"
# Which answers hold what, and a field that those have which were not shortened when they were recorded.
READ_AS: Final[dict[str, tuple[Callable[[Any], object], str]]] = {
    f"GET {HERE}/issues": (parsing.issue, "labels"),
    f"GET {HERE}/issues/{{issue_number}}": (parsing.issue, "labels"),
    f"GET {HERE}/issues/{{issue_number}}/comments": (parsing.comment, "user"),
    f"POST {HERE}/issues/{{issue_number}}/comments": (parsing.comment, "user"),
    f"GET {HERE}/pulls/{{pull_number}}": (parsing.pull, "head"),
    f"PATCH {HERE}/pulls/{{pull_number}}": (parsing.pull, "head"),
    f"GET {HERE}/commits/{{ref}}/check-runs": (parsing.check, "head_sha"),
    f"POST {HERE}/check-runs": (parsing.check, "head_sha"),
    "GET /app/installations": (parsing.installation, "account"),
    "GET /app/installations/{installation_id}": (parsing.installation, "account"),
    "GET /users/{username}": (parsing.account, "login"),
}


def recorded() -> Iterator[tuple[str, Any]]:
    """Operations and their JSON, of those that went well."""
    if not RECORDED.is_file():
        pytest.skip(f"the recorded exchanges are not at {RECORDED}")
    for line in RECORDED.read_text("utf-8").splitlines():
        exchange = json.loads(line)
        path = urlsplit(exchange["url"]).path.removeprefix("/api/v3")
        operation = operation_of(exchange["verb"], path)
        if operation is None or int(exchange["status"]) >= 300 or not exchange["body"]:
            continue
        try:
            yield f"{operation.verb} {operation.template}", json.loads(exchange["body"])
        except ValueError:
            continue


def items(answer: Any) -> list[Any]:
    if isinstance(answer, dict) and "check_runs" in answer:
        answer = answer["check_runs"]
    return answer if isinstance(answer, list) else [answer]


def test_answers_that_github_really_gave_can_be_read() -> None:
    read: Counter[str] = Counter()

    for operation, answer in recorded():
        if operation in READ_AS:
            reader, whole = READ_AS[operation]
            for item in items(answer):
                if whole in item:
                    parsing.shaped(reader, item)
                    read[operation] += 1

    assert read.keys() == READ_AS.keys()
    assert sum(read.values()) > 100


def test_our_github_answers_with_the_same_kinds_of_values(github: GitHub) -> None:
    shapes, till = github._site.shapes, github.till
    issue = github.people.issue(till, github.ada, "Total is wrong", "It is.", ("bug",))
    comment = github.people.comment(till, issue, github.ada, "Yes")
    sha = github.people.push(till, "topic", {"a.txt": "a"}, github.ada)
    pull = github.people.pull(till, github.ada, head="topic", title="A topic")
    ours = {
        f"GET {HERE}": shapes.repository(till),
        f"GET {HERE}/issues/{{issue_number}}": shapes.issue(till, issue),
        f"GET {HERE}/issues/{{issue_number}}/comments": shapes.comment(till, issue, comment),
        f"GET {HERE}/pulls/{{pull_number}}": shapes.pull(till, pull),
        f"GET {HERE}/check-runs/{{check_run_id}}": shapes.check(till, github.people.check(till, sha, "failure")),
        "GET /app/installations/{installation_id}": shapes.installation(github.installation),
    }
    compared: Counter[str] = Counter()

    for operation, answer in recorded():
        for item in items(answer):
            for name, value in ours.get(operation, {}).items():
                theirs = item.get(name) if isinstance(item, dict) else None
                if theirs is not None and value is not None:
                    assert type(theirs) is type(value), f"{operation}: {name}"
                    compared[operation] += 1

    assert compared.keys() == ours.keys()
    assert sum(compared.values()) > 500
