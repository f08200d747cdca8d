"""Why something was not sent, or is not known to have arrived."""

from __future__ import annotations

from memory.errors import Told


class OutboxFault(Told):
    """Nothing was sent."""


class Leaks(OutboxFault):
    """A text for GitHub ({what}) holds a secret. It was not sent. Look at the run's record on this machine."""


class NotArrived(OutboxFault):
    """GitHub took {what}, and reading it back shows something else ({seen})."""


class NotOurs(OutboxFault):
    """{what} was not made by this App, and is left as it is."""


class NotForward(OutboxFault):
    """The commit {commit} does not follow {expected}, where {branch} is: pushing it would take something away."""
