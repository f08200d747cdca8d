"""Why GitHub did not do what was asked. What it says is foreign text: it is cut and cleaned before it is told."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from memory.errors import Told
from memory.text import one_line

SAID_AT_MOST: Final = 300  # characters of GitHub's own message


class ForgeFault(Told):
    """GitHub cannot be used."""


class Unauthorised(ForgeFault):
    """GitHub refused our credential ({said}): check the App's id and its private key, or the token, and that the
    clock of this machine is right.
    """


class Forbidden(ForgeFault):
    """GitHub does not let us do this ({said}). The App, or the token, needs the permission {permission}: grant it in
    the App's settings, and accept it in the installation.
    """

    def __init__(self, *, permission: str, said: str) -> None:
        super().__init__(permission=permission, said=said)
        self.permission, self.said = permission, said

    def __reduce__(self) -> tuple[object, ...]:
        return _forbidden, (self.permission, self.said)


class NotThere(ForgeFault):
    """GitHub has no {what}, or does not show it to us."""


class Gone(ForgeFault):
    """GitHub says that {what} is gone for good ({said})."""

    def __init__(self, *, what: str, said: str) -> None:
        super().__init__(what=what, said=said)
        self.said = said

    @property
    def issues_disabled(self) -> bool:
        """True when not the one issue is gone, but the repository has switched issues off."""
        return "disabled" in self.said.lower()

    def __reduce__(self) -> tuple[object, ...]:
        return _gone, (self.fields["what"], self.said)


class Moved(ForgeFault):
    """{what} was moved to another repository ({to}), for which this run has no permission."""


class Locked(ForgeFault):
    """{what} is locked: nobody can comment there."""


class Archived(ForgeFault):
    """The repository is archived, and cannot be written to."""


class RateLimited(ForgeFault):
    """GitHub wants no requests before {until} ({said})."""

    def __init__(self, *, until: datetime, said: str) -> None:
        super().__init__(until=f"{until:%Y-%m-%d %H:%M:%S} UTC", said=said)
        self.until, self.said = until, said

    def __reduce__(self) -> tuple[object, ...]:
        return _rate_limited, (self.until, self.said)


class Unreachable(ForgeFault):
    """GitHub does not answer, or not as it should ({said}). Nothing is known about what was asked last."""


class Rejected(ForgeFault):
    """GitHub did not accept what was sent: {said}"""


class AppSuspended(ForgeFault):
    """The App can no longer act for installation {installation} ({said}): it was suspended or removed there."""


def said_by_github(text: str) -> str:
    """GitHub's message as one short line."""
    return one_line(text)[:SAID_AT_MOST].strip()


def _forbidden(permission: str, said: str) -> Forbidden:
    return Forbidden(permission=permission, said=said)


def _gone(what: str, said: str) -> Gone:
    return Gone(what=what, said=said)


def _rate_limited(until: datetime, said: str) -> RateLimited:
    return RateLimited(until=until, said=said)
