"""A block of lines that is too long for one record → pieces that fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from memory.budget import FRAME, size


def split_block(
    lines: Sequence[str], starts: Sequence[int], capacity: int, *, fenced: bool = False
) -> list[tuple[str, ...]]:
    """`lines` in pieces of at most `capacity` characters, broken where an item starts, else between lines, else words.

    Each piece of a fenced block gets its fence; no other begins or ends with an empty line.
    """
    if size(lines) <= capacity:
        return [tuple(lines)]
    if fenced and len(lines) > 1:
        return _refenced(lines, capacity)
    borders = sorted({0, len(lines), *(at for at in starts if 0 < at < len(lines))})
    groups = [lines[start:stop] for start, stop in pairwise(borders)]
    filled = _filled((piece for group in groups for piece in _fitting(group, capacity)), capacity)
    return [piece for piece in map(_without_empty_ends, filled) if piece]


def _refenced(lines: Sequence[str], capacity: int) -> list[tuple[str, ...]]:
    first = lines[0][: capacity // 4]
    mark = first[: len(first) - len(first.lstrip("`~ "))]
    inner = lines[1:-1] if lines[-1].strip() == mark.strip() else lines[1:]
    room = capacity - size((first, mark))
    return [(first, *piece, mark) for piece in _filled((p for p in _fitting(inner, room)), room)]


def _fitting(group: Sequence[str], capacity: int) -> Iterator[tuple[str, ...]]:
    if size(group) <= capacity:
        yield tuple(group)
        return
    for line in group:
        while size((line,)) > capacity:
            room = capacity - FRAME
            cut = line.rfind(" ", room // 2, room)
            cut = room if cut < 0 else cut
            yield (line[:cut].rstrip(),)
            line = line[cut:].lstrip()
        yield (line,)


def _filled(pieces: Iterator[tuple[str, ...]], capacity: int) -> list[tuple[str, ...]]:
    filled: list[list[str]] = []
    for piece in pieces:
        if filled and size([*filled[-1], *piece]) <= capacity:
            filled[-1].extend(piece)
        else:
            filled.append(list(piece))
    return [tuple(lines) for lines in filled]


def _without_empty_ends(lines: tuple[str, ...]) -> tuple[str, ...]:
    full = [at for at, line in enumerate(lines) if line]
    return lines[full[0] : full[-1] + 1] if full else ()
