"""What of the outside an external program is given: only what the operator named, and never on a command line."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import cast

import pytest

from stages.agents.program import Program, ProgramAgent
from stages.errors import UnreadableAnswer
from stages.sandbox import Level
from tests.fakes import RecordingJournal, TreeInMemory, budget, prompt
from tests.stages.sandbox.registry import serving
from tests.stages.sandbox.ways import PYTHON, Way, usable

KEY = "sk-canary-4be1f0a97b1d90c2"
ASKS = """
import json, os, sys, urllib.request
request = urllib.request.Request(sys.argv[1], b"{}", {"Authorization": os.environ.get("MODEL_KEY", "none")})
try:
    urllib.request.urlopen(request, timeout=10).read()
except OSError as error:
    print(error)
    sys.exit(3)
open(os.path.expanduser("~/settings"), "w").close()
print(json.dumps({"quote": "q", "cause": os.path.expanduser("~"), "files": sorted(os.environ)}))
"""


@pytest.fixture
def tree(tmp_path: Path) -> TreeInMemory:
    (tmp_path / "tree").mkdir()
    return TreeInMemory(tree=tmp_path / "tree")


def asking(url: str, **opened: object) -> Program:
    command = (str(PYTHON), "-I", "-S", "-c", ASKS, url)
    return Program(command=command, **opened)  # type: ignore[arg-type]


def test_a_program_reaches_its_model_with_its_key_and_nothing_else(tree: TreeInMemory) -> None:
    sandbox, journal = usable(Way(level=Level.BUBBLEWRAP)).sandbox(), RecordingJournal()
    with serving() as (model, asked), serving() as (other, never):
        opened = {"hosts": (model,), "environment": {"MODEL_KEY": KEY}}

        found = ProgramAgent(journal, asking(f"http://{model}/v1", **opened), sandbox).ask(
            prompt(), tree, budget(), lambda answer: answer.fields
        )
        with pytest.raises(UnreadableAnswer, match=f"it asked for {other}, which"):
            ProgramAgent(journal, asking(f"http://{other}/v1", **opened), sandbox).ask(
                prompt(), tree, budget(), lambda answer: answer
            )

    assert [headers["Authorization"] for _, _, headers, _ in asked] == [KEY]
    assert never == []
    assert found["cause"] == "/home/run"
    ours = {"PATH", "HOME", "TMPDIR", "LANG", "PWD", "LC_CTYPE"}
    assert {name for name in cast(list[str], found["files"]) if "proxy" not in name.lower()} - ours == {"MODEL_KEY"}


def test_without_hosts_a_program_has_no_network_at_all(tree: TreeInMemory) -> None:
    sandbox = usable(Way(level=Level.BUBBLEWRAP)).sandbox()
    with serving() as (model, asked), pytest.raises(UnreadableAnswer, match="refused"):
        ProgramAgent(RecordingJournal(), asking(f"http://{model}/v1"), sandbox).ask(
            prompt(), tree, budget(), lambda answer: answer
        )

    assert asked == []


def on_command_lines(text: str) -> int:
    """How many processes of this machine show the text to whoever lists them."""
    lines = Path("/proc").glob("[0-9]*/cmdline")
    return sum(text.encode() in _read(path) for path in lines)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_sec_16_the_value_of_a_variable_is_on_no_command_line_and_in_no_representation(tree: TreeInMemory) -> None:
    answer = "{'quote': 'q', 'cause': os.environ['MODEL_KEY'][:4], 'files': []}"
    code = f"import os, time, json; time.sleep(1); print(json.dumps({answer}))"
    program = Program(command=(str(PYTHON), "-I", "-S", "-c", code), environment={"MODEL_KEY": KEY})
    sandbox, seen = usable(Way(level=Level.BUBBLEWRAP)).sandbox(), list[int]()

    def look() -> bool:
        seen.append(on_command_lines(KEY))
        return False

    found = ProgramAgent(RecordingJournal(), program, sandbox).ask(
        prompt(), tree, budget(stopped=look), lambda answer: answer.fields
    )

    assert found == {"cause": KEY[:4], "files": [], "quote": "q"}
    assert len(seen) >= 3
    assert set(seen) == {0}
    assert KEY not in repr(program)
    control = subprocess.Popen([str(PYTHON), "-I", "-S", "-c", "import time; time.sleep(30)", KEY])
    try:
        until = time.monotonic() + 10
        while not on_command_lines(KEY) and time.monotonic() < until:
            time.sleep(0.05)
        assert on_command_lines(KEY) == 1
    finally:
        control.kill()
        control.wait()
