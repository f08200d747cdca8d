"""Which files hold tests."""

from __future__ import annotations

from pathlib import PurePosixPath


def is_test_file(path: str) -> bool:
    """True for files that tests stand in, and for what lies in a folder of tests."""
    parts = PurePosixPath(path)
    name = parts.name
    in_folder = any(folder in ("tests", "test", "testing") for folder in parts.parts[:-1])
    return in_folder or name.startswith("test_") or name.endswith("_test.py") or name in ("conftest.py", "tests.py")
