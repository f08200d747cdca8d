"""Notes: markdown that people wrote → chunks that can be shown on their own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from markdown_it import MarkdownIt

from memory.budget import size
from memory.frontmatter import Flaw, FrontMatter, split
from memory.pieces import split_block
from memory.text import fold, one_line
from memory.types import Chunk, NoteFile

RECORD_AT_MOST = 900
"""Characters of one note as it appears in the section, its head line and the prefixes of its lines included."""
_HEAD_REST = 70  # of a record's head line, besides the chunk's name: origin, date, score, threshold, prefix
_NAME_AT_MOST = 120
_SMALL = 240  # a section of fewer characters joins the one before it
_ANCHOR_AT_MOST = 50
_HEADINGS = ("h1", "h2", "h3")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_COMMENTS_IN_COMMENTS = 8


def name(note: str, anchor: str = "") -> str:
    """What a chunk is called in the section: `deploy/redis.md#failover`; a long path without its beginning."""
    full = one_line(f"{note}#{anchor}" if anchor else note)
    return full if len(full) <= _NAME_AT_MOST else f"…{full[1 - _NAME_AT_MOST :]}"


@dataclass(frozen=True, kw_only=True)
class _Block:
    """A block of markdown: its lines, and where a longer one may be broken."""

    kind: str  # heading | fence | other
    lines: tuple[str, ...]
    level: int = 0  # of a heading: 1 to 3
    title: str = ""
    starts: list[int] = field(default_factory=list)  # lines where its items begin


@dataclass(kw_only=True)
class _Section:
    path: tuple[str, ...]
    anchor: str
    pieces: list[tuple[str, ...]]

    @property
    def size(self) -> int:
        return size(self.lines)

    @property
    def lines(self) -> tuple[str, ...]:
        return _joined(self.pieces)


def chunks(note: NoteFile) -> tuple[Chunk, ...]:
    """The parts of a note, in its order; none of a retired one, of an empty one, or of one whose head has a flaw.

    A note that fits is one chunk. A longer one is split at its headings, then between blocks; code blocks stay whole
    where they fit. Text and heading are folded, HTML comments are left out. Whatever a note holds, each chunk fits the
    budget of one record.
    """
    front, lines = split(fold(note.text))
    if front.retired or front.flaw:
        return ()
    lines = _trimmed(_without_comments(lines))
    if not lines:
        return ()
    blocks = _blocks(lines)
    title = one_line(front.title) or _first_heading(blocks) or _of_path(note.path)
    path = called(note)
    if size(lines) <= _capacity(name(path)):
        sections = [_Section(path=(title,), anchor="", pieces=[tuple(lines)])]
    else:
        sections = _sections(blocks, title, _capacity(name(path, "#" * (_ANCHOR_AT_MOST + 4))))
    return tuple(
        Chunk(
            note=path,
            anchor=section.anchor,
            ordinal=ordinal,
            heading=_heading(section.path, front),
            text="\n".join(section.lines),
            changed=note.changed,
            scope=front.scope,
        )
        for ordinal, section in enumerate(sections)
    )


def source_tickets(note: NoteFile) -> tuple[str, ...]:
    """The tickets that a note came from, as its front matter names them: ids, numbers or titles."""
    return split(fold(note.text))[0].tickets


def flaw(note: NoteFile) -> Flaw | None:
    """What of a note's front matter cannot be understood, so that the note is not used; None when all is well."""
    return split(fold(note.text))[0].flaw


def unknown_keys(note: NoteFile) -> tuple[str, ...]:
    """Keys of a note's front matter that nobody reads, each with the known one that is near."""
    return split(fold(note.text))[0].unknown


def called(note: NoteFile) -> str:
    """What a note's chunks are named by: its path, so that no note of the repository is taken for a shared one."""
    if note.shared:
        return f"shared:{note.path}"
    return f"./{note.path}" if note.path.startswith(("shared:", "./")) else note.path


def _capacity(called: str) -> int:
    return RECORD_AT_MOST - _HEAD_REST - len(called)


def _heading(path: Iterable[str], front: FrontMatter) -> str:
    tags = ", ".join(front.tags)
    return one_line(" > ".join(part for part in path if part) + (f" [{tags}]" if tags else ""))


def _sections(blocks: Sequence[_Block], title: str, capacity: int) -> list[_Section]:
    sections: list[_Section] = []
    for path, anchor, body in _by_heading(blocks, title):
        here = [_Section(path=path, anchor=anchor, pieces=pieces) for pieces in _packed(body, capacity)]
        if sections and here and here[0].size < _SMALL:
            before = sections[-1]
            joined = [*before.pieces, *_headed(path, here[0].pieces)]
            if size(_joined(joined)) <= capacity:
                before.pieces = joined
                del here[0]
        sections.extend(here)
    return sections


def _headed(path: tuple[str, ...], pieces: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return [(f"{'#' * min(len(path), 3)} {path[-1]}".rstrip(),), *pieces]


def _by_heading(blocks: Sequence[_Block], title: str) -> Iterator[tuple[tuple[str, ...], str, list[_Block]]]:
    """Heading path, anchor and blocks of each section that has blocks."""
    path: tuple[str, ...] = (title,)
    anchor = ""
    body: list[_Block] = []
    seen: dict[str, int] = {}
    for block in blocks:
        if block.kind != "heading":
            body.append(block)
            continue
        if body:
            yield path, anchor, body
        path, anchor, body = _deeper(path, block, title), _anchor(block.title, seen), []
    if body:
        yield path, anchor, body


def _deeper(path: tuple[str, ...], heading: _Block, title: str) -> tuple[str, ...]:
    if heading.level == 1:
        return (title,) if heading.title == title else (title, heading.title)
    return (*path[: heading.level - 1], heading.title)


def _anchor(heading: str, seen: dict[str, int]) -> str:
    slug = re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")[:_ANCHOR_AT_MOST] or "section"
    seen[slug] = seen.get(slug, 0) + 1
    return slug if seen[slug] == 1 else f"{slug}-{seen[slug] - 1}"


def _packed(body: Sequence[_Block], capacity: int) -> list[list[tuple[str, ...]]]:
    """The pieces of a section's blocks, put together as long as they fit."""
    packed: list[list[tuple[str, ...]]] = []
    for block in body:
        for piece in split_block(block.lines, block.starts, capacity, fenced=block.kind == "fence"):
            if packed and size(_joined([*packed[-1], piece])) <= capacity:
                packed[-1].append(piece)
            else:
                packed.append([piece])
    return packed


def _joined(pieces: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    lines: list[str] = []
    for piece in pieces:
        lines.extend(([""] if lines else []) + list(piece))
    return tuple(lines)


def _blocks(lines: Sequence[str]) -> list[_Block]:
    found: list[_Block] = []
    end = 0
    for token in _parser().parse("\n".join(lines)):
        if token.map is None:
            continue
        start, stop = token.map
        if token.level == 1 and token.type == "list_item_open" and found:
            found[-1].starts.append(start - (end - len(found[-1].lines)))
        if token.level or token.type == "inline" or start < end:
            continue
        own = _trimmed(lines[start:stop])
        found.extend(_unread(lines[end:start]))
        kind = "heading" if token.tag in _HEADINGS else "fence" if token.type == "fence" else "other"
        if kind == "heading":
            text = _heading_text(own, setext=token.markup in ("=", "-"))
            found.append(_Block(kind=kind, lines=tuple(own), level=int(token.tag[1]), title=text))
        elif own:
            found.append(_Block(kind=kind, lines=tuple(own)))
        end = start + len(own)
    found.extend(_unread(lines[end:]))
    return found


def _heading_text(lines: Sequence[str], *, setext: bool) -> str:
    if setext:
        return one_line(" ".join(lines[:-1]))
    return one_line(re.sub(r"(^|\s)#+\s*$", "", re.sub(r"^\s*#{1,6}(\s|$)", "", " ".join(lines))))


def _unread(lines: Sequence[str]) -> list[_Block]:
    """What the parser took for itself, such as the definitions of links."""
    own = _trimmed(lines)
    return [_Block(kind="other", lines=tuple(own))] if own else []


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _without_comments(lines: Sequence[str]) -> list[str]:
    if not any("<!--" in line for line in lines):
        return list(lines)
    code = {
        at
        for token in _parser().parse("\n".join(lines))
        if token.type in ("fence", "code_block") and token.map
        for at in range(*token.map)
    }
    kept: list[str] = []
    prose: list[str] = []
    for at, line in enumerate(lines):
        if at in code:
            kept.extend(_uncommented(prose))
            kept.append(line)
            prose = []
        else:
            prose.append(line)
    return [*kept, *_uncommented(prose)]


def _uncommented(prose: Sequence[str]) -> list[str]:
    text = "\n".join(prose)
    for _ in range(_COMMENTS_IN_COMMENTS):
        text, found = _COMMENT.subn("", text)
        if not found:
            break
    else:
        text = text.replace("<!--", "")
    return [line.rstrip() for line in text.split("\n")] if text else []


def _first_heading(blocks: Sequence[_Block]) -> str:
    return next((block.title for block in blocks if block.kind == "heading" and block.level == 1), "")


def _of_path(path: str) -> str:
    return one_line(re.sub(r"[-_]+", " ", PurePosixPath(path).stem))


def _trimmed(lines: Sequence[str]) -> list[str]:
    start, stop = 0, len(lines)
    while start < stop and not lines[start]:
        start += 1
    while stop > start and not lines[stop - 1]:
        stop -= 1
    return list(lines[start:stop])
