"""The collector from inside, in this process: what it sends, and which settings, plugins and lines it sees."""

from __future__ import annotations

import importlib.util
import inspect
import io
import json
import os
import re
import signal
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stages.collector import launcher, plugin, pytest_run
from stages.collector.lines import Lines
from stages.results import read_results
from tests.stages.repositories import put
from tests.stages.test_checks import KINDS

KEY = b"key of the test"


@pytest.fixture(autouse=True)
def kept() -> Iterator[None]:
    """What the collector changes in a process of its own is put back in ours."""
    path, argv, modules, alarm = sys.path[:], sys.argv[:], set(sys.modules), signal.getsignal(signal.SIGALRM)
    yield
    sys.path[:], sys.argv[:] = path, argv
    for name in set(sys.modules) - modules:
        del sys.modules[name]
    signal.signal(signal.SIGALRM, alarm)


def orders(**given: object) -> dict[str, Any]:
    usual = {"folder": ".", "arguments": [], "tests": [], "coverage": False, "first": False, "plugins": {}}
    return {**usual, "test_seconds": 30.0, "seconds": 60.0, **given}


def collect(tree: Path, monkeypatch: pytest.MonkeyPatch, **given: object) -> tuple[int, dict[str, str]]:
    """The exit status and how each test ended, of a run in this process."""
    monkeypatch.chdir(tree / str(given.get("folder", ".")))
    text = json.dumps(orders(**given)).encode()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text)))
    read_key, write_key = os.pipe()
    os.write(write_key, KEY)
    os.close(write_key)
    with (tree.parent / "reported").open("wb", buffering=0) as channel:
        status = pytest_run.main(channel.fileno(), read_key, launcher.beside)
    results = read_results((tree.parent / "reported").read_bytes(), KEY)
    assert results.intact
    assert results.status == status
    return status, {outcome.id.rsplit("/", 1)[-1]: outcome.outcome.value for outcome in results.outcomes}


def tree(folder: Path, files: dict[str, str]) -> Path:
    put(folder / "tree", files)
    return folder / "tree"


def test_every_kind_of_outcome_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tree(tmp_path, {"tests/test_kinds_inside.py": textwrap.dedent(KINDS), "test_broken_inside.py": "import no"})

    status, ended = collect(made, monkeypatch)

    assert status == 1
    assert len(ended) == 13
    assert ended["test_broken_inside.py"] == "failed"
    assert ended["test_kinds_inside.py::test_is_expected_to_fail"] == "xfailed"


def test_what_a_test_of_unittest_raised_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
    import unittest
    class Orders(unittest.TestCase):
        def setUp(self): self.total = 2
        def test_total(self): self.assertEqual(self.total, 3)
        def test_name(self): self.name
        def test_later(self): self.skipTest("not yet")
    """
    made = tree(tmp_path, {"test_inside.py": textwrap.dedent(text)})

    _, ended = collect(made, monkeypatch)
    results = read_results((tmp_path / "reported").read_bytes(), KEY)

    assert ended["test_inside.py::Orders::test_later"] == "skipped"
    assert {one.id.rsplit("::", 1)[-1]: one.failure for one in results.outcomes if one.outcome == "failed"} == {
        "test_total": "AssertionError: 2 != 3",
        "test_name": "AttributeError: 'Orders' object has no attribute 'name'",
    }


def test_no_path_is_followed_for_the_source_of_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`inspect` would do so for each file of each module that there is."""
    files = {"thing.py": "def broken(): return 1 / 0", "test_inside.py": "import thing\ndef test_a(): thing.broken()"}
    asked: list[object] = []
    getabsfile = inspect.getabsfile

    def recorded(*given: Any) -> str:
        asked.append(given)
        return getabsfile(*given)

    monkeypatch.setattr(inspect, "getabsfile", recorded)
    collect(tree(tmp_path, files), monkeypatch)
    (outcome,) = read_results((tmp_path / "reported").read_bytes(), KEY).outcomes

    assert ("thing.broken()" in outcome.text, "return 1 / 0" in outcome.text) == (True, True)
    assert asked == []


def test_only_chosen_tests_are_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "sub/src/thing.py": "value = 1",
        "sub/test_inside.py": "import thing\ndef test_a(): assert 0\ndef test_b(): pass\ndef test_c(): pass",
        "sub/test_other_inside.py": "def test_d(): pass",
    }
    wanted = ["sub/test_inside.py::test_c", "sub/test_inside.py::test_b"]

    status, ended = collect(tree(tmp_path, files), monkeypatch, folder="sub", tests=wanted, arguments=["-q", "."])

    assert status == 0
    assert list(ended) == ["test_inside.py::test_c", "test_inside.py::test_b"]


VALUES = {
    "a file": ["--ignore", "test_hang_inside.py"],
    "a test": ["--deselect", "test_inside.py::test_b"],
    "a word that is a folder too": ["-k", "sub"],
}


@pytest.mark.parametrize("given", VALUES.values(), ids=VALUES.keys())
def test_the_value_of_an_option_stays_though_it_is_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: list[str]
) -> None:
    files = {
        "sub/a.txt": "",
        "test_inside.py": "def test_sub(): pass\ndef test_b(): assert 0",
        "test_hang_inside.py": "raise RuntimeError",
    }
    wanted = ["test_inside.py::test_sub"]

    assert collect(tree(tmp_path, files), monkeypatch, tests=wanted, arguments=given) == (
        0,
        {"test_inside.py::test_sub": "passed"},
    )


def test_an_option_leaves_out_a_test_that_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, out = tree(tmp_path, {"test_inside.py": "def test_b(): assert 0"}), "test_inside.py::test_b"

    assert collect(made, monkeypatch, tests=[out], arguments=["--deselect", out])[1] == {}


def test_chosen_tests_without_a_file_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tree(tmp_path, {"test_inside.py": "def test_a(): pass"})

    assert collect(made, monkeypatch, tests=["test_gone.py::test_a"]) == (5, {})


def test_a_test_that_takes_too_long_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tree(tmp_path, {"test_inside.py": "import time\ndef test_a(): time.sleep(30)\ndef test_b(): assert 0"})

    _, ended = collect(made, monkeypatch, test_seconds=0.2, first=True)

    assert ended == {"test_inside.py::test_a": "failed"}


def test_once_a_test_has_hung_the_others_share_what_time_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    hanging = "".join(f"def test_{number}(): time.sleep(60)\n" for number in range(5))
    made = tree(tmp_path, {"test_inside.py": f"import time\n{hanging}def test_last(): pass"})

    _, ended = collect(made, monkeypatch, test_seconds=3.0, seconds=30.0)

    took = re.search(r" in ([\d.]+)s", capfd.readouterr().out)  # by pytest's own count, without its start
    assert list(ended.values()) == [*["failed"] * 5, "passed"]
    assert took is not None
    assert float(took[1]) < 13.0  # 3 seconds each would be 15


@pytest.mark.parametrize(
    ("hung", "slowest", "seconds"),
    [(0, 0.0, 12.0), (1, 0.0, 3.0), (2, 0.0, 1.5), (3, 0.0, 1.0), (9, 0.0, 1.0), (9, 0.3, 3.0), (9, 5.0, 12.0)],
)
def test_the_more_have_hung_the_less_is_waited_for_but_never_less_than_others_need(
    hung: int, slowest: float, seconds: float
) -> None:
    orders = {"tests": [], "first": False, "test_seconds": 12.0, "seconds": 600.0}
    made = plugin.Collector(lambda event: None, orders, "", None)
    made._left, made._hung, made._slowest = 10, hung, slowest

    assert made._allowed() == seconds


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"sub/a.py": ""}, None),
        ({"pytest.ini": "", "sub/tox.ini": "[tox]\n"}, "pytest.ini"),
        ({"pytest.ini": "", "sub/tox.ini": "[pytest]\n"}, "sub/tox.ini"),
        ({"pyproject.toml": "[tool.pytest.ini_options]", "sub/a.py": ""}, "pyproject.toml"),
        ({"../pytest.ini": "", "sub/a.py": ""}, None),
    ],
)
def test_settings_are_looked_for_up_to_the_top(tmp_path: Path, files: dict[str, str], found: str | None) -> None:
    top = tree(tmp_path, files)

    assert pytest_run.settings(top / "sub", top) == (top / found if found else None)


def test_plugins_are_those_that_tests_or_settings_name(tmp_path: Path) -> None:
    known = {"hypothesis": "h.plugin", "pytest.cov|--cov": "c.plugin", "respx": "r.plugin"}
    files = {
        "tests/test_a.py": "from hypothesis import given",
        "pyproject.toml": "addopts = '--cov'",
        "src/client.py": "import respx",
        ".venv/test_x.py": "import respx",
    }

    assert pytest_run.chosen_plugins(known, tree(tmp_path, files)) == ["c.plugin", "h.plugin"]


def test_a_tree_with_very_many_files_gets_all_plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pytest_run, "_FILES_LOOKED_INTO", 1)

    assert pytest_run.chosen_plugins({}, tree(tmp_path, {"test_a.py": "", "test_b.py": ""})) is None


def test_a_closed_channel_and_a_forked_child_send_nothing(tmp_path: Path) -> None:
    with (tmp_path / "reported").open("wb", buffering=0) as channel:
        send = pytest_run.sender(channel.fileno(), KEY)
        child = os.fork()
        if child == 0:
            send({"event": "end", "status": 0})
            os._exit(0)
        os.waitpid(child, 0)
    send({"event": "end", "status": 0})

    assert (tmp_path / "reported").read_bytes() == b""


def test_lines_count_failed_and_passed_tests(tmp_path: Path) -> None:
    put(
        tmp_path,
        {"work.py": "def double(n):\n    if n:\n        return 2 * n\n    return 1\n", ".venv/x.py": "y = 1\n"},
    )
    spec = importlib.util.spec_from_file_location("work_of_this_test", tmp_path / "work.py")
    assert spec is not None
    assert spec.loader is not None
    work = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(work)
    lines = Lines(tmp_path)

    for number, outcome in ((1, "passed"), (2, "passed"), (0, "failed"), (3, "skipped")):
        lines.start()
        work.double(number)
        lines.stop(outcome)

    assert lines.hits == {"work.py": {2: [1, 2], 3: [0, 2], 4: [1, 0]}}
    assert lines.path(compile("", str(tmp_path / ".venv" / "x.py"), "exec")) is None
    assert lines.path(compile("", "<string>", "exec")) is None
