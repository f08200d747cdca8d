"""Git over smart HTTP, by git's own `http-backend`."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from typing import Final

from tests.github_server.state import Repository

PATH: Final = re.compile(
    r"/(?P<owner>[^/]+)/(?P<name>[^/]+?)\.git(?P<rest>/(?:info/refs|git-upload-pack|git-receive-pack))"
)


def writes(path: str, query: str) -> bool:
    """True for requests of a push."""
    return path.endswith("git-receive-pack") or "service=git-receive-pack" in query


def serve(
    repository: Repository, verb: str, rest: str, query: str, headers: Mapping[str, str], body: bytes, user: str
) -> tuple[int, list[tuple[str, str]], bytes]:
    """What git answers: status, headers, body."""
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "GIT_PROJECT_ROOT": str(repository.git.path),
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "PATH_INFO": rest,
        "QUERY_STRING": query,
        "REQUEST_METHOD": verb,
        "CONTENT_TYPE": headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(body)),
        "REMOTE_USER": user,
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_CONTENT_ENCODING": headers.get("content-encoding", ""),
        "GIT_PROTOCOL": headers.get("git-protocol", ""),
    }
    done = subprocess.run(["git", "http-backend"], input=body, env=environment, capture_output=True, check=False)
    head, _, content = done.stdout.partition(b"\r\n\r\n")
    found = [tuple(line.split(": ", 1)) for line in head.decode().split("\r\n") if ": " in line]
    status = next((int(value.split()[0]) for name, value in found if name.lower() == "status"), 200)
    return status, [(name, value) for name, value in found if name.lower() != "status"], content
