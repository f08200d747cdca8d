"""What keeps a sandbox from working; the run that meets one is parked."""

from __future__ import annotations

from memory.errors import Told


class Unusable(Told):
    """A sandbox cannot work."""


class NoProgram(Unusable):
    """{program} is not installed"""


class NoFilter(Unusable):
    """no system call filter is known for a {machine} processor"""


class NoStart(Unusable):
    """{reason}"""


class NoNetwork(Unusable):
    """it has no network at all, and this command is to reach {hosts}; bubblewrap can open it to single hosts"""


class Undying(Unusable):
    """a process of the command is still there {seconds} seconds after it was killed"""
