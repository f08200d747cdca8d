"""Signatures in words."""

from __future__ import annotations

import pytest

from memory.signature import headline, signatures
from memory.signature.headlines import label

_TRACE = 'Traceback (most recent call last):\n  File "/app/cart.py", line 3, in total\n    f()\n{}'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (_TRACE.format("shop.PriceError: no price for order 17 of cups"), "PriceError: no price for order of cups"),
        (_TRACE.format("ModuleNotFoundError: No module named 'redis'"), "ModuleNotFoundError: no module redis"),
        (_TRACE.format("RecursionError: maximum recursion depth exceeded"), "RecursionError: recursion"),
        ("FAILED tests/test_cart.py::test_total - KeyError: 'size'", "KeyError: size tests/test_cart.py test_total"),
        (_TRACE.format("StopIteration"), "StopIteration"),
        ("GET /api/orders/17 returned 502", "GET: 502 /api/orders/<id>"),
    ],
)
def test_the_headline_holds_the_words_of_the_error_and_none_of_its_data(text: str, words: str) -> None:
    assert headline(signatures("", text)[0]) == words


def test_the_label_names_place_and_strongest_level() -> None:
    (found,) = signatures("", _TRACE.format("shop.PriceError: no"))

    assert label(found) == "PriceError @ cart.py:total [es1:x]"
