"""A ticket is read from markdown or JSON as people write it, or refused in one sentence."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import (
    TicketBinary,
    TicketEmpty,
    TicketForbidden,
    TicketMissing,
    TicketNotAFile,
    TicketNotJson,
    TicketNotUtf8,
    TicketTooBig,
    TicketUnusable,
    TicketWithoutContent,
    TicketWrong,
)
from bot.ticket_file import BYTES_AT_MOST, read_ticket, ticket_id
from stages.ticket import Comment, Ticket

DEMO = Path(__file__).parents[2] / "bot/demo/tickets"


def read(folder: Path, text: str | bytes, name: str = "cart.md") -> Ticket:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_ticket(file, folder)


def read_json(folder: Path, value: object) -> Ticket:
    return read(folder, json.dumps(value), "cart.json")


# --- Markdown ------------------------------------------------------------------------------------------------------


def test_the_first_heading_is_the_title_and_the_rest_is_the_body(tmp_path: Path) -> None:
    ticket = read(tmp_path, "\n# Cart is empty #\n\n    indented\n\n# Steps\ntext\n\n")

    assert (ticket.title, ticket.body) == ("Cart is empty", "    indented\n\n# Steps\ntext")
    assert (ticket.id, ticket.author, ticket.number, ticket.comments) == ("local:cart", "", None, ())


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Cart is empty\n\n# Steps\n", "Cart is empty"),
        ("### C++ crash", "C++ crash"),
        ("#1 is wrong", "#1 is wrong"),
        ("<!-- a template -->\n\n# Cart\tis  empty\n", "Cart is empty"),
        ("can't open \"x", "can't open \"x"),
        ("\ufeffCart", "Cart"),
        ("🎉", "🎉"),
        ("{{ 7*7 }} %s%n {0.__class__} $(id) `id`", "{{ 7*7 }} %s%n {0.__class__} $(id) `id`"),
    ],
)
def test_titles_are_taken_as_they_are_written(tmp_path: Path, text: str, title: str) -> None:
    assert read(tmp_path, text).title == title


def test_line_breaks_of_other_systems_are_line_breaks(tmp_path: Path) -> None:
    assert read(tmp_path, "Cart\r\n\r\none\r\ntwo\rthree").body == "one\ntwo\nthree"


def test_front_matter_gives_author_number_and_comments(tmp_path: Path) -> None:
    text = "---\nauthor: 'mira'\nnumber: 17\nlabels:\n  - bug: old\ncomments:\n  - jonas: here too\n---\n# Cart\nbody"

    ticket = read(tmp_path, text)

    assert ticket == Ticket(
        id=ticket.id,
        title="Cart",
        body="body",
        author="mira",
        number=17,
        comments=(Comment(author="jonas", text="here too"),),
    )
    assert ticket.id == "17"


@pytest.mark.parametrize("text", ["---\nNot settings at all.\n---\nbody", "---\nauthor: mira\n\nno end"])
def test_a_ruler_is_no_front_matter(tmp_path: Path, text: str) -> None:
    ticket = read(tmp_path, text)

    assert (ticket.title, ticket.author) == ("---", "")


def test_comments_are_sections_outside_of_fenced_blocks(tmp_path: Path) -> None:
    text = (
        "# Cart\nbody\n```md\n## Comment by nobody\n~~~\n```\n"
        "## Comment by Mira Lund\n\nIt shows here.\n\n## comment by jonas ##\n````\n```\n## Comment by x\n````\nSame.\n"
    )

    ticket = read(tmp_path, text)

    assert ticket.body == "body\n```md\n## Comment by nobody\n~~~\n```"
    assert ticket.comments == (
        Comment(author="Mira Lund", text="It shows here."),
        Comment(author="jonas", text="````\n```\n## Comment by x\n````\nSame."),
    )


def test_a_number_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TicketWrong, match=r"number must be a whole number from 1 to \d+, not text"):
        read(tmp_path, "---\nnumber: seven\n---\n# Cart")


@pytest.mark.parametrize("name", ["first.md", "second.md"])
def test_the_tickets_of_the_demo_can_be_read(name: str) -> None:
    ticket = read_ticket(DEMO / name)

    assert ticket.title
    assert ticket.author
    assert "test_orders" in ticket.text


# --- JSON ----------------------------------------------------------------------------------------------------------


def test_json_has_the_fields_of_an_issue(tmp_path: Path) -> None:
    value = {
        "title": "Cart",
        "body": "one\r\ntwo",
        "number": 17,
        "author": {"login": "mira"},
        "comments": [{"author": "jonas", "body": "here too"}, {"author": None, "body": None}],
        "labels": [],
    }

    ticket = read_json(tmp_path, value)

    assert (ticket.id, ticket.title, ticket.body, ticket.author) == ("17", "Cart", "one\ntwo", "mira")
    assert ticket.comments == (Comment(author="jonas", text="here too"), Comment(author="", text=""))


@pytest.mark.parametrize("value", [{"title": "Cart", "body": None}, {"title": "Cart"}])
def test_a_title_alone_is_enough(tmp_path: Path, value: object) -> None:
    assert read_json(tmp_path, value).body == ""


def test_a_body_alone_gives_the_title(tmp_path: Path) -> None:
    ticket = read_json(tmp_path, {"title": "\u200b ", "body": "x" * 300})

    assert (ticket.title, len(ticket.body)) == ("x" * 200, 300)


def test_what_no_table_can_hold_is_replaced(tmp_path: Path) -> None:
    ticket = read(tmp_path, r'{"title": "a\u0000b", "body": "lone \ud800, pair \ud83d\ude00"}', "cart.json")

    assert (ticket.title, ticket.body) == ("a\ufffdb", "lone \ufffd, pair 😀")


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (["a"], "the whole must be an object with title and body, not a list"),
        ("text", "the whole must be an object with title and body, not text"),
        (None, "the whole must be an object with title and body, not null"),
        ({"title": 5}, "title must be text, not 5"),
        ({"title": True}, "title must be text, not true"),
        ({"title": "x", "body": {}}, "body must be text, not an object"),
        ({"title": "x", "comments": 3}, "comments must be a list of objects, not 3"),
        ({"title": "x", "comments": ["a"]}, "comments[0] must be an object with author and body, not text"),
        ({"title": "x", "comments": [{"body": 1.5}]}, "comments[0].body must be text, not 1.5"),
        ({"title": "x", "comments": [{"author": []}]}, "comments[0].author must be text, not a list"),
        ({"title": "x", "author": {"login": 3}}, "author.login must be text, not 3"),
        ({"title": "x", "number": "7"}, "number must be a whole number from 1 to 9007199254740992, not text"),
        ({"title": "x", "number": True}, "number must be a whole number from 1 to 9007199254740992, not true"),
        ({"title": "x", "number": 0}, "number must be a whole number from 1 to 9007199254740992, not 0"),
        ({"title": "x", "number": 10**400}, "number must be a whole number from 1 to 9007199254740992, not 1000"),
    ],
)
def test_a_field_of_another_kind_is_named(tmp_path: Path, value: object, told: str) -> None:
    with pytest.raises(TicketWrong) as error:
        read_json(tmp_path, value)

    assert f"In the ticket file {tmp_path / 'cart.json'}, {told}" in str(error.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"title": "x"', "line 1, column 14"),
        ("not json", "line 1, column 1"),
        ("[" * 100_000, "nested too deeply"),
        ('{"number": ' + "9" * 5000 + "}", "a number too long"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(TicketNotJson, match=told):
        read(tmp_path, text, "cart.json")


# --- Files that cannot be used -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", TicketEmpty),
        (b" \n\t\n", TicketEmpty),
        ("\ufeff\n".encode(), TicketWithoutContent),
        ("\u200b\u2060\n".encode(), TicketWithoutContent),
        (b"<!-- nothing -->\n\n", TicketWithoutContent),
        (b"---\nauthor: mira\n---\n", TicketWithoutContent),
        (b"\x89PNG\r\n\x1a\n\x00\x00", TicketBinary),
        ("Cart".encode("utf-16"), TicketNotUtf8),
        (b"Cart\n\xe4\xf6", TicketNotUtf8),
        (b"x" * (BYTES_AT_MOST + 1), TicketTooBig),
        (b"x" * BYTES_AT_MOST, None),
    ],
)
def test_a_file_without_one_ticket_is_refused(tmp_path: Path, data: bytes, kind: type[TicketUnusable] | None) -> None:
    if kind is None:
        assert read(tmp_path, data).title
        return

    with pytest.raises(kind) as error:
        read(tmp_path, data)

    assert str(tmp_path / "cart.md") in str(error.value)
    assert len(str(error.value).splitlines()) == 1
    assert error.value.exit_status == 2


@pytest.mark.parametrize("value", [{}, {"title": None, "body": None}, {"title": " ", "body": "\n \u200b"}])
def test_json_without_title_and_body_is_refused(tmp_path: Path, value: object) -> None:
    with pytest.raises(TicketWithoutContent):
        read_json(tmp_path, value)


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    for path in (tmp_path / "no.md", tmp_path / "no" / "no.md", Path("nul\0.md")):
        with pytest.raises(TicketMissing):
            read_ticket(path)


def test_a_name_with_a_line_break_stays_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(TicketMissing) as error:
        read_ticket(tmp_path / "a\nb\x1b[31m.md")

    assert str(error.value).isprintable()


def test_a_folder_or_a_pipe_is_no_ticket_and_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")

    with pytest.raises(TicketNotAFile, match="a folder"):
        read_ticket(tmp_path)
    with pytest.raises(TicketNotAFile, match="a device, pipe or socket"):
        read_ticket(tmp_path / "pipe.md")


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    (tmp_path / "loop.md").symlink_to("loop.md")

    with pytest.raises(TicketForbidden, match="symbolic links"):
        read_ticket(tmp_path / "loop.md")


@given(st.binary(max_size=200), st.sampled_from(["any.md", "any.json"]))
def test_no_bytes_bring_anything_but_a_ticket_or_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, name: str
) -> None:
    folder = tmp_path_factory.getbasetemp()
    told = "read"

    try:
        read(folder, data, name).text.encode()
    except TicketUnusable as error:
        told = str(error)

    assert len(told.splitlines()) == 1


# --- Ids -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stem", "expected"),
    [
        ("empty-cart", "local:empty-cart"),
        ("2024-1", "local:2024-1"),
        ("a", "local:a"),
    ],
)
def test_the_id_of_a_plain_name_is_the_name(stem: str, expected: str) -> None:
    assert ticket_id(Path(f"{stem}.md"), None) == expected


@given(st.text(max_size=120))
def test_an_id_is_ascii_whatever_the_file_is_called(stem: str) -> None:
    made = ticket_id(Path(f"{stem}.md"), None)

    assert made.startswith("local:")
    assert set(made[6:]) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert 6 < len(made) <= 80


def test_names_of_other_scripts_are_told_apart() -> None:
    names = ["错误报告", "错误", "修正 cart", "cart", "x" * 100, "x" * 101, "???", "!!!"]

    made = {ticket_id(Path(f"{name}.md"), None) for name in names}

    assert len(made) == len(names)
    assert ticket_id(Path("错误报告.md"), None).startswith("local:ticket-")
