"""Where GitHub has its pages and its git, from the address of its API."""

from __future__ import annotations

from urllib.parse import urlsplit


def web_of(base_url: str) -> str:
    """`https://github.com` of `https://api.github.com`, `https://HOST` of an Enterprise server's `…/api/v3`."""
    parts = urlsplit(base_url)
    host = parts.netloc if parts.path.strip("/") else parts.netloc.removeprefix("api.")
    return f"{parts.scheme}://{host}"
