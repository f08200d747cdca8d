"""Git over smart HTTP, by git's own `upload-pack` and `receive-pack`."""

from __future__ import annotations

import re
import subprocess
import zlib
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qs

from tests.github_server.state import Repository

PATH: Final = re.compile(
    r"/(?P<owner>[^/]+)/(?P<name>[^/]+?)\.git(?P<rest>/(?:info/refs|git-upload-pack|git-receive-pack))"
)
_SERVICES: Final = ("git-upload-pack", "git-receive-pack")
_V2: Final = b"000eversion 2\n"
_FLUSH: Final = b"0000"
_ABILITIES: dict[tuple[bytes, str], bytes] = {}  # what git said of itself, by the settings of a repository


def writes(path: str, query: str) -> bool:
    """True for requests of a push."""
    return path.endswith("git-receive-pack") or "service=git-receive-pack" in query


def serve(
    repository: Repository, verb: str, rest: str, query: str, headers: Mapping[str, str], body: bytes, user: str
) -> tuple[int, list[tuple[str, str]], bytes]:
    """What git answers: status, headers, body."""
    asks = rest == "/info/refs"
    service = parse_qs(query).get("service", [""])[0] if asks else rest.removeprefix("/")
    if service not in _SERVICES or verb != ("GET" if asks else "POST"):
        return 403, [("content-type", "text/plain")], b"Unsupported service"
    protocol = headers.get("git-protocol", "")
    if asks:
        content = _announced(repository, service, protocol, user)
    else:
        given = zlib.decompress(body, 31) if headers.get("content-encoding") == "gzip" else body
        content = _asked(repository, service, protocol, user, given)
    kind = f"application/x-{service}-{'advertisement' if asks else 'result'}"
    return 200, [("content-type", kind), ("cache-control", "no-cache, max-age=0, must-revalidate")], content


def _announced(repository: Repository, service: str, protocol: str, user: str) -> bytes:
    """What a service begins with: its refs, or in version 2 of the protocol only what it can do."""
    key = ((repository.git.path / "config").read_bytes(), protocol)
    if service == "git-upload-pack" and key in _ABILITIES:
        return _ABILITIES[key]
    told = _asked(repository, service, protocol, user, b"", "--http-backend-info-refs")
    if not told.startswith(_V2):
        head = f"# service={service}\n"
        return f"{len(head) + 4:04x}{head}".encode() + _FLUSH + told
    return _ABILITIES.setdefault(key, told)


def _asked(repository: Repository, service: str, protocol: str, user: str, given: bytes, *how: str) -> bytes:
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_PROTOCOL": protocol,
        "GIT_COMMITTER_NAME": user,
        "GIT_COMMITTER_EMAIL": f"{user}@http.127.0.0.1",
    }
    command = ["git", service.removeprefix("git-"), "--stateless-rpc", *how, str(repository.git.path)]
    return subprocess.run(command, input=given, env=environment, capture_output=True, check=False).stdout
