"""Words: the same for notes and for queries."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.words import FUNCTION_WORDS, distinct, words, written


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getOrderById", ["getorderbyid", "get", "order", "by", "id"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("parse_http_header", ["parse_http_header", "pars", "http", "header"]),
        ("shop.Cart::total", ["shop.cart::total", "shop", "cart", "total"]),
        ("src/app/user_view.py:10", ["src", "app", "user_view.py", "user", "view", "py"]),
        (r"C:\app\main.c", ["c", "app", "main.c", "main", "c"]),
        ("TS2345 E0308 23505", ["ts2345", "e0308", "23505"]),
        ("C++ and C#", ["c++", "and", "c#"]),
        ("python3", ["python3", "python"]),
        ("can't", ["cant"]),
        ("Müller café", ["muller", "cafe"]),
        ("数据库", ["数据", "据库"]),
        ("迁移", ["迁移"]),
        ("エラーcode", ["エラ", "ラー", "code"]),
        ("語", ["語"]),
        ("ﬁle", ["file"]),
    ],
)
def test_identifiers_codes_and_scripts_without_spaces_come_whole_and_in_parts(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize("text", ["7 42", "0x7fff", "deadbeef12", "2026-10-11", "10.0.0.1", "1234567890", "___", "“”"])
def test_numbers_hashes_dates_and_addresses_are_no_words(text: str) -> None:
    assert words(text) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [("locks", "locking"), ("locked", "lock"), ("queries", "query"), ("matches", "match"), ("parsing", "parse")],
)
def test_forms_of_one_plain_word_meet(one: str, other: str) -> None:
    assert words(one) == words(other)


@pytest.mark.parametrize(("one", "other"), [("import", "important"), ("general", "generic"), ("bus", "busy")])
def test_words_of_different_meaning_stay_apart(one: str, other: str) -> None:
    assert words(one) != words(other)


def test_a_very_long_run_of_letters_is_one_short_word() -> None:
    found = words("x" * 100_000)

    assert len(found) == 1
    assert len(found[0]) == 64


def test_people_are_shown_words_as_their_text_has_them_first() -> None:
    text = "Files of deploy/tables_old.py: the parsed file can't be read by getOrders"

    shown = written([*distinct(words(text)), "redi"], text)

    assert {word: form for word, form in shown.items() if word != form} == {
        "file": "files",
        "tabl": "tables",
        "pars": "parsed",
        "order": "orders",
    }
    assert shown["redi"] == "redi"


def test_the_same_word_is_looked_for_once() -> None:
    assert distinct(words("lock the lock, locks!"), 24) == ("lock", "the")


def test_function_words_are_known_in_the_form_that_words_gives() -> None:
    assert set(words("during the does this")) <= FUNCTION_WORDS


@given(st.text())
def test_no_word_can_end_its_own_quotation_or_be_two_words(text: str) -> None:
    for word in words(text):
        assert word
        assert not any(c.isspace() or c in "\"'" or ord(c) < 32 for c in word)
        assert len(word) <= 128


@given(st.text(alphabet=st.characters(codec="utf-8", categories=("L", "N", "P", "Z"))))
def test_a_text_and_its_folded_form_have_the_same_words(text: str) -> None:
    assert words(text.lower()) is not None
    assert words(" ".join(text.split())) == words(text)
