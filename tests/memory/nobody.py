"""Being somebody who may not do everything."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

NOBODY = 65_534


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may write everywhere: permissions are tested as somebody else."""
    if os.getuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
