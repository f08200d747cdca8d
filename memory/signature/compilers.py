"""Errors of compilers and type checkers, and of linkers: code, file and words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from memory.signature.canon import Form, canonical, forms
from memory.signature.located import located
from memory.signature.normalise import template
from memory.signature.paths import plain_path
from memory.signature.shapes import Finding, RepoView

HINTS = (
    "referenced from:",
    "error",
    "rror TS",
    "TS2",
    "undefined",
    "未定义",
    "unresolved",
    ".java:[",
    "e: ",
    ".go:",
    ".py:",
    "cannot find -l",
    "ld: library",
)
ERRORS_AT_MOST = 3
LOOKED_AT = 60  # errors; a cascade of one error says no more
CHARACTERS_LOOKED_AT = 8_000  # of their lines: 60 of 130 characters
# Tried at the start of a run only, and a run may fill a line: a long one is read once, not at each of its characters.
# It begins with a character, and only then looks back, because that is searched for much faster.
_IN_FILE = r"[^\s:(\[\"']"
_FILE = rf"(?P<file>{_IN_FILE}(?:(?<=[A-Za-z]):{_IN_FILE}|(?<!{_IN_FILE}.)){_IN_FILE}{{0,999}}\.\w{{1,10}})"
_LOCATED = re.compile(
    rf"{_FILE}(?::\d{{1,7}}(?::\d{{1,7}})?:?|\(\d{{1,7}}(?:,\d{{1,7}}){{0,3}}\):?"
    rf"|:\[\d{{1,7}},\d{{1,7}}\])(?: -)? "
    r"(?:fatal |lib)?(?P<word>error|[Ee]rreur|Fehler|错误|エラー):? ?"
    r"(?P<code>(?:[A-Z]{1,4}\d{3,5}|\[[\w-]{2,40}\]))?:? ?(?P<message>.{1,400})$"
)
_ERROR = ("error", "rreur", "Fehler", "错误", "エラー")
_PLACE = re.compile(r"[:(](?<=\w.)\[?\d")  # cheap, and every located error has one
_MAVEN = re.compile(rf"(?<!\S){_FILE}:\[\d{{1,7}},\d{{1,7}}\] (?P<message>.{{1,400}})$")
_LINT = re.compile(
    r"(?<!\S)(?P<file>[^\s:]{1,300}\.py):\d{1,7}:\d{1,7}: (?P<code>[A-Z]{1,4}\d{2,5}) (?P<message>.{1,400})$"
)
_GO = re.compile(r"(?<!\S)(?P<file>(?:\./)?[\w./-]{1,200}\.go):\d{1,7}:\d{1,7}: (?P<message>.{1,400})$")
_KOTLIN = re.compile(
    r"(?<!\S)e: (?:file://)?(?P<file>[^\s:]{1,300}\.kts?):(?: \(\d{1,7}, \d{1,7}\):|\d{1,7}:\d{1,7}) "
    r"(?P<message>.{1,400})$"
)
_WEBPACK = re.compile(r"(?:ERROR in |\[tsl\] ERROR in )(?:\./)?(?P<file>[^\s:(]{1,300}\.\w{1,6})[:(]?\d{0,7}")
_TS = re.compile(r"\s{0,8}(?:error )?(?P<code>TS\d{3,5}): (?P<message>.{1,400})$")
_RUSTC = re.compile(r"error(?:\[(?P<code>E\d{4})\])?: (?P<message>.{1,400})$")
_ARROW = re.compile(r"\s{0,8}--> (?P<file>[^\s:]{1,300}):\d{1,7}:\d{1,7}")
_LABEL = re.compile(r"\s{0,10}\| {0,200}[\^~]{1,200} (?P<label>.{1,300})$")
_NEVER = re.compile(
    r"could not compile|aborting due to|ld returned \d|linker command failed|collect2|build failed",
    re.IGNORECASE,
)
_NEVER_WORDS = ("could not", "aborting", "ld returned", "linker command", "collect2", "build failed")
_MAKE_ENDS = re.compile(r"error \d{1,3}$")
_MAKE_ENDS_WITHIN = 9  # characters
_PROJECT = re.compile(
    r"\s\[[^\[\]]{1,300}proj(?:::[^\[\]]{1,80})?\]$|\s\(in target '[^'\n]{1,80}' from project '[^'\n]{1,80}'\)$"
)
_LIBRARY = re.compile(
    r"ld(?<!\w..)(?:\S{0,40}: (?:error: )?(?:cannot find|library not found for|unable to find library)"
    r" -l(?P<name>[\w.+-]{1,80})|: library '(?P<apple>[\w.+-]{1,80})' not found)"
)
_LIBRARY_WORDS = ("find -l", "for -l", "library -l", "ld: library '")
_APPLE = re.compile(r"\s{0,8}\"(?P<symbol>[^\"\n]{1,300})\", referenced from:")
_SYMBOL = re.compile(r"\s{0,12}symbol: {1,6}(?:\w{1,20} )?(?P<symbol>[\w.$]{1,100})")
_OF_TEST = re.compile(r"-\[|[\w.]{1,120} : XCT")  # Xcode prints failed tests as errors of a file
_SNIPPET_LINES = 14
# Cheap, and every line that is read has one.
_MARK = re.compile(
    "|".join(
        map(
            re.escape,
            (
                *(*_ERROR, "TS", ".py:", ":[", ".go:", "e: ", "referenced from:"),
                *("undefined", "未定义", "unresolved external", *_LIBRARY_WORDS),
            ),
        )
    )
)


def find(lines: Sequence[str], repo: RepoView) -> list[Finding]:
    """The first three errors; those that only say that there were errors never count."""
    found: list[Finding] = []
    looked = characters = 0
    for at, line in enumerate(lines):
        told = _of_line(lines, line, at, repo) if _MARK.search(line) else None
        if told:
            looked, characters = looked + 1, characters + len(line)
        if looked > LOOKED_AT or characters > CHARACTERS_LOOKED_AT:
            break
        if told and not any(
            told.frames == other.frames
            and told.template == other.template
            and told.discriminators == other.discriminators
            for other in found
        ):
            found.append(told)
            if len(found) == ERRORS_AT_MOST:
                break
    return found


def _of_line(lines: Sequence[str], line: str, at: int, repo: RepoView) -> Finding | None:
    symbol, low = _unlinked(line), line.lower()
    if symbol:
        return Finding(
            kind="compiler",
            language="linker",
            type="",
            template="ld-undefined",
            discriminators=(symbol,),
            first=at,
            last=at,
        )
    if (low[-1:].isdigit() and _MAKE_ENDS.search(low[-_MAKE_ENDS_WITHIN:])) or (
        any(word in low for word in _NEVER_WORDS) and _NEVER.search(line)
    ):
        return None
    rustc = _RUSTC.match(line) if line.startswith("error") else None
    if rustc:
        return _rustc(lines, at, rustc, repo)
    has_place = _PLACE.search(line) is not None
    placed = _LOCATED.search(line) if has_place and any(word in line for word in _ERROR) else None
    if placed and not _OF_TEST.match(placed["message"]):
        message = _with_symbol(lines, at, placed["message"])
        return _finding(placed["file"], (placed["code"] or "").strip("[]"), message, (at, at), repo)
    typescript = _TS.match(line) if "TS" in line else None
    if typescript:
        file = next(
            (match["file"] for above in reversed(lines[max(0, at - 3) : at]) if (match := _WEBPACK.search(above))), ""
        )
        return _finding(file, typescript["code"], typescript["message"], (at, at), repo)
    lint = _LINT.search(line) if has_place and ".py:" in line else None
    if lint:
        return _finding(lint["file"], lint["code"], lint["message"], (at, at), repo)
    for mark, pattern in ((":[", _MAVEN), (".go:", _GO), ("e: ", _KOTLIN)):
        match = pattern.search(line) if mark in line and (has_place or pattern is _KOTLIN) else None
        if match and not match["message"].startswith(("warning", "+0x")):
            return _finding(match["file"], "", _with_symbol(lines, at, match["message"]), (at, at), repo)
    return None


def _with_symbol(lines: Sequence[str], at: int, message: str) -> str:
    """javac names the symbol that it cannot find below the line of code."""
    if not message.startswith("cannot find symbol"):
        return message
    found = next((match for line in lines[at + 1 : at + 5] if (match := _SYMBOL.match(line))), None)
    return f"{message} '{found['symbol']}'" if found else message


def _unlinked(line: str) -> str:
    """The symbol that a linker misses, without blanks."""
    apple = _APPLE.match(line) if "referenced from:" in line else None
    if apple:
        return "".join(apple["symbol"].split())
    if "undefined" in line or "未定义" in line or "unresolved external" in line:
        linked = canonical(line) if _undefined_symbol().match(line, line.lower(), "") else None
        if linked and linked.name == "ld-undefined":
            return "".join(linked.discriminators[0].split())
    library = _LIBRARY.search(line) if any(words in line for words in _LIBRARY_WORDS) else None
    return f"-l{library['name'] or library['apple']}" if library else ""


@cache
def _undefined_symbol() -> Form:
    """The one form that is looked for first: to try all of them on each line takes long."""
    return next(form for form in forms() if form.name == "ld-undefined")


def _rustc(lines: Sequence[str], at: int, head: re.Match[str], repo: RepoView) -> Finding | None:
    file, label, last = "", "", at
    for up in range(at + 1, min(len(lines), at + _SNIPPET_LINES)):
        arrow = _ARROW.match(lines[up]) if "-->" in lines[up] else None
        if arrow and not file:
            file, last = arrow["file"], up
        under = _LABEL.match(lines[up]) if file and "|" in lines[up] else None
        if under:
            label, last = under["label"], up
            break
    if not file:
        return None
    words = f"{head['message']} | {label}" if label else head["message"]
    return _finding(file, head["code"] or "", words.replace("`", "'"), (at, last), repo)


def _finding(file: str, code: str, message: str, at: tuple[int, int], repo: RepoView) -> Finding:
    path = plain_path(file)
    words = template(_PROJECT.sub("", message))
    return Finding(
        kind="compiler",
        language="compiler",
        type=code,
        template=words.text,
        discriminators=words.discriminators,
        frames=(located(path, repo).name,),
        first=at[0],
        last=at[1],
    )
