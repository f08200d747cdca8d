"""A comment → the command in it: the first line `/ticketsmith NAME …` that is said, not quoted, shown or hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from bot.job import JobKind

COMMANDS: Final[Mapping[str, JobKind]] = {
    "stop": JobKind.STOP,
    "retry": JobKind.RETRY,
    "requeue": JobKind.REQUEUE,
    "why": JobKind.WHY,
    "forget": JobKind.FORGET,
    "help": JobKind.HELP,
}
NOTE_AT_MOST: Final = 4_000  # characters of what a command is given
MARKER: Final = "<!-- ticketsmith:"
"""How the hidden line of everything that we write begins."""

_COMMAND = re.compile(r"/ticketsmith(?:[ \t]+(\S{1,40}))?(?:[ \t]+(.*))?[ \t]*$", re.I)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_QUOTE = re.compile(r" {0,3}>")
_LINE_END = re.compile(r"\r\n|\n|\r")  # what the page shows as one; not what only Python takes for one


class Said(NamedTuple):
    """A command as it was written; `name` is empty for one that is not known."""

    kind: JobKind
    name: str
    argument: str


def command_of(body: str) -> Said | None:
    """The first command of a comment; one that is not known asks for help."""
    lines = list(_spoken(_without_hidden(body)))
    for index, line in enumerate(lines):
        if found := _COMMAND.match(line):
            return _said(found, lines[index + 1 :])
    return None


def is_marked(body: str) -> bool:
    """True for a text that we wrote: its marker stands there, outside of any quote."""
    return any(MARKER in line for line in _LINE_END.split(body) if not _QUOTE.match(line))


def _said(found: re.Match[str], below: list[str]) -> Said:
    name = (found[1] or "help").lower()
    kind = COMMANDS.get(name)
    match kind:
        case None:
            return Said(JobKind.HELP, "", "")
        case JobKind.REQUEUE:  # a note may go over several lines
            return Said(kind, name, "\n".join([found[2] or "", *below]).strip()[:NOTE_AT_MOST])
        case JobKind.FORGET:
            return Said(kind, name, (found[2] or "").strip()[:NOTE_AT_MOST])
        case _:
            return Said(kind, name, "")


def _spoken(body: str) -> Iterator[str]:
    """Lines outside of quotes and fences, as the page shows them: a line right below a quote belongs to it."""
    fence, quoted = "", False
    for line in _LINE_END.split(body):
        found = _FENCE.match(line)
        if fence:
            if found and found[1][0] == fence[0] and len(found[1]) >= len(fence) and not found[2].strip():
                fence = ""
        elif found and not (found[1][0] == "`" and "`" in found[2]):
            fence, quoted = found[1], False
        elif quoted := bool(_QUOTE.match(line)) or (quoted and bool(line.strip())):
            continue
        else:
            yield line


def _without_hidden(body: str) -> str:
    """Without HTML comments, which no reader of the page sees; one that is never closed hides all that follows."""
    kept, at = [], 0
    while (begin := body.find("<!--", at)) >= 0:
        kept.append(body[at:begin])
        end = body.find("-->", begin + 4)
        if end < 0:
            return "".join(kept)
        at = end + 3
    return "".join((*kept, body[at:]))
