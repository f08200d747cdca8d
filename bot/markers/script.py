"""The answers of the recording model: they take one run through all eight entry points."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from bot.markers.scene import RIGHT, SAME, TEST, TICKET, WRONG

_FIRST_WORDS: Final = re.compile(r"^# (\w+): ", re.MULTILINE)
_DIAGNOSIS: Final = {
    "quote": TICKET.title,
    "cause": "It adds where it should multiply.",
    "files": ["doubling.py"],
    "reproduction": TEST,
}


@dataclass(frozen=True, kw_only=True)
class Answering:
    """What the model does at an entry point: at most one edit of `doubling.py`, then its answer."""

    fields: Mapping[str, object]
    old: str = ""
    new: str = field(default="")


ANSWERS: Final[Mapping[str, Answering]] = {
    "triage": Answering(fields={"ownership": "ours", "reason": "doubling.py is here."}),
    "diagnose": Answering(fields=_DIAGNOSIS),
    # The first patch does not even repair the reproduction, so that the run comes to a new diagnosis.
    "develop": Answering(fields={"summary": "Turn the sum round."}, old=WRONG, new=SAME),
    "rediagnose": Answering(fields=_DIAGNOSIS),
    "refix": Answering(fields={"summary": "Multiply."}, old=WRONG, new=RIGHT),
    "review": Answering(fields={"findings": []}),
    "summarise": Answering(fields={"text": "It doubles now."}),
    "verify": Answering(fields={"check": TEST}),
}


def entry_point_of(prompt: str) -> str:
    """The entry point that a body's first line names, wherever the body begins."""
    found = _FIRST_WORDS.search(prompt)
    return found[1].lower() if found else ""


def answer(prompt: str) -> Answering:
    return ANSWERS[entry_point_of(prompt)]
