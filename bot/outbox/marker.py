"""The hidden line that says which run and step made something: only we can make it, and only there does it count."""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import Final

from bot.forge.types import RepositoryRef

_LINE: Final = re.compile(r"<!-- ticketsmith:([0-9a-f]{32}) -->")
_PURPOSE: Final = b"ticketsmith outbox marker v1"


class Markers:
    """Makes markers with a key that is derived from a secret.

    For the App the secret is its private key. A CI job has none that stays: there the repository's number stands for
    it, and what protects is that only GitHub's own account for jobs writes with it. After the secret was changed,
    markers of before are foreign; what was sent is then still known by its number, from the ledger.
    """

    def __init__(self, secret: str) -> None:
        self._key = hmac.new(_PURPOSE, secret.encode(), hashlib.sha256).digest()

    def __repr__(self) -> str:
        return "Markers()"

    def key(self, run: str, step: str, ref: RepositoryRef, subject: str, ordinal: int = 0) -> str:
        """32 hex digits, bound to run, step, repository and subject."""
        parts = "\0".join((run, step, str(ordinal), str(ref.id), subject))
        return hmac.new(self._key, parts.encode(), hashlib.sha256).hexdigest()[:32]


def marked(text: str, key: str) -> str:
    """The text with its marker as the last line."""
    return f"{text.rstrip()}\n\n<!-- ticketsmith:{key} -->"


def key_in(body: str) -> str:
    """The key of the marker in the last line; "" where there is none. Elsewhere in a text it means nothing."""
    lines = body.replace("\r\n", "\n").rstrip().rsplit("\n", 1)
    found = _LINE.fullmatch(lines[-1].strip())
    return found[1] if found else ""


def carries_marker(body: str) -> bool:
    """True for a text with a marker anywhere, whoever wrote it: it starts nothing."""
    return _LINE.search(body) is not None
