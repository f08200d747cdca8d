"""What our App asks of GitHub: a name, the permissions that it uses, and the events that it reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

PERMISSIONS: Final[Mapping[str, str]] = {
    "metadata": "read",  # every App has it
    "contents": "write",  # reads the repository, pushes its own branch
    "issues": "write",  # reads tickets, keeps one comment and the labels of its own
    "pull_requests": "write",  # opens its draft, answers reviews
    "checks": "write",  # one check run with the gate's evidence on its own commits; reads whether CI is red there
    "deployments": "read",  # whether what was merged went out well
}
NEVER: Final = ("workflows", "administration", "actions", "secrets")
"""With one of these the App could change what judges its work, or read what it must never see."""
EVENTS: Final = (
    "check_run",
    "check_suite",
    "deployment_status",
    "issue_comment",
    "issues",
    "pull_request",
    "pull_request_review",
    "repository",
)
"""Beside those of its installation, which every App is sent."""
ALWAYS_SENT: Final = frozenset({"installation", "installation_repositories"})

_ABOUT: Final = "Fixes tickets, and does not repeat its mistakes: its memory is written and chosen by code."


def manifest(*, name: str, page: str, webhook: str, created: str) -> str:
    """JSON of the manifest. `page` is shown with the App, `webhook` takes its events, `created` takes the code."""
    return json.dumps(
        {
            "name": name,
            "url": page,
            "description": _ABOUT,
            "hook_attributes": {"url": webhook, "active": True},
            "redirect_url": created,
            "public": False,
            "default_permissions": dict(PERMISSIONS),
            "default_events": list(EVENTS),
        }
    )
