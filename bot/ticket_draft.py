"""The two forms in which people write a ticket down → its fields."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from bot.errors import TicketNotJson, TicketWrong
from bot.storable import storable
from memory.text import one_line

NUMBER_AT_MOST: Final = 2**53  # what every JSON reader keeps exactly

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s+|$)")
_HTML_COMMENT = re.compile(r"\s*<!--.*-->\s*")
_COMMENT_BY = re.compile(r" {0,3}##\s+comment by\s+(\S.*?)\s*#*\s*", re.I)
_FRONT_LINE = re.compile(r"([A-Za-z_-]{1,40}):(?:\s+(.*))?|\s*-\s+(.*)|\s*")


@dataclass(frozen=True, kw_only=True)
class Draft:
    """The fields of a ticket as they were written; `comments` are pairs of author and text."""

    title: str = ""
    body: str = ""
    author: str = ""
    number: int | None = None
    comments: tuple[tuple[str, str], ...] = ()


def without_blank_ends(text: str) -> str:
    """The text without blank lines before and after it."""
    return re.sub(r"\A(?:[^\S\n]*\n)+", "", text).rstrip()


# --- Markdown ------------------------------------------------------------------------------------------------------


def read_markdown(text: str, path: str) -> Draft:
    """Title: the first line that is no HTML comment, with or without `#`. Body: the rest.

    `## Comment by NAME` begins a comment, except in a fenced block. Front matter may hold `author`, `number` and
    `comments` (lines `- NAME: TEXT`); other keys in it are left alone. Raises TicketWrong.
    """
    front, lines = _front_matter(text.split("\n"))
    draft = _with_front(front, path)
    start = next((n for n, line in enumerate(lines) if line.strip() and not _HTML_COMMENT.fullmatch(line)), None)
    if start is None:
        return draft
    title = _HEADING.sub("", lines[start]).rstrip().rstrip("#").rstrip()
    body, *comments = _sections([*lines[:start], *lines[start + 1 :]])
    return replace(draft, title=title, body=body[1], comments=(*draft.comments, *comments))


def _sections(lines: list[str]) -> Iterator[tuple[str, str]]:
    """The body under the name "", then each comment under its author's."""
    author, fence, part = "", "", list[str]()
    for line in lines:
        if found := _FENCE.match(line):
            if not fence:
                fence = found[1]
            elif line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        if not fence and (heading := _COMMENT_BY.fullmatch(line)):
            yield author, "\n".join(part)
            author, part = one_line(heading[1]), []
        else:
            part.append(line)
    yield author, "\n".join(part)


def _front_matter(lines: list[str]) -> tuple[list[str], list[str]]:
    """The lines between two `---` at the top, when all of them look like settings, and the lines after them."""
    if lines[0].rstrip() == "---":
        for number, line in enumerate(lines[1:], 1):
            if line.rstrip() == "---":
                return lines[1:number], lines[number + 1 :]
            if not _FRONT_LINE.fullmatch(line):
                break
    return [], lines


def _with_front(lines: list[str], path: str) -> Draft:
    draft, key = Draft(), ""
    for line in lines:
        found = _FRONT_LINE.fullmatch(line)
        name, value, item = found.groups() if found else (None, None, None)
        key = name.lower() if name else key
        text = one_line((value or "").strip("\"' "))
        if item and key == "comments":
            who, _, said = item.strip("\"'").partition(":")
            draft = replace(draft, comments=(*draft.comments, (one_line(who), said.strip())))
        elif name and key == "author":
            draft = replace(draft, author=text)
        elif name and key == "number" and text:
            draft = replace(draft, number=_number(int(text) if text.isdecimal() else text, path))
    return draft


# --- JSON ----------------------------------------------------------------------------------------------------------


def read_json(text: str, path: str) -> Draft:
    """An object with `title`, `body`, `comments` (`author`, `body`), `author`, `number`; an author may be `{login}`.

    What is null counts as missing, and other keys are left alone. Raises TicketNotJson and TicketWrong.
    """
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise TicketNotJson(path=path, reason=f"{error.msg}, line {error.lineno}, column {error.colno}") from error
    except (RecursionError, ValueError) as error:  # nested too deeply, or a number of thousands of digits
        raise TicketNotJson(path=path, reason="it is nested too deeply or holds a number too long") from error
    if not isinstance(value, dict):
        raise TicketWrong(path=path, field="the whole", wanted="an object with title and body", got=_kind(value))
    return Draft(
        title=_string(value, "title", path),
        body=_string(value, "body", path),
        author=_author(value, path),
        number=_number(value["number"], path) if value.get("number") is not None else None,
        comments=tuple(_comments(value.get("comments"), path)),
    )


def _comments(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if value is not None and not isinstance(value, list):
        raise TicketWrong(path=path, field="comments", wanted="a list of objects", got=_kind(value))
    for place, comment in enumerate(value or ()):
        field = f"comments[{place}]"
        if not isinstance(comment, dict):
            raise TicketWrong(path=path, field=field, wanted="an object with author and body", got=_kind(comment))
        yield _author(comment, path, f"{field}."), _string(comment, "body", path, f"{field}.")


def _author(value: dict[str, Any], path: str, where: str = "") -> str:
    author = value.get("author")
    if isinstance(author, dict):
        return one_line(_string(author, "login", path, f"{where}author."))
    return one_line(_string(value, "author", path, where))


def _string(value: dict[str, Any], key: str, path: str, where: str = "") -> str:
    found = value.get(key)
    if found is None:
        return ""
    if not isinstance(found, str):
        raise TicketWrong(path=path, field=where + key, wanted="text", got=_kind(found))
    return storable(found).replace("\r\n", "\n").replace("\r", "\n")


def _number(value: object, path: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= NUMBER_AT_MOST:
        return value
    raise TicketWrong(path=path, field="number", wanted=f"a whole number from 1 to {NUMBER_AT_MOST}", got=_kind(value))


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)[:40]
        case str():
            return "text"
        case list():
            return "a list"
        case _:
            return "an object"
