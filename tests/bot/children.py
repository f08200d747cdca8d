"""Work in a process of its own, that may be killed."""

from __future__ import annotations

import gc
import os
import traceback
from collections.abc import Callable


def in_child(work: Callable[[], object]) -> int:
    """Do it in a process of its own; gives the signal that ended it, 0 when none did."""
    pid = os.fork()
    if pid == 0:
        status = 1
        gc.freeze()  # what the tests hold is not searched for garbage in every child anew
        try:
            work()
            status = 0
        finally:
            if status:
                traceback.print_exc()
            os._exit(status)  # a child must not go on as a second test run
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 0, "the child failed: see its output"
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
