"""What happens to an error text on its way into a ticket, and must not change its keys."""

from __future__ import annotations

import html
import json
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


def _listed(text: str) -> str:
    return "- " + text.replace("\n", "\n  ")


def _numbered(text: str) -> str:
    return "1. it fails with\n" + _each(text, lambda line: f"   {line}")


def _in_json(text: str) -> str:
    return json.dumps({"ts": "2026-03-04T05:06:07Z", "level": "error", "logger": "shop", "stack_trace": text})


def _in_json_twice(text: str) -> str:
    return json.dumps(
        {"log": json.dumps({"msg": "oops", "exception": text}) + "\n", "stream": "stderr", "time": "2026"}
    )


def _in_pretty_json(text: str) -> str:
    return json.dumps({"level": "error", "error": {"name": "x", "stack": text}}, indent=2)


def _in_cell(text: str) -> str:
    return "| what | log |\n|---|---|\n| crash | " + html.escape(text).replace("\n", "<br>") + " |"


def _in_spans(text: str) -> str:
    return "<pre>" + _each(html.escape(text), lambda line: f'<span class="line">{line}</span>') + "</pre>"


WRITERS: dict[str, Change] = {
    "a job of GitHub": _before("2026-03-04T05:06:07.1234567Z "),
    "GitLab": _before("2026-03-04T05:06:07.123456Z 01O "),
    "Jenkins": _before("[2026-03-04T05:06:07.123Z] "),
    "Heroku": _before("2026-03-04T05:06:07.123456+00:00 app[web.1]: "),
    "CloudWatch": _before("2026-03-04T05:06:07.123Z\t7c1811ed-e98f-4c9c-a9f9-58c757ff494f\tERROR\t"),
    "Azure": _before("2026-03-04T05:06:07.1234567Z ##[error]"),
    "journald with ISO dates": _before("2026-03-04T05:06:07+0200 host-1 shop.service[123]: "),
    "compose": _before("shop-api-1  | "),
    "compose in colour": _before("\x1b[36mweb_1  |\x1b[0m "),
    "compose with a clock": _before("web-1  | 2026-03-04T05:06:07.123Z "),
    "kubectl": _before("[pod/shop-7d9c5b7c6d-abcde/app] "),
    "a supervisor": _before("stderr: "),
    "npm": _before("npm ERR! "),
    "Maven": _before("[ERROR] "),
    "a numbered list": _numbered,
    "JSON": _in_json,
    "JSON in JSON": _in_json_twice,
    "JSON over lines": _in_pretty_json,
    "a mail in HTML": _in_spans,
    "two gateways": lambda text: html.escape(html.escape(text)),
    "the log of Python": lambda text: f"2026-03-04 05:06:07,123 ERROR shop.api.views Unhandled problem\n{text}",
    "the log of Java": lambda text: f"2026-03-04 05:06:07,123 ERROR [http-1] c.a.Shop - Request failed\n{text}",
    "the log of Spring": lambda text: (
        f"2026-03-04T05:06:07.123+02:00 ERROR 1 --- [nio-1] o.a.c.c.C.[dispatcherServlet]    : it threw\n{text}"
    ),
    "more of a log": lambda text: f"{text}\n2026-03-04 05:06:08 INFO shop started\n2026-03-04 05:06:09 INFO ready",
    "a mark of the file's order": lambda text: f"\ufeff{text}",
    "quotes and line ends of Windows": lambda text: _each(text, lambda line: f"> {line}").replace("\n", "\r\n"),
}
"""Who printed the text, or holds it: known writers of logs, services and pages."""

STRANGERS: dict[str, Change] = {
    "a pod's name": _before("shop-7d9c5b7c6d-abcde app "),
    "a job and its step": _before("build (3.11)\tRun tests\t2026-03-04T05:06:07.1234567Z "),
    "a bare level": _before("ERROR "),
    "a patch": _before("+ "),
    "a writer of its own": _before("<shop/7> "),
    "a list": _listed,
    "blank lines between": lambda text: text.replace("\n", "\n\n"),
    "a table's cell": _in_cell,
    "a string of Python": lambda text: f"error: {text!r}",
}
"""What no pattern knows by name: read where a text has at least five lines."""
