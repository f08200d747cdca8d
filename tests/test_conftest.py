"""Tests run whether there is something that spreads them over the cores or not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_tests_are_collected_without_what_spreads_them() -> None:
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "-p", "no:cacheprovider", "-q", "--collect-only"]

    done = subprocess.run(
        [*command, "tests/memory/test_words.py"],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "test_people_are_shown_words_as_their_text_has_them_first" in done.stdout
