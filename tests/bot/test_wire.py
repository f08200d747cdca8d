"""Requests over real sockets: what can be read in two ways, or has no end, is refused, and the connection with it."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from bot.book import Book
from bot.webhooks import PATH
from bot.wire import HEAD_AT_MOST, is_plain
from tests.bot import payloads as p
from tests.bot.books import make_book
from tests.bot.served import Served, headers, served, talk

BODY: Final = json.dumps(p.labeled().payload).encode()
HOST: Final = "Host: x"
LENGTH: Final = f"Content-Length: {len(BODY)}"
CHUNKED: Final = "Transfer-Encoding: chunked"
CLOSE: Final = "Connection: close"
CHUNKS: Final = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("served")) as one:
        yield one


def said(*lines: str, body: bytes = BODY, first: str = f"POST {PATH} HTTP/1.1") -> bytes:
    """A delivery that is signed, with these lines in its head."""
    signed = [f"{name}: {value}" for name, value in headers(BODY).items()]
    return "\r\n".join([first, *lines, *signed, "", ""]).encode("latin-1") + body


def statuses(answers: bytes) -> list[bytes]:
    """Of each answer on a connection."""
    return [part.split(b" ", 1)[0] for part in answers.split(b"HTTP/1.1 ")[1:]]


# --- What is taken -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "request_",
    [
        said(HOST, LENGTH, CLOSE),
        said(HOST, CHUNKED, CLOSE, body=CHUNKS),
        said(HOST, CHUNKED.upper(), CLOSE, body=CHUNKS),
        said(HOST, CHUNKED, CLOSE, body=CHUNKS.replace(b"\r\n", b";name=value\r\n", 1)),
        said(HOST, f"Content-Length: 00{len(BODY)}  ", CLOSE),
        said(LENGTH, first=f"POST {PATH} HTTP/1.0"),
        said(HOST, LENGTH, first=f"POST {PATH} HTTP/1.0"),
        said(HOST, LENGTH, CLOSE, "Upgrade: h2c"),
        b"\r\n\r\n" + said(HOST, LENGTH, CLOSE),
        said(HOST, LENGTH, CLOSE) + b"\r\n",
    ],
)
def test_a_delivery_in_any_plain_form_is_kept(server: Served, request_: bytes) -> None:
    before = server.kept()[0]

    answers = talk(server, request_)

    assert statuses(answers) == [b"202"]
    assert server.kept()[0] == before + 1


def test_a_head_that_comes_byte_by_byte_is_read_like_one_that_comes_at_once(server: Served) -> None:
    whole = said(HOST, LENGTH, CLOSE, body=b"")

    answers = talk(server, *(whole[at : at + 1] for at in range(len(whole))), BODY)

    assert statuses(answers) == [b"202"]


def test_a_sender_that_asks_first_is_told_to_go_on(server: Served) -> None:
    answers = talk(server, said(HOST, LENGTH, CLOSE, "Expect: 100-continue", body=b""), BODY, pause=0.2)

    assert statuses(answers) == [b"100", b"202"]


def test_a_connection_takes_one_request_after_another(server: Served) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=15) as connection:
        answers = []
        for _ in range(3):
            connection.sendall(said(HOST, LENGTH))
            answers.append(connection.recv(65_536))

    assert [statuses(answer) for answer in answers] == [[b"202"]] * 3


# --- What has two meanings -----------------------------------------------------------------------------------------

TWO_LENGTHS: Final = [
    said(HOST, LENGTH, CHUNKED, body=CHUNKS),
    said(HOST, CHUNKED, LENGTH, body=CHUNKS),
    said(HOST, LENGTH, LENGTH),
    said(HOST, LENGTH, "Content-Length: 5"),
    said(HOST, f"{LENGTH}, {len(BODY)}"),
    said(HOST, f"Content-Length: +{len(BODY)}"),
    said(HOST, f"Content-Length: {len(BODY):#x}"),
    said(HOST, "Content-Length: -1"),
    said(HOST, "Content-Length:"),
    said(HOST, f"Content-Length: {2**64 + len(BODY)}"),
    said(HOST, f"Content-Length : {len(BODY)}"),
    said(HOST, "Transfer-Encoding: gzip, chunked", body=CHUNKS),
    said(HOST, "Transfer-Encoding: chunked, identity", body=CHUNKS),
    said(HOST, "Transfer-Encoding: identity", LENGTH),
    said(HOST, "Transfer-Encoding: xchunked", body=CHUNKS),
    said(HOST, "Transfer-Encoding:\x0bchunked", body=CHUNKS),
    said(HOST, "Transfer-Encoding : chunked", LENGTH),
    said(HOST, CHUNKED, CHUNKED, body=CHUNKS),
    said(HOST, CHUNKED, body=CHUNKS, first=f"POST {PATH} HTTP/1.0"),
]
BAD_CHUNKS: Final = [
    said(HOST, CHUNKED, body=size + b"\r\n" + BODY + b"\r\n0\r\n\r\n")
    for size in (b"", b"+%x" % len(BODY), b"0x%x" % len(BODY), b" %x" % len(BODY), b"-1", b"%x " % len(BODY), b"g")
] + [
    said(HOST, CHUNKED, body=CHUNKS.replace(b"\r\n", b"\n")),
    said(HOST, CHUNKED, body=CHUNKS.replace(b"\r\n", b"\n", 1)),
    said(HOST, CHUNKED, body=CHUNKS.replace(b"\r\n", b";\n\r\n", 1)),
    said(HOST, CHUNKED, body=b"%x\r\n%sxx\r\n0\r\n\r\n" % (len(BODY), BODY)),
    said(HOST, CHUNKED, body=b"1%016x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)),
    said(HOST, CHUNKED, body=CHUNKS[:-2] + b"X-Below: the body\r\n\r\n"),
    said(HOST, CHUNKED, body=CHUNKS[:-2] + b"Content-Length: 5\r\n\r\n"),
]
BAD_LINES: Final = [
    said(HOST, LENGTH, "X-Folded: one", " two"),
    said(HOST, LENGTH, "X-Folded: one", "\tTransfer-Encoding: chunked"),
    said(HOST, LENGTH).replace(b"\r\n", b"\n"),
    said(HOST, f"X: y\n{LENGTH}"),
    said(HOST, f"X: y\r{LENGTH}"),
    said(HOST, LENGTH, "X: \0"),
    said(HOST, LENGTH, "X\0: y"),
    said(HOST, LENGTH, "X y: z"),
    said(HOST, LENGTH, ": x"),
    said(HOST, LENGTH, "no colon"),
    said(LENGTH),
    said(HOST, HOST, LENGTH),
    said(HOST, "Host: y", LENGTH, first=f"POST {PATH} HTTP/1.0"),
]
BAD_FIRST_LINES: Final = [
    said(HOST, LENGTH, first=line)
    for line in (
        f"POST {PATH}",
        f"POST {PATH} HTTP/0.9",
        f"POST {PATH} HTTP/1.2",
        f"POST {PATH} HTTP/2.0",
        f"POST {PATH} HTTP/1.1 x",
        f"post {PATH} HTTP/1.1",
        f"POST {PATH}\0 HTTP/1.1",
        "CONNECT x:443 HTTP/1.1",
        "PRI * HTTP/2.0",
    )
]
OTHER_PROTOCOLS: Final = [
    said(HOST, LENGTH, "Connection: Upgrade", "Upgrade: h2c"),
    said(HOST, LENGTH, "Connection: keep-alive, upgrade", "Upgrade: websocket"),
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 200,
]


@pytest.mark.parametrize(
    "request_", [*TWO_LENGTHS, *BAD_CHUNKS, *BAD_LINES, *BAD_FIRST_LINES, *OTHER_PROTOCOLS], ids=lambda _: ""
)
def test_sec_1_what_another_could_read_in_another_way_is_refused_and_the_connection_ends(
    server: Served, request_: bytes
) -> None:
    before = server.kept()

    answers = talk(server, request_)

    assert statuses(answers) == [b"400"]
    assert server.kept() == before
    assert "ticketsmith_body_bytes 0" in server.client.get("/metrics").text


@pytest.mark.parametrize(
    ("version", "lines", "plain"),
    [
        ("1.1", [(b"host", b"x")], True),
        ("1.1", [(b"host", b"x"), (b"transfer-encoding", b"Chunked")], True),
        ("1.1", [(b"host", b"x"), (b"transfer-encoding", b"chunked"), (b"transfer-encoding", b"chunked")], False),
        ("1.1", [(b"host", b"x"), (b"transfer-encoding", b"gzip, chunked")], False),
        ("1.1", [], False),
        ("1.0", [], True),
        ("1.0", [(b"host", b"x"), (b"host", b"x")], False),
        ("1.0", [(b"transfer-encoding", b"chunked")], False),
        ("0.9", [], False),
        ("2.0", [(b"host", b"x")], False),
        ("1.1", [(b"host", b"x" * (HEAD_AT_MOST - 9))], True),
        ("1.1", [(b"host", b"x" * (HEAD_AT_MOST - 8))], False),
    ],
)
def test_a_head_is_plain_when_it_is_small_and_of_one_meaning(
    version: str, lines: list[tuple[bytes, bytes]], plain: bool
) -> None:
    assert is_plain(version, b"/", lines) is plain


# --- What comes too early ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "second", [said(HOST, LENGTH), b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * 5_000, b"garbage"]
)
def test_what_is_said_before_an_answer_is_not_heard_and_the_answer_ends_the_connection(
    server: Served, second: bytes
) -> None:
    before = server.kept()[0]

    answers = talk(server, said(HOST, LENGTH) + second)

    assert statuses(answers) == [b"202"]
    assert b"connection: close" in answers
    assert server.kept()[0] == before + 1


def locked_out(book: Book, server: Served, *parts: bytes) -> bytes:
    """Say this while nothing can be written; what comes back once it can."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=15) as connection:
        with book.writing():
            for part in parts:
                connection.sendall(part)
                time.sleep(0.5)
        answers = b""
        while some := connection.recv(65_536):
            answers += some
    return answers


def test_what_is_said_while_a_delivery_waits_for_the_disk_does_not_harm_it(tmp_path: Path) -> None:
    book = make_book(tmp_path)
    with served(tmp_path) as server:
        answers = locked_out(book, server, said(HOST, LENGTH), said(HOST, LENGTH), b"x" * 1_000)

        assert statuses(answers) == [b"202"]
        assert server.kept()[0] == 1
