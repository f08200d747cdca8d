"""Deliveries over real sockets: what is signed and whole is kept before it is answered; nothing else leaves a trace."""

from __future__ import annotations

import gc
import hashlib
import hmac
import itertools
import json
import resource
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from starlette.routing import Route

from bot.intake import EVENTS
from bot.jobs import Jobs
from bot.webhooks import PATH, webhook_app
from tests.bot import payloads as p
from tests.bot.books import make_book
from tests.bot.served import HOOK_SECRET, NEW_SECRET, Served, headers, impatient, served, signed, talk

LABELED: Final = dict(p.labeled().payload)
GUID: Final = "72d3162e-cc78-11e3-81ab-4c9367dc0958"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("served"), body_at_most=1_000_000) as one:
        yield one


def of_issue(number: int) -> dict[str, Any]:
    return {**LABELED, "issue": p.issue("ticketsmith", number=number)}


def test_r4_a_delivery_is_kept_with_its_job_before_it_is_answered(server: Served) -> None:
    before = server.kept()

    answer = server.post(of_issue(101))

    assert answer.status_code == 202
    assert server.kept() == (before[0] + 1, before[1] + 1)
    assert server.jobs.waiting()[-1].number == 101


def test_r2_a_delivery_that_is_sent_again_is_answered_well_and_gives_no_second_job(server: Served) -> None:
    guid = str(uuid.uuid4())
    first = server.post(of_issue(102), **{"x-github-delivery": guid})
    before = server.kept()

    again = server.post(of_issue(102), **{"x-github-delivery": guid.upper()})

    assert (first.status_code, again.status_code) == (202, 200)
    assert server.kept() == before


def test_f4_sec_2_one_delivery_fifty_times_at_once_is_kept_once_and_each_is_answered_well(server: Served) -> None:
    before = server.kept()
    with ThreadPoolExecutor(50) as many:
        answers = list(many.map(lambda _: server.post(of_issue(103), **{"x-github-delivery": GUID}), range(50)))

    statuses = [answer.status_code for answer in answers]
    assert (statuses.count(202), statuses.count(200)) == (1, 49)
    assert server.kept() == (before[0] + 1, before[1] + 1)


def test_f5_the_same_event_with_two_ids_is_one_job(server: Served) -> None:
    before = server.kept()

    statuses = [server.post(of_issue(104)).status_code for _ in range(2)]

    assert statuses == [202, 202]
    assert server.kept() == (before[0] + 2, before[1] + 1)


# --- Signatures ----------------------------------------------------------------------------------------------------


def flipped(text: str) -> str:
    return text[:-1] + ("0" if text[-1] != "0" else "1")


BODY: Final = json.dumps(of_issue(105)).encode()


@pytest.mark.parametrize(
    ("signature", "body"),
    [
        (flipped(signed(BODY)), BODY),
        (signed(BODY), BODY[:-2] + b" }"),
        (signed(BODY, NEW_SECRET), BODY),
        (signed(BODY).upper(), BODY),
        ("sha256=" + signed(BODY)[7:].upper(), BODY),
        (signed(BODY)[7:], BODY),
        ("sha256=é", BODY),
        ("sha256=" + "٣" * 64, BODY),
        ("sha256=", BODY),
        ("", BODY),
    ],
)
def test_sec_1_b2_b4_a_signature_that_does_not_fit_exactly_is_refused(
    server: Served, signature: str, body: bytes
) -> None:
    before = server.kept()
    named = list((headers(body) | {"x-hub-signature-256": ""}).items())
    raw = [(name.encode(), value.encode()) for name, value in named if name != "x-hub-signature-256"]

    answer = server.client.post(PATH, content=body, headers=[*raw, (b"x-hub-signature-256", signature.encode())])

    assert answer.status_code == 401
    assert server.kept() == before


def test_b3_a_correct_signature_by_sha1_alone_is_refused(server: Served) -> None:
    sha1 = f"sha1={hmac.new(HOOK_SECRET, BODY, hashlib.sha1).hexdigest()}"
    lines = headers(BODY) | {"x-hub-signature": sha1}
    del lines["x-hub-signature-256"]

    assert server.client.post(PATH, content=BODY, headers=lines).status_code == 401


def test_b4_two_signatures_are_refused_even_when_both_are_right(server: Served) -> None:
    lines = [*headers(BODY).items(), ("x-hub-signature-256", signed(BODY))]

    assert server.client.post(PATH, content=BODY, headers=lines).status_code == 401


def test_r63_nothing_is_parsed_before_the_signature_is_right(server: Served) -> None:
    bomb = b"[" * 100_000

    unsigned = server.client.post(
        PATH, content=bomb, headers=headers(bomb, secret=NEW_SECRET) | {"x-github-event": "?"}
    )

    assert unsigned.status_code == 401


def test_f9_while_a_secret_is_changed_both_are_taken_and_afterwards_the_old_one_is_not(tmp_path: Path) -> None:
    def statuses(server: Served) -> list[int]:
        lines = [headers(BODY, secret=secret) for secret in (HOOK_SECRET, NEW_SECRET)]
        return [server.client.post(PATH, content=BODY, headers=one).status_code for one in lines]

    jobs = impatient(tmp_path)

    with served(tmp_path, jobs, secrets=(NEW_SECRET, HOOK_SECRET)) as between:
        during = statuses(between)
    with served(tmp_path, jobs, secrets=(NEW_SECRET,)) as after:
        afterwards = statuses(after)

    assert (during, afterwards) == ([202, 202], [401, 202])


def test_r63_every_route_that_changes_anything_wants_a_signature(server: Served) -> None:
    routes = [route for route in webhook_app(server.door).routes if isinstance(route, Route)]
    changing = {route.path for route in routes if (route.methods or set()) - {"GET", "HEAD"}}

    statuses = {path: server.client.post(path, content=b"{}").status_code for path in changing}

    assert statuses == {PATH: 401}
    assert {route.path for route in routes} == {PATH, "/healthz", "/metrics"}


# --- Bodies --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        b"", b"not json", b"null", b"[]", b'"x"', b"7", b"NaN", b'{"a": NaN}', b'{"a": -Infinity}', b'{"a": 1, "a": 2}',
        b'{"a": {"b": 1, "b": 1}}', b"\xff{}", b"\xef\xbb\xbf{}", b"{} {}", b'{"a": ' + b"1" * 5_000 + b"}",
    ],
)  # fmt: skip
def test_b6_a_body_that_is_no_object_in_one_meaning_is_refused(server: Served, body: bytes) -> None:
    before = server.kept()

    assert server.post(body).status_code == 400
    assert server.kept() == before


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, 400),
        (b'{"a":' + b"[" * 64 + b"]" * 64 + b"}", 400),
        (b'{"a":' + b"[" * 63 + b"]" * 63 + b"}", 202),
        (b'{"a":"' + b"[" * 1_000 + b'","b":"\\"' + b"{" * 1_000 + b'"}', 202),
        (b'{"a":[' + b"[]," * 1_000 + b"[]]}", 202),
    ],
)
def test_sec_3_b7_json_nested_deeper_than_64_is_refused_and_brackets_in_texts_do_not_count(
    server: Served, body: bytes, status: int
) -> None:
    assert server.post(body).status_code == status


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/json", 202),
        ("application/json; charset=utf-8", 202),
        ("Application/JSON;charset=UTF8", 202),
        ("application/json; charset=utf-99", 415),
        ("application/json; charset=utf-16", 415),
        ("application/x-www-form-urlencoded", 415),
        ("text/plain", 415),
        ("", 415),
    ],
)
def test_b5_only_json_in_utf_8_is_taken(server: Served, content_type: str, status: int) -> None:
    assert server.post(of_issue(106), **{"content-type": content_type}).status_code == status


def test_b5_a_body_that_is_packed_is_not_unpacked(server: Served) -> None:
    assert server.post(of_issue(106), **{"content-encoding": "gzip"}).status_code == 415


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("x-github-delivery", ""),
        ("x-github-delivery", "not-a-uuid"),
        ("x-github-delivery", GUID + "0"),
        ("x-github-delivery", "x" * 20_000),
        ("x-github-event", ""),
        ("x-github-event", "Issues"),
        ("x-github-event", "../etc"),
    ],
)
def test_b10_a_delivery_without_its_names_is_refused(server: Served, name: str, value: str) -> None:
    before = server.kept()

    assert server.post(of_issue(107), **{name: value}).status_code == 400
    assert server.kept() == before


def test_b10_a_header_of_a_megabyte_ends_the_connection(server: Served) -> None:
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nX-GitHub-Delivery: {'x' * 1_000_000}\r\n\r\n".encode()

    assert talk(server, head).startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    "payload",
    [
        {**LABELED, "action": "danced"},
        {key: value for key, value in LABELED.items() if key != "label"},
        {**LABELED, "sender": None},
        {key: value for key, value in LABELED.items() if key != "installation"},
    ],
)
def test_b9_b11_what_asks_for_nothing_is_kept_and_counted(server: Served, payload: dict[str, Any]) -> None:
    before = server.kept()

    answer = server.post(payload)

    assert answer.status_code == 202
    assert server.kept() == (before[0] + 1, before[1])
    assert 'event="issues",status="202",decision="ignored"' in server.client.get("/metrics").text


def test_b9_an_event_that_nobody_knows_is_kept_and_counted_under_no_name_of_its_own(server: Served) -> None:
    assert server.post({"zen": "x"}, name="made_up").status_code == 202
    assert 'event="other",status="202",decision="ignored"' in server.client.get("/metrics").text
    assert "made_up" not in server.client.get("/metrics").text


# --- Size, time, and a database that is busy -----------------------------------------------------------------------


def head(*lines: str) -> bytes:
    fixed = [f"POST {PATH} HTTP/1.1", "Host: x", f"X-Hub-Signature-256: {signed(b'')}", *lines]
    return ("\r\n".join(fixed) + "\r\n\r\n").encode()


def test_f10_a_body_that_is_said_to_be_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        said = talk(server, head(f"Content-Length: {26 * 1024 * 1024 + 1}"))

    assert said.startswith(b"HTTP/1.1 413")
    assert b"connection: close" in said.lower()


def test_f10_sec_3_a_body_without_a_length_is_refused_at_26_megabytes_and_not_kept_in_memory(tmp_path: Path) -> None:
    chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    with served(tmp_path) as server:
        gc.collect()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        said = talk(server, head("Transfer-Encoding: chunked"), *itertools.repeat(chunk, 40))

        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert said.startswith(b"HTTP/1.1 413")
    assert grown < 60
    assert server.kept() == (0, 0)


def test_many_bodies_at_once_are_held_to_what_memory_bears(tmp_path: Path) -> None:
    with served(tmp_path, bodies_at_most=200_000) as server:
        statuses = [server.post(b" " * size).status_code for size in (100_000, 300_000)]

        assert "ticketsmith_body_bytes 0" in server.client.get("/metrics").text
    assert statuses == [400, 503]


def test_sec_3_a_body_that_trickles_is_given_up(tmp_path: Path) -> None:
    with served(tmp_path, read_seconds=0.3) as server:
        began = time.monotonic()

        said = talk(server, head("Content-Length: 100"), b"x")

        assert said.startswith(b"HTTP/1.1 408")
        assert 0.2 < time.monotonic() - began < 5
        assert "ticketsmith_body_bytes 0" in server.client.get("/metrics").text


def test_a_sender_that_hangs_up_leaves_nothing(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        talk(server, head("Content-Length: 100"), b"x" * 50, read=False)
        deadline = time.monotonic() + 5
        while 'status="400"' not in server.client.get("/metrics").text and time.monotonic() < deadline:
            time.sleep(0.02)

        assert 'status="400"' in server.client.get("/metrics").text
        assert "ticketsmith_body_bytes 0" in server.client.get("/metrics").text


def test_a_large_body_is_taken_while_others_are_answered(tmp_path: Path) -> None:
    large = {**of_issue(7), "filler": ["x" * 100] * 20_000}
    with served(tmp_path) as server, ThreadPoolExecutor(4) as many:
        answers = list(many.map(server.post, [large, of_issue(8), large, of_issue(9)]))

    assert [answer.status_code for answer in answers] == [202] * 4


def test_f3_while_the_database_is_busy_a_delivery_is_sent_away_in_time_and_not_kept_later(tmp_path: Path) -> None:
    book = make_book(tmp_path)
    with served(tmp_path, keep_seconds=0.3) as server:
        with book.writing():
            began = time.monotonic()
            statuses = [server.post(of_issue(number)).status_code for number in (1, 2)]
            took = time.monotonic() - began
            health = server.client.get("/healthz").status_code
        again = server.post(of_issue(3)).status_code

    assert (statuses, again, health) == ([503, 503], 202, 200)
    assert took < 2
    assert [job.number for job in Jobs(book).waiting()] == [3]


def test_f3_a_database_that_is_free_again_in_time_keeps_what_came(tmp_path: Path) -> None:
    book = make_book(tmp_path)
    with served(tmp_path) as server, ThreadPoolExecutor(5) as many:
        with book.writing():
            answers = [many.submit(server.post, of_issue(number)) for number in range(1, 6)]
            time.sleep(0.3)
        statuses = [answer.result().status_code for answer in answers]

    assert statuses == [202] * 5
    assert Jobs(book).deliveries() == 5


def test_a_database_that_cannot_be_used_is_told_to_everybody_who_waits(tmp_path: Path) -> None:
    with served(tmp_path) as server, ThreadPoolExecutor(5) as many:
        with sqlite3.connect(tmp_path / "runs.sqlite") as other:
            other.execute("DROP TABLE delivery")
        statuses = [one.status_code for one in many.map(lambda n: server.post(of_issue(n)), range(1, 6))]

    assert statuses == [503] * 5
    assert any(line["event"] == "deliveries not kept" for line in server.logged())


# --- What is told --------------------------------------------------------------------------------------------------


def test_the_server_tells_how_it_does(server: Served) -> None:
    server.post(of_issue(108))

    health, figures = server.client.get("/healthz"), server.client.get("/metrics")

    assert (health.status_code, health.text) == (200, "ok\n")
    assert figures.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'ticketsmith_deliveries_total{event="issues",status="202",decision="start"}' in figures.text
    count = int(figures.text.partition("ticketsmith_delivery_seconds_count ")[2].split()[0])
    assert f'ticketsmith_delivery_seconds_bucket{{le="+Inf"}} {count}' in figures.text


def test_a_database_that_does_not_answer_shows(tmp_path: Path) -> None:
    with served(tmp_path, ready=lambda: False) as server:
        assert server.client.get("/healthz").status_code == 503


def test_sec_38_the_log_names_each_delivery_and_holds_nothing_that_strangers_wrote(server: Served) -> None:
    payload = {**of_issue(109), "issue": p.issue("ticketsmith", number=109, title="canary-title", body="canary\n{}")}
    server.post({**payload, "action": "labeled"})
    server.post(payload, **{"x-hub-signature-256": "sha256=" + "0" * 64})

    *_, kept, refused = server.logged()
    assert (kept["event"], kept["of"], kept["action"], kept["became"]) == ("delivery", "issues", "labeled", "stored")
    assert (refused["event"], refused["status"]) == ("delivery refused", 401)
    everything = server.lines.getvalue()
    assert "canary" not in everything
    assert HOOK_SECRET.decode() not in everything


def test_the_routes_and_methods_that_are_not_ours_are_not_there(server: Served) -> None:
    assert server.client.get(PATH).status_code == 405
    assert server.client.get("/").status_code == 404
    assert "issues" in EVENTS


def test_a_connection_that_says_nothing_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.wire.HEAD_SECONDS", 0.2)
    with served(tmp_path) as server:
        began = time.monotonic()
        said = talk(server, b"POST")

    assert said == b""
    assert time.monotonic() - began < 5


def test_what_comes_while_the_server_leaves_is_kept_or_not_answered(tmp_path: Path) -> None:
    jobs = impatient(tmp_path)
    statuses: list[int] = []

    def send(url: str, first: int) -> None:
        with httpx.Client(base_url=url, trust_env=False) as client:
            for number in range(first, first + 200):
                body = json.dumps(of_issue(number)).encode()
                try:
                    statuses.append(client.post(PATH, content=body, headers=headers(body)).status_code)
                except httpx.TransportError:
                    return

    with served(tmp_path, jobs) as server:
        threads = [threading.Thread(target=send, args=(server.url, first)) for first in (1, 1001, 2001)]
        for thread in threads:
            thread.start()
        while len(statuses) < 10:
            time.sleep(0.01)
    for thread in threads:
        thread.join()

    assert set(statuses) <= {202, 503}
    assert 10 <= statuses.count(202) <= jobs.deliveries() < 600
