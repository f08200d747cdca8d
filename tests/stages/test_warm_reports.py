"""A run with a pytest that stays loaded reports what a run in a fresh sandbox reports."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from memory.types import CheckId
from stages.checks import Wish
from stages.report import Check, CheckReport
from stages.sandbox import Bounds
from tests.stages.warm import PYTEST, STATE, cold, kept, tree


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A tree and a wish; `says` stands in the report, or the comparison would be one of two empty ones."""

    files: dict[str, str]
    says: str
    wish: Wish = field(default_factory=Wish)
    check: Check = PYTEST
    bounds: Bounds | None = None


def ids(*names: str) -> list[CheckId]:
    return list(map(CheckId, names))


PASSING = {"test_a.py": "def test_a():\n    assert 1\n\ndef test_b():\n    assert 2\n"}
SHOWN = {
    "passing": Shown(files=PASSING, says="2 passed"),
    "failing": Shown(
        files={"test_a.py": "def test_a():\n    left = {1: 'x'}\n    assert left == {1: 'y'}, 'why'\n"}, says="why"
    ),
    "an error of collection": Shown(
        files={"test_a.py": "import gone\n", "test_b.py": "def test_b(): pass\n"}, says="gone"
    ),
    "no test at all": Shown(files={"a.py": ""}, says="no tests ran"),
    "a test that hangs": Shown(
        files={"test_a.py": "def test_a():\n    while True: pass\n\ndef test_b(): pass\n"},
        wish=Wish(test_seconds=0.3),
        says="Timeout",
    ),
    "a run that hangs": Shown(
        files={"test_a.py": "import time\nwhile True: time.sleep(1)\n"},
        check=replace(PYTEST, timeout_seconds=1.5),
        says="timed_out=True",
    ),
    "an early exit": Shown(files={"test_a.py": "import os\ndef test_a():\n    os._exit(0)\n"}, says="Crash"),
    "an exit while collecting": Shown(files={"test_a.py": "import os\nos._exit(3)\n"}, says="exit_status=3"),
    "a crash": Shown(
        files={"test_a.py": "import os, signal\ndef test_a():\n    os.kill(os.getpid(), signal.SIGKILL)\n"},
        says="exit_status=137",
    ),
    "a signal to its whole group": Shown(
        files={"test_a.py": "import os, signal\ndef test_a():\n    os.kill(0, signal.SIGTERM)\n"},
        says="exit_status=143",
    ),
    "a signal to everything": Shown(
        files={"test_a.py": "import os, signal\ndef test_a():\n    os.kill(-1, signal.SIGKILL)\n"}, says="collected"
    ),
    "an interrupt": Shown(
        files={"test_a.py": "import os, signal\ndef test_a():\n    os.kill(os.getpid(), signal.SIGINT)\n"},
        says="KeyboardInterrupt",
    ),
    "a fork bomb": Shown(
        files={
            "test_a.py": """
            import os, signal, time

            def test_a():
                made = 0
                try:
                    for _ in range(2000):
                        if os.fork() == 0:
                            time.sleep(600)
                        made += 1
                except BlockingIOError:
                    pass
                is_bounded = made < 60
                assert is_bounded is None
            """
        },
        bounds=Bounds(processes=60),
        says="assert True is None",
    ),
    "prints": Shown(
        files={
            "test_a.py": """
            import os, subprocess, sys

            def test_a(capfd):
                with capfd.disabled():
                    print("printed")
                    print("to the other", file=sys.stderr)
                    os.write(1, b"written\\n")
                    subprocess.run(["/bin/echo", "by another"], check=True)
                print("captured")
                assert sys.stdin.read() == "none"
            """
        },
        says="by another",
    ),
    "too much output": Shown(
        files={"test_a.py": "def test_a(capfd):\n    with capfd.disabled():\n        print('x' * 300000)\n"},
        says="bytes left out",
    ),
    "coverage": Shown(
        files={
            "src/shop.py": "def one(x):\n    if x:\n        return 1\n    return 0\n",
            "test_a.py": "from shop import one\ndef test_a(): assert one(1)\ndef test_b(): assert one(0)\n",
        },
        wish=Wish(coverage=True),
        says="src/shop.py",
    ),
    "hooks and plugins of its own": Shown(
        files={
            "conftest.py": """
            import pytest

            pytest_plugins = ["mine"]

            def pytest_terminal_summary(terminalreporter):
                terminalreporter.write_line("from the conftest")

            @pytest.fixture(params=["x", "y"])
            def letter(request):
                return request.param
            """,
            "mine.py": "def pytest_report_header(config):\n    return 'from a plugin'\n",
            "test_a.py": "def test_a(letter):\n    assert letter == 'x'\n",
        },
        says="from a plugin",
    ),
    "unittest": Shown(
        files={
            "test_a.py": """
            import unittest

            class A(unittest.TestCase):
                def setUp(self): self.x = 1
                def test_one(self): self.assertEqual(self.x, 2)
                @unittest.skip("later")
                def test_two(self): pass
                def test_three(self):
                    with self.assertRaises(KeyError): {}[1]
            """
        },
        says="1 != 2",
    ),
    "a plugin that its tests ask for": Shown(
        files={
            "test_a.py": """
            import pytest, sys

            @pytest.mark.timeout(20)
            def test_a(request):
                assert request.config.pluginmanager.has_plugin("pytest_timeout"), "there is none"
                assert "hypothesis" not in sys.modules
                assert 0, "timeout is there"
            """
        },
        says="timeout is there",
    ),
    "no plugin that nobody asks for": Shown(
        files={
            "test_a.py": """
            def test_a(request):
                assert not request.config.pluginmanager.has_plugin("pytest_timeout")
                assert 0, "none is there"
            """
        },
        says="none is there",
    ),
    "tests that are named": Shown(files=PASSING, wish=Wish(tests=ids("test_a.py::test_b")), says="1 deselected"),
    "tests that are missing": Shown(files=PASSING, wish=Wish(tests=ids("test_gone.py::test_b")), says="exit_status=5"),
    "the first failure ends it": Shown(
        files={"test_a.py": "def test_a(): assert 0\ndef test_b(): assert 0\n"},
        wish=Wish(stop_at_first=True),
        says="stopping after 1 failures",
    ),
    "a folder below": Shown(
        files={
            "one/pytest.ini": "[pytest]\naddopts = -v\n",
            "one/tests/test_a.py": "import os\ndef test_a():\n    assert os.getcwd() == '/tree', os.getcwd()\n",
        },
        check=replace(PYTEST, folder="one"),
        says="/tree/one",
    ),
    "processes that import the first one": Shown(
        files={
            "test_a.py": """
            import multiprocessing

            def double(x):
                return 2 * x

            def test_a():
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    assert pool.map(double, [4]) == [9]
            """
        },
        says="[8] == [9]",
    ),
    "too much on disk": Shown(
        files={
            "test_a.py": """
            import time

            def test_a():
                with open("big", "wb") as file:
                    for _ in range(40):
                        file.write(bytes(2**20))
                        file.flush()
                        time.sleep(0.05)
                time.sleep(60)
            """
        },
        bounds=Bounds(tree_bytes=8 * 2**20),
        says="put more on disk",
    ),
    "too much memory together": Shown(
        files={
            "test_a.py": """
            import time

            def test_a():
                held = bytearray(300 * 2**20)
                time.sleep(60)
            """
        },
        bounds=Bounds(together_bytes=200 * 2**20),
        says="took more memory",
    ),
    "too much memory": Shown(
        files={"test_a.py": "def test_a():\n    bytearray(300 * 2**20)\n"},
        bounds=Bounds(memory_bytes=300 * 2**20),
        says="MemoryError",
    ),
    "a file that is too big": Shown(
        files={"test_a.py": "def test_a():\n    open('/tmp/big', 'wb').write(bytes(2**20))\n"},
        bounds=Bounds(file_bytes=2**19),
        says="File too large",
    ),
    "the state of the process": Shown(files={"test_a.py": STATE}, says="collecting (True"),
}


_BY_CHANCE = {r"\b\d+\.\d\ds\b": "(time)", r"0x[0-9a-f]{6,}": "(address)", r"/tmp/tmp\w{8}": "(folder)"}


def plainly(report: CheckReport) -> CheckReport:
    """A report without what differs between two runs that are the same."""
    outcomes = tuple(replace(outcome, seconds=0.0, text=_plain(outcome.text)) for outcome in report.outcomes)
    return replace(report, seconds=0.0, output=_plain(report.output), outcomes=outcomes)


def _plain(text: str) -> str:
    for pattern, name in _BY_CHANCE.items():
        text = re.sub(pattern, name, text)
    return text


@pytest.mark.parametrize("shown", SHOWN.values(), ids=SHOWN)
def test_a_warm_run_reports_what_a_cold_one_does(shown: Shown, tmp_path: Path) -> None:
    fresh = cold(shown.bounds)
    made = [tree(tmp_path / name, shown.files) for name in ("cold", "warm")]
    before = fresh.run(shown.check, made[0], shown.wish)

    with kept(shown.bounds) as warm:
        first = warm.run(made[1], shown.wish, shown.check)
        second = warm.run(made[1], shown.wish, shown.check)

        assert warm.sessions, "no session was ever begun: this test would prove nothing"
        assert not warm.given_up
    assert shown.says in f"{before}"
    for warm_one in map(plainly, (first, second)):
        assert warm_one.output == plainly(before).output
        assert warm_one == plainly(before)
