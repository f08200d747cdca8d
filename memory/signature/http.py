"""Failed requests: method, route and status, from access logs, monitors and sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory.signature.shapes import Finding, RepoView

HINTS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "onitor")
_REQUEST = re.compile(
    r"(?<![A-Za-z])(?P<method>GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) (?P<url>(?:https?://|/)[^\s\"'`<>]{0,400})"
    r"(?P<after>[^\n]{0,160})"
)
_STATUS = re.compile(
    r"(?:^|[\s\"(\[:=>])(?:HTTP/\d(?:\.\d)?\"? ?|status(?:[ _]code)?[ :=]{1,3}|returned |returns |responded"
    r"(?: with)? |code |→ |-> |=> |- |failed with |got |\(|\" |: )?"
    r"(?P<status>[45]\d\d)(?![\d.:])"
)
_KEYED = re.compile(
    r"\bmethod=\"?(?P<method>GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\"?\b"
    r"(?=.{0,300}?\b(?:path|url|uri)=\"?(?P<url>[^\s\"]{1,300})).{0,300}?\bstatus=\"?(?P<status>[45]\d\d)\b"
)
_ANSWER = re.compile(r"[<*\s]{0,3}HTTP/\d(?:\.\d)? (?P<status>[45]\d\d)\b")
_ANSWER_WITHIN = 12
_FIRST = re.compile(
    r"(?<!\d)(?P<status>[45]\d\d)(?: [A-Z][\w ]{2,30})? (?:for|on|from|at|when calling|error (?:for|on)) $"
)
_ID = re.compile(
    r"^(?:\d{1,40}|[0-9a-fA-F]{8,64}|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|:\w{1,40}|\{\w{1,60}\}|<\w{1,40}>|\[\w{1,40}\]"
    r"|[^\s/]{1,80}@[^\s/]{1,80}"
    r"|(?=[\w-]{0,60}\d)[\w-]{10,80}|%[0-9A-Fa-f]{2}.{0,200})$"
)
_SLUG = re.compile(r"^[a-z]+(?:-[a-z]+){1,8}$")
_VERSION = re.compile(r"^v\d{1,3}$")
_MONITORS = (
    re.compile(r"[Mm]onitor (?:is )?(?:DOWN|down|failing): ?\"?(?P<name>[\w][\w .-]{1,80})"),
    re.compile(r"[Mm]onitor:? [\"'\[]?(?P<name>[\w][\w .-]{1,80}?)[\"'\]]? (?:is )?(?:DOWN|down|failing)\b"),
)


def find(lines: Sequence[str], _repo: RepoView) -> list[Finding]:
    """The first three failed requests that differ, or the monitor that is down."""
    found: list[Finding] = []
    for at, line in enumerate(lines):
        told = _of_line(line, at) or _answered(lines, line, at)
        if told and told.frames not in [other.frames for other in found]:
            found.append(told)
        if len(found) > 2:
            break
    return found


def _of_line(line: str, at: int) -> Finding | None:
    request = _REQUEST.search(line)
    if request:
        status = _STATUS.search(request["after"]) or _FIRST.search(line[: request.start()])
        if status:
            return _finding(request["method"], status["status"], route(request["url"]), at)
    logged = _KEYED.search(line) if "method=" in line and "status=" in line else None
    if logged:
        return _finding(logged["method"], logged["status"], route(logged["url"]), at)
    if "onitor" in line:
        for pattern in _MONITORS:
            monitor = pattern.search(line)
            if monitor:
                return _finding("monitor", "down", " ".join(monitor["name"].lower().split()), at)
    return None


def _answered(lines: Sequence[str], line: str, at: int) -> Finding | None:
    """A request as it was sent, and the answer below it."""
    request = _REQUEST.search(line)
    if not request or " HTTP/" not in request["after"]:
        return None
    answer = next((found for below in lines[at + 1 : at + 1 + _ANSWER_WITHIN] if (found := _ANSWER.match(below))), None)
    return _finding(request["method"], answer["status"], route(request["url"]), at) if answer else None


def _finding(method: str, status: str, where: str, at: int) -> Finding:
    return Finding(
        kind="http",
        language="http",
        type=method,
        template="",
        discriminators=(status,),
        frames=(where,),
        first=at,
        last=at,
    )


def route(url: str) -> str:
    """The path of a URL with ids replaced; no host, no query."""
    path = url.split("://", 1)[-1]
    path = path[path.find("/") :] if "://" in url and "/" in path else ("/" if "://" in url else path)
    path = path.split("?", 1)[0].split("#", 1)[0].rstrip(".,;:)/")
    return "/" + "/".join(_segment(part) for part in path.split("/") if part)


def _segment(part: str) -> str:
    if _VERSION.match(part) or _SLUG.match(part):
        return part.lower()
    return "<id>" if _ID.match(part) else part.lower()
