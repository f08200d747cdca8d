"""A file as it is written in a frame → the name under which it is compared."""

from __future__ import annotations

import re

from memory.signature.words import word_set

_SCHEME = re.compile(
    r"^(?:webpack-internal:///|webpack://[\w.@-]{0,80}/|file:/{0,3}|[a-z][a-z+.-]{1,20}:/{2,3}[^/]{0,200}/)"
)
_DRIVE = re.compile(r"^[A-Za-z]:/")
_ROUTE_GROUP = re.compile(r"^\([\w.-]{1,40}\)/")
_PNPM = re.compile(r"\.pnpm/[^/]{1,200}/node_modules/")
_QUERY = re.compile(r"[?#][^/]{0,400}$")
_HASH = re.compile(
    r"(?<=[._-])(?:(?=[0-9a-f]{0,31}\d)[0-9a-f]{6,32}|(?=[\w-]{0,20}\d)(?=[\w-]{0,20}[A-Z])"
    r"(?=[\w-]{0,20}[a-z])[A-Za-z0-9_]{8,20})"
    r"(?=\.)"
)
_SCRIPT = re.compile(r"\.(?:tsx?|jsx|mjs|cjs|mts|cts|vue|svelte)$")
_VERSION = re.compile(r"[-@_]v?\d[\w.+-]{0,40}$")


def plain_path(file: str) -> str:
    """`file` with `/` alone, without scheme, host, query, drive and leading dots."""
    path = file.strip().replace("\\", "/")
    path = _QUERY.sub("", path)
    path = _SCHEME.sub("", path)
    path = _ROUTE_GROUP.sub("", path)
    path = _DRIVE.sub("/", path)
    while path.startswith(("./", "../", ".../")):
        path = path.split("/", 1)[1]
    path = path.removeprefix("…/")
    return _PNPM.sub("node_modules/", path)


def short_name(path: str) -> str:
    """The base name in lower case; with its folder where the name alone is empty of meaning."""
    parts = [part for part in path.split("/") if part]
    if not parts:
        return ""
    base = _SCRIPT.sub(".js", _HASH.sub("<hash>", parts[-1])).lower()
    stem = base.split(".", 1)[0]
    if stem in word_set("empty_names") and len(parts) > 1:
        return f"{_VERSION.sub('', parts[-2]).lower()}/{base}"
    return base
