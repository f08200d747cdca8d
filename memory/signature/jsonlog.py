"""Logs as JSON: an object → the lines that it holds, its level and message first."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

# Longer objects hold more than one log line says.
_VALUES_AT_MOST = 200
_DEPTH_AT_MOST = 6
_AHEAD_AT_MOST = 160  # characters of a prefix before the object
_BLOCKS_AT_MOST = 4  # objects over several lines that are tried
_TAIL = re.compile(r"(?:\s|`|</?\w{1,10}>){0,12}")  # behind the object: marks of the page
# An object in a message, not behind a prefix.
_SENTENCE = re.compile(
    r"Error\b|Exception\b|(?<![\[\w])(?i:failed|invalid|unexpected|expected)\b|[a-z]{2,40} [a-z]{2,40} [a-z]{2,40}"
)
_LEVELS = ("level", "severity", "levelname", "log.level", "loglevel", "lvl", "@level")
_WRONG = frozenset(("error", "err", "fatal", "critical", "crit", "panic", "alert", "emerg", "emergency", "severe"))
_WRONG_FROM = 50  # of numbered levels
_MESSAGES = ("message", "msg", "event", "@message", "short_message", "@m")
_TOLD = frozenset(
    ("error", "err", "exception", "exc_info", "stack", "stacktrace", "stack_trace", "stackTrace", "trace")
)
_KNOWN = _TOLD | {"log", "stream", *_LEVELS, *_MESSAGES}
_METHODS = ("method", "request_method", "http_method")
_PATHS = ("path", "url", "uri", "request_uri", "request_path")
_STATUSES = ("status", "status_code", "statusCode", "code")


def opened(text: str) -> str:
    """`text` with each JSON object in it replaced by the lines that it holds."""
    if '":' not in text:
        return text
    kept: list[str] = []
    for line in blocks(text.split("\n")):
        held = of_line(line) if '":' in line else None
        kept += [line] if held is None else held
    return "\n".join(kept)


def of_line(line: str) -> list[str] | None:
    """The lines in an object that ends a line; None when there is none."""
    at, end = line.find("{"), line.rfind("}") + 1
    if at < 0 or at > _AHEAD_AT_MOST or not _TAIL.fullmatch(line[end:]) or _SENTENCE.search(line[:at]):
        return None
    return _read(line[at:end])


def blocks(lines: Sequence[str]) -> list[str]:
    """`lines` with each object that is written over several of them replaced by the lines that it holds."""
    kept: list[str] = []
    tried = 0
    at = 0
    while at < len(lines):
        if lines[at].strip() in ("{", "[{", "[") and tried < _BLOCKS_AT_MOST:
            tried += 1
            margin = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
            ends = (f"{margin}}}", f"{margin}]", f"{margin}}},")
            end = next((up for up in range(at + 1, len(lines)) if lines[up].rstrip() in ends), at)
            whole = "".join(line.strip() for line in lines[at : end + 1]).rstrip(",")
            held = _read(whole) if end > at else None
            if held is not None:
                kept += held
                at = end + 1
                continue
        kept.append(lines[at])
        at += 1
    return kept


def _read(text: str) -> list[str] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return list(_lines(found, 0)) if isinstance(found, dict | list) and _KNOWN.intersection(_names(found)) else None


def _names(found: object) -> set[str]:
    """The names of the fields of an object, and of what lies directly in it."""
    inside = list(found.values()) if isinstance(found, dict) else found if isinstance(found, list) else []
    own = set(found) if isinstance(found, dict) else set()
    return own.union(*(part for part in inside[:_VALUES_AT_MOST] if isinstance(part, dict)))


def _lines(value: object, depth: int) -> Iterator[str]:
    if depth > _DEPTH_AT_MOST:
        return
    if isinstance(value, dict):
        yield from _of_object(value, depth)
    elif isinstance(value, list):
        if value and all(isinstance(part, str) for part in value):
            yield from (line for part in value[:_VALUES_AT_MOST] for line in part.split("\n"))
        else:
            for part in value[:_VALUES_AT_MOST]:
                yield from _lines(part, depth + 1)


def _of_object(found: Mapping[str, object], depth: int) -> Iterator[str]:
    if isinstance(found.get("log"), str) and "stream" in found:
        yield from _string(str(found["log"]).removesuffix("\n"), depth)
        return
    yield from _request(found)
    named, message = _first(found, _MESSAGES)
    if message:
        yield from _string(message, depth)
        if _is_wrong(found) and "\n" not in message.strip():
            yield f"ERROR {message}"
    for key, value in list(found.items())[:_VALUES_AT_MOST]:
        if isinstance(value, str):
            if key != named and (key in _TOLD or "\n" in value or value.startswith("{")):
                yield from _string(value, depth)
        else:
            yield from _lines(value, depth + 1)


def _string(value: str, depth: int) -> Iterator[str]:
    inner = _read(value) if value.startswith("{") and depth < _DEPTH_AT_MOST else None
    yield from inner if inner is not None else value.split("\n")


def _is_wrong(found: Mapping[str, object]) -> bool:
    level = next((found[name] for name in _LEVELS if name in found), "")
    if isinstance(level, int):
        return level >= _WRONG_FROM
    return str(level).lower() in _WRONG


def _first(found: Mapping[str, object], names: Sequence[str]) -> tuple[str, str]:
    return next(((name, str(found[name])) for name in names if isinstance(found.get(name), str)), ("", ""))


def _request(found: Mapping[str, object]) -> Iterator[str]:
    """An access log's object as a sentence."""
    method, path = _first(found, _METHODS)[1], _first(found, _PATHS)[1]
    status = next((str(found[name]) for name in _STATUSES if isinstance(found.get(name), int | str)), "")
    if method and path and status:
        yield f"{method} {path} {status}"
