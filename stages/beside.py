"""A command with services beside it: one command for the sandbox, so that they share its network and its end."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from stages.report import Check

NOT_READY: Final = 125
"""Exit status of a command whose services could not be brought up; it was never started then."""
STARTER: Final = Path(__file__).with_name("collector") / "services.py"


def with_services(
    check: Check, arguments: Sequence[str], tree: PurePosixPath, channels: Sequence[int]
) -> tuple[str, ...]:
    """The command that starts the check's services first; `arguments` themselves when it has none.

    `tree` is the path that the command sees as its tree's.
    """
    if not check.services:
        return tuple(arguments)
    orders = {
        "services": [
            {
                "name": service.name,
                "arguments": service.arguments,
                "folder": str(tree / service.folder),
                "port": service.port,
                "seconds": service.timeout_seconds,
            }
            for service in check.services
        ],
        "channels": list(channels),
    }
    return (sys.executable, "-I", "-B", str(STARTER), json.dumps(orders), *arguments)
