"""Which files hold tests."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final

_FOLDER: Final = re.compile(r"(?:.+[_-])?tests?|testing")


def is_test_file(path: str) -> bool:
    """True for files that tests stand in, and for what lies in a folder of tests."""
    parts = PurePosixPath(path.casefold())
    name = parts.name
    in_folder = any(_FOLDER.fullmatch(folder) for folder in parts.parts[:-1])
    return in_folder or name.startswith("test_") or name.endswith("_test.py") or name in ("conftest.py", "tests.py")
