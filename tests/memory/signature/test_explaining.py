"""How signatures came about, for people who ask why."""

from __future__ import annotations

import pytest

from memory.signature import RepoView, explain, signatures
from tests.memory.signature.test_samples import SAMPLES, Sample

_TRACE = """2026-03-04T05:06:07Z Traceback (most recent call last):
2026-03-04T05:06:07Z   File "/usr/lib/python3.11/json/decoder.py", line 3, in decode
2026-03-04T05:06:07Z     x()
2026-03-04T05:06:07Z KeyError: 'a'
2026-03-04T05:06:07Z
2026-03-04T05:06:07Z The above exception was the direct cause of the following exception:
2026-03-04T05:06:07Z
2026-03-04T05:06:07Z Traceback (most recent call last):
2026-03-04T05:06:07Z   File "/srv/shop/api.py", line 9, in get
2026-03-04T05:06:07Z     total()
2026-03-04T05:06:07Z   File "/v/lib/python3.11/site-packages/flask/app.py", line 3, in dispatch
2026-03-04T05:06:07Z     f()
2026-03-04T05:06:07Z shop.Closed: the basket 42 is closed"""


def test_the_chain_ends_with_the_exception_that_decides() -> None:
    (found,) = explain("Cart is broken", _TRACE).found

    assert found.chain == ("shop.Closed: the basket 42 is closed", "KeyError: 'a'")
    assert found.signature.type == "KeyError"


def test_the_lines_are_those_of_the_cleaned_text() -> None:
    explanation = explain("Cart is broken", _TRACE)

    (found,) = explanation.found
    assert explanation.cleaned[0] == "Cart is broken"
    assert found.first == 2
    assert found.lines[0] == "Traceback (most recent call last):"
    assert found.lines[-1] == "shop.Closed: the basket 42 is closed"


def test_each_frame_of_the_exception_that_has_some_of_the_program_says_whose_it_is() -> None:
    (found,) = explain("", _TRACE).found

    assert [(seen.written, seen.origin, seen.kept) for seen in found.frames] == [
        ("/v/lib/python3.11/site-packages/flask/app.py dispatch", "library", False),
        ("/srv/shop/api.py get", "app", True),
    ]
    assert found.frames[1].key in found.signature.frames


def test_frames_of_libraries_that_stand_in_are_kept() -> None:
    text = 'Traceback (most recent call last):\n  File "/v/site-packages/yaml/reader.py", line 1, in peek\nKeyError: 1'

    (found,) = explain("", text).found

    assert [(seen.origin, seen.kept) for seen in found.frames] == [("library", True)]


def test_an_error_that_is_no_trace_has_its_lines_and_no_chain() -> None:
    (found,) = explain("", "FAILED tests/test_cart.py::test_total - KeyError: 'size'").found

    assert found.lines == ("FAILED tests/test_cart.py::test_total - KeyError: 'size'",)
    assert (found.chain, found.frames) == ((), ())


def test_a_text_that_says_nothing_is_cleaned_all_the_same() -> None:
    explanation = explain("A wish", "> Please add an export.")

    assert explanation.cleaned == ("A wish", "Please add an export.")
    assert explanation.found == ()


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_what_is_explained_is_what_is_compared(sample: Sample) -> None:
    view = RepoView(files=frozenset({"src/shop/cart.py"}))

    explanation = explain("It fails", sample.one, view)

    assert [one.signature for one in explanation.found] == signatures("It fails", sample.one, view)
    assert all(one.chain for one in explanation.found if one.signature.kind == "trace")
