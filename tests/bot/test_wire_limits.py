"""Requests over real sockets that have no end, or are too many: none holds a connection for longer than it works."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.webhooks import PATH
from bot.wire import HEAD_AT_MOST, HEADERS_AT_MOST
from tests.bot import payloads as p
from tests.bot.books import make_book
from tests.bot.served import Served, headers, served, talk
from tests.bot.test_wire import BODY, CHUNKED, CHUNKS, CLOSE, HOST, LENGTH, locked_out, said, statuses


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("served")) as one:
        yield one


def many_lines(count: int) -> list[str]:
    """Headers of a delivery, so many of them."""
    others = [HOST, LENGTH, CLOSE]
    return [*others, *(f"X-{at}: y" for at in range(count - len(others) - len(headers(BODY))))]


@pytest.mark.parametrize(
    ("count", "status"), [(HEADERS_AT_MOST, b"202"), (HEADERS_AT_MOST + 1, b"400"), (5_000, b"400")]
)
def test_b10_more_headers_than_anybody_needs_are_refused(server: Served, count: int, status: bytes) -> None:
    assert statuses(talk(server, said(*many_lines(count)))) == [status]


@pytest.mark.parametrize(
    "parts",
    [
        [said(HOST, LENGTH, f"X: {'y' * HEAD_AT_MOST}")],
        [said(HOST, LENGTH, first=f"POST {PATH}?{'y' * HEAD_AT_MOST} HTTP/1.1")],
        [b"POST ", *[b"/" * 1_000] * 40],
        [b"POST / HTTP/1.1\r\nX: ", *[b"y" * 1_000] * 40],
        [b"POST / HTTP/1.1\r\n", *[b"y" * 1_000] * 40],
        [b"\r\n" * 500] * 40,
    ],
    ids=lambda _: "",
)
def test_b10_a_head_without_an_end_is_refused_when_it_is_too_large(server: Served, parts: list[bytes]) -> None:
    assert statuses(talk(server, *parts, pause=0.002)) == [b"400"]


@pytest.mark.parametrize(
    "begun",
    [
        said(HOST, CHUNKED, body=b"5;x="),
        said(HOST, CHUNKED, body=CHUNKS[:-2] + b"X: "),
        said(HOST, CHUNKED, body=CHUNKS[:-2] + b"X"),
    ],
    ids=["size of a chunk", "value below the body", "name below the body"],
)
def test_b10_what_stands_around_the_parts_of_a_body_is_refused_when_it_is_too_large(
    server: Served, begun: bytes
) -> None:
    assert statuses(talk(server, begun, *[b"y" * 1_000] * 40, pause=0.002)) == [b"400"]


def test_a_body_in_so_small_chunks_that_most_of_it_is_their_sizes_is_read_whole(server: Served) -> None:
    body = json.dumps(dict(p.labeled().payload) | {"filler": "x" * 10_000}).encode()
    signed = [f"{name}: {value}" for name, value in headers(body).items()]
    head = "\r\n".join([f"POST {PATH} HTTP/1.1", HOST, CHUNKED, CLOSE, *signed, "", ""]).encode()
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"

    answers = talk(server, head, *(chunks[at : at + 1_000] for at in range(0, len(chunks), 1_000)))

    assert statuses(answers) == [b"202"]
    assert len(chunks) - len(body) > HEAD_AT_MOST


@pytest.mark.parametrize("before", [b"", said(HOST, LENGTH)])
@pytest.mark.parametrize("begun", [b"POST", b"\r\n", b"POST / HTTP/1.1\r\nHost: x\r\n"])
def test_sec_3_a_head_that_does_not_come_whole_in_time_ends_the_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: bytes, begun: bytes
) -> None:
    monkeypatch.setattr("bot.wire.HEAD_SECONDS", 0.4)
    with served(tmp_path) as server:
        began = time.monotonic()

        answers = talk(server, before, begun, pause=0.1)

    assert statuses(answers) == ([b"202"] if before else [])
    assert time.monotonic() - began < 7


@pytest.mark.parametrize(("path", "status"), [("/healthz", b"200"), ("/metrics", b"200"), ("/nowhere", b"404")])
@pytest.mark.parametrize("length", ["Content-Length: 1000000", "Transfer-Encoding: chunked"])
def test_sec_3_a_body_that_nobody_reads_holds_no_connection(
    server: Served, path: str, status: bytes, length: str
) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=3) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\n{HOST}\r\n{length}\r\n\r\n".encode())

        answers = b""
        while some := connection.recv(65_536):  # it gives up when the line is not cut
            answers += some

    assert statuses(answers) == [status]


def test_a_connection_whose_body_came_whole_is_kept_whether_it_was_read_or_not(server: Served) -> None:
    asked = b"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
    with socket.create_connection(("127.0.0.1", server.port), timeout=15) as connection:
        answers = b""
        for count in (1, 2):
            connection.sendall(asked)
            while answers.count(b"ok\n") < count and (some := connection.recv(65_536)):
                answers += some

    assert statuses(answers) == [b"200"] * 2


def test_a_line_end_after_a_delivery_does_not_end_the_wait_for_its_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.wire.HEAD_SECONDS", 0.1)
    book = make_book(tmp_path)
    with served(tmp_path) as server:
        answers = locked_out(book, server, said(HOST, LENGTH, CLOSE), b"\r\n")

    assert statuses(answers) == [b"202"]


def test_more_connections_than_can_be_served_are_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.wire.CONNECTIONS_AT_MOST", 3)
    with served(tmp_path) as server:
        idle: list[Any] = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(2)]
        crowded = talk(server, said(HOST, LENGTH))
        for one in idle:
            one.close()
        deadline = time.monotonic() + 10
        while statuses(free := talk(server, said(HOST, LENGTH, CLOSE))) != [b"202"] and time.monotonic() < deadline:
            time.sleep(0.05)

    assert (statuses(crowded), statuses(free)) == ([b"503"], [b"202"])
