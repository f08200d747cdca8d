"""Exit statuses of the program."""

from __future__ import annotations

from typing import Final

WITHOUT_PATCH: Final = 1
UNUSABLE: Final = 2  # the call, or what it stands on, cannot be used
PARKED: Final = 75  # EX_TEMPFAIL of sysexits: try again later
INTERRUPTED: Final = 130
TERMINATED: Final = 143  # by SIGTERM
