"""Text from strangers → text that hides nothing, each line behind `| `."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from memory.text import fold, vanishes
from stages.entities import decode
from stages.markup import Hidden, strip
from stages.roles import broken, marked

BYTES_AT_MOST: Final = 32 * 1024
LINES_AT_MOST: Final = 600
RAW_AT_MOST: Final = 4 * BYTES_AT_MOST  # characters that are looked at in one text
_ROUNDS: Final = 6

_UNSEEN: Final = ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp")  # categories of Unicode
_BLUNTED: Final = str.maketrans({"<": "‹", "&": "+"})

# What a terminal would act on: colours, cursor moves, links, the clipboard.
_ESCAPE: Final = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]"
)


@dataclass(frozen=True, kw_only=True)
class Sanitised:
    """Text without what its page hides. `removed` counts what went, `broken` the role tokens that were marked.

    `cut` counts the characters that did not fit.
    """

    text: str
    removed: Mapping[Hidden, int] = field(default_factory=dict)
    broken: int = 0
    cut: int = 0


def sanitise(text: str, *, size: int = BYTES_AT_MOST, lines: int = LINES_AT_MOST) -> Sanitised:
    """`text` decoded, folded and stripped until nothing changes, at most `size` bytes in UTF-8 and `lines` lines.

    Sanitising twice gives the same text. Takes time linear in the length.
    """
    removed: Counter[Hidden] = Counter()
    cut = max(0, len(text) - RAW_AT_MOST)
    now, marked = text[:RAW_AT_MOST], 0
    for round_ in range(_ROUNDS + 1):
        before = now
        now, more, over = _once(_blunt(now) if round_ == _ROUNDS else now, removed, size, lines)
        marked, cut = marked + more, cut + over
        if now == before:
            break
    return Sanitised(text=now, removed=+removed, broken=marked, cut=cut)


def _once(text: str, removed: Counter[Hidden], size: int, lines: int) -> tuple[str, int, int]:
    text, escapes = _ESCAPE.subn("", text)
    removed[Hidden.ESCAPE] += escapes
    removed[Hidden.INVISIBLE] += _invisible(text)
    if not _plain(text):
        text = "\n".join(fold(text))
    text = strip(decode(text), removed)
    text, marked = broken(text)
    text = "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")
    kept = _fit(text, size, lines)
    return kept.rstrip(), marked, len(text) - len(kept)


def _blunt(text: str) -> str:
    """For text made to need round after round: nothing is left that could be markup."""
    first, last = text.find("!["), text.rfind("]")
    if 0 <= first < last:
        text = text[:first] + text[last + 1 :]
    return text.translate(_BLUNTED).replace("](", "] (").replace("][", "] [").replace("]:", "] :")


def _fit(text: str, size: int, lines: int) -> str:
    text = "\n".join(text.split("\n", lines)[:lines])
    if len(text) * 4 > size:
        text = text.encode("utf-8", "replace")[:size].decode("utf-8", "ignore")
    return text


def _plain(text: str) -> bool:
    """True when folding would change nothing; asked first because most text is plain and folding is slow."""
    return text.isascii() and text.replace("\n", "").isprintable()


def _invisible(text: str) -> int:
    if _plain(text):
        return 0
    hidden = {character for character in set(text) if vanishes(character)}
    return sum(count for character, count in Counter(text).items() if character in hidden)


def prefix(lines: Iterable[str]) -> str:
    """Lines that are folded already, each behind `| `."""
    return "\n".join(f"| {line}".rstrip() for line in lines)


def quote(text: str) -> str:
    """What a stranger wrote, sanitised, each line behind `| `. Empty for text of which nothing is left."""
    kept = sanitise(text).text
    return prefix(kept.split("\n")) if kept else ""


def quote_output(text: str, *, characters: int = 8_000) -> str:
    """What a command printed, each line behind `| `: markup kept, terminal escapes gone, role tokens broken.

    Of longer output the head and the tail, with a line between them that says what was left out.
    """
    plain = "\n".join(_ESCAPE.sub("", _middle_cut(text, characters)).splitlines())
    return prefix(map(shown, broken(plain)[0].splitlines()))


def quote_code(text: str) -> str:
    """Source text or a diff, each line behind `| ` and otherwise as it is read."""
    lines = text.split("\n")
    return prefix(as_read(line) for line in (lines[:-1] if lines[-1] == "" else lines))


def as_read(line: str) -> str:
    """A line of code as a model sees it: what nobody sees shows as `\\u200b`, tokens that act on it carry a `·`."""
    return shown(marked(line))


def shown(line: str) -> str:
    """`line` as it is, but for characters that nobody sees or that some reader takes for a line break."""
    if line.isascii() and line.replace("\t", "").isprintable():
        return line
    return "".join(map(_visible, line.removesuffix("\r")))


def _visible(character: str) -> str:
    if character == "\t" or (unicodedata.category(character) not in _UNSEEN and not vanishes(character)):
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _middle_cut(text: str, characters: int) -> str:
    if len(text) <= characters:
        return text
    half = characters // 2
    return f"{text[:half]}\n({len(text) - 2 * half} characters left out)\n{text[-half:]}"
