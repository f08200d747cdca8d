"""Webhooks: signed, sent to one address, and kept as deliveries that can be sent again."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import threading
import uuid
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from tests.github_server.shapes import Shapes
from tests.github_server.state import Check, Comment, Delivery, Deployment, Issue, Person, Repository, Review, State

_SECONDS_AT_MOST = 10.0  # GitHub gives up on an answer after that


@dataclass
class Hooks:
    """`url` and `secret` say where webhooks go; without a url nothing is kept or sent. `down`: nothing arrives."""

    state: State
    shapes: Shapes
    url: str = ""
    secret: str = ""
    down: bool = False
    waiting: list[Delivery] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, event: str, action: str | None, repository: Repository, sender: Person, **parts: object) -> None:
        """Something happened: a delivery of it, sent by the next `flush`."""
        if not self.url:
            return
        installation = self.state.installation_of(repository)
        payload: dict[str, Any] = {"action": action} if action else {}
        for name, part in parts.items():
            payload[name] = self._shown(repository, name, part, parts)
        payload |= {"repository": self.shapes.repository(repository), "sender": self.shapes.person(sender)}
        if event == "push":  # there, and only there, GitHub writes these times as seconds
            at = int(self.state.now().timestamp())
            payload["repository"] |= {"created_at": at, "pushed_at": at}
        number = installation.id if installation else None
        if installation:
            payload["installation"] = {"id": installation.id, "node_id": "MDIz"}
        self.keep(event, action, payload, number, repository.id)

    def keep(
        self, event: str, action: str | None, payload: dict[str, Any], installation: int | None, repository: int | None
    ) -> None:
        """A delivery with any payload."""
        guid, number = str(uuid.uuid4()), self.state.new_id()
        delivery = Delivery(number, guid, event, action, payload, self.state.now(), 0, False, installation, repository)
        with self.lock:
            self.waiting.append(delivery)

    def redeliver(self, one: Delivery) -> None:
        """Send it again, under the same guid."""
        with self.lock:
            again = replace(one, id=self.state.new_id(), at=self.state.now(), status_code=0, redelivery=True)
            self.waiting.append(again)

    def flush(self) -> list[Delivery]:
        """Send what waits, in order."""
        sent: list[Delivery] = []
        while True:
            with self.lock:
                if not self.waiting:
                    return sent
                delivery = self.waiting.pop(0)
            delivery.status_code = 502 if self.down else self._send(delivery)
            self.state.deliveries.append(delivery)
            sent.append(delivery)

    def _send(self, delivery: Delivery) -> int:
        body = json.dumps(delivery.payload).encode()
        where = urlsplit(self.url)
        headers = {
            "content-type": "application/json",
            "user-agent": "GitHub-Hookshot/test",
            "x-github-event": delivery.event,
            "x-github-delivery": delivery.guid,
            "x-github-hook-installation-target-type": "integration",
            "x-hub-signature-256": "sha256=" + hmac.new(self.secret.encode(), body, hashlib.sha256).hexdigest(),
        }
        connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=_SECONDS_AT_MOST)
        try:
            connection.request("POST", where.path or "/", body, headers)
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return 502
        finally:
            connection.close()

    def _shown(self, repository: Repository, name: str, part: object, parts: dict[str, object]) -> Any:
        issue = parts.get("issue") or parts.get("pull_request")
        match part:
            case Issue() if name == "pull_request":
                return self.shapes.pull(repository, part)
            case Issue():
                return self.shapes.issue(repository, part)
            case Comment() if isinstance(issue, Issue):
                return self.shapes.comment(repository, issue, part)
            case Review() if isinstance(issue, Issue):
                # A webhook writes the state of a review in small letters.
                shown = self.shapes.review(repository, issue, part)
                return shown | {"state": str(shown["state"]).lower()}
            case Check():
                return self._check(repository, part)
            case Deployment():
                return self.shapes.deployment(repository, part)
            case Person():
                return self.shapes.person(part)
            case str() if name == "label":
                return self.shapes.label(repository, part)
            case tuple() if name == "deployment_status":
                deployment = parts["deployment"]
                assert isinstance(deployment, Deployment)
                return self.shapes.deployment_state(deployment, *part)
            case _:
                return part

    def _check(self, repository: Repository, check: Check) -> dict[str, Any]:
        """With the pull requests whose head it ran on, and their branch."""
        pulls: list[dict[str, Any]] = []
        branch = None
        for one in repository.issues.values():
            if one.pull and one.pull.head_sha == check.head_sha:
                branch = one.pull.head
                head, base = {"ref": one.pull.head, "sha": one.pull.head_sha}, {"ref": one.pull.base}
                pulls.append({"number": one.number, "id": one.id, "head": head, "base": base})
        suite = {"id": 1, "head_branch": branch, "head_sha": check.head_sha}
        return self.shapes.check(repository, check) | {"pull_requests": pulls, "check_suite": suite}
