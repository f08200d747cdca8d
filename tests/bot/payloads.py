"""Payloads as GitHub sends them, cut to what is read, and the real ones where they are at hand."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from bot.intake import Event, Own

REAL: Final = Path(__file__).parents[3] / "shared" / "data" / "github" / "webhooks.jsonl"
NOW: Final = datetime(2026, 11, 3, 9, 30, tzinfo=UTC)
SHA: Final = "4be1f0a2c4d6e8f00112233445566778899aabbc"
OWN: Final = Own(label="ticketsmith", app=77, bot=900, allowed_bots=frozenset({901}))
MIRA: Final = {"id": 11, "login": "mira", "type": "User"}
BOT: Final = {"id": 902, "login": "helper[bot]", "type": "Bot"}
ALLOWED_BOT: Final = {"id": 901, "login": "triage[bot]", "type": "Bot"}
OURSELVES: Final = {"id": 900, "login": "ticketsmith[bot]", "type": "Bot"}
REPOSITORY: Final = {"id": 5, "full_name": "acme/till", "default_branch": "trunk"}


def real() -> Iterator[Mapping[str, Any]]:
    """Real events: `event`, `action`, `payload`."""
    with REAL.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def event(name: str, payload: Mapping[str, object], app: int | None = None) -> Event:
    return Event(name=name, payload=payload, received=NOW, app=app)


def around(**more: object) -> dict[str, object]:
    return {"repository": REPOSITORY, "installation": {"id": 9}, "sender": MIRA, **more}


def issue(*labels: str, **more: object) -> dict[str, object]:
    return {
        "number": 7,
        "title": "Ten cups are too dear",
        "body": "It says 100.00.",
        "user": MIRA,
        "labels": [{"name": label} for label in labels],
        "state": "open",
        "updated_at": "2026-11-03T09:00:00Z",
        "closed_at": None,
        **more,
    }


def labeled(label: str = "ticketsmith", **more: object) -> Event:
    payload = {"action": "labeled", "label": {"name": label}, "issue": issue("bug", "ticketsmith")}
    return event("issues", around(**{**payload, **more}))


def issue_event(action: str, *labels: str, **more: object) -> Event:
    return event("issues", around(**{"action": action, "issue": issue(*labels), **more}))


def commented(body: str, *labels: str, of: Mapping[str, object] = MIRA, **more: object) -> Event:
    comment = {"id": 31, "body": body, "user": of, "created_at": "2026-11-03T09:10:00Z"}
    payload = {"action": "created", "issue": issue(*labels), "comment": comment, "sender": of}
    return event("issue_comment", around(**{**payload, **more}))


def pull(branch: str = "ticketsmith/issue-7", repository: int | None = 5, **more: object) -> dict[str, object]:
    repo = None if repository is None else {"id": repository}
    return {"number": 8, "head": {"ref": branch, "sha": SHA, "repo": repo}, "merged": False, **more}


def reviewed(state: str, of: Mapping[str, object] = MIRA, **of_pull: Any) -> Event:
    review = {"id": 41, "state": state, "user": of, "submitted_at": "2026-11-03T09:20:00Z"}
    return event("pull_request_review", around(action="submitted", review=review, pull_request=pull(**of_pull)))


def pull_closed(**of_pull: Any) -> Event:
    closed = {"closed_at": "2026-11-03T09:25:00Z", **of_pull}
    return event("pull_request", around(action="closed", pull_request=pull(**closed)))


def suite(conclusion: str, branch: str | None = "ticketsmith/issue-7", app: int = 1) -> Event:
    part = {
        "id": 51, "head_branch": branch, "head_sha": SHA, "conclusion": conclusion, "app": {"id": app},
        "pull_requests": [{"number": 8}],
    }  # fmt: skip
    return event("check_suite", around(action="completed", check_suite=part))


def check(conclusion: str, app: int = 1) -> Event:
    part = {
        "id": 52, "head_sha": SHA, "conclusion": conclusion, "app": {"id": app}, "pull_requests": [],
        "check_suite": {"id": 51, "head_branch": "ticketsmith/issue-7", "head_sha": SHA},
    }  # fmt: skip
    return event("check_run", around(action="completed", check_run=part))


def deployed(state: str, ref: str = "trunk") -> Event:
    status = {"state": state, "created_at": "2026-11-03T09:28:00Z"}
    deployment = {"id": 61, "sha": SHA, "ref": ref, "environment": "staging"}
    return event("deployment_status", around(action="created", deployment_status=status, deployment=deployment))
