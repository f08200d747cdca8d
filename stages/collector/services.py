"""Starts services, waits until they are ready, runs a command beside them, and stops them; started by path.

`python -I services.py ORDERS COMMAND…`: ORDERS is a JSON object with `services` (name, arguments, folder, port,
seconds) and `channels`, the descriptors that only the command is given. Gives the command's exit status; 125 when a
service was not ready, and then the command was never started.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from typing import Any

_NOT_READY = 125
_LOOK_EVERY_SECONDS = 0.05
_ENDS_WITHIN_SECONDS = 5.0


def ready(service: dict[str, Any], process: subprocess.Popen[bytes]) -> str:
    """Wait for a service; gives what is wrong with it, or "" once it is ready."""
    until = time.monotonic() + service["seconds"]
    while process.poll() is None:
        if not service["port"] or _answers(service["port"]):
            return ""
        if time.monotonic() > until:
            return f"it did not answer on port {service['port']} within {service['seconds']:g} seconds"
        time.sleep(_LOOK_EVERY_SECONDS)
    return f"it ended with exit status {process.returncode}"


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1.0):
            return True
    except OSError:
        return False


def start(service: dict[str, Any]) -> subprocess.Popen[bytes]:
    # Its output goes where ours does for people: standard output may be the channel of results.
    return subprocess.Popen(
        service["arguments"],
        cwd=service["folder"],
        stdin=subprocess.DEVNULL,
        stdout=2,
        stderr=2,
        start_new_session=True,
    )


def stop(processes: list[subprocess.Popen[bytes]]) -> None:
    """End all services, those that do not want to as well."""
    until = time.monotonic() + _ENDS_WITHIN_SECONDS
    for process in processes:
        _signal(process, signal.SIGTERM)
    for process in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, until - time.monotonic()))
        _signal(process, signal.SIGKILL)


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def main(orders: dict[str, Any], command: list[str]) -> int:
    """Run the command beside its services; gives the exit status."""
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for service in orders["services"]:
            try:
                processes.append(start(service))
                problem = ready(service, processes[-1])
            except OSError as error:
                problem = f"it cannot be started: {error.strerror}"
            if problem:
                sys.stderr.write(f"the service {service['name']} is not ready: {problem}\n")
                return _NOT_READY
        try:
            status = subprocess.run(command, pass_fds=orders["channels"], check=False).returncode
        except OSError as error:
            sys.stderr.write(f"{command[0]}: {error.strerror}\n")
            return 127
        return status if status >= 0 else 128 - status
    finally:
        stop(processes)


if __name__ == "__main__":
    ended = main(json.loads(sys.argv[1]), sys.argv[2:])
    sys.stderr.flush()
    os._exit(ended)
