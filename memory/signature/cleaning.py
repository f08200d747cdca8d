"""Title and body as people paste them → lines that parsers can read.

Limits come first: every later step sees at most 65,536 characters, 2,000 lines, 1,000 characters a line.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from memory.signature import jsonlog
from memory.signature.common_prefix import beginning, without_common
from memory.signature.flattened import strings_opened, unflatten
from memory.signature.prefixes import container, without_container, without_prefix
from memory.signature.shapes import Text

CHARACTERS_AT_MOST = 65_536
LINES_AT_MOST = 2_000
LINE_AT_MOST = 1_000
# The end of a Python trace and the start of any other say what went wrong: both ends are kept.
_HEAD = 0.6
_LOOKED_AT = 20
_SPACED_FROM = 4

_TYPOGRAPHIC: Final[Mapping[str, str]] = {
    "\u2018": "'",
    "\u2019": "'",
    "\u201a": "'",
    "\u201b": "'",
    "\u2032": "'",
    "\u201c": '"',
    "\u201d": '"',
    "\u201e": '"',
    "\u201f": '"',
    "\u2033": '"',
    "\u00ab": '"',
    "\u00bb": '"',
    "\u00a0": " ",
    "\u202f": " ",
    "\u2007": " ",
    "\u3000": " ",
    "\uff1a": ":",
} | dict.fromkeys(
    map(
        chr,
        (
            *(0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2060, 0xFEFF, 0xAD),
            *(*range(9), 0x0E, 0x0F, *range(0x10, 0x1B), *range(0x1C, 0x20), 0x7F),
        ),
    ),
    "",
)
# Each begins with a character: a text is searched for the three of them fastest.
_ANSI = re.compile(
    r"\x1b\[[0-?]{0,40}[ -/]{0,4}[@-~]"
    r"|\\(?:x1b|u001b|033|e)\[[0-?]{0,40}[ -/]{0,4}[@-~]"
    r"|\x1b\][^\x07\x1b\n]{0,400}(?:\x07|\x1b\\)"
    r"|\x1b[@-Z\\^_]"
    r"|\[(?:\d{1,3}(?:;\d{1,3}){0,5})?m(?![\w\]])"
    r"|\[(?<![\w\])'\"]\[)(?:\d{1,2};)?\d{1,3}m"
)
_BLOCK_END = re.compile(r"(?i:<br ?/?>|</(?:p|div|li|tr|pre|h[1-6]|summary|details)>)(?:\r?\n)?")
_TAG = re.compile(
    r"</?(?:(?:a|b|i|p|s|u)|(?i:code|pre|div|span|li|ul|ol|table|thead|tbody|tr|td|th|em|strong|font|h[1-6]|details"
    r"|summary|samp|kbd|tt|sub|sup|img|hr|blockquote))(?: [^<>\n]{0,400})? ?/?>"
)
_REPORTS = ("<testcase", "<test-case", "<failure")
# Results of JUnit and NUnit as XML.
_REPORT = re.compile(
    r"</?(?:test-?(?:case|suites?|run)|failure|error|system-(?:out|err)|stack-trace|message|skipped)"
    r"(?: [^<>]{0,4000})?/?>"
    r"|<!\[CDATA\[|\]\]>"
)
_MARK = re.compile(r" {0,8}(?:[-*+]|\d{1,2}\.) {1,3}(?=\S)")
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})[ \w+.#{}=:-]{0,40}$")


def clean(title: str, body: str) -> Text:
    """Lines of both, without markup, colours, marks of quoting, and prefixes of logs."""
    return _text(_lines(f"{title}\n{body}" if title else body))


def _text(lines: Sequence[str]) -> Text:
    starts: list[int] = []
    at = 0
    for line in lines:
        starts.append(at)
        at += len(line) + 1
    return Text(lines=tuple(lines), starts=tuple(starts))


def without_common_prefix(text: Text) -> tuple[Text, bool] | None:
    """`text` without what most of its lines begin with, and whether nearly all did; None when that is nothing."""
    found = without_common(text.lines)
    return (_text(_dedented(_plain(found[0]))), found[1]) if found else None


def _lines(text: str) -> tuple[str, ...]:
    text = _typed(_cut_characters(text).replace("\r\n", "\n").replace("\r", "\n"))
    text = _typed(strings_opened(jsonlog.opened(_unescaped(_without_colours(text)))))
    text = _without_markup(text)
    lines = _cut_lines([line[:LINE_AT_MOST] for line in unflatten(text)])
    lines = _unlisted(_single_spaced(lines))
    return tuple(_composed(line) for line in _dedented(_plain(_dedented(lines))))


def _typed(text: str) -> str:
    """`text` in the characters that a keyboard has."""
    # One by one: `str.translate` looks up every character of a text that is not ASCII.
    for character, instead in _TYPOGRAPHIC.items():
        text = text.replace(character, instead)
    return text


def _cut_characters(text: str) -> str:
    if len(text) <= CHARACTERS_AT_MOST:
        return text
    head = int(CHARACTERS_AT_MOST * _HEAD)
    return f"{text[:head]}\n{text[head - CHARACTERS_AT_MOST + 1 :]}"


def _cut_lines(lines: list[str]) -> list[str]:
    if len(lines) <= LINES_AT_MOST:
        return lines
    head = int(LINES_AT_MOST * _HEAD)
    return lines[:head] + lines[head - LINES_AT_MOST :]


def _without_colours(text: str) -> str:
    return _ANSI.sub("", text).replace("\x1b", "") if "[" in text or "\x1b" in text else text


def _unescaped(text: str) -> str:
    # Bodies are escaped by a bot and once more by a mail gateway, hence twice.
    for _ in range(2):
        text = _without_report(text)
        if "&" in text and ";" in text:
            text = html.unescape(text).replace("\u00a0", " ")
    return text


def _without_report(text: str) -> str:
    """`text` without the elements of results in XML, while their attributes are still escaped."""
    return _REPORT.sub("\n", text) if any(mark in text for mark in _REPORTS) else text


def _without_markup(text: str) -> str:
    if "<" not in text or ">" not in text:
        return text
    if "<br" in text and "|" in text:
        text = "\n".join(_cell(line) if line.startswith("|") else line for line in text.split("\n"))
    return _TAG.sub("", _BLOCK_END.sub("\n", text))


def _cell(line: str) -> str:
    """The cell of a table's row that holds lines."""
    at = line.find("<br")
    return line[line.rfind("|", 0, at) + 1 :].strip().removesuffix("|") if at > 0 else line


def _single_spaced(lines: list[str]) -> list[str]:
    """`lines` without the blank lines that a mail or a page put between all of them."""
    written = [at for at, line in enumerate(lines) if line.strip()]
    if len(written) < _SPACED_FROM or any(other - at < 2 for at, other in pairwise(written)):
        return lines
    return [lines[at] for at in written]


def _unlisted(lines: list[str]) -> list[str]:
    """`lines` without the mark of a list in front of what goes on below it, at its indentation."""
    kept = list(lines)
    for at, line in enumerate(lines[:-1]):
        mark = _MARK.match(line)
        below = next((line for line in lines[at + 1 : at + 4] if line.strip()), "") if mark else ""
        if mark and below[: mark.end()].isspace() and len(below) > mark.end():
            kept[at] = " " * mark.end() + line[mark.end() :]
    return kept


def _plain(lines: Sequence[str]) -> Iterator[str]:
    name = container(lines) if any("| " in line for line in lines[:_LOOKED_AT]) else ""
    for line in lines:
        bare = without_prefix(without_container(line, name))
        if not (("`" in bare or "~" in bare) and _FENCE.match(bare)):
            yield bare.rstrip()


def _dedented(lines: Iterable[str]) -> list[str]:
    kept = list(lines)
    written = [line for line in kept[1:] if line.strip()] or kept
    blanks = [line[: len(line) - len(line.lstrip(" \t"))] for line in written if line.strip()]
    margin = beginning(min(blanks), max(blanks)) if blanks else ""
    return [line.removeprefix(margin) for line in kept] if margin else kept


def _composed(line: str) -> str:
    # NFC and not NFKC, which would change identifiers; line by line, since long runs of marks cost quadratic time.
    return line if line.isascii() else unicodedata.normalize("NFC", line)
