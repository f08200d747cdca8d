"""Where no coverage tells what a test runs, its file and the failure's text tell where to look."""

from __future__ import annotations

import json
import re

import pytest

from stages.offline.behind import files_behind
from stages.offline.paths import is_test_file
from tests.stages.offline.playground import Playground, play
from tests.stages.offline.scenes import gate, ground, prompt

FILES = {
    "src/shop/__init__.py": "",
    "src/shop/cart.py": "",
    "src/shop/prices.py": "",
    "src/workshop/cart.py": "",
    "till.py": "",
    "README.md": "",
    "tests/__init__.py": "",
    "tests/helpers.py": "",
}


def behind(tests: list[str], text: str = "", **test_files: str) -> list[str]:
    files = {**FILES, **{f"tests/{name}.py": text for name, text in test_files.items()}}
    tree = Playground(files)
    steps = files_behind(tests, text)
    calls = next(steps)
    while True:
        try:
            calls = steps.send(tuple(tree.use(call.name, json.loads(call.arguments)) for call in calls))
        except StopIteration as stop:
            return list(stop.value)


@pytest.mark.parametrize(
    ("imports", "found"),
    [
        ("import till", ["till.py"]),
        ("import shop.cart as cart", ["src/shop/cart.py"]),
        ("from shop import cart", ["src/shop/cart.py", "src/shop/__init__.py"]),
        ("from shop.prices import price", ["src/shop/prices.py"]),
        ("from . import helpers", []),
        ("from tests import helpers", []),
        ("import os, hop.cart", []),
        ("import (", []),
    ],
)
@pytest.mark.parametrize("test", ["tests/test_it.py::test_a", "tests.test_it::test_a", "tests.test_it.TestIt::test_a"])
def test_what_the_file_of_a_test_imports(test: str, imports: str, found: list[str]) -> None:
    assert behind([test], test_it=f"{imports}\n\ndef test_a():\n    pass\n") == found


def test_what_a_traceback_names_comes_first() -> None:
    text = 'Traceback:\n  File "/ci/src/shop/prices.py", line 3, in price\n  File "/usr/json.py", line 1, in x'

    assert behind(["tests/test_it.py::test_a"], text, test_it="import till") == ["src/shop/prices.py", "till.py"]


def test_a_test_that_no_file_holds_says_nothing() -> None:
    assert behind(["Cart adds up", "", "../x.py::y"]) == []


def test_a_check_that_tells_no_lines_is_repaired_in_what_its_tests_import() -> None:
    tree = ground("def grown_up(age):\n    return age > 18\n", "def test_work():\n    assert work() == 1\n")
    tree.files["tests/test_work.py"] = (
        "import work as it\n\n\ndef test_work():\n    found = it.grown_up(18)\n    assert found\n"
    )
    use = tree.use

    def without_lines(name: str, arguments: dict[str, object]) -> str:
        return re.sub(r"^\| lines .*$", "|", use(name, arguments), flags=re.MULTILINE)

    tree.use = without_lines  # type: ignore[method-assign]
    play(prompt("Develop"), tree)

    assert gate(tree) == []
    assert not any(is_test_file(str(arguments["path"])) for name, arguments in tree.asked if name == "edit")
