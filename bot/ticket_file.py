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
_SLUG_AT_MOST = 50  # characters


def read_ticket(path: Path, repository: Path | None = None) -> Ticket:
    """The ticket in a file: JSON when its name ends in `.json`, markdown otherwise.

    `repository` is the folder of the repository that it is about: a ticket file in it is the same in every clone.
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
        id=ticket_id(_place(path, repository), draft.number),
        title=title,
        body=body,
        comments=tuple(Comment(author=who, text=without_blank_ends(said)) for who, said in draft.comments),
        author=draft.author,
        number=draft.number,
    )


def ticket_id(place: Path, number: int | None) -> TicketId:
    """`7` for a numbered ticket, else `local:`, a slug of the file's name, and a hash of the place where it lies.

    The hash is left out where the slug says it all: for `empty-cart.md` at the top of the repository.
    """
    if number is not None:
        return TicketId(str(number))
    plain = unicodedata.normalize("NFKD", place.stem).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain)[:_SLUG_AT_MOST].strip("-")
    if os.fsencode(place) == f"{slug}.md".encode():
        return TicketId(f"local:{slug}")
    named = slug if len(slug) > 2 or (slug and place.stem.isascii()) else "ticket"
    return TicketId(f"local:{named}-{hashlib.sha256(os.fsencode(place)).hexdigest()[:8]}")


def _place(path: Path, repository: Path | None) -> Path:
    """The file's place in the repository; its whole path when it lies elsewhere."""
    whole = Path(os.path.realpath(path.parent)) / path.name
    top = Path(os.path.realpath(repository)) if repository else None
    return whole.relative_to(top) if top and whole.is_relative_to(top) else whole


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
