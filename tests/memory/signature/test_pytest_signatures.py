"""What pytest prints: its own tracebacks, its summary, and how they meet the interpreter's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memory.signature import match, signatures
from memory.types import ErrorSignature

_SHOP = """
def price(x):
    if x < 0:
        raise ValueError("the amount of the order must be positive")
    return x + "1"

def total(xs):
    return sum(price(x) for x in xs)
"""
_TESTS = """
import pytest
from shop import total

def test_sum():
    assert total([]) == 1

def test_negative():
    total([-1])

class TestTypes:
    def test_text(self):
        total([1])

@pytest.mark.parametrize("size", [1, 2])
def test_cause(size):
    try:
        {}["size"]
    except KeyError as gone:
        raise RuntimeError("the size of the order is gone") from gone
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The output of one failing run in each style."""
    folder = tmp_path_factory.mktemp("shop")
    (folder / "shop.py").write_text(_SHOP)
    (folder / "test_shop.py").write_text(_TESTS)
    return {style: _run(folder, style) for style in ("long", "short", "native")}


def _run(folder: Path, style: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", f"--tb={style}", "-p", "no:cacheprovider", "test_shop.py"]
    alone = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # plugins take seconds to load, and print the same
    done = subprocess.run(command, cwd=folder, env=alone, capture_output=True, text=True, check=False, timeout=60)
    return done.stdout


def _of(output: str, test: str) -> list[ErrorSignature]:
    """Signatures of the section of one test."""
    return signatures(
        "", "\n".join(output.split(f"_ {test} _", 1)[1].split("\n___", 1)[0].split("\n===", 1)[0].split("\n")[1:])
    )


@pytest.mark.parametrize("test", ["test_sum", "test_negative", "TestTypes.test_text"])
@pytest.mark.parametrize("style", ["long", "short"])
def test_the_styles_of_pytest_meet_the_interpreters_own(printed: dict[str, str], style: str, test: str) -> None:
    met = match(_of(printed[style], test), _of(printed["native"], test))

    assert met is not None
    assert met.level == "x"


@pytest.mark.parametrize("style", ["long", "short", "native"])
def test_the_root_cause_is_what_is_compared(printed: dict[str, str], style: str) -> None:
    found = _of(printed[style], "test_cause[1]")

    assert [(signature.type, signature.discriminators) for signature in found] == [("KeyError", ("size",))]


def test_frames_are_named_by_the_functions_whose_source_is_shown(printed: dict[str, str]) -> None:
    (found,) = _of(printed["long"], "test_negative")

    assert found.frames == ("shop.py:price", "shop.py:<comp>", "shop.py:total")


def test_the_summary_names_each_failed_test_once(printed: dict[str, str]) -> None:
    summary = printed["short"][printed["short"].index("short test summary") :]

    found = signatures("", summary)

    assert [(one.kind, one.frames, one.type) for one in found] == [
        ("test", ("test_shop.py", "test_sum"), "AssertionError"),
        ("test", ("test_shop.py", "test_negative"), "ValueError"),
        ("test", ("test_shop.py", "TestTypes::test_text"), "TypeError"),
    ]


def test_an_error_of_collection_is_a_failure_of_its_file() -> None:
    text = "ERROR tests/test_till.py - ModuleNotFoundError: No module named 'till'"

    (found,) = [one for one in signatures("", text) if one.kind == "test"]

    assert found.frames == ("tests/test_till.py", "")
    assert found.discriminators == ("till",)


def test_a_section_without_a_summary_names_its_test() -> None:
    text = (
        "____________________________ test_total ____________________________\n\n"
        "    def test_total():\n>       assert total() == 3\nE       assert 4 == 3\n\n"
        "tests/test_cart.py:5: AssertionError\n"
    )

    kinds = {one.kind: one for one in signatures("", text)}

    assert kinds["test"].frames == ("tests/test_cart.py", "test_total")
    assert kinds["trace"].frames == ("test_cart.py:test_total",)
