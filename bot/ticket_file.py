"""A ticket from a file: markdown as people write it, or JSON with the fields of an issue."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import unicodedata
from pathlib import Path
from typing import Final

from bot.errors import (
    TicketBinary,
    TicketEmpty,
    TicketForbidden,
    TicketMissing,
    TicketNotAFile,
    TicketNotUtf8,
    TicketTooBig,
    TicketWithoutContent,
)
from bot.ticket_draft import read_json, read_markdown, without_blank_ends
from memory.text import one_line
from memory.types import TicketId
from stages.ticket import Comment, Ticket

BYTES_AT_MOST: Final = 1024 * 1024

_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_TITLE_AT_MOST = 200  # characters of a title that is taken from the body
_SLUG_AT_MOST = 60  # characters


def read_ticket(path: Path) -> Ticket:
    """The ticket in a file: JSON when its name ends in `.json`, markdown otherwise.

    Its text stays as it was written, apart from line breaks, NUL and lone surrogates. Raises a TicketUnusable for
    everything that is not one ticket in UTF-8 with a title or a body.
    """
    name = one_line(str(path)) or "(no name)"
    text = _text(_bytes(path, name), name)
    draft = read_json(text, name) if path.suffix.lower() == ".json" else read_markdown(text, name)
    body = without_blank_ends(draft.body)
    title = " ".join(draft.title.split()) if one_line(draft.title) else one_line(body)[:_TITLE_AT_MOST]
    if not title:
        raise TicketWithoutContent(path=name)
    return Ticket(
        id=ticket_id(path.stem, draft.number),
        title=title,
        body=body,
        comments=tuple(Comment(author=who, text=without_blank_ends(said)) for who, said in draft.comments),
        author=draft.author,
        number=draft.number,
    )


def ticket_id(stem: str, number: int | None) -> TicketId:
    """`7` for a numbered ticket, else `local:` and a slug of the file's name, which is ASCII whatever the name is."""
    if number is not None:
        return TicketId(str(number))
    plain = unicodedata.normalize("NFKD", stem).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain)[:_SLUG_AT_MOST].strip("-")
    whole = stem.isascii() and len(stem) <= _SLUG_AT_MOST
    mark = "" if slug and whole else hashlib.sha256(os.fsencode(stem)).hexdigest()[:8]
    return TicketId("local:" + "-".join(filter(None, (slug if len(slug) > 2 or whole else "ticket", mark))))


def _bytes(path: Path, name: str) -> bytes:
    """The file's bytes. Looked at before it is opened: a pipe or device would keep us waiting."""
    try:
        kind = path.stat().st_mode
        if not stat.S_ISREG(kind):
            raise TicketNotAFile(path=name, what="a folder" if stat.S_ISDIR(kind) else "a device, pipe or socket")
        with path.open("rb") as file:
            data = file.read(BYTES_AT_MOST + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise TicketMissing(path=name) from error
    except ValueError as error:  # a NUL in the path
        raise TicketMissing(path=name) from error
    except OSError as error:
        raise TicketForbidden(path=name, reason=error.strerror or "unknown error") from error
    if len(data) > BYTES_AT_MOST:
        raise TicketTooBig(path=name, most=BYTES_AT_MOST)
    return data


def _text(data: bytes, name: str) -> str:
    if not data.strip():
        raise TicketEmpty(path=name)
    if data.startswith(_UTF16):
        raise TicketNotUtf8(path=name, offset=0)
    if b"\0" in data:
        raise TicketBinary(path=name)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TicketNotUtf8(path=name, offset=error.start) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")
