"""A signature in words, for people and for the search of notes."""

from __future__ import annotations

import re

from memory.types import ErrorSignature

_PLACEHOLDER = re.compile(r"<(?:url|email|uuid|date|ip|obj|hex|hash|path|dur|size|bool|num|str)>")
_NAMED_BY_PLACE = ("test", "http", "k8s")
_CANONICAL = re.compile(r"[a-z]{2,5}(?:-[a-z]+)+|recursion")


def headline(signature: ErrorSignature) -> str:
    """What went wrong in one line, without data: `TypeError: unsupported operand type(s) for +: 'int' and 'str'`."""
    words = signature.template
    if is_common_name(words):
        words = " ".join((words.split("-", 1)[-1].replace("-", " "), *signature.discriminators))
    words = " ".join(_PLACEHOLDER.sub("", words).split())
    type_ = re.split(r"[.:\\/]", signature.type)[-1]
    if signature.kind in _NAMED_BY_PLACE:
        words = " ".join(part for part in (words, *signature.discriminators, *signature.frames) if part)
    return f"{type_}: {words}" if type_ and words else type_ or words


def is_common_name(template: str) -> bool:
    """Whether the words are no text but the one name of what runtimes word differently, such as `py-key`."""
    return bool(_CANONICAL.fullmatch(template))


def label(signature: ErrorSignature) -> str:
    """A short name for logs: `TypeError @ import_csv.py:parse_line [es1:c]`."""
    level = next((level for level in "xfct" if level in signature.keys), "")
    where = f" @ {signature.frames[0]}" if signature.frames else ""
    algorithm = signature.keys[level].split(":", 1)[0] if level else ""
    return f"{re.split(r'[.:]', signature.type)[-1] or signature.kind}{where} [{algorithm}:{level}]"
