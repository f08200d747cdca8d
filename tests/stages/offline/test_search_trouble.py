"""The search where tools refuse, files cannot be read, or a check has no tests."""

from __future__ import annotations

from tests.stages.offline.playground import play
from tests.stages.offline.scenes import gate, ground, prompt


def test_an_edit_of_a_test_is_never_proposed() -> None:
    tree = ground("def one():\n    return 2\n", "def test_work():\n    assert one() == 1\n")
    tree.files["tests/helpers.py"] = "def helper():\n    return 2\n"

    play(prompt("Develop", "Files:\n| tests/helpers.py\n| src/work.py"), tree)

    assert {arguments["path"] for name, arguments in tree.asked if name == "edit"} == {"src/work.py"}


def test_a_refused_edit_costs_no_run_and_the_search_goes_on() -> None:
    tree = ground("def grown_up(age):\n    return age > 18\n", "def test_work():\n    assert grown_up(18)\n")
    use = tree.use

    def refuse_first(name: str, arguments: dict[str, object]) -> str:
        first = name == "edit" and not any(asked == "edit" for asked, _ in tree.asked)
        if first:
            tree.asked.append((name, arguments))
            return "refused: the line is protected"
        return use(name, arguments)

    tree.use = refuse_first  # type: ignore[method-assign]
    played = play(prompt("Develop"), tree)

    assert gate(tree) == []
    assert ">= 18" not in tree.files["src/work.py"]
    assert "Found within 1 runs" in played.answer["summary"]


def test_a_check_without_tests_is_repaired_by_the_files_of_the_diagnosis() -> None:
    tree = ground("def grown_up(age):\n    return age > 18\n", "def test_work():\n    assert grown_up(18)\n")
    use = tree.use

    def as_command(name: str, arguments: dict[str, object]) -> str:
        result = use(name, arguments)
        return f"{result.partition(',')[0]}\n| some output" if name == "run" else result

    tree.use = as_command  # type: ignore[method-assign]
    text = prompt("Develop", "Files:\n| src/work.py").replace(", test tests/test_work.py::test_work", ", test pytest")
    play(text, tree)

    assert gate(tree) == []


def test_a_tree_that_cannot_be_put_back_ends_the_search() -> None:
    tree = ground("def greet(name):\n    return 'hello'\n", "def test_work():\n    assert greet(1) == chr(65) * 7\n")
    use = tree.use

    def refuse_later(name: str, arguments: dict[str, object]) -> str:
        if name == "edit" and tree.candidate_runs >= 3:
            tree.asked.append((name, arguments))
            return "refused: no more edits"
        return use(name, arguments)

    tree.use = refuse_later  # type: ignore[method-assign]
    played = play(prompt("Develop"), tree)

    assert played.answer["summary"].startswith("Not found: none of 3 small edits")


def test_a_check_that_cannot_be_run_is_given_up() -> None:
    tree = ground("def one():\n    return 2\n", "def test_work():\n    assert one() == 1\n")
    use = tree.use
    tree.use = lambda name, arguments: "refused: no check" if name == "run" else use(name, arguments)  # type: ignore[method-assign]

    played = play(prompt("Develop"), tree)

    assert played.answer["summary"].startswith("Not found: none of 0")


def test_a_long_file_is_read_whole() -> None:
    long = "\n".join(f"A{number} = {number}" for number in range(900)) + "\n\n\ndef work(n):\n    return n > 1\n"
    tree = ground(long, "def test_work():\n    assert work(1)\n")

    play(prompt("Develop"), tree)

    assert gate(tree) == []
    assert [arguments.get("start", 1) for name, arguments in tree.asked if name == "read"] == [1, 401, 801]


def test_files_that_are_no_python_are_left_out() -> None:
    tree = ground("def work(n):\n    return n > 1\n", "def test_work():\n    assert work(1)\n")
    tree.files |= {"src/broken.py": "def (", "src/empty.py": ""}
    use = tree.use
    tree.use = lambda name, arguments: (  # type: ignore[method-assign]
        "run pytest: exit 1, 1 tests: 0 passed, 1 failed, 0 skipped"
        if arguments.get("coverage")
        else use(name, arguments)
    )

    play(prompt("Develop", "Files:\n| src/broken.py\n| src/empty.py\n| src/missing.py\n| src/work.py"), tree)

    assert gate(tree) == []
