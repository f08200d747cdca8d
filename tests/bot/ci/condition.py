"""Conditions of GitHub Actions, evaluated here: the few operators and functions that ours are made of."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

_OPERATORS = ((r"&&", " and "), (r"\|\|", " or "), (r"!(?!=)", " not "))
_NAME = re.compile(r"\b(?:github|inputs|needs)(?:\.[\w*-]+)+")


class Text(str):
    """Compared as GitHub compares texts: capital letters or not."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and self.casefold() == other.casefold()

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


def holds(condition: str, contexts: Mapping[str, Any]) -> bool:
    """Whether the condition is true of these contexts; what is not there is an empty text."""

    def value(name: str) -> Any:
        found: Any = contexts
        for part in name.split("."):
            if part == "*":
                continue
            if isinstance(found, list):
                found = [one.get(part, "") for one in found]
            else:
                found = found.get(part, "") if isinstance(found, Mapping) else ""
        return Text(found or "") if isinstance(found, str | None) else found

    def contains(among: str | Sequence[str], item: str) -> bool:
        return item.casefold() in (among.casefold() if isinstance(among, str) else [one.casefold() for one in among])

    def starts_with(text: str, start: str) -> bool:
        return text.casefold().startswith(start.casefold())

    text = _NAME.sub(lambda found: f"value('{found[0]}')", " ".join(condition.split()))
    for operator, word in _OPERATORS:
        text = re.sub(operator, word, text)
    known = {
        "value": value,
        "contains": contains,
        "startsWith": starts_with,
        "join": lambda all_of, by: by.join(all_of),
    }
    return bool(eval(text, {"__builtins__": {}}, known))  # our own file's text
