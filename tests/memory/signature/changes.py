"""What happens to an error text on its way into a ticket, and must not change its keys."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

Change = Callable[[str], str]


def _each(text: str, change: Change) -> str:
    return "\n".join(change(line) for line in text.split("\n"))


def _crlf(text: str) -> str:
    return text.replace("\n", "\r\n")


def _indented(text: str) -> str:
    return _each(text, lambda line: f"    {line}")


def _quoted(text: str) -> str:
    return _each(text, lambda line: f"> {line}")


def _fenced(text: str) -> str:
    return f"```python\n{text}\n```"


def _escaped(text: str) -> str:
    return html.escape(text)


def _coloured(text: str) -> str:
    return _each(text, lambda line: f"\x1b[31m{line}\x1b[0m" if line else line)


def _unbreakable(text: str) -> str:
    return text.replace(" ", "\u00a0")


def _stamped(text: str) -> str:
    return _each(text, lambda line: f"2026-03-04T05:06:07.891Z {line}")


def _composed(text: str) -> str:
    return _each(text, lambda line: f"api-1  | {line}")


def _shifted(text: str) -> str:
    text = re.sub(r"(\bline )(\d+)", lambda found: f"{found[1]}{int(found[2]) + 7}", text)
    return re.sub(
        r"(\.(?:py|js|jsx|ts|tsx|java|kt|go|rs|rb|php|cs|swift|c|cpp|cc|h)[:(])(\d+)",
        lambda found: f"{found[1]}{int(found[2]) + 7}",
        text,
    )


def _moved(text: str) -> str:
    return re.sub(r"\b0x[0-9a-f]{2,16}\b", "0x7fde12ab", text)


def _talked_about(text: str) -> str:
    return f"Hi all,\n\nsince Monday we see this:\n\n{text}\n\nAny idea? Thanks,\nKim"


def _folded(text: str) -> str:
    return f"<details><summary>Log</summary>\n\n{text}\n\n</details>"


CHANGES: dict[str, Change] = {
    "crlf": _crlf,
    "indent": _indented,
    "quote": _quoted,
    "fence": _fenced,
    "html": _escaped,
    "ansi": _coloured,
    "nbsp": _unbreakable,
    "stamp": _stamped,
    "compose": _composed,
    "lines": _shifted,
    "addresses": _moved,
    "prose": _talked_about,
    "details": _folded,
}


def _before(prefix: str) -> Change:
    return lambda text: _each(text, lambda line: f"{prefix}{line}")


DRESSES: dict[str, Change] = {
    "a comma in the clock": _before("2026-03-04 05:06:07,891 "),
    "a zone": _before("2026-03-04T05:06:07+02:00 "),
    "brackets": _before("[2026-03-04 05:06:07] "),
    "a level": _before("2026-03-04 05:06:07 [ERROR] "),
    "a clock": _before("[05:06:07] "),
    "a CI log": _before("2026-03-04T05:06:07.1234567Z "),
    "syslog": _before("Mar  4 05:06:07 host-1 shop[123]: "),
    "journald": _before("Mar 04 05:06:07 host shop[1]: "),
    "a pod's log": _before("2026-03-04T05:06:07.000000000Z stderr F "),
    "an old compose": _before("web_1  | "),
    "a tab": _before("\t"),
    "two quotes": _before("> > "),
    "a tight quote": _before(">"),
    "tildes": lambda text: f"~~~\n{text}\n~~~",
    "colours as text": lambda text: _each(text, lambda line: f"\\x1b[31m{line}\\x1b[0m"),
    "orphaned colours": lambda text: _each(text, lambda line: f"[31m{line}[0m"),
    "a code element": lambda text: f"<pre><code>{html.escape(text)}</code></pre>",
    "break elements": lambda text: html.escape(text).replace("\n", "<br/>"),
    "old line ends": lambda text: text.replace("\n", "\r"),
    "blanks at the end": lambda text: _each(text, lambda line: f"{line}   "),
    "a form": lambda text: f"## Bug\n\n**What happens**\n\n```\n{text}\n```\n\n- OS: Linux\n- Version: 1.2.3",
}
"""More of what people and machines do to a text."""
