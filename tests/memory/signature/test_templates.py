"""Messages without their data."""

from __future__ import annotations

import pytest

from memory.signature.canon import forms
from memory.signature.normalise import is_specific, template
from tests.memory.signature.forms import SAMPLES


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("Read timed out after 30 seconds for 10.0.0.1:80", "read timed out after <dur> for <ip>"),
        ("HTTP Error 502: Bad Gateway", "http error 502: bad gateway"),
        ("exit status 137", "exit status 137"),
        ("order 1,234 of 8812", "order <num> of <num>"),
        ("'utf-8' codec can't decode byte 0x8f", "'utf-8' codec can't decode byte <hex>"),
        ("no user 7c1811ed-e98f-4c9c-a9f9-58c757ff494f", "no user <uuid>"),
        ("mail to ann@example.org failed", "mail to <email> failed"),
        ("GET https://a.b/c?d=1 failed", "get <url> failed"),
        ("could not open /var/lib/app/data.db", "could not open <path>"),
        ("<shop.Cart object at 0x7f0011223344> is closed", "<obj> is closed"),
        ("commit 4be1f0a9c is not there", "commit <hash> is not there"),
        ("key AbCdEf0123456789xyZ is unknown", "key <hash> is unknown"),
        ("field 'total' is missing", "field 'total' is missing"),
        ("value 'total' is not a number", "value <str> is not a number"),
        ("rows ['a', 'b'] do not fit {'x': 1}", "rows <val> do not fit <val>"),
        ("debug=true is set on 2026-01-02T03:04:05Z", "debug=<bool> is set on <date>"),
        ("no such thing. Did you mean: 'thing'?", "no such thing"),
        ("module x86_64 of http2 needs 12 MB", "module x86_64 of http2 needs <size>"),
    ],
)
def test_data_in_a_message_is_masked_and_meaning_is_kept(message: str, text: str) -> None:
    assert template(message).text == text


@pytest.mark.parametrize("name", [form.name for form in forms()])
def test_two_wordings_take_each_canonical_form(name: str) -> None:
    (one, other) = SAMPLES[name]

    found = [template(message, type_) for type_, message in (one, other)]

    assert [template_.canonical for template_ in found] == [name, name]
    assert found[0].discriminators == found[1].discriminators


@pytest.mark.parametrize(
    ("message", "type_", "specific"),
    [
        ("basket was closed before payment arrived", "ShopError", True),
        ("basket closed", "ShopError", False),
        ("payment basket closed", "Error", False),
        ("No module named 'redis'", "ModuleNotFoundError", True),
        ("list index out of range", "IndexError", False),
        ("Internal Server Error", "", False),
        ("支払い 注文 在庫 失敗", "", True),
    ],
)
def test_only_words_that_say_something_are_specific(message: str, type_: str, specific: bool) -> None:
    assert is_specific(template(message, type_), type_) is specific
