"""A credential goes to one address, by no command line, environment, address or file (requirements S 15, 16)."""

from __future__ import annotations

import http.server
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from stages.git import Git
from stages.mirror import Mirror
from stages.remote import Remote, RemoteFault
from stages.repository import Repository
from tests.stages.repositories import git, make

TOKEN = "ghs-canary-4be1f0a97b1d90c2"
HEADER = f"Authorization: Basic {TOKEN}"
PLAIN_GIT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}


@dataclass
class Seen:
    """What a host was told, and where else the token stood while it was asked."""

    address: str = ""
    headers: list[dict[str, str]] = field(default_factory=list)
    shown: set[str] = field(default_factory=set)

    def told(self) -> bool:
        return any(TOKEN in str(headers) for headers in self.headers)


@contextmanager
def host() -> Iterator[Seen]:
    seen = Seen()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.headers.append(dict(self.headers.items()))
            for name in ("cmdline", "environ"):
                if any(TOKEN.encode() in _read(path) for path in Path("/proc").glob(f"[0-9]*/{name}")):
                    seen.shown.add(name)
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    seen.address = f"http://127.0.0.1:{server.server_port}/"
    try:
        yield seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def push(repository: Repository, remote: Remote) -> object:
    return remote.push(repository.git, repository.resolve(), "ticketsmith/issue-1", None)


def delete(repository: Repository, remote: Remote) -> object:
    return remote.delete(repository.git, "ticketsmith/issue-1", repository.resolve())


def head(repository: Repository, remote: Remote) -> object:
    return remote.head(repository.git, "main")


def fetch(repository: Repository, remote: Remote) -> object:
    return Mirror(repository.folder.parent / "mirror").fetch(remote, "main")


Reach = Callable[[Repository, Remote], object]
EVERY_WAY: list[Reach] = [push, delete, head, fetch]


@pytest.mark.parametrize("reach", EVERY_WAY)
def test_sec_15_a_credential_is_sent_to_its_own_address_alone(reach: Reach, tmp_path: Path) -> None:
    repository = make(tmp_path / "repository")
    with host() as good, host() as evil:
        for key in ("insteadOf", "pushInsteadOf"):
            git(repository.folder, "config", f"url.{evil.address}.{key}", good.address)

        with pytest.raises(RemoteFault):
            reach(repository, Remote(url=f"{good.address}x", header=HEADER))
        with pytest.raises(RemoteFault):
            reach(make(tmp_path / "clean/repository"), Remote(url=f"{good.address}x", header=HEADER))

        assert good.told()
        assert not evil.told()
        assert not good.shown | evil.shown
        plain = ["git", "-c", f"http.extraHeader={HEADER}", "ls-remote", f"{good.address}x"]
        subprocess.run(plain, cwd=repository.folder, env=PLAIN_GIT, capture_output=True, check=False, timeout=30)
        assert evil.told(), "without our wrapper the repository's own settings lead the credential away: the control"
        assert evil.shown == {"cmdline", "environ"}, "and whoever lists processes reads it"


@pytest.mark.parametrize("reach", EVERY_WAY)
def test_sec_16_a_credential_is_kept_in_no_file_and_told_in_no_error(reach: Reach, tmp_path: Path) -> None:
    repository = make(tmp_path / "repository")
    with host() as good:
        remote = Remote(url=f"{good.address}x", header=HEADER)

        with pytest.raises(RemoteFault) as failed:
            reach(repository, remote)

    assert good.told()
    assert TOKEN not in f"{failed.value!r} {failed.value} {remote!r}"
    assert not any(TOKEN.encode() in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_sec_15_a_redirection_takes_no_credential_along(tmp_path: Path) -> None:
    repository = make(tmp_path / "repository")
    with host() as evil:

        class Redirects(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(302)
                self.send_header("Location", f"{evil.address}x/info/refs?service=git-upload-pack")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Redirects)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        address = f"http://127.0.0.1:{server.server_port}/x"
        try:
            with pytest.raises(RemoteFault):
                head(repository, Remote(url=address, header=HEADER))
            assert evil.headers == []
            plain = ["git", "-c", f"http.extraHeader={HEADER}", "ls-remote", address]
            subprocess.run(plain, cwd=tmp_path, env=PLAIN_GIT, capture_output=True, check=False, timeout=30)
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    assert evil.headers, "plain git follows: the control"


def test_without_leave_to_reach_nothing_is_reached(tmp_path: Path) -> None:
    repository = make(tmp_path / "repository")
    with host() as good:
        assert Git(folder=repository.folder).ask("ls-remote", f"{good.address}x") is None

    assert good.headers == []
