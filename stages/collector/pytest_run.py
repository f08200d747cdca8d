"""One run of pytest by orders: what `python -m pytest` would do in the current folder, with our plugin in it."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from hmac import digest
from importlib import import_module
from pathlib import Path
from typing import Any

Send = Callable[[dict[str, Any]], None]
Beside = Callable[[str], Any]

_SETTINGS = (
    ("pytest.toml", ""),
    (".pytest.toml", ""),
    ("pytest.ini", ""),
    (".pytest.ini", ""),
    ("pyproject.toml", "[tool.pytest"),
    ("tox.ini", "[pytest]"),
    ("setup.cfg", "[tool:pytest]"),
)
_NO_TESTS = 5
_PROJECTS = ("pyproject.toml", "setup.py", "setup.cfg")
_TAKE_A_VALUE = frozenset({"--ignore", "--deselect", "--confcutdir", "--rootdir", "-c", "-k", "-m", "-p", "-o", "-W"})
_ASKS_FOR_PLUGINS = re.compile(
    r"conftest\.py|test_.*\.py|.*_test\.py|pytest\.toml|pytest\.ini|pyproject\.toml|tox\.ini|setup\.cfg"
)
_FILES_LOOKED_INTO = 3_000  # a tree with more gets all plugins
# Modules of Python's and pytest's own that pytest loads in each run, before the first test of it.
_IN_EACH_RUN = ("_pytest._argcomplete", "email.parser", "faulthandler", "pdb", "readline")


def loaded() -> Any:
    """The module pytest, with the plugins that it always loads.

    The garbage collector looks through none of it, then or later: a tenth of the time of a short run.
    """
    gc.disable()
    pytest = import_module("pytest")
    for name in getattr(import_module("_pytest.config"), "default_plugins", ()):
        import_module(f"_pytest.{name}")
    gc.freeze()
    gc.enable()
    return pytest


def load_for_many() -> None:
    """Load once what each run of those to come would load before its first test."""
    loaded()
    for name in _IN_EACH_RUN:
        with contextlib.suppress(ImportError):  # not every Python has it
            import_module(name)


def sender(channel: int, key: bytes) -> Send:
    """What signs an event and writes it; silent in a forked child."""
    os.set_inheritable(channel, False)
    encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
    # Held here, so that tests which replace them for their own ends do not change what is reported.
    write, sign, getpid, owner, number = os.write, digest, os.getpid, os.getpid(), 0

    def send(event: dict[str, Any]) -> None:
        nonlocal number
        if getpid() != owner:
            return
        text = encode(event).encode()
        line = sign(key, b"%d:%b" % (number, text), "sha256").hex().encode() + b" " + text + b"\n"
        number += 1
        try:
            while line:
                line = line[write(channel, line) :]
        except OSError:
            return  # closed by the tests: the missing end tells it

    return send


def settings(folder: Path, top: Path) -> Path | None:
    """The file with pytest's settings that pytest would find from `folder`, not looking above `top`."""
    here = folder
    while True:
        for name, section in _SETTINGS:
            file = here / name
            if file.is_file() and (not section or section in file.read_text("utf-8", "replace")):
                return file
        if here in (top, here.parent):
            return None
        here = here.parent


def arguments(orders: dict[str, Any], folder: Path, top: Path, cache: str) -> tuple[list[str], Path] | None:
    """Pytest's arguments and its root folder; None when none of the wanted tests has a file."""
    found = settings(folder, top)
    root = found.parent if found else folder
    given = list(orders["arguments"])
    if wanted := orders["tests"]:
        files = dict.fromkeys(str(top / test.split("::", 1)[0]) for test in wanted)
        present = [file for file in files if os.path.exists(file)]
        if not present:
            return None
        # Their files take the place of the folders that the check names.
        values = {place + 1 for place, one in enumerate(given) if one in _TAKE_A_VALUE}
        given = [
            one
            for place, one in enumerate(given)
            if place in values or one.startswith("-") or not (folder / one.split("::", 1)[0]).exists()
        ]
        given += present
    own = [f"--rootdir={root}", f"--confcutdir={root}", "-c", str(found or os.devnull)]
    return [*own, "--color=no", "-o", f"cache_dir={cache}", *given], root


def chosen_plugins(known: dict[str, str], top: Path) -> list[str] | None:
    """The modules of those plugins whose pattern stands in test files or settings; None when that is not known."""
    wanted: dict[str, str] = {}
    looked = 0
    for folder, folders, files in os.walk(top):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "node_modules"]
        for name in filter(_ASKS_FOR_PLUGINS.fullmatch, files):
            text = Path(folder, name).read_text("utf-8", "replace") if os.path.isfile(f"{folder}/{name}") else ""
            wanted |= {pattern: module for pattern, module in known.items() if re.search(pattern, text)}
            looked += 1
        if looked > _FILES_LOOKED_INTO:
            return None
    return list(wanted.values())


def main(channel: int, secret: int, beside: Beside) -> int:
    """Run pytest by the orders on standard input; gives its exit status. `beside` gives a module of this folder."""
    with os.fdopen(secret, "rb") as file:
        send = sender(channel, file.read())
    orders, pytest = json.loads(sys.stdin.buffer.read()), loaded()
    folder = Path.cwd()
    top = folder.joinpath(*[".."] * len(Path(orders["folder"]).parts)).resolve()
    plugin, lines = beside("plugin"), beside("lines").Lines(top) if orders["coverage"] else None
    cache = tempfile.mkdtemp()
    try:
        given = arguments(orders, folder, top, cache)
        send({"event": "start", "pytest": pytest.__version__})
        if given is None:
            send({"event": "collected", "tests": []})
            status = _NO_TESTS
        else:
            plugins = None if orders["plugins"] is None else chosen_plugins(orders["plugins"], top)
            if plugins is not None:
                os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # the plugin takes it away again
                given[0][:0] = [part for module in plugins for part in ("-p", module)]
            _reach(folder, top)
            sys.argv[:] = [str(Path(pytest.__file__).with_name("__main__.py"))]
            inside = given[1].relative_to(top).as_posix()
            collector = plugin.Collector(send, orders, "" if inside == "." else f"{inside}/", lines)
            status = int(pytest.main(given[0], plugins=[collector]))
    finally:
        shutil.rmtree(cache, ignore_errors=True)
    send({"event": "end", "status": status})
    return status


def _reach(folder: Path, top: Path) -> None:
    """Let tests import what `python -m pytest` and editable installs would: these name a checkout that is not here.

    Behind all that is installed come the top and the projects beside this one.
    """
    sys.path[:0] = [str(folder), *_sources(folder)]
    if folder != top:
        beside = (one for one in sorted(folder.parent.iterdir()) if any((one / name).is_file() for name in _PROJECTS))
        sys.path += [path for one in (top, *beside) for path in (*_sources(one), str(one))]


def _sources(project: Path) -> list[str]:
    return [str(project / "src")] if (project / "src").is_dir() else []
