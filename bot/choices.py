"""What one call decides over the settings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What one call decides over the settings. `trusted` is for fixtures of our own: weaker sandboxes may do."""

    model: str = ""
    agent: tuple[str, ...] = ()
    sandbox: str = ""
    attempts: int | None = None
    trusted: bool = False
