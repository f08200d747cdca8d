"""Where GitHub has its pages and its git, from the address of its API."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

PUBLIC_WEB: Final = "https://github.com"


def web_of(base_url: str) -> str:
    """`https://github.com` of `https://api.github.com`, `https://HOST` of an Enterprise server's `…/api/v3`."""
    parts = urlsplit(base_url)
    host = parts.netloc if parts.path.strip("/") else parts.netloc.removeprefix("api.")
    return f"{parts.scheme}://{host}"


def install_page(web: str, slug: str) -> str:
    """Where an App is installed. An Enterprise server has its Apps at another place than github.com."""
    return f"{web}/{'apps' if web == PUBLIC_WEB else 'github-apps'}/{slug}/installations/new"
