"""Objects of JSON in a log, as the lines that they hold."""

from __future__ import annotations

import pytest

from memory.signature import signatures
from memory.signature.jsonlog import opened


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('{"level":"error","msg":"no room"}', "no room\nERROR no room"),
        ('{"level":50,"msg":"no room"}', "no room\nERROR no room"),
        ('{"level":30,"msg":"all is well"}', "all is well"),
        ('2026-03-04T05:06:07Z {"severity":"CRITICAL","message":"no room"}', "no room\nERROR no room"),
        ('[\n{"level":"info","msg":"a"},\n{"level":"error","msg":"b"}\n]', "a\nb\nERROR b"),
        ('{\n  "level": "error",\n  "msg": "a"\n}\nafter', "a\nERROR a\nafter"),
        ('{"log":"  a\\n","stream":"stderr","time":"1"}', "  a"),
        ('{"level":"error","stack":["Error: a","    at f (a.js:1:2)"]}', "Error: a\n    at f (a.js:1:2)"),
        ('{"method":"GET","path":"/a","status":503,"level":"info"}', "GET /a 503"),
        ('{"message":"a","error":{"stack":"x\\ny"}}', "a\nx\ny"),
    ],
)  # fmt: skip
def test_what_an_object_says_stands_in_lines(text: str, lines: str) -> None:
    assert opened(text) == lines


@pytest.mark.parametrize(
    "text",
    [
        "no object at all",
        '{"shop": {"cups": 3}}',
        '{"level":"error","msg":',
        'ValueError: bad object {"message": "x"}',
        "{" * 50_000 + '":',
        '{"message":' * 2_000 + "1" + "}" * 2_000,
    ],
)
def test_what_is_no_log_stays_as_it_is(text: str) -> None:
    assert opened(text) == text


def test_objects_that_lie_too_deep_are_left() -> None:
    deep = '{"message":"top","a":' + '{"a":' * 9 + '{"stack":"x\\ny"}' + "}" * 10

    assert opened(deep) == "top"


def test_an_object_of_a_message_does_not_hide_the_message() -> None:
    text = 'shop.errors.RefusedError: order was refused by warehouse {"message": "no room"}'

    assert signatures("", text)[0].type == "shop.errors.RefusedError"


def test_words_before_an_object_are_a_message_too() -> None:
    text = 'the order was refused by the warehouse {"message": "no room"}'

    assert opened(text) == text
