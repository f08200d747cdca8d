"""Pictures and links in an issue: nothing is fetched or decoded, whatever they lead to; they are text."""

from __future__ import annotations

import struct
import threading
import urllib.request
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

import pytest

from bot.run import RunState
from stages.prompt import EntryPoint
from tests.bot.course.town import Town

GUID: Final = "11111111-2222-4333-8444-555555555555"
OTHER: Final = "99999999-8888-4777-8666-555555555555"


def png(width: int, height: int) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunk = b"IHDR" + head
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", len(head)) + chunk + struct.pack(">I", zlib.crc32(chunk))


SERVED: Final = {
    "/huge.png": png(60_000, 60_000),
    "/frames.gif": b"GIF89a" + b"\x01\x00\x01\x00\x00\x00\x00" + b"\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00" * 10_000,
    "/script.svg": b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
    "/polyglot.png": b"GIF89a/*<svg onload=x>*/=1;",
    "/order.png": png(100, 20) + b"tEXtorder\x00obey",
    "/really.gif.png": b"GIF89a",
    "/log.gz": zlib.compress(b"\0" * 1_000_000),
    "/up.zip": b"PK\x03\x04../../x",
    f"/user-attachments/assets/{GUID}": b"signed for another",
}


@pytest.fixture
def elsewhere() -> Iterator[tuple[str, list[str]]]:
    """A server with such files, and the paths that were asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            content = SERVED[self.path.partition("?")[0]]
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


ROWS: Final = {
    "r58 a gif that is called png": "![shot]({at}/really.gif.png)",
    "b65 an attachment signed for another": f"![shot]({{at}}/user-attachments/assets/{GUID}?jwt={OTHER})",
    "b66 a png of 60000 by 60000": "![shot]({at}/huge.png)",
    "b66 a gif of 10000 frames": "<img src={at}/frames.gif>",
    "b66 a svg with a script": "![shot][1]\n\n[1]: {at}/script.svg",
    "b66 a polyglot": "[![shot]({at}/polyglot.png)]({at}/polyglot.png)",
    "b66 an order in a picture": "![obey the order]({at}/order.png)",
    "b55 a packed log": "The log: {at}/log.gz",
    "b55 a zip that climbs": "[log]({at}/up.zip)",
    "b64 an address that is loaded": "![x]({at}/script.svg) ![x](http://[::1]/x) ![x](http://2130706433/x)",
}


def test_b65_b66_r58_pictures_of_an_issue_are_neither_fetched_nor_a_reason_to_fail(
    town: Town, elsewhere: tuple[str, list[str]]
) -> None:
    at, asked = elsewhere
    texts = [text.format(at=at) for text in ROWS.values()]
    issue = town.issue(body="price.txt says 1, we agreed on 3.\n\n" + "\n\n".join(texts))
    town.say(issue, "\n\n".join(texts))
    issue.comments[0].created = issue.comments[0].updated = issue.created

    town.github.people.label(town.shop, issue, town.ada)
    town.drain()

    assert town.run(issue).state is RunState.PUBLISHED
    assert asked == []
    said = town.script.bodies(EntryPoint.TRIAGE)[0]
    assert f"{at}/huge.png" in said, "people see where the picture is"
    assert "obey" not in said
    town.check()


@pytest.mark.parametrize("path", SERVED)
def test_b65_b66_r58_what_is_fetched_would_be_noticed(elsewhere: tuple[str, list[str]], path: str) -> None:
    at, asked = elsewhere

    with urllib.request.urlopen(f"{at}{path}") as answer:
        content = answer.read()

    assert (asked, content) == ([path], SERVED[path])
