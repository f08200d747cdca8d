"""What mail, containers, log writers and CI put in front of a line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

PASSES = 4

_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|CRITICAL|FATAL)"
_ISO = r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?Z| ?[+-]\d\d:?\d\d| GMT| UTC)?"
_SPRING = rf"{_LEVEL} {{1,2}}\d{{1,7}} --- \[[^\]\n]{{1,80}}\] \S{{1,80}}\s{{0,40}}: "
# After a time stamp at most one blank goes, so that the tabs of Go and Java survive.
_PREFIX = re.compile(
    "|".join(
        (
            # Markdown quote; but `> 12 | code` is a code frame of Jest and Babel
            r">(?!\s{0,8}\d{1,6} \|)(?:>| (?!\s{0,8}\d{1,6} \|))?",
            # containers: `api-1  | `, `web_1 | `
            r"[A-Za-z][\w.-]{0,60}[-_]\d{1,4}\s{0,20}\|(?: |$)",
            r"[a-z][\w-]{1,40}  \| ",
            # container runtimes of Kubernetes
            r"std(?:err|out) [FP] ",
            # a row of a table
            r"\|\s{0,8}\d{1,6}\s{0,8}\| ",
            # celery, gunicorn: `[2024-01-31 10:00:00,123: ERROR/MainProcess] `, `[… +0000] [17] [ERROR] `
            rf"\[\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d[.,]?\d{{0,6}}: {_LEVEL}/[\w.-]{{1,40}}\] ?",
            rf"\[\d{{1,7}}\] \[{_LEVEL}\] ",
            # journald, Heroku, GitLab, CloudWatch
            rf"\[?{_ISO}\]? (?:[\w.-]{{1,64}} )?[\w./-]{{1,40}}\[(?:\d{{1,10}}|[a-z]{{1,20}}\.\d{{1,5}})\]: ?",
            rf"{_ISO} \d\d[OE][+ ]",
            rf"{_ISO}\t[0-9a-f-]{{36}}\t(?:{_LEVEL}\t)?",
            # kubectl, npm, supervisors
            r"\[pod/[\w./-]{1,150}\] ?",
            r"npm (?:ERR!|error)(?: |$)",
            r"std(?:err|out): ",
            # ISO time stamps, bare or in brackets
            rf"\[?{_ISO}\]?(?: |(?=\t)|$)",
            # clocks: `[10:00:00] `, `10:00:00,123 `
            r"\[\d\d:\d\d:\d\d(?:[.,:]\d{1,6})?\] ?",
            r"\d\d:\d\d:\d\d[.,]\d{3} ",
            # syslog
            r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,64} [\w./-]{1,40}(?:\[\d{1,7}\])?: ?",
            # logcat: time stamp gone, long and brief form, NSLog
            r"\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\s{1,4}\d{1,7}\s{1,4}\d{1,7} [VDIWEF] [\w.]{1,40}\s{0,20}: ",
            r"\d{1,7}-\d{1,7}/[\w.?]{1,80} [VDIWEF]/[\w.-]{1,40}: ?",
            r"[VDIWEF]/[\w.-]{1,40}\s{0,4}\(\s{0,6}\d{1,7}\): ?",
            r"[\w.-]{1,40}\[\d{1,7}:[0-9a-fx]{1,12}\] ",
            # Ruby's own logger, and Rails' id of a request
            r"[DIWEFA], \[[\d:T.-]{19,30} #\d{1,8}\] {1,2}[A-Z]{4,7} -- [^:\n]{0,60}: ?(?:\[[0-9a-f-]{32,36}\] ?)?",
            # Valgrind
            r"==\d{1,9}==(?: |$)",
            # Docker's builder
            r"#\d{1,4} \d{1,6}\.\d{1,3} ",
            # klog
            r"[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{1,6}\s{1,8}\d{1,7} [\w.-]{1,60}:\d{1,6}\] ",
            # application servers, Spring, Maven, CI
            rf"{_LEVEL}\s{{1,3}}\[[^\]\n]{{1,80}}\]\s{{1,3}}\([^)\n]{{1,80}}\) ?",
            rf"(?!ERROR|FATAL){_SPRING}",
            r"\[(?:ERROR|INFO|WARNING|WARN|FATAL|stderr|stdout)\](?: |$)",
            r"##\[[a-z]{1,12}\]",
            # a comment
            r"#(?: |$)",
            # pytest about itself
            r"INTERNALERROR> ?",
            # the database's own log: process, user, host
            r"\d{1,10} [\w.-]{1,40} : [\d.:a-f]{2,40} : ",
        )
    )
)
_WRONG = re.compile(
    r"[EF]\d{4} \d\d:\d\d:\d\d\.\d{1,6}\s{1,8}\d{1,7} [\w.-]{1,60}:\d{1,6}\] "
    rf"|(?=ERROR|FATAL){_SPRING}"
)
_STARTS = frozenset("=>|[#ns0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
# Containers of most services begin with a small letter; a bar is then near.
_BAR_WITHIN = 64
_NAMED = re.compile(r"(?P<name>[A-Za-z][\w.-]{0,60})\s{1,20}\|(?: |$)")
_NEARLY_ALL = 0.8
_DOCKER_JSON = re.compile(r'\{"log":"(?P<text>(?:[^"\\]|\\.)*)","stream":')


def without_prefix(line: str) -> str:
    """`line` without what a log writer or a mail put in front of it, up to four of them on top of each other."""
    for _ in range(PASSES):
        if line[:1] in ("E", "F") and (wrong := _WRONG.match(line)):
            return f"ERROR {line[wrong.end() :]}"  # the only sign of an error that it has
        if not line or (line[0] not in _STARTS and "| " not in line[:_BAR_WITHIN] and "[" not in line[:_BAR_WITHIN]):
            break
        found = _PREFIX.match(line)
        if not found or not found.end():
            break
        line = line[found.end() :]
    return line


def container(lines: Sequence[str]) -> str:
    """The one name that stands with a bar in front of nearly all lines: `backend  | `; else ""."""
    written = [line for line in lines if line.strip()]
    names = Counter(found["name"] for line in written if (found := _NAMED.match(line)))
    name, count = names.most_common(1)[0] if names else ("", 0)
    return name if count > 1 and count >= _NEARLY_ALL * len(written) else ""


def without_container(line: str, name: str) -> str:
    """`line` without the name of its container."""
    found = _NAMED.match(line) if name else None
    return line[found.end() :] if found and found["name"] == name else line


def without_json_log(line: str) -> str:
    """The text inside one line of Docker's JSON log, still escaped; any other line as it is."""
    found = _DOCKER_JSON.match(line) if line.startswith('{"log":"') else None
    return found["text"].removesuffix("\\n") if found else line
