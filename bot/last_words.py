"""What the program says when it cannot go on, without secrets: nobody knows what stands in an error's text."""

from __future__ import annotations

import os
import traceback


def clean(text: str) -> str:
    """`text` without secrets of this environment, and without what has the shape of one."""
    # Imported here: a program that goes well does not wait for it.
    from bot.config import hidden_values
    from memory.scrub import Scrubber

    return Scrubber(hidden_values(os.environ)).scrub(text)


def traceback_of(error: BaseException) -> str:
    """The traceback of an error, as Python prints it."""
    return clean("".join(traceback.format_exception(error)).rstrip("\n"))
