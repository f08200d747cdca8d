"""Markup that people do not see on a ticket's page → nothing."""

from __future__ import annotations

import re
from collections import Counter
from enum import StrEnum
from typing import Final


class Hidden(StrEnum):
    """What readers of a ticket's page do not see."""

    COMMENT = "hidden comment"
    DECLARATION = "hidden declaration"
    ATTRIBUTE = "hidden attribute"
    TITLE = "hidden link title"
    DEFINITION = "link definition that nothing uses"
    INVISIBLE = "invisible character"
    ESCAPE = "terminal escape"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Elements that GitHub shows. What stands in their tags beyond the attributes below is read by nobody.
_ELEMENTS: Final = _words(
    "a abbr article aside audio b blockquote body br button caption center cite code col colgroup dd del details dfn "
    "dialog div dl dt em embed figcaption figure font footer form h1 h2 h3 h4 h5 h6 head header hr html i iframe img "
    "input ins kbd label legend li link main mark menu meta nav noscript ol optgroup option p param picture pre q rp "
    "rt ruby s samp script section select small source span strike strong style sub summary sup svg table tbody td "
    "template textarea tfoot th thead time tr track tt u ul video wbr"
)
_KEPT: Final = _words(
    "action align checked class cols colspan disabled download for height href id method multiple name open readonly "
    "rel required role rows rowspan scope selected size src start target type value width"
)
_UNSEEN: Final = _words("abbr alt content label longdesc placeholder srcdoc style summary title")

_START: Final = re.compile(r"<!--|<!\[CDATA\[|<!(?=[A-Za-z\[])|<\?")
_START_UNCLOSED: Final = re.compile(r"<!--|<!\[CDATA\[")  # those that hide all that follows, too
_SEAM: Final = len("<![CDATA[") - 1  # characters of a start that may lie before a seam
_COMMENT_END: Final = re.compile(r"--!?>")
_ABRUPT_END: Final = re.compile(r"-?>")
_TAG: Final = re.compile(
    r"<(?P<name>[A-Za-z][A-Za-z0-9:-]{0,40})"
    r"(?P<attributes>[\s/](?:\"[^\"]{0,1000}\"|'[^']{0,1000}'|[^<>\"']){0,4000})>"
)
_ATTRIBUTE: Final = re.compile(r"(?P<name>[^\s\"'<>/=]+)(?P<value>\s{0,9}=\s{0,9}(?:\"[^\"]*\"|'[^']*'|[^\s\"'<>]+))?")
_BLANKS: Final = re.compile(r"[ \t]+")
_TITLE: Final = r"(?:\"[^\"]{0,1000}\"|'[^']{0,1000}'|\([^()]{0,1000}\))"
_INLINE_TITLE: Final = re.compile(rf"(\]\([ \t]{{0,9}}[^\s<>\]]{{1,2000}}+)\s{{1,9}}{_TITLE}\s{{0,9}}\)")
# Several titles, because the second would be taken for one when the first is gone.
_REFERENCE_TITLE: Final = re.compile(
    r"^( {0,3}\[[^\[\]\n]{1,200}\]:[ \t]{0,9}\S{1,2000}+)"
    rf"(?:(?:[ \t]{{1,9}}|[ \t]{{0,9}}\n[ \t]{{0,9}})(?=[\"'(]){_TITLE}[ \t]{{0,9}}$)+",
    re.MULTILINE,
)
_DEFINITION: Final = re.compile(r"^ {0,3}\[([^\[\]\n]{1,200})\]:[ \t]{0,9}(\S{0,2000})[ \t]{0,99}$\n?", re.MULTILINE)
_LABEL: Final = re.compile(r"\[([^\[\]\n]{1,200})\](?!:)")
# `[ERROR]: failed` is a definition for GitHub too, and a line of a log for everybody else.
_NO_LOG: Final = re.compile(r"[#</]|[a-z][a-z0-9+.\-]{1,9}:|(?:[A-Za-z]{1,20}[\-_+%]{1,3}){2}[A-Za-z]", re.I)
_ALT: Final = re.compile(r"!\[(?:[^\[\]]|\[[^\[\]]{0,200}\]){1,1000}\](?=[(\[])")


def strip(text: str, removed: Counter[Hidden]) -> str:
    """`text` without what its page does not show; what went is counted in `removed`. Linear in the length."""
    if "<" in text:
        text = _without_comments(text, removed)
        text = _TAG.sub(lambda tag: _bare(tag, removed), text)
    if "]" in text:
        text, count = _ALT.subn("![]", text)
        removed[Hidden.TITLE] += count
        for pattern, kept in ((_INLINE_TITLE, r"\1)"), (_REFERENCE_TITLE, r"\1")):
            text, count = pattern.subn(kept, text)
            removed[Hidden.TITLE] += count
        text = _without_definitions(text, removed)
    return text


def _without_definitions(text: str, removed: Counter[Hidden]) -> str:
    """Without definitions of links that stand nowhere: a page shows nothing of them."""
    if "]:" not in text:
        return text
    used = {label.casefold() for label in _LABEL.findall(text)}

    def kept(definition: re.Match[str]) -> str:
        if definition[1].casefold() in used or (definition[1].isalnum() and not _NO_LOG.match(definition[2])):
            return definition[0]
        removed[Hidden.DEFINITION] += 1
        return ""

    return _DEFINITION.sub(kept, text)


def _without_comments(text: str, removed: Counter[Hidden]) -> str:
    """One pass: what is left before a removed comment may begin another one with what follows it."""
    out: list[str] = []
    ends, place = _Ends(text), 0
    while True:
        start = _START_UNCLOSED if ends.no_more(">") else _START
        seam = "".join(out[-_SEAM:])
        begin = start.search(seam + text[place : place + _SEAM]) if "<" in seam else None
        if begin and begin.start() < len(seam) < begin.end():
            del out[begin.start() - len(seam) :]
            at = place + begin.end() - len(seam)
        elif begin := start.search(text, place):
            out.extend(text[place : begin.start()])
            at = begin.end()
        else:
            return "".join(out) + text[place:]
        end = ends.after(begin[0], at)
        if end is None:
            out.extend(begin[0] + text[at : at + 1])
            place = at + 1
            continue
        removed[Hidden.COMMENT if begin[0] == "<!--" else Hidden.DECLARATION] += 1
        place = end


class _Ends:
    """Where what a start opened ends. What was not found once is not looked for again: it stands nowhere behind."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._nowhere: set[str] = set()

    def after(self, start: str, at: int) -> int | None:
        """None when `start` is no markup but text, such as `a <!b`."""
        match start:
            case "<!--":
                if found := _COMMENT_END.search(self._text, at):
                    return found.end()
                abrupt = _ABRUPT_END.match(self._text, at)
                return abrupt.end() if abrupt else len(self._text)
            case "<![CDATA[":
                return self._find("]]>", at) or len(self._text)
            case "<?":
                return self._find("?>", at) or self._find(">", at)
            case _:
                return self._find(">", at)

    def no_more(self, wanted: str) -> bool:
        """True when `wanted` is known to stand nowhere behind."""
        return wanted in self._nowhere

    def _find(self, wanted: str, at: int) -> int | None:
        found = -1 if wanted in self._nowhere else self._text.find(wanted, at)
        if found < 0:
            self._nowhere.add(wanted)
            return None
        return found + len(wanted)


def _bare(tag: re.Match[str], removed: Counter[Hidden]) -> str:
    known = tag["name"].lower() in _ELEMENTS

    def kept(attribute: re.Match[str]) -> str:
        name, value = attribute["name"].lower(), attribute["value"] or ""
        if known:
            seen = name in _KEPT and not re.search(r"\s", value.strip(" \t=\"'")) and len(value) <= 200
        else:
            seen = not (value and (name in _UNSEEN or name.startswith(("aria-", "data-"))))
        removed[Hidden.ATTRIBUTE] += not seen
        return attribute[0] if seen else ""

    attributes = _ATTRIBUTE.sub(kept, tag["attributes"])
    if attributes == tag["attributes"]:
        return tag[0]
    return f"<{tag['name']}{_BLANKS.sub(' ', attributes).rstrip()}>"
