"""Events and states of Kubernetes: the reason and the words, without names of pods, ages and counts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory.signature.normalise import template
from memory.signature.shapes import Finding, RepoView

HINTS = ("Warning ", "CrashLoopBackOff", "ImagePullBackOff", "OOMKilled", "ErrImagePull", "CreateContainer", "Evicted")
_EVENT = re.compile(r"(?:^|\s)Warning\s{1,20}(?P<reason>[A-Z][A-Za-z]{3,40})\s{1,20}(?P<rest>\S.{3,500})$")
_AGE = re.compile(r"^(?:<unknown>|(?:\d{1,6}[smhd]){1,3})(?: \(x\d{1,6} over \S{1,12}\))?\s{1,20}")
_SOURCE = re.compile(r"^[a-z][\w.,/ -]{1,60}?\s{2,40}(?=\S)")
_OBJECT = re.compile(
    r"^(?P<kind>pod|node|job|deployment|replicaset|statefulset|daemonset|cronjob|pvc|ingress|service)s?"
    r"(?:\.\w{1,20})?/(?P<name>[\w.-]{1,120})\s{1,20}"
)
_STATE = re.compile(
    r"^(?:(?P<namespace>[a-z0-9-]{1,60})\s{1,20})?(?P<pod>[a-z0-9][a-z0-9.-]{2,100})\s{1,40}\d{1,4}/\d{1,4}\s{1,40}"
    r"(?:Init:)?(?P<reason>CrashLoopBackOff|ImagePullBackOff|ErrImagePull|OOMKilled|CreateContainer\w{1,20}|Evicted"
    r"|Error)\s"
)
_TERMINATED = re.compile(
    r"(?P<label>Reason|reason):\s{1,20}(?P<reason>OOMKilled|ContainerCannotRun|DeadlineExceeded|StartError)\b"
)
_POD_TAIL = re.compile(r"-(?:[a-z0-9]{6,10}-[a-z0-9]{5}|[a-f0-9]{8,10}|\d{1,4})(?=\b|_)")
_UID = re.compile(r"\([0-9a-f-]{30,40}\)")
_COUNTED = re.compile(r"\b\d{1,5}(?:/\d{1,5})?(?= (?:nodes?|node\(s\)|Insufficient|pods?))")


def find(lines: Sequence[str], _repo: RepoView) -> list[Finding]:
    """The first three events or states that differ."""
    found: list[Finding] = []
    for at, line in enumerate(lines):
        told = _event(line, at) or _state(line, at)
        if told and (told.type, told.template, told.frames) not in [
            (one.type, one.template, one.frames) for one in found
        ]:
            found.append(told)
    return found[:3]


def _event(line: str, at: int) -> Finding | None:
    event = _EVENT.search(line) if "Warning" in line else None
    if not event:
        return None
    rest = _AGE.sub("", event["rest"])
    object_ = _OBJECT.match(rest)
    rest = rest[object_.end() :] if object_ else _SOURCE.sub("", rest, count=1)
    words = template(_COUNTED.sub("<num>", _UID.sub("", workload(rest))))
    return _finding(event["reason"], words.text, (), at)


def _state(line: str, at: int) -> Finding | None:
    state = _STATE.match(line.strip() + " ")
    if state:
        return _finding(state["reason"], "", (workload(state["pod"]),), at)
    terminated = _TERMINATED.search(line)
    return _finding(terminated["reason"], "terminated", (), at) if terminated else None


def workload(name: str) -> str:
    """The name without the hash of a replica set and the id of a pod."""
    return _POD_TAIL.sub("", name)


def _finding(reason: str, words: str, frames: tuple[str, ...], at: int) -> Finding:
    return Finding(kind="k8s", language="kubernetes", type=reason, template=words, frames=frames, first=at, last=at)
