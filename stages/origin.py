"""What identifies a repository: the address it came from."""

from __future__ import annotations

import hashlib
import re
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from memory.types import RepositoryId

_SCP = re.compile(r"(?:[^@/\s]+@)?(\[[0-9A-Fa-f:]+\]|[A-Za-z0-9._-]+):(?!//)(.+)", re.DOTALL)
_HELPER = re.compile(r"[A-Za-z0-9.+-]+::")
_USUAL_PORT: Final = {"ssh": 22, "git+ssh": 22, "https": 443, "http": 80, "git": 9418, "ftp": 21, "ftps": 990}
# Hosts whose paths do not tell capital letters from small ones.
_CASELESS: Final = frozenset({"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"})


def local_path(url: str) -> str | None:
    """The path that an address names on this machine, or None for an address elsewhere."""
    if url.startswith("file://"):
        host, slash, path = url.removeprefix("file://").partition("/")
        return unquote(slash + path) if host in ("", "localhost") else None
    if "://" in url or _HELPER.match(url):
        return None
    # As git does: a colon after a slash belongs to a path.
    return None if _SCP.fullmatch(url) and "/" not in url.split(":", 1)[0] else url


def remote_id(url: str) -> RepositoryId:
    """`host/path` of an address elsewhere, without user, password, usual port and `.git`.

    What git itself would hand to another program (`ext::`), and what is no address, is named by its hash alone.
    """
    parts = _split(url)
    if _HELPER.match(url) or ("://" in url and (parts is None or not parts.hostname)):
        return RepositoryId(f"other:{hashlib.sha256(url.encode('utf-8', 'replace')).hexdigest()[:20]}")
    if parts is not None and "://" in url:
        host, port = (parts.hostname or "").lower(), _port(parts.scheme.lower(), parts.netloc)
        path = parts.path
    elif found := _SCP.fullmatch(url):
        host, port, path = found[1].strip("[]").lower(), "", found[2]
    else:
        raise ValueError(url)
    name = "/".join(part for part in unquote(path).split("/") if part).removesuffix(".git")
    return RepositoryId(f"{host}{port}/{name.lower() if host in _CASELESS else name}")


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url)
    except ValueError:
        return None


def _port(scheme: str, netloc: str) -> str:
    found = re.search(r":(\d+)$", netloc)
    return f":{int(found[1])}" if found and int(found[1]) != _USUAL_PORT.get(scheme) else ""
