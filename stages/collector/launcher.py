"""Runs pytest in a tree and reports what happened over a channel; started by path, imports nothing of ours.

`python -s -P -B launcher.py CHANNEL SECRET`: reads a key from descriptor SECRET and its orders as JSON from standard
input, then runs pytest as `python -m pytest` would in the current folder, and writes one line for each event to
descriptor CHANNEL: a message authentication code over number and event, a blank, the event as JSON.

`launcher.py stay TOP LINE` does the same in a fork for each order on the socket LINE (`server.py`); TOP is the tree.

What this withstands: tests that write to every descriptor, print a result, exit early or late, crash, fork, close or
replace descriptors, change result files, or replace functions of the modules used here after they were imported: the
key is in no module, and whatever is missing, repeated, out of order or unsigned makes the run incomplete.

What it does not withstand: code in the same interpreter that knows this file. It can find the sender among pytest's
plugins or the key among the garbage collector's objects, and it can replace functions inside pytest, so that pytest
itself believes what is not. Nothing in one process can rule that out; it must be written for this very purpose, into
the patch, where the diff shows it.
"""

from __future__ import annotations

import gc
import os
import sys
from functools import cache
from importlib import util
from typing import Any


@cache
def beside(name: str) -> Any:
    """A module of this folder, under a name that no target has; its bytecode is kept, that of this file never is."""
    spec = util.spec_from_file_location(f"_ticketsmith_{name}", os.path.join(os.path.dirname(__file__), f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    gc.disable()  # until pytest is loaded, which sets it right
    one = beside("pytest_run")
    if sys.argv[1] == "stay":
        one.load_for_many(), beside("plugin"), beside("lines")
        beside("server").serve(int(sys.argv[3]), sys.argv[2])
    ended = one.main(int(sys.argv[1]), int(sys.argv[2]), beside)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(ended)  # threads that tests left running do not hold it up, and nothing of theirs runs any more
