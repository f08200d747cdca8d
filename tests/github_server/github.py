"""GitHub on loopback: started, filled, watched, and ended."""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.github_server import rest_app, rest_checks, rest_issues, rest_pulls, rest_repository
from tests.github_server.bare import Bare
from tests.github_server.faults import Fault, Faults
from tests.github_server.hooks import Hooks
from tests.github_server.openapi import complaints
from tests.github_server.people import People
from tests.github_server.routing import Routes
from tests.github_server.server import PREFIX, Exchange, Server, Site
from tests.github_server.shapes import Shapes
from tests.github_server.state import APP_ID, PERMISSIONS, Installation, Person, Repository, State, Token


@cache
def _key() -> tuple[str, str]:
    """A private key for all tests of this process, and its public half."""
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()


class GitHub:
    """A GitHub with an App (id 4242), an account `acme` where it is installed, and one repository `acme/till`.

    `url` is the base address as an Enterprise server has it (`…/api/v3`), `plain_url` as github.com has it, `web` where
    git is served. `key` is the App's private key. `requests` is every request there was.

    One that stood before goes on with `past`, what it knew and was asked, and with its folder and port.
    """

    def __init__(self, folder: Path, *, port: int = 0, past: tuple[State, list[Exchange]] | None = None) -> None:
        self.key, public = _key()
        self.app_id = APP_ID
        self.state, exchanges = past or (State(folder, app_public_key=public), [])
        self._asked_before = len(exchanges)
        self._server = Server(port)
        self.port = self._server.server_port
        self.web = f"http://127.0.0.1:{self.port}"
        self.url, self.plain_url = self.web + PREFIX, self.web
        shapes = Shapes(self.state, self.url, self.web)
        self.hooks, self.faults = Hooks(self.state, shapes), Faults()
        routes = Routes()
        for nouns in (rest_app, rest_issues, rest_pulls, rest_repository, rest_checks):
            nouns.register(routes)
        self._site = self._server.site = Site(self.state, routes, shapes, self.hooks, self.faults, exchanges)
        self.people = People(self.state, self.hooks, self._site.lock)
        self.acme = self.state.person("acme") or self.state.add_person("acme", "Organization")
        self.ada = self.state.person("ada") or self.state.add_person("ada")
        app = Installation(71, self.acme, dict(PERMISSIONS))
        self.installation = self.state.installations.setdefault(app.id, app)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        self.till = self.state.repository("acme/till") or self.repository("till", roles={self.ada: "write"})

    def close(self) -> None:
        """End the server, and every connection that hangs."""
        self._site.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    # --- what there is -----------------------------------------------------------------------------------------------

    def repository(
        self,
        name: str,
        *,
        owner: Person | None = None,
        branch: str = "main",
        files: Mapping[str, str | None] | None = None,
        private: bool = False,
        roles: Mapping[Person, str] | None = None,
    ) -> Repository:
        """A repository with one commit; an empty one where `files` is empty."""
        owner = owner or self.acme
        git = Bare.make(self.state.folder / owner.login / f"{name}.git", branch)
        made = Repository(self.state.new_id(), owner, name, git, private=private, default_branch=branch)
        made.roles = {person.id: role for person, role in (roles or {}).items()}
        made.labels = {"bug": "d73a4a", "ticketsmith": "ededed"}
        self.state.repositories[made.id] = made
        if files is None or files:
            git.commit(branch, files or {"README.md": "# Till\n"}, "Begin")
        return made

    def ci_token(self, repository: Repository, permissions: Mapping[str, str] | None = None) -> str:
        """What a job of GitHub Actions is given as GITHUB_TOKEN."""
        return self._token(self.state.actions_bot, 15_368, repository, permissions or PERMISSIONS)

    def user_token(self, person: Person, repository: Repository) -> str:
        """A person's own token for one repository."""
        return self._token(person, None, repository, PERMISSIONS)

    def _token(self, actor: Person, app: int | None, repository: Repository, permissions: Mapping[str, str]) -> str:
        value = "ghs_" + secrets.token_hex(20)
        self.state.tokens[value] = Token(
            value,
            actor,
            app,
            0,
            {repository.id},
            {"metadata": "read", **permissions},
            self.state.now() + timedelta(days=1),
        )
        return value

    # --- what goes wrong ---------------------------------------------------------------------------------------------

    def fault(self, match: str, **how: object) -> Fault:
        """The next request that fits goes wrong: see `Fault`."""
        return self.faults.add(Fault(match, **how))  # type: ignore[arg-type]

    def clock(self, *, ahead: timedelta) -> None:
        """From now on GitHub's clock is that far ahead of ours."""
        self.state.now = lambda: datetime.now(UTC) + ahead

    # --- what was asked ----------------------------------------------------------------------------------------------

    @property
    def requests(self) -> list[Exchange]:
        return self._site.exchanges

    def asked(self, match: str) -> list[Exchange]:
        """Requests whose `VERB /path` fits."""
        return [one for one in self.requests if re.fullmatch(match, one.line)]

    @property
    def writes(self) -> list[Exchange]:
        """Requests that change something, tokens and GraphQL apart."""
        quiet = re.compile(r".*/(access_tokens|graphql|git-upload-pack|git-receive-pack)")
        return [one for one in self.requests if one.verb not in ("GET", "HEAD") and not quiet.fullmatch(one.path)]

    @property
    def api_requests(self) -> int:
        """How many requests there were beside git."""
        return sum(1 for one in self.requests if not one.git)

    def complaints(self) -> list[str]:
        """What does not fit GitHub's description, in requests and in our own answers, and what it does not know.

        Of the past, the one that stood then complained.
        """
        found = []
        for one in self.requests[self._asked_before :]:
            if one.git or one.fault or one.path.endswith("graphql"):
                continue
            if not one.known:
                found.append(f"no such operation: {one.line}")
            elif one.status:
                found += complaints(one.verb, one.path, one.query, one.body, one.status, one.reply)
        return found
