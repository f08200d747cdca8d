"""The webhooks of our GitHub look like those that GitHub publishes as examples."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.github_server.fixtures import github
from tests.github_server.github import GitHub

__all__ = ["github"]

EXAMPLES: Final = Path(__file__).parents[2].parent / "shared" / "data" / "github" / "webhooks.jsonl"
# What the intake reads beyond the examples: newer than they are, and described by GitHub.
NEWER: Final = {"installation", "number", "deleted", "performed_via_github_app", "author_association"}
# GitHub writes these as texts since 2021, as its example of a suspension shows; the example is older.
OLDER: Final = ("installation.deleted.installation.created_at", "installation.deleted.installation.updated_at")
DEEP: Final = 3


def examples() -> dict[tuple[str, str], list[Any]]:
    if not EXAMPLES.is_file():
        pytest.skip(f"GitHub's examples of webhooks are not at {EXAMPLES}")
    found: dict[tuple[str, str], list[Any]] = {}
    for line in EXAMPLES.read_text("utf-8").splitlines():
        one = json.loads(line)
        found.setdefault((one["event"], one["payload"].get("action") or ""), []).append(one["payload"])
    return found


def differences(ours: Any, theirs: list[Any], where: str, depth: int = 0) -> Iterator[str]:
    """Values of another kind than in every example that has them."""
    if not isinstance(ours, dict) or depth > DEEP:
        return
    for name, value in ours.items():
        others = [one[name] for one in theirs if isinstance(one, dict) and one.get(name) is not None]
        if value is None or not others:
            continue
        if type(value) not in {type(one) for one in others}:
            yield f"{where}.{name}: {type(value).__name__}, not {type(others[0]).__name__}"
        yield from differences(value, others, f"{where}.{name}", depth + 1)


def act(site: GitHub) -> None:
    """Everything that people do and the examples have."""
    people, till, ada = site.people, site.till, site.ada
    issue = people.issue(till, ada, "Total is wrong", "It is.")
    people.edit(till, issue, ada, body="It still is.")
    people.label(till, issue, ada)
    people.unlabel(till, issue, ada)
    people.comment(till, issue, ada, "/ticketsmith stop")
    people.close(till, issue, ada)
    people.reopen(till, issue, ada)
    people.lock(till, issue, ada)
    sha = people.push(till, "topic", {"a.txt": "a"}, ada)
    pull = people.pull(till, ada, head="topic", title="A topic")
    people.label(till, pull, ada)
    people.push(till, "topic", {"b.txt": "b"}, ada)
    people.review(till, pull, ada, "No")
    people.check(till, sha, "failure")
    people.close(till, pull, ada)
    people.reopen(till, pull, ada)
    people.delete(till, issue, ada)
    people.suspend(71, ada)
    people.uninstall(71, ada)


def test_each_webhook_has_the_fields_and_kinds_of_values_of_githubs_own(github: GitHub) -> None:
    theirs = examples()
    github.hooks.url, github.hooks.down = "http://127.0.0.1:9/", True

    act(github)

    compared, wrong = set(), []
    for delivery in github.state.deliveries:
        key = (delivery.event, delivery.action or "")
        if key not in theirs:
            continue
        compared.add(key)
        missing = set(delivery.payload) - {name for one in theirs[key] for name in one} - NEWER
        wrong += [f"{key} has no {name} on GitHub" for name in missing]
        wrong += differences(delivery.payload, theirs[key], ".".join(key))
    assert [one for one in wrong if not one.startswith(OLDER)] == []
    assert len(compared) >= 14, sorted(compared)
