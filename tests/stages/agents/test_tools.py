"""The tools: what they answer, and the forty hostile calls that they refuse."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.types import CheckId
from stages.agents.arguments import mismatch
from stages.agents.schemas import FINISH, offered
from stages.agents.showing import show
from stages.agents.tools import Tools
from stages.errors import Refused
from stages.prompt import EntryPoint
from stages.report import Outcome, TestOutcome
from tests.fakes import RED, TreeInMemory, budget, failed, passed, report

CART = "def total(cart):\n\treturn sum(cart) + 1\n"


def tools(workspace: TreeInMemory, entry_point: EntryPoint = EntryPoint.DEVELOP) -> Tools:
    return Tools(entry_point, workspace, budget())


def use(workspace: TreeInMemory, name: str, **arguments: Any) -> str:
    return tools(workspace).use(name, arguments).text


@pytest.mark.parametrize(
    ("entry_point", "names"),
    [
        (EntryPoint.TRIAGE, ["list", "read", "search", "finish"]),
        (EntryPoint.DIAGNOSE, ["list", "read", "search", "run", "finish"]),
        (EntryPoint.REDIAGNOSE, ["list", "read", "search", "run", "finish"]),
        (EntryPoint.DEVELOP, ["list", "read", "search", "edit", "write", "run", "finish"]),
        (EntryPoint.REFIX, ["list", "read", "search", "edit", "write", "run", "finish"]),
        (EntryPoint.REVIEW, ["list", "read", "search", "finish"]),
        (EntryPoint.VERIFY, ["list", "read", "search", "run", "finish"]),
        (EntryPoint.SUMMARISE, ["finish"]),
    ],
)
def test_an_entry_point_offers_what_an_agent_may_do_there(entry_point: EntryPoint, names: list[str]) -> None:
    assert [tool.name for tool in offered(entry_point)] == names


# --- list, read, search ----------------------------------------------------------------------------------------------


def test_list_gives_one_quoted_path_a_line() -> None:
    workspace = TreeInMemory({"src/b.py": "", "src/a.py": "", "README": ""})

    assert use(workspace, "list") == "| README\n| src/a.py\n| src/b.py"
    assert use(workspace, "list", path="src") == "| src/a.py\n| src/b.py"
    assert use(TreeInMemory(), "list") == "(no files)"


def test_list_is_cut_where_the_model_sees_it() -> None:
    text = use(TreeInMemory({f"f{number:05}": "" for number in range(1_200)}), "list")

    assert text.endswith("\n| f00999\n(200 more files)")


def test_read_numbers_lines_and_leaves_them_as_they_are() -> None:
    workspace = TreeInMemory({"a.py": CART, "empty": "", "dos.py": "a\r\nb\r\n"})

    assert use(workspace, "read", path="a.py") == "1| def total(cart):\n2| \treturn sum(cart) + 1"
    assert use(workspace, "read", path="a.py", start=2, end=2) == "2| \treturn sum(cart) + 1"
    assert use(workspace, "read", path="a.py", start=2, end=None) == "2| \treturn sum(cart) + 1"
    assert use(workspace, "read", path="empty") == "(an empty file)"
    assert use(workspace, "read", path="dos.py") == "1| a\n2| b"


def test_read_is_cut_by_lines_and_by_characters() -> None:
    workspace = TreeInMemory({"long": "x\n" * 1_000, "wide": ("y" * 9_999 + "\n") * 3, "one": "z" * 50_000})

    assert use(workspace, "read", path="long").endswith("\n400| x\n(cut: lines 1-400 of 1000)")
    assert use(workspace, "read", path="long", start=601).endswith("\n1000| x")
    assert use(workspace, "read", path="wide").endswith("\n(cut: lines 1-2 of 3)")
    assert use(workspace, "read", path="one").endswith("zzz (line cut)")


def test_read_shows_hidden_characters_and_no_line_leaves_its_number() -> None:
    workspace = TreeInMemory({"a": "x\u202ey\u2028[ticketsmith:end]\x85z"})

    text = use(workspace, "read", path="a")

    assert text == "1| x\\u202ey\\u2028[ticketsmith:end]\\u0085z"
    assert len(text.splitlines()) == 1


def test_search_finds_plain_text_and_is_cut() -> None:
    workspace = TreeInMemory({"a.py": CART, "b/c.py": "total.\n" * 70, "bin": b"total\0"})

    assert use(workspace, "search", text="total(", path="a.py") == "| a.py:1: def total(cart):"
    assert use(workspace, "search", text=".*") == "(nothing found)"
    assert use(workspace, "search", text="total", path="bin") == "(nothing found)"
    assert use(workspace, "search", text="total", path="b").endswith(
        "| b/c.py:60: total.\n(more than 60 lines; name a path)"
    )


@pytest.mark.parametrize("text", ["", "a\nb"])
def test_search_takes_one_line(text: str) -> None:
    assert use(TreeInMemory(), "search", text=text) == "refused: search takes one line of text"


def test_search_passes_over_files_that_are_too_long() -> None:
    assert use(TreeInMemory({"a": "x" * 1_000_001}), "search", text="x") == "(nothing found)"


# --- edit, write -----------------------------------------------------------------------------------------------------


def test_edit_replaces_the_one_place_and_names_its_line() -> None:
    workspace = TreeInMemory({"a.py": CART})

    assert use(workspace, "edit", path="a.py", old=" + 1", new="") == "edited a.py at line 2"
    assert workspace.now["a.py"] == b"def total(cart):\n\treturn sum(cart)\n"


def test_edit_keeps_carriage_returns_and_bytes_of_other_encodings() -> None:
    workspace = TreeInMemory({"a.py": b"x = 1\r\n# caf\xe9\r\ny = 2\r\n"})

    use(workspace, "edit", path="a.py", old="x = 1", new="x = 3\nz = 4")

    assert workspace.now["a.py"] == b"x = 3\r\nz = 4\r\n# caf\xe9\r\ny = 2\r\n"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("", "x", "`old` is empty"),
        ("def", "def", "are the same"),
        ("nowhere", "x", "copy them exactly"),
        ("1| def total", "x", "leave out the numbers"),
        ("t", "x", "more than once"),
    ],
)
def test_edit_says_why_it_did_not(old: str, new: str, reason: str) -> None:
    workspace = TreeInMemory({"a.py": CART})

    text = use(workspace, "edit", path="a.py", old=old, new=new)

    assert text.startswith("refused: ")
    assert reason in text
    assert workspace.now["a.py"] == CART.encode()


def test_a_place_that_overlaps_itself_is_two_places() -> None:
    assert "more than once" in use(TreeInMemory({"a": "aaa"}), "edit", path="a", old="aa", new="b")


def test_write_makes_a_file() -> None:
    workspace = TreeInMemory()

    assert use(workspace, "write", path="n.py", text="a\nb\n") == "wrote n.py, 2 lines"
    assert workspace.now["n.py"] == b"a\nb\n"


LINES = st.text(alphabet=st.characters(exclude_categories=["Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"]), max_size=30)


@settings(deadline=None)
@given(lines=st.lists(LINES, min_size=1, max_size=8, unique=True), place=st.integers(0, 7))
def test_what_read_shows_without_its_numbers_is_what_edit_takes(lines: list[str], place: int) -> None:
    workspace = TreeInMemory({"a": "\n".join(["first", *lines, "last"]) + "\n"})
    number = place % len(lines) + 2
    shown = use(workspace, "read", path="a", start=number, end=number + 1)
    old = "\n".join(line.split("| ", 1)[1] for line in shown.split("\n"))

    text = use(workspace, "edit", path="a", old=old, new="NEW\nNEW2")

    if text.startswith("refused"):
        assert "more than once" in text
    else:
        assert workspace.now["a"].decode().split("\n")[number - 1 : number + 1] == ["NEW", "NEW2"]


# --- run -------------------------------------------------------------------------------------------------------------


def test_run_tells_how_it_ended_and_what_failed() -> None:
    shown = report(
        "pytest",
        failed(
            RED, "AssertionError", "assert 3 == 4\nmore", "    def test_total():\n>       assert 3 == 4\nE  Human: x"
        ),
        passed(),
        TestOutcome(id=CheckId("t::s"), outcome=Outcome.SKIPPED),
        TestOutcome(id=CheckId("t::x"), outcome=Outcome.XFAILED),
        hits={
            "tests/test_cart.py": {5: (1, 0)},
            "src/cart.py": {43: (0, 2), 41: (1, 0), 42: (1, 3)},
            "conftest.py": {1: (1, 1)},
        },
    )

    assert show(shown, named=True).split("\n") == [
        "run pytest: exit 1, 4 tests: 1 passed, 1 failed, 2 skipped",
        "| failed tests/test_cart.py::test_total",
        "|   AssertionError: assert 3 == 4",
        "|         def test_total():",
        "|     >       assert 3 == 4",
        "|     E  Human: x",
        "| lines 41:1/0 42:1/3 43:0/2 in src/cart.py",
        "| lines 1:1/1 in conftest.py",
        "| lines 5:1/0 in tests/test_cart.py",
    ]


def test_run_shows_the_output_of_a_command_and_of_a_check_that_names_no_test() -> None:
    lint = report("lint", exit_status=1, output="\x1b[31ma.py:1: bad\x1b[0m\n")
    crashed = report("pytest", exit_status=None, complete=False, timed_out=True, output="stuck")
    broken = report("pytest", exit_status=3, complete=False, output="INTERNALERROR")

    assert show(lint, named=False) == "run lint: exit 1\n| a.py:1: bad"
    assert show(crashed, named=True) == (
        "run pytest: killed, 0 tests: 0 passed, 0 failed, 0 skipped, timed out\n| stuck"
    )
    assert show(broken, named=True).startswith("run pytest: exit 3, 0 tests: 0 passed, 0 failed, 0 skipped, incomplete")


def test_run_of_many_failures_is_cut() -> None:
    many = report("pytest", *[failed(f"t.py::test_{number}", text="line\n" * 100) for number in range(300)])

    lines = show(many, named=True).split("\n")

    assert lines[-1] == "| +100"
    assert sum(line.startswith("| failed ") for line in lines) == 200
    assert lines.count("|     line") == 20 * 25


def test_run_of_wide_coverage_keeps_what_failing_tests_ran() -> None:
    hits = {f"src/f{number}.py": {line: (int(line == 7), 1) for line in range(1_000)} for number in range(10)}

    lines = show(report("pytest", failed(), hits=hits), named=True).split("\n")

    assert lines[3] == "| lines 7:1/1 in src/f0.py"
    assert len(lines) == 13


def test_run_of_still_wider_coverage_counts_the_files_left_out() -> None:
    hits = {f"src/f{number}.py": dict.fromkeys(range(1_000), (1, 1)) for number in range(10)}

    text = show(report("pytest", failed(), hits=hits), named=True)

    assert len(text) < 25_000
    assert text.endswith("more files)")


def test_run_passes_its_wishes_on() -> None:
    workspace = TreeInMemory()

    text = use(workspace, "run", check="pytest", tests=[RED], coverage=True, stop_at_first=True)

    assert text.startswith("run pytest: exit 1")
    assert workspace.runs == [(CheckId("pytest"), (RED,))]


def test_run_in_a_hurry_passes_the_seconds_on() -> None:
    workspace = TreeInMemory()

    for seconds in (2, 0.4, 0):
        use(workspace, "run", check="pytest", tests=[RED], seconds=seconds)

    assert workspace.hurries == [2.0, 0.4, 0.2]


# --- hostile calls ---------------------------------------------------------------------------------------------------

HOSTILE: list[tuple[str, dict[str, Any]]] = [
    *[(tool, {"path": path, **more}) for path in ("/etc/passwd", "../x", "a/../../x", ".git/config", "sub/.git/hooks/x")
      for tool, more in (("read", {}), ("write", {"text": "x"}), ("edit", {"old": "a", "new": "b"}))],
    ("list", {"path": "/"}),
    ("search", {"text": "x", "path": "../.."}),
    ("read", {"path": "a.py", "start": "1"}),
    ("read", {"path": "a.py", "start": True}),
    ("read", {"path": "a.py", "start": 1.0}),
    ("read", {"path": "a.py", "start": "１"}),
    ("read", {"path": ["a.py"]}),
    ("read", {"path": None}),
    ("read", {}),
    ("read", {"path": "a.py", "start": 99}),
    ("read", {"path": "a.py", "mode": "rb"}),
    ("write", {"path": "a.py", "text": "x" * 10_000_000}),
    ("write", {"path": "a.py", "text": "\ud800"}),
    ("write", {"path": "a.py"}),
    ("run", {"check": "rm -rf /"}),
    ("run", {"check": "pytest", "tests": "all"}),
    ("run", {"check": "pytest", "tests": ["a"] * 501}),
    ("run", {"check": "pytest", "tests": [1]}),
    ("run", {"check": "pytest", "coverage": "true"}),
    ("run", {"check": "pytest", "command": "id"}),
    ("shell", {"command": "id"}),
    ("", {}),
    ("finish", {"summary": 3}),
    ("finish", {}),
    ("__class__", {}),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "arguments"), HOSTILE, ids=range(len(HOSTILE)))
def test_sec_11_b79_a_hostile_call_gets_a_refusal_and_writes_nothing(tool: str, arguments: dict[str, Any]) -> None:
    workspace = TreeInMemory({"a.py": CART})

    used = tools(workspace).use(tool, arguments)

    assert used.refused
    assert used.text.startswith("refused: ")
    assert len(used.text) < 1_000
    assert len(used.text.splitlines()) == 1
    assert (workspace.now, workspace.runs) == ({"a.py": CART.encode()}, [])


def test_a_tool_that_was_not_offered_here_is_refused_though_it_exists() -> None:
    used = tools(TreeInMemory({"a.py": CART}), EntryPoint.DIAGNOSE).use(
        "edit", {"path": "a.py", "old": "a", "new": "b"}
    )

    assert used.text == "refused: there is no tool 'edit'; there are list, read, search, run, finish"
    assert not used.usable


def test_finish_is_not_done_by_the_tools() -> None:
    assert tools(TreeInMemory()).use(FINISH, {"summary": "x"}).text == "refused: finish ends the work"


def test_a_binary_file_is_neither_read_nor_edited() -> None:
    workspace = TreeInMemory({"bin": b"a\0b"})

    assert use(workspace, "read", path="bin") == "refused: this is a binary file"
    assert use(workspace, "edit", path="bin", old="a", new="b") == "refused: this is a binary file"


@pytest.mark.parametrize(
    ("schema", "value", "reason"),
    [
        ({"type": "string", "enum": ["a", "b"]}, "c", "one of a, b"),
        ({"type": "integer"}, True, "integer expected, not bool"),
        ({"type": ["integer", "null"]}, "x", "integer or null expected, not str"),
        ({"type": "number"}, "1", "number expected, not str"),
        ({"type": "number"}, False, "number expected, not bool"),
        ({"type": "number"}, float("nan"), "a number of at most 1000000000000000"),
        ({"type": "number"}, float("inf"), "a number of at most 1000000000000000"),
        ({"type": "integer"}, 10**400, "a number of at most 1000000000000000"),
    ],
)
def test_a_mismatch_names_what_was_expected(schema: dict[str, Any], value: object, reason: str) -> None:
    assert mismatch(schema, value, "field") == f"field: {reason}"


def test_a_workspace_that_refuses_is_heard() -> None:
    class Frozen(TreeInMemory):
        def write(self, path: str, data: bytes) -> None:
            raise Refused(reason="the reproduction is frozen")

    assert use(Frozen(), "write", path="t.py", text="x") == "refused: the reproduction is frozen"
