"""A manifest that GitHub has taken → the App that it made, with its key and its secret; once for each code."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from bot.forge import parsing
from bot.forge.errors import Rejected
from bot.forge.wire import Question, Wire

_CODE: Final = re.compile(r"[A-Za-z0-9_.-]{1,200}")


@dataclass(frozen=True, kw_only=True)
class MadeApp:
    """`page` is where GitHub shows it. `webhook_secret` is empty where GitHub made none."""

    id: int
    slug: str
    page: str
    key: str = field(repr=False)
    webhook_secret: str = field(repr=False)


def made_app(base_url: str, code: str, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> MadeApp:
    """The App that GitHub made for this code, which is taken once and for an hour. Raises ForgeFault."""
    if not _CODE.fullmatch(code):
        raise Rejected(said="that is no code of a manifest")
    path, what = f"/app-manifests/{code}/conversions", "an App for this code: it is taken once, and for an hour"
    question = Question(verb="POST", path=path, what=what, permission="", installation=0)
    wire = Wire(base_url, clock=clock)
    answer = wire.ask(question, None)
    if answer.status >= 400:
        raise wire.fault(question, answer)
    return parsing.shaped(_app, answer.data)


def _app(data: Any) -> MadeApp:
    return MadeApp(
        id=int(data["id"]),
        slug=str(data["slug"]),
        page=str(data.get("html_url") or ""),
        key=str(data["pem"]),
        webhook_secret=str(data.get("webhook_secret") or ""),
    )
