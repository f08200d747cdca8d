"""Text for people on GitHub: it calls nobody, closes nothing else, loads nothing, hides nothing, and fits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Final

from bot.forge.types import RepositoryRef
from bot.outbox.errors import Leaks
from memory.scrub import Scrubber

BODY_AT_MOST: Final = 60_000  # characters; GitHub takes 65,536, and the marker and the note need some
TITLE_AT_MOST: Final = 240  # characters; GitHub takes 256
_BREAK: Final = "&#8203;"  # a space without width
_ZERO_WIDTH: Final = "\u200b"

_ENTITY: Final = re.compile(r"&(?=#\d|#[xX][0-9a-fA-F]|commat;|num;)")
_MENTION: Final = re.compile(r"(?<![A-Za-z0-9])@(?=[A-Za-z0-9])")
_CLOSING: Final = re.compile(
    r"\b(close[sd]?|fix(?:e[sd])?|resolve[sd]?)(?=(?:</?[a-z][^<>]{0,40}>|[\s:*_~`\\\[\]()<>\"'\u2014-]){1,12}"
    r"(?P<ref>(?:[\w.\\-]+/[\w.\\-]+)?#\d+|GH\\?-\d+|https?://[^\s)>\]]+/(?:issues|pull)/\d+))",
    re.IGNORECASE,
)
_IMAGE: Final = re.compile(r"!(?=\[)")
_TAG: Final = re.compile(
    r"<(?=(?:!--|!\[|!doctype|\?|/?(?:img|picture|source|video|audio|svg|iframe|object|embed|link|style|script|base|form"
    r"|input|textarea|pre|title|xmp|noembed|noframes|plaintext)\b))",
    re.IGNORECASE,
)
_FENCE: Final = re.compile(r"(`{3,})[^`]*|(~{3,}).*")
_CLOSES: Final = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*")
_MAYBE_FENCE: Final = re.compile(r"[\s>*+\-\d.)]*(?:```|~~~)")  # within a list, a quotation, or not at all
_RAW_HTML: Final = re.compile(r"</?[a-z]", re.IGNORECASE)


class Words:
    """Makes text ready to be sent."""

    def __init__(self, scrubber: Scrubber) -> None:
        self._scrubber = scrubber

    def body(self, text: str, ref: RepositoryRef, own: int, what: str) -> str:
        """A text in Markdown about issue `own`. Raises Leaks, and then nothing may be sent.

        Mentions, closing keywords for other issues, pictures and hidden comments are broken, but for code in fences.
        """
        self._check(text, what)
        parts = groupby(_lines(_plain(text)), key=lambda pair: pair[1])
        joined = (("".join(line for line, _ in pairs), code) for code, pairs in parts)
        kept = "".join(part if code else _harmless(part, ref, own) for part, code in joined)
        return cut(kept.rstrip("\n"), BODY_AT_MOST)

    def line(self, text: str, what: str) -> str:
        """One line that is no Markdown, such as a title. Raises Leaks."""
        self._check(text, what)
        return unlinked(" ".join(_plain(text).split()))[:TITLE_AT_MOST]

    def check(self, text: str, what: str) -> None:
        """Raises Leaks when one of our own secrets stands in what is sent as it is, such as a commit."""
        if self._scrubber.holds_value(text) is not False:  # one that says nothing has not looked
            raise Leaks(what=what)

    def _check(self, text: str, what: str) -> None:
        if self._scrubber.leaks(text) != ():
            raise Leaks(what=what)


def unlinked(line: str) -> str:
    """A line in which GitHub finds no account and no issue: for titles, and for the subjects of commits."""
    line = re.sub(r"(?<![A-Za-z0-9])@(?=[A-Za-z0-9])", f"@{_ZERO_WIDTH}", line)
    line = re.sub(r"#(?=\d)", f"#{_ZERO_WIDTH}", line)
    line = re.sub(r"(?i)\b(GH-)(?=\d)", rf"\1{_ZERO_WIDTH}", line)
    return re.sub(r"(?i)(?<=/)(issues|pull)/(?=\d)", rf"\1/{_ZERO_WIDTH}", line)


def cut(text: str, at_most: int) -> str:
    """A text that is too long ends with a line that says so; a fence that was open is closed before."""
    if len(text) <= at_most:
        return text
    kept = text[:at_most].rpartition("\n")[0] or text[:at_most]
    opened = ""
    for line in kept.split("\n"):
        opened = _fence_after(line, opened)
    closing = f"\n{opened}" if opened else ""
    return f"{kept}{closing}\n\n*(cut here: {len(text) - len(kept):,} more characters are in the run's own record)*"


def _plain(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(one for one in text if one in "\n\t" or (one >= " " and not "\ud800" <= one <= "\udfff"))


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Lines with their ends, and whether they are code in a fence, for GitHub too.

    Only a fence at the left edge counts, and none in a block of raw HTML. After a line that may be a fence or not,
    nothing counts as code any more.
    """
    opened, html, sure = "", False, True
    for line in text.split("\n"):
        before = opened
        if opened:
            opened = _fence_after(line, opened)
        elif sure and _MAYBE_FENCE.match(line):
            opened = "" if html else _fence_after(line, "")
            sure = opened != ""
        elif line.strip():
            html = html or _RAW_HTML.search(line) is not None
        else:
            html = False  # an empty line ends a block of HTML; those that it would not end are made text
        yield f"{line}\n", bool(before and opened)


def _fence_after(line: str, opened: str) -> str:
    """The fence that is open after a line."""
    if opened:
        closes = _CLOSES.fullmatch(line)
        return "" if closes and closes[1][0] == opened[0] and len(closes[1]) >= len(opened) else opened
    found = _FENCE.fullmatch(line)
    return (found[1] or found[2]) if found else ""


def _harmless(text: str, ref: RepositoryRef, own: int) -> str:
    text = _ENTITY.sub("&amp;", text)
    text = _TAG.sub("&lt;", text)
    text = _IMAGE.sub(f"!{_BREAK}", text)
    text = _CLOSING.sub(_closing_only(ref, own), text)
    return _MENTION.sub(f"@{_BREAK}", text)


def _closing_only(ref: RepositoryRef, own: int) -> Callable[[re.Match[str]], str]:
    ours = {f"#{own}", f"{ref.full_name}#{own}".lower(), f"gh-{own}"}

    def broken(found: re.Match[str]) -> str:
        named = found["ref"].lower()
        if named in ours or named.endswith(f"/{ref.full_name}/issues/{own}".lower()):
            return found[0]
        return f"{found[1][0]}{_BREAK}{found[1][1:]}"

    return broken
