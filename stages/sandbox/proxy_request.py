"""The head of one proxy request: `CONNECT host:port`, or a method and an `http://` address (RFC 9112, 3.2)."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from typing import Final

from memory.errors import Told
from stages.errors import Refused
from stages.sandbox.hosts import Host

_HEAD_AT_MOST: Final = 64 * 1024  # bytes
_END: Final = b"\r\n\r\n"
_LINE: Final = re.compile(rb"([A-Z]{1,20}) (\S{1,8000}) HTTP/1\.[01]")
_ADDRESS: Final = re.compile(rb"http://([^/?#@\s]{1,300})(/[^\s]*|\?[^\s]*)?")
_HEADER: Final = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}):[ \t]*([^\r\n\0]*)")
# What is between the command and us, and the host, which the address names already.
_OURS: Final = (b"host", b"connection", b"keep-alive", b"proxy-connection", b"proxy-authorization", b"upgrade", b"te")
_HTTP_PORT: Final = 80


class BadRequest(Told):
    """This is no request to a proxy: {problem}"""


@dataclass(frozen=True, kw_only=True)
class Request:
    """Where it goes, whether bytes go there as they are, and what is sent there first."""

    host: Host
    tunnel: bool
    forwarded: bytes


def read_request(client: socket.socket) -> Request:
    """The request that comes first on this connection. Raises BadRequest, and OSError when it does not come."""
    data = b""
    while _END not in data:
        part = client.recv(8192)
        if not part or len(data) + len(part) > _HEAD_AT_MOST:
            raise BadRequest(problem="its head does not end")
        data += part
    head, _, rest = data.partition(_END)
    first, *lines = head.split(b"\r\n")
    found = _LINE.fullmatch(first)
    if found is None:
        raise BadRequest(problem="its first line is not one of HTTP/1.1")
    if found[1] == b"CONNECT":
        return Request(host=_host(found[2], 443), tunnel=True, forwarded=rest)
    address = _ADDRESS.fullmatch(found[2])
    if address is None:
        raise BadRequest(problem="it names no http:// address")
    host = _host(address[1], _HTTP_PORT)
    path = address[2] or b"/"
    path = path if path.startswith(b"/") else b"/" + path
    kept = [line for line in lines if _name_of(line) not in _OURS]
    # One request on one connection: a second one would go where the first did, whatever it names.
    top = [found[1] + b" " + path + b" HTTP/1.1", b"Host: " + address[1], *kept, b"Connection: close"]
    return Request(host=host, tunnel=False, forwarded=b"\r\n".join(top) + _END + rest)


def _host(text: bytes, port: int) -> Host:
    try:
        return Host.parse(text.decode("ascii"), port=port)
    except (UnicodeDecodeError, Refused) as error:
        raise BadRequest(problem="it names no host") from error


def _name_of(line: bytes) -> bytes:
    found = _HEADER.fullmatch(line)
    if found is None:
        raise BadRequest(problem="a line of its head is no header")
    return found[1].lower()
