"""The blocks of which a stage's body is made: foreign text in them is quoted, their first words are fixed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from string import Template
from typing import Final

from stages.answers import FIELDS
from stages.case import Case, HeldAttempt
from stages.patch import Patch
from stages.prompt import EntryPoint
from stages.quoting import BYTES_AT_MOST, LINES_AT_MOST, Sanitised, prefix, quote, quote_code, sanitise
from stages.report import Check, Reproduction
from stages.roles import MARK
from stages.ticket import Ticket

COMMENTS_AT_MOST: Final = 30
IDS_AT_MOST: Final = 20
ID_AT_MOST: Final = 500  # characters of a file's or a test's name
DIFF_AT_MOST: Final = 40_000  # characters
_SLOT: Final = re.compile(r"[A-Za-z0-9_./:\-\[\]]{1,200}")


def fill(template: Template, entry_point: EntryPoint, **blocks: str) -> str:
    """The body: the template with its blocks in place; empty ones leave no gap."""
    text = template.substitute(answer=_answer(entry_point), **blocks)
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n")


def _answer(entry_point: EntryPoint) -> str:
    """How to answer, for the tool `finish` and for programs that have no such tool."""
    schema = FIELDS[entry_point]
    names = (name if name in schema["required"] else f"{name}?" for name in schema["properties"])
    return (
        f"Answer once, with finish({', '.join(names)}). "
        "Where there is no such tool, end your output with one JSON object that has these fields."
    )


def case_blocks(case: Case) -> str:
    """Ticket, requeue notes, checks and what is red before any change."""
    return join(ticket(case.ticket), sent_back(case.notes), checks(case.checks), red(case.red))


def join(*blocks: str) -> str:
    return "\n\n".join(block for block in blocks if block)


def ticket(ticket: Ticket) -> str:
    """Title, body and the newest comments, and in lines of ours what was left out of them and marked in them."""
    lines, parts = _parts(ticket)
    gone, marked = _gone(parts, _earlier(ticket)), _marked(parts)
    said = [*([f"Left out of the ticket: {gone}."] if gone else []), *([f"{marked}."] if marked else [])]
    return "\n".join(["Ticket:", prefix(lines), *said])


def quotable(ticket: Ticket) -> tuple[str, ...]:
    """Title, body and comments as a model reads them."""
    title, *others = _parts(ticket)[1]
    return tuple(part.text for part in (title, *others[1::2]))  # a heading goes before each of the others


def changed(ticket: Ticket) -> str:
    """What no model reads of this ticket, and what it reads with a mark, for people; empty when it reads all as is."""
    _, parts = _parts(ticket)
    return "; ".join(filter(None, (_gone(parts, _earlier(ticket)), _marked(parts))))


def _earlier(ticket: Ticket) -> int:
    return max(0, len(ticket.comments) - COMMENTS_AT_MOST)


def _parts(ticket: Ticket) -> tuple[list[str], list[Sanitised]]:
    """The lines to show, and the texts that they came from."""
    title = sanitise(" ".join(ticket.title.split()), size=1_000, lines=1)
    parts, lines = [title], [title.text, ""]
    room, rows = BYTES_AT_MOST, LINES_AT_MOST
    said = ticket.comments[-COMMENTS_AT_MOST:]
    for heading, text in [("", ticket.body), *((f"comment by {comment.author}:", comment.text) for comment in said)]:
        head = sanitise(heading, size=200, lines=1)
        part = sanitise(text, size=room, lines=rows)
        parts.extend((head, part))
        lines.extend([*([head.text] if head.text else []), *part.text.split("\n")])
        room, rows = max(0, room - len(part.text.encode())), max(0, rows - len(part.text.split("\n")))
    while lines and not lines[-1]:
        lines.pop()
    return lines, parts


def _gone(parts: Iterable[Sanitised], comments: int = 0) -> str:
    """`270 × earlier comment, 1 × hidden comment`; empty when nothing went."""
    counts: dict[str, int] = {"earlier comment": comments}
    for part in parts:
        for hidden, count in part.removed.items():
            counts[hidden.value] = counts.get(hidden.value, 0) + count
        counts["character that did not fit"] = counts.get("character that did not fit", 0) + part.cut
    return ", ".join(f"{count} × {what}" for what, count in counts.items() if count)


def _marked(parts: Iterable[Sanitised]) -> str:
    count = sum(part.broken for part in parts)
    return f"Marked with {MARK}: {count} × word by which models tell speakers or tool calls apart" if count else ""


def sent_back(notes: Sequence[str]) -> str:
    """What people said when they sent the ticket back."""
    if not notes:
        return ""
    gone = _gone(map(sanitise, notes))
    said = ["Sent back with:", *(quoted for note in notes if (quoted := quote(note)))]
    return "\n".join([*said, *([f"Left out of the notes: {gone}."] if gone else [])])


def checks(checks: Sequence[Check]) -> str:
    return f"Checks: {', '.join(map(_called, checks))}" if checks else ""


def _called(check: Check) -> str:
    """The name of a check, and the folder whose tests it runs."""
    return f"{check.name} (in {check.folder})" if check.folder != "." and _SLOT.fullmatch(check.folder) else check.name


def red(ids: Sequence[str]) -> str:
    if not ids:
        return ""
    more = [f"+{len(ids) - IDS_AT_MOST}"] if len(ids) > IDS_AT_MOST else []
    return "\n".join(["Red before any change:", quoted_ids(ids[:IDS_AT_MOST]), *([prefix(more)] if more else [])])


def quoted_ids(ids: Iterable[str]) -> str:
    return "\n".join(quote_code(identifier[:ID_AT_MOST].replace("\n", " ")) for identifier in ids)


def reproduction(shown: Reproduction) -> str:
    """The reproduction; a test id of other letters than ids usually have stands quoted on a line of its own."""
    file = "With its file: alone it shows another failure or none, so run it with_files." if shown.with_file else ""
    if _SLOT.fullmatch(shown.test):
        return join(f"Reproduction: check {shown.check}, test {shown.test}", file)
    return join(f"Reproduction: check {shown.check}, test\n{quoted_ids([shown.test])}", file)


def diagnosis(cause: str, files: Sequence[str]) -> str:
    return join(f"Diagnosis:\n{quote(cause) or '|'}", f"Files:\n{quoted_ids(files)}" if files else "")


def held(attempt: HeldAttempt | None) -> str:
    """What was refused, by whom, and the patch that was."""
    if attempt is None:
        return ""
    hold = attempt.hold
    facts = [f"failed {test}" for test in hold.failing] + [
        f"edit {edit.path}:{edit.line} #{edit.digest}" for edit in hold.edits
    ]
    return join(
        "\n".join(
            [
                f"Held: at the {hold.where}, attempt {hold.attempt}, cause {hold.cause}",
                *([quoted_ids(facts)] if facts else []),
            ]
        ),
        "\n".join(["Why:", *map(quote, attempt.why)]) if attempt.why else "",
        "\n".join(["Reviewers said:", *map(quote, attempt.said)]) if attempt.said else "",
        patch("Held patch", attempt.patch),
    )


def patch(heading: str, shown: Patch) -> str:
    """A diff, quoted as it is; of a long one the head, and a line that says how much is missing."""
    if not shown.diff:
        return ""
    kept = shown.diff[:DIFF_AT_MOST]
    cut = [f"({len(shown.diff) - len(kept)} more characters)"] if len(kept) < len(shown.diff) else []
    return "\n".join([f"{heading}:", quote_code(kept), *cut])
