"""Makes the socket of the proxy in a sandbox's own network, hands it out, and becomes the command.

A program of its own, run inside as `python -I -S door.py LINE PORT COMMAND…`: LINE is the number of a socket over
which the new one goes. Nothing of it is left when the command begins.
"""

from __future__ import annotations

import os
import signal
import socket
import sys

_WAITING_AT_MOST = 64


def main(line: int, port: int, command: list[str]) -> None:
    """Never returns."""
    with socket.socket(fileno=line) as ours, socket.socket() as listening:
        listening.bind(("127.0.0.1", port))
        listening.listen(_WAITING_AT_MOST)
        socket.send_fds(ours, [b"."], [listening.fileno()])
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)  # the interpreter ignores them, and a program would inherit that
    try:
        os.execvp(command[0], command)  # noqa: S606 - there is no shell in it
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode(errors="replace"))
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
