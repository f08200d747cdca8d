"""Checks: what is detected, what a run tells, and what a hostile test cannot make it tell."""

from __future__ import annotations

import json
import re
import sys
import textwrap
import time
import venv
from collections.abc import Iterator
from hmac import digest
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from memory.types import CheckId
from stages.checks import Checks, Wish
from stages.detection import detect
from stages.errors import Refused
from stages.plugins import OUR_PLUGINS, installed_plugins, only_our_plugins
from stages.report import TIMEOUT, Check, CheckKind, CheckReport, Outcome
from stages.results import read_results
from stages.sandbox import Bounds, Sandbox
from stages.sandbox.plain import Plain
from tests.stages.repositories import checks, put

PYTEST = Check(name=CheckId("pytest"), kind=CheckKind.PYTEST, timeout_seconds=60.0)


def ids(*names: str) -> list[CheckId]:
    return list(map(CheckId, names))


def tree(folder: Path, files: dict[str, str]) -> Path:
    put(folder / "tree", {path: textwrap.dedent(text) for path, text in files.items()})
    return folder / "tree"


def run(tree: Path, wish: Wish | None = None, check: Check = PYTEST, sandbox: Sandbox | None = None) -> CheckReport:
    return checks(sandbox).run(check, tree, wish)


def ended(report: CheckReport) -> dict[str, str]:
    return {outcome.id: outcome.outcome.value for outcome in report.outcomes}


# --- detection -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "files",
    [
        {"pytest.ini": ""},
        {"pyproject.toml": "[tool.pytest.ini_options]\n"},
        {"tox.ini": "[pytest]\n"},
        {"setup.cfg": "[tool:pytest]\n"},
        {"tests/test_a.py": ""},
        {"a_test.py": ""},
    ],
)
def test_settings_of_pytest_or_test_files_show_a_check(files: dict[str, str]) -> None:
    found = detect(files, lambda path: files[path].encode())

    assert found == (Check(name=CheckId("pytest"), kind=CheckKind.PYTEST),)


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"pyproject.toml": "[tool.black]\n"},
        {"tests/helpers.py": "", "testing.py": "", "latest.py": ""},
        {"setup.cfg": "[metadata]\n"},
    ],
)
def test_a_tree_without_tests_shows_no_check(files: dict[str, str]) -> None:
    assert detect(files, lambda path: files[path].encode()) == ()


# --- what a run tells ------------------------------------------------------------------------------------------------

KINDS = """
    import pytest

    def test_passes():
        assert 1
        assert 2

    def test_fails():
        left = 3
        assert left == 4, "not four"

    def test_raises():
        with pytest.raises(ValueError):
            int("x")
        raise KeyError("gone")

    def test_skips():
        pytest.skip("not today")

    @pytest.mark.xfail
    def test_is_expected_to_fail():
        assert 0

    @pytest.mark.xfail
    def test_passes_unexpectedly():
        assert 1

    @pytest.mark.xfail(strict=True)
    def test_must_not_pass():
        assert 1

    @pytest.fixture
    def broken():
        raise RuntimeError("set-up")

    @pytest.fixture
    def dirty():
        yield
        raise RuntimeError("tear-down")

    def test_cannot_begin(broken): pass

    def test_cannot_end(dirty): pass

    @pytest.mark.parametrize("number", [1, 2])
    def test_each(number):
        assert number == 1

    class TestGroup:
        def test_in_a_group(self):
            self.assert_it()
        def assert_it(self): ...
"""


def test_each_kind_of_outcome_is_told(tmp_path: Path) -> None:
    report = run(tree(tmp_path, {"tests/test_kinds.py": KINDS}))

    assert report.complete
    assert report.exit_status == 1
    assert {name.rsplit("::", 1)[-1]: outcome for name, outcome in ended(report).items()} == {
        "test_passes": "passed",
        "test_fails": "failed",
        "test_raises": "failed",
        "test_skips": "skipped",
        "test_is_expected_to_fail": "xfailed",
        "test_passes_unexpectedly": "xfailed",
        "test_must_not_pass": "failed",
        "test_cannot_begin": "failed",
        "test_cannot_end": "failed",
        "test_each[1]": "passed",
        "test_each[2]": "failed",
        "test_in_a_group": "passed",
    }
    assert report.collected == tuple(outcome.id for outcome in report.outcomes)
    told = {outcome.id.rsplit("::", 1)[-1]: outcome for outcome in report.outcomes}
    assert (told["test_fails"].type, told["test_fails"].message.split("\n")[0]) == ("AssertionError", "not four")
    assert "left = 3" in told["test_fails"].text
    assert (told["test_raises"].type, told["test_raises"].message) == ("KeyError", "'gone'")
    assert told["test_cannot_end"].message == "tear-down"
    assert [told[name].asserts for name in ("test_passes", "test_raises", "test_in_a_group", "test_skips")] == [
        2,
        1,
        1,
        0,
    ]
    adapter = TypeAdapter(CheckReport)
    assert adapter.validate_json(adapter.dump_json(report)) == report


def test_a_test_file_that_cannot_be_imported_fails_and_the_others_run(tmp_path: Path) -> None:
    report = run(
        tree(
            tmp_path,
            {
                "test_broken.py": "import nothing_of_this_name\ndef test_a(): pass",
                "test_syntax.py": "def test_a(:",
                "test_whole.py": "def test_a(): pass",
                "test_skipped.py": "import pytest\npytest.skip('all', allow_module_level=True)\ndef test_a(): pass",
            },
        )
    )

    assert report.complete
    assert ended(report) == {
        "test_broken.py": "failed",
        "test_syntax.py": "failed",
        "test_skipped.py": "skipped",
        "test_whole.py::test_a": "passed",
    }
    assert "nothing_of_this_name" in report.outcomes[0].message


def test_a_tree_without_tests_ran_nothing(tmp_path: Path) -> None:
    report = run(tree(tmp_path, {"a.py": ""}))

    assert report.ran_nothing
    assert report.complete
    assert not report.passed


def test_unittest_cases_and_subtests_are_told(tmp_path: Path) -> None:
    cases = """
        import unittest
        class Sums(unittest.TestCase):
            def test_whole(self):
                self.assertEqual(1, 1)
            def test_parts(self):
                for number in (1, 2):
                    with self.subTest(number=number):
                        self.assertEqual(number, 1)
    """

    report = run(tree(tmp_path, {"test_sums.py": cases}))

    assert ended(report) == {"test_sums.py::Sums::test_whole": "passed", "test_sums.py::Sums::test_parts": "failed"}
    assert report.complete


PARTS = """
    import unittest
    class Parts(unittest.TestCase):
        def test_one_is_skipped(self):
            for number in (1, 2, 3):
                with self.subTest(number=number):
                    if number == 2:
                        self.skipTest("not here")
                    self.assertEqual(number, number)
        def test_all_are_skipped(self):
            for number in (1, 2):
                with self.subTest(number=number):
                    self.skipTest("not here")
        def test_one_is_skipped_and_one_fails(self):
            for number in (1, 2):
                with self.subTest(number=number):
                    if number == 1:
                        self.skipTest("not here")
                    self.assertEqual(number, 1)
"""


def test_a_test_is_skipped_only_when_all_its_subtests_are(tmp_path: Path) -> None:
    report = run(tree(tmp_path, {"test_parts.py": PARTS}))

    assert {one.id.rpartition("::")[2]: (one.outcome.value, one.hidden) for one in report.outcomes} == {
        "test_one_is_skipped": ("passed", 1),
        "test_all_are_skipped": ("skipped", 2),
        "test_one_is_skipped_and_one_fails": ("failed", 1),
    }
    assert report.complete


def test_chosen_tests_run_alone_and_in_the_order_asked_for(tmp_path: Path) -> None:
    files = {
        "a/test_one.py": "def test_x(): pass\ndef test_y(): assert 0\ndef test_z(): pass",
        "b/test_two.py": "import pytest\n@pytest.mark.parametrize('n', ['x::y', '[z]'])\ndef test_n(n): pass",
        "c/test_three.py": "raise SystemExit",
    }
    wish = Wish(tests=ids("b/test_two.py::test_n[x::y]", "a/test_one.py::test_z", "a/test_one.py::test_x"))

    report = run(tree(tmp_path, files), wish)

    assert list(ended(report)) == list(wish.tests)
    assert report.collected == tuple(wish.tests)
    assert report.passed


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("test_a.py", ["test_a.py::TestX::test_1", "test_a.py::TestX::test_2", "test_a.py::test_n[1]"]),
        ("test_a.py::TestX", ["test_a.py::TestX::test_1", "test_a.py::TestX::test_2"]),
        ("test_a.py::test_n", ["test_a.py::test_n[1]"]),
        ("test_a.py::test_gone", []),
        ("test_gone.py::test_a", []),
    ],
)
def test_a_file_a_class_or_a_function_means_all_tests_in_it(tmp_path: Path, asked: str, found: list[str]) -> None:
    text = """
        import pytest
        class TestX:
            def test_1(self): pass
            def test_2(self): pass
        @pytest.mark.parametrize("n", [1])
        def test_n(n): pass
    """

    report = run(tree(tmp_path, {"test_a.py": text}), Wish(tests=ids(asked)))

    assert list(ended(report)) == found
    assert report.ran_nothing == (not found)


def test_a_run_stops_at_the_first_failure_when_asked(tmp_path: Path) -> None:
    files = {"test_a.py": "def test_1(): pass\ndef test_2(): assert 0\ndef test_3(): assert 0"}

    report = run(tree(tmp_path, files), Wish(stop_at_first=True))

    assert ended(report) == {"test_a.py::test_1": "passed", "test_a.py::test_2": "failed"}
    assert report.complete
    assert report.failing == ("test_a.py::test_2",)


@pytest.mark.parametrize("test", ["-x", "--pdb", "/etc/passwd", "../test_a.py", "", "a\nb", "a\0b", "x/../../y::z"])
def test_b61_an_id_that_is_an_option_or_leads_out_is_refused(tmp_path: Path, test: str) -> None:
    with pytest.raises(Refused, match="not the id of a test"):
        run(tree(tmp_path, {"test_a.py": ""}), Wish(tests=ids(test)))


def test_covered_lines_are_told_by_failed_and_passed_tests(tmp_path: Path) -> None:
    files = {
        "shop/__init__.py": "",
        "shop/cart.py": "def total(prices):\n    if not prices:\n        return 1\n    return sum(prices)\n",
        "test_cart.py": (
            "from shop.cart import total\n"
            "def test_empty():\n    assert total([]) == 0\n"
            "def test_one():\n    assert total([2]) == 2\n"
            "def test_two():\n    assert total([2, 3]) == 5\n"
        ),
    }

    report = run(tree(tmp_path, files), Wish(coverage=True))

    assert report.hits["shop/cart.py"] == {2: (1, 2), 3: (1, 0), 4: (0, 2)}
    assert report.hits["test_cart.py"] == {3: (1, 0), 5: (0, 1), 7: (0, 1)}
    assert set(report.hits) == {"shop/cart.py", "test_cart.py"}


def test_lines_run_in_threads_and_generators_are_covered(tmp_path: Path) -> None:
    files = {
        "work.py": "def numbers():\n    yield 1\n    yield 2\ndef add(out):\n    out.append(3)\n",
        "test_work.py": (
            "import threading, work\n"
            "def test_it():\n"
            "    out = list(work.numbers())\n"
            "    thread = threading.Thread(target=work.add, args=(out,))\n"
            "    thread.start(); thread.join()\n"
            "    assert out == [1, 2, 3]\n"
        ),
    }

    report = run(tree(tmp_path, files), Wish(coverage=True))

    assert report.passed
    assert report.hits["work.py"] == {2: (0, 1), 3: (0, 1), 5: (0, 1)}


def test_settings_of_the_tree_apply_and_those_above_it_do_not(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --above\n")
    (tmp_path / "conftest.py").write_text("raise RuntimeError('above')")
    files = {
        "pyproject.toml": "[tool.pytest.ini_options]\npython_functions = 'check_*'\n",
        "test_a.py": "def check_a(): pass",
    }

    assert ended(run(tree(tmp_path, files))) == {"test_a.py::check_a": "passed"}
    assert run(tree(tmp_path / "other", {"test_a.py": "def test_a(): pass"})).passed


def test_a_check_in_a_folder_has_ids_relative_to_the_tree(tmp_path: Path) -> None:
    files = {
        "one/pytest.ini": "[pytest]\n",
        "one/helper.py": "value = 1",
        "one/tests/test_a.py": "import helper\ndef test_a(): assert helper.value == 1",
        "two/test_b.py": "def test_b(): assert 0",
    }
    made = tree(tmp_path, files)
    one = Check(name=CheckId("one"), kind=CheckKind.PYTEST, folder="one", arguments=("tests",))
    two = Check(name=CheckId("two"), kind=CheckKind.PYTEST, folder="two")

    assert ended(run(made, check=one)) == {"one/tests/test_a.py::test_a": "passed"}
    assert ended(run(made, Wish(tests=ids("one/tests/test_a.py::test_a")), one)) == {
        "one/tests/test_a.py::test_a": "passed"
    }
    assert ended(run(made, check=two)) == {"two/test_b.py::test_b": "failed"}


def test_options_of_the_tree_that_would_change_what_is_run_are_overridden(tmp_path: Path) -> None:
    files = {
        "pytest.ini": "[pytest]\naddopts = -x --lf --cov=. --cov-fail-under=100 -q\n",
        "a.py": "def unused():\n    return 1\n",
        "test_a.py": "import a\ndef test_1(): assert 0\ndef test_2(): assert 0\ndef test_3(): pass",
    }
    made = tree(tmp_path, files)

    first, second = run(made), run(made, Wish(tests=ids("test_a.py::test_3")))

    assert ended(first) == {"test_a.py::test_1": "failed", "test_a.py::test_2": "failed", "test_a.py::test_3": "passed"}
    assert first.complete
    assert second.passed
    assert not list(made.glob(".coverage*"))
    assert not (made / ".pytest_cache").exists()
    assert not list(made.rglob("__pycache__"))


def test_every_plugin_that_comes_with_us_is_known() -> None:
    only_our_plugins.cache_clear()

    assert only_our_plugins(), "name the new one in OUR_PLUGINS: until then every run of pytest loads them all"


@pytest.fixture
def without_development_tools(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Of all plugins only that of anyio, which comes with what Ticketsmith itself needs."""
    anyio = EntryPoint("anyio", OUR_PLUGINS["anyio"], "pytest11")
    monkeypatch.setattr("stages.plugins.entry_points", lambda **_: [anyio])
    only_our_plugins.cache_clear()
    installed_plugins.cache_clear()
    yield
    only_our_plugins.cache_clear()
    installed_plugins.cache_clear()


@pytest.mark.usefixtures("without_development_tools")
def test_only_plugins_that_are_installed_are_named() -> None:
    assert installed_plugins() == {"anyio": "anyio.pytest_plugin"}
    assert only_our_plugins()


@pytest.mark.usefixtures("without_development_tools")
@pytest.mark.parametrize("word", ["hypothesis", "respx", "--cov", "xdist", "-n 4", "timeout=3", "looponfail"])
def test_a_word_that_could_ask_for_a_plugin_ends_no_run_where_it_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    for pattern, module in OUR_PLUGINS.items():
        if pattern != "anyio":
            monkeypatch.setitem(OUR_PLUGINS, pattern, f"missing_{module}")

    report = run(tree(tmp_path, {"test_a.py": f"def test_a(): assert {word!r}"}))

    assert report.passed, report.output


def test_plugins_that_the_target_uses_are_loaded(tmp_path: Path) -> None:
    files = {
        "test_a.py": """
            import pytest
            pytestmark = pytest.mark.anyio
            @pytest.fixture
            def anyio_backend(): return "asyncio"
            async def test_a():
                assert True
        """
    }

    assert run(tree(tmp_path, files)).passed


@pytest.mark.parametrize("mark", ["", "@pytest.mark.timeout(60)"])
def test_a_test_that_hangs_is_ended_by_our_limit_although_another_plugin_has_one(tmp_path: Path, mark: str) -> None:
    hanging = f"import time, pytest\n{mark}\ndef test_1(): time.sleep(60)\ndef test_2(): time.sleep(60)\n"
    files = {"test_a.py": f"{hanging}def test_3(): pass", "pytest.ini": "[pytest]\ntimeout = 50\n"}

    report = run(tree(tmp_path, files), Wish(test_seconds=0.3))

    assert list(ended(report).values()) == ["failed", "failed", "passed"]
    assert {test.type for test in report.outcomes} == {TIMEOUT, ""}
    assert report.complete


def test_folders_named_like_ours_and_like_our_files_are_the_targets(tmp_path: Path) -> None:
    names = ("bot", "stages", "memory", "plugin", "lines", "launcher", "pytest_run")
    files = {f"{name}/__init__.py": f"who = '{name} of the target'" for name in names}
    imports = "\n".join(f"import {name}\nassert {name}.who == '{name} of the target'" for name in names)

    report = run(tree(tmp_path, {**files, "test_a.py": f"{imports}\ndef test_a(): pass"}))

    assert report.passed, report.output


def test_a_tree_cannot_take_the_place_of_pytest_or_the_standard_library(tmp_path: Path) -> None:
    shadows = ("pytest", "json", "hmac", "_pytest", "pluggy", "os", "sitecustomize", "usercustomize")
    files = {f"{name}.py": f"open('{name}.ran', 'w'); raise SystemExit(0)" for name in shadows}

    made = tree(tmp_path, {**files, "test_a.py": "def test_a(): assert 0"})
    report = run(made)

    assert report.failing == ("test_a.py::test_a",)
    assert not list(made.glob("*.ran"))


def test_the_same_tree_gives_the_same_order_of_sets(tmp_path: Path) -> None:
    made = tree(tmp_path, {"test_a.py": "def test_a():\n    assert 0, list({'a', 'b', 'c', 'd', 'e', 'f'})"})

    assert run(made).outcomes[0].message == run(made).outcomes[0].message


def test_a_command_is_judged_by_its_exit_status(tmp_path: Path) -> None:
    made = tree(tmp_path, {"folder/a.txt": "x"})
    good = Check(name=CheckId("good"), kind=CheckKind.COMMAND, arguments=("sh", "-c", "test -f a.txt"), folder="folder")
    bad = Check(name=CheckId("bad"), kind=CheckKind.COMMAND, arguments=("sh", "-c", "echo 99 passed; exit 3"))

    assert run(made, check=good).passed
    report = run(made, check=bad)
    assert (report.exit_status, report.failing, report.ran_nothing) == (3, ("bad",), False)
    assert "99 passed" in report.output


def test_a_command_finds_the_targets_python_first(tmp_path: Path) -> None:
    which = Check(
        name=CheckId("which"), kind=CheckKind.COMMAND, arguments=("python", "-c", "import sys; print(sys.executable)")
    )

    report = run(tree(tmp_path, {"a": ""}), check=which)

    assert report.output.strip() == sys.executable


# --- time ------------------------------------------------------------------------------------------------------------


def test_a_test_that_hangs_fails_and_the_others_run(tmp_path: Path) -> None:
    hanging = """
        import time
        def test_1(): pass
        def test_sleeps(): time.sleep(60)
        def test_turns():
            while True:
                try:
                    pass
                except Exception:
                    pass
        def test_2(): pass
    """
    begun = time.monotonic()

    report = run(tree(tmp_path, {"test_a.py": hanging}), Wish(test_seconds=0.3, coverage=True))

    assert time.monotonic() - begun < 20
    assert list(ended(report).values()) == ["passed", "failed", "failed", "passed"]
    assert {test.type for test in report.failed} == {TIMEOUT}
    assert all(test.hung and re.search(rf"^E +{TIMEOUT}$", test.text, re.MULTILINE) for test in report.failed)
    assert not any("plugin" in test.text for test in report.failed)
    assert report.complete
    assert report.hits["test_a.py"][6][0] == 1


def test_a_check_that_hangs_is_killed_and_names_the_test(tmp_path: Path) -> None:
    hanging = (
        "import signal\ndef test_1(): pass\ndef test_2():\n    signal.signal(14, signal.SIG_IGN)\n    signal.pause()"
    )
    quick = Check(name=CheckId("pytest"), kind=CheckKind.PYTEST, timeout_seconds=2.0)

    report = run(tree(tmp_path, {"test_a.py": hanging}), check=quick)

    assert report.timed_out
    assert not report.complete
    assert ended(report) == {"test_a.py::test_1": "passed", "test_a.py::test_2": "failed"}
    assert report.outcomes[-1].type == "Timeout"


def test_one_call_into_c_that_no_alarm_reaches_is_ended_long_before_the_check_is(tmp_path: Path) -> None:
    calls = "import itertools\ndef test_1(): pass\ndef test_2(): sum(itertools.repeat(0, 10**12))\ndef test_3(): pass"
    slow = Check(name=CheckId("pytest"), kind=CheckKind.PYTEST, timeout_seconds=120.0)

    report = run(tree(tmp_path, {"test_a.py": calls}), Wish(test_seconds=1.0), check=slow)

    assert (report.timed_out, report.complete, report.exit_status) == (True, False, None)
    assert ended(report) == {"test_a.py::test_1": "passed", "test_a.py::test_2": "failed"}
    assert report.outcomes[-1].hung
    assert report.seconds < 60


# --- forging ---------------------------------------------------------------------------------------------------------

ATTACKS = {
    "exits early": "import os\ndef test_a():\n    print('99 passed'); os._exit(0)",
    "exits late": "import atexit, os\natexit.register(os._exit, 0)\ndef test_a(): assert 0",
    "exits in a thread": (
        "import os, threading, time\nthreading.Timer(0.1, os._exit, (0,)).start()\ndef test_a(): time.sleep(5)"
    ),
    "is killed": "import os\ndef test_a(): os.kill(os.getpid(), 9)",
    "crashes": "import ctypes\ndef test_a(): ctypes.string_at(0)",
    "asks pytest to stop": "import pytest\ndef test_a(): pytest.exit('enough', returncode=0)\ndef test_b(): assert 0",
    "raises SystemExit": "import sys\ndef test_a(): sys.exit(0)",
    "exits at import": "import os\nos._exit(0)",
    "raises SystemExit at import": "raise SystemExit(0)",
    "writes to every descriptor": (
        "import os\ndef test_a():\n"
        "    for fd in range(3, 200):\n"
        '        try: os.write(fd, b\'0\' * 64 + b\' {"event":"test","test":"x","outcome":"passed"}\\n\')\n'
        "        except OSError: pass\n"
    ),
    "writes half a line": (
        "import os\ndef test_a():\n"
        "    for fd in range(3, 200):\n"
        "        try: os.write(fd, b'x')\n"
        "        except OSError: pass\n"
    ),
    "closes every descriptor": "import os\ndef test_a(): os.closerange(3, 200)",
    "replaces every descriptor": (
        "import os\ndef test_a():\n"
        "    null = os.open('/dev/null', os.O_RDWR)\n"
        "    for fd in range(3, 200):\n"
        "        if fd != null: os.dup2(null, fd)\n"
    ),
    "replaces what signs and writes": (
        "import os, json, hmac, pytest\ndef test_a():\n"
        "    os.write = lambda fd, data: len(data)\n"
        "    hmac.digest = hmac.new = lambda *a: b'0' * 32\n"
        "    json.dumps = json.JSONEncoder.encode = lambda *a, **k: '{}'\n"
        "    os.getpid = lambda: 0\n"
        "    assert 0\n"
    ),
    "forks": "import os\ndef test_a():\n    if os.fork(): assert 0",
    "replaces itself": "import os\ndef test_a(): os.execv('/bin/true', ['true'])",
    "is hidden by a report of its own": (
        "import pytest\ndef test_a(request):\n"
        "    request.node.ihook.pytest_runtest_logfinish(nodeid=request.node.nodeid, location=('', 0, ''))\n"
        "    assert 0\n"
    ),
    "empties the session": "def test_a(request):\n    request.session.items.clear()\n    assert 0",
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
def test_sec_30_a_forged_pass_is_none(tmp_path: Path, attack: str) -> None:
    report = run(tree(tmp_path, {"test_a.py": attack}))

    assert not report.passed
    assert report.failing


def test_sec_30_the_key_is_gone_when_tests_run(tmp_path: Path) -> None:
    look = """
        import os, sys
        def test_a():
            assert sys.argv[1:] == []
            for fd in range(3, 100):
                try:
                    assert os.read(fd, 100) == b"", fd
                except OSError:
                    pass
    """

    report = run(tree(tmp_path, {"test_a.py": look}))

    assert report.passed, report.output


def test_more_than_the_channel_holds_is_no_complete_run(tmp_path: Path) -> None:
    files = {
        "test_a.py": "import pytest\n@pytest.mark.parametrize('n', range(200))\ndef test_n(n): assert 0, 'x' * 900"
    }

    report = run(tree(tmp_path, files), sandbox=Plain(Bounds(reported_bytes=20_000)))

    assert not report.complete
    assert not report.passed


def line(number: int, event: dict[str, object], key: bytes = b"key") -> bytes:
    text = json.dumps(event).encode()
    return digest(key, b"%d:%b" % (number, text), "sha256").hex().encode() + b" " + text + b"\n"


def outcome(name: str, how: str) -> dict[str, object]:
    return {
        "event": "test",
        "test": name,
        "outcome": how,
        "type": "",
        "message": "",
        "text": "",
        "seconds": 0,
        "hidden": 0,
    }


END = {"event": "end", "status": 0}


@pytest.mark.parametrize(
    "reported",
    [
        line(0, outcome("a", "failed")) + line(2, END),
        line(0, END) + line(0, END),
        line(0, END, key=b"other"),
        line(0, END)[:-1],
        line(0, outcome("a", "failed")) + b"\n" + line(1, END),
        line(0, END).upper(),
        b"x" + line(0, END),
    ],
    ids=["left out", "repeated", "wrong key", "cut", "empty line", "changed", "something before"],
)
def test_reports_that_are_not_whole_and_in_order_do_not_count(reported: bytes) -> None:
    assert not read_results(reported, b"key").intact


def test_the_worse_of_two_reports_of_a_test_counts() -> None:
    reported = (
        line(0, outcome("a", "failed")) + line(1, outcome("a", "passed")) + line(2, {"event": "new"}) + line(3, END)
    )

    results = read_results(reported, b"key")

    assert results.intact
    assert [test.outcome for test in results.outcomes] == [Outcome.FAILED]


def test_text_that_no_file_can_hold_is_written_out(tmp_path: Path) -> None:
    report = run(tree(tmp_path, {"test_a.py": "def test_a():\n    raise ValueError('\\udcff\\x00' + 'x' * 5000)"}))

    test = report.outcomes[0]
    assert "\\udcff" in test.message
    assert len(test.message) < 1_100
    TypeAdapter(CheckReport).dump_json(report)


def test_a_very_long_id_is_cut_to_one_that_is_its_own(tmp_path: Path) -> None:
    text = "import pytest\n@pytest.mark.parametrize('n', ['x' * 10_000, 'x' * 10_001])\ndef test_n(n): assert 0"
    made = tree(tmp_path, {"test_a.py": text})

    report = run(made)
    again = run(made, Wish(tests=report.collected[1:]))

    assert len(set(report.collected)) == 2
    assert all(len(test) <= 500 for test in report.collected)
    assert again.collected == report.collected[1:]


def test_another_interpreter_is_used_with_its_own_plugins(tmp_path: Path) -> None:
    venv.create(tmp_path / "env", symlinks=True)
    ours = next(path for path in sys.path if path.endswith("site-packages"))
    theirs = next((tmp_path / "env" / "lib").glob("python*/site-packages"))
    (theirs / "ours.pth").write_text(ours)
    made = tree(tmp_path, {"test_a.py": "import sys\ndef test_a(): assert sys.prefix.endswith('env')"})

    report = Checks(Plain(), tmp_path / "env" / "bin" / "python").run(PYTEST, made)

    assert report.passed, report.output
    assert "hypothesis" in report.output


def test_links_to_folders_above_are_not_walked_round_and_round(tmp_path: Path) -> None:
    made = tree(tmp_path, {"tests/test_a.py": "def test_a(): pass"})
    (made / "tests" / "up").symlink_to("..")
    (made / "tests" / "self").symlink_to(".")
    (made / "other").symlink_to("tests")

    report = run(made)

    assert sorted(report.collected) == ["other/test_a.py::test_a", "tests/test_a.py::test_a"]
