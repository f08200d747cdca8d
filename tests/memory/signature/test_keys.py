"""What a key is made of, and that it stays."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from memory.signature import ALGO, RepoView, match, shows, signatures
from memory.signature.keys import digest
from tests.memory.signature.cases import CASES

GOLDEN = Path(__file__).parent / "golden.json"
_TRACE = """Traceback (most recent call last):
  File "{path}", line 3, in {name}
    f()
ValueError: the basket of the shop is closed"""


def _canonical() -> dict[str, list[dict[str, str]]]:
    return {
        f"{case.name} / {side}": [dict(signature.canon) for signature in signatures("", text)]
        for case in CASES
        for side, text in (("one", case.one), ("other", case.other))
    }


def test_no_key_changes_without_a_new_algorithm() -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))

    changed = {name for name, canon in _canonical().items() if golden["texts"].get(name) != canon}

    assert golden["algorithm"] == ALGO
    assert changed == set()


def test_a_key_is_the_hash_of_its_canonical_text() -> None:
    (found,) = signatures("", _TRACE.format(path="/app/cart.py", name="total"))

    assert found.keys == {level: digest(level, text) for level, text in found.canon.items()}
    assert found.keys["x"] == "es1:x:" + hashlib.sha256(found.canon["x"].encode()).hexdigest()[:20]
    assert json.loads(found.canon["c"]) == [
        "es1", "c", "python", "valueerror", "the basket of the shop is closed", [], ["cart.py:total"],
    ]  # fmt: skip


def test_without_a_type_three_own_frames_make_a_key() -> None:
    frames = "".join(f'  File "/app/{name}.py", line 1, in {name}\n    x()\n' for name in ("pay", "till", "shop"))

    (found,) = signatures("", f"Traceback (most recent call last):\n{frames}")

    assert list(found.keys) == ["f"]
    assert found.type == ""


def test_tests_of_one_file_that_die_in_one_place_share_a_key_whatever_the_words() -> None:
    def trace(test: str, words: str) -> str:
        return (
            "Traceback (most recent call last):\n"
            f'  File "/w/tests/test_cart.py", line 9, in {test}\n    total()\n'
            '  File "/w/shop/cart.py", line 3, in total\n    raise ValueError()\n'
            f"ValueError: {words}"
        )

    met = match(signatures("", trace("test_a", "no price for cups")), signatures("", trace("test_b", "too many cups")))

    assert met is not None
    assert met.level == "f"
    assert (
        match(signatures("", trace("test_a", "x")), signatures("", trace("test_a", "x").replace("cart", "till")))
        is None
    )


def test_one_test_that_fails_with_other_words_is_another_failure() -> None:
    trace = 'Traceback (most recent call last):\n  File "/w/tests/test_a.py", line 9, in test_a\n    x\nKeyError: {}'

    assert match(signatures("", trace.format("'cup'")), signatures("", trace.format("'pot'"))) is None


def test_an_alert_meets_the_test_that_shows_it_where_the_runtime_speaks() -> None:
    inner = '  File "/w/shop/cart.py", line 3, in total\n    rows[3]\nIndexError: list index out of range'
    alert = f'Traceback (most recent call last):\n  File "/w/shop/api.py", line 1, in get\n    total()\n{inner}'
    test = f'Traceback (most recent call last):\n  File "/w/tests/test_a.py", line 1, in test_a\n    total()\n{inner}'

    met = match(signatures("", alert), signatures("", test))

    assert met is not None
    assert met.level == "c"


@pytest.mark.parametrize(
    ("raised", "shown"),
    [
        ("raise ValueError()\nValueError: the basket is closed", True),
        ("raise ValueError()\nValueError: the till is closed", False),
        ("raise KeyError()\nKeyError: 'basket'", False),
    ],
)
def test_a_reproduction_shows_an_alert_by_type_words_and_innermost_frame(raised: str, shown: bool) -> None:
    inner = '  File "/w/shop/cart.py", line 3, in total\n    {}'
    alert = signatures(
        "",
        'Traceback (most recent call last):\n  File "/w/shop/api.py", line 1, in get\n    total()\n'
        + inner.format("raise ValueError()\nValueError: the basket is closed"),
    )
    test = signatures(
        "",
        'Traceback (most recent call last):\n  File "/w/tests/test_a.py", line 1, in test_a\n    total()\n'
        + inner.format(raised),
    )

    assert shows(alert, test) is shown
    assert match(alert, test) is None


def test_frames_of_libraries_stand_in_where_the_program_has_none() -> None:
    text = _TRACE.format(path="/v/lib/python3.11/site-packages/yaml/reader.py", name="peek")

    (found,) = signatures("", text)

    assert found.frames == ("lib:reader.py:peek",)


@pytest.mark.parametrize(
    ("path", "frames"),
    [
        ("/v/lib/python3.11/site-packages/shop/cart.py", ("cart.py:total",)),
        ("/srv/app/src/shop/cart.py", ("cart.py:total",)),
        ("/srv/app/src/shop/views.py", ("src/shop/views.py:total",)),
        ("/srv/app/other/shop/views.py", ("other/shop/views.py:total",)),
        ("/v/lib/python3.11/site-packages/yaml/setup.py", ("lib:setup.py:total",)),
        ("/usr/lib/python3.11/json/cart.py", ("lib:cart.py:total",)),
        ("cart.py", ("cart.py:total",)),
    ],
)
def test_the_repository_says_which_frames_are_its_own(path: str, frames: tuple[str, ...]) -> None:
    files = {"src/shop/cart.py", "src/shop/views.py", "other/shop/views.py", "setup.py"}

    (found,) = signatures("", _TRACE.format(path=path, name="total"), RepoView(files=frozenset(files)))

    assert found.frames == frames


def test_a_repository_that_is_a_library_owns_its_installed_frames() -> None:
    text = _TRACE.format(path="/v/lib/python3.11/site-packages/yaml/reader.py", name="peek")

    (found,) = signatures("", text, RepoView(own_packages=("yaml",)))

    assert found.frames == ("reader.py:peek",)


def test_a_key_is_the_same_with_and_without_knowledge_of_the_repository() -> None:
    text = _TRACE.format(path="/srv/app/src/shop/cart.py", name="total")

    known = signatures("", text, RepoView(files=frozenset({"src/shop/cart.py"})))

    assert known[0].keys == signatures("", text)[0].keys


def _java(test: str, frames: list[str], words: str) -> str:
    lines = [f"java.lang.IllegalArgumentException: {words}"]
    lines += [f"\tat com.acme.{frame}({frame.split('.')[0]}.java:1)" for frame in frames]
    return "\n".join([*lines, f"\tat com.acme.TarTest.{test}(TarTest.java:9)"])


def test_whom_the_inner_classes_worked_for_tells_failures_of_one_test_class_apart() -> None:
    one = _java("a", ["Context.refuse", "Keys.read", "Maps.fill"], "no key of that kind")
    same = _java("b", ["Context.weird", "Keys.find", "Maps.put"], "no key of another kind here")
    other = _java("b", ["Context.refuse", "Keys.read", "EnumMaps.fill"], "no key of another kind here")

    assert match(signatures("", one), signatures("", same)) is not None
    assert match(signatures("", one), signatures("", other)) is None


@pytest.mark.parametrize(("words", "meets"), [("iso-8859", True), ("the header of the file is cut", False)])
def test_a_sentence_tells_the_checks_of_one_method_apart_and_data_alone_does_not(words: str, meets: bool) -> None:
    one = "utf-8" if meets else "the offset of the file is negative"

    met = match(
        signatures("", _java("a", ["Tar.parse"], one)),
        signatures("", _java("b", ["Tar.parse"], words)),
    )

    assert (met is not None) is meets
