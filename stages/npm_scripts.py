"""What a package's scripts run its tests with, and the command that also says how each test ended."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from stages.report import CheckKind

RESULTS: Final = "ticketsmith-results"  # a file's name that nobody else has; its ending says what is in it
_XML, _JSON = f"{RESULTS}.xml", f"{RESULTS}.json"
# What runs another command: its own words end at the first one that is a runner.
_RUNS_OTHERS: Final = frozenset({"npx", "pnpm", "yarn", "exec", "run", "c8", "nyc", "cross-env", "env", "dotenv", "--"})
_RUNNERS: Final = {
    "vitest": (CheckKind.JUNIT, ("--reporter=default", "--reporter=junit", f"--outputFile.junit={_XML}"), _XML),
    "jest": (CheckKind.JEST, ("--ci", "--json", f"--outputFile={_JSON}"), _JSON),
    "mocha": (CheckKind.JUNIT, ("--reporter=xunit", f"--reporter-option=output={_XML}"), _XML),
}
_NODE: Final = ("--test-reporter=junit", f"--test-reporter-destination={_XML}")
_NEEDS_A_SHELL: Final = re.compile(r"[|<>$`;()]")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*")
_NOTHING: Final = 'echo "Error: no test specified" && exit 1'


@dataclass(frozen=True, kw_only=True)
class Runner:
    """What runs a package's tests: `results` is the pattern of the files that its command writes."""

    name: str
    kind: CheckKind
    arguments: tuple[str, ...]
    results: str = ""
    environment: tuple[tuple[str, str], ...] = ()


def runners(package: bytes) -> tuple[Runner, ...]:
    """The runners that the scripts `test` and `test:…` of a package.json name; else `npm test` by its exit status."""
    scripts = _scripts(package)
    named = {key: text for key, text in scripts.items() if key == "test" or key.startswith("test:")}
    if named.get("test") == _NOTHING:
        named.pop("test")
    if not named:
        return ()
    found = {runner.name: runner for text in named.values() for runner in _named(text)}
    if found:
        return tuple(found.values())
    npm = Runner(name="npm", kind=CheckKind.COMMAND, arguments=("npm", "test", "--silent"))
    return (npm,) if "test" in named else ()


def _scripts(package: bytes) -> dict[str, str]:
    try:
        scripts = json.loads(package).get("scripts", {})
    except (ValueError, RecursionError, AttributeError):
        return {}
    return {key: text for key, text in scripts.items() if isinstance(text, str)} if isinstance(scripts, dict) else {}


def _named(script: str) -> Iterator[Runner]:
    for part in re.split(r"&&", script):
        if _NEEDS_A_SHELL.search(part):
            continue
        try:
            words = shlex.split(part)
        except ValueError:
            continue
        if runner := _runner(words):
            yield runner


def _runner(words: list[str]) -> Runner | None:
    environment: list[tuple[str, str]] = []
    for at, word in enumerate(words):
        rest = words[at + 1 :]
        if word in _RUNNERS:
            return _of_package(word, rest, tuple(environment))
        if word == "node" and "--test" in rest:
            kept = (one for one in rest if one != "--test" and not one.startswith("--test-reporter"))
            return Runner(
                name="node",
                kind=CheckKind.JUNIT,
                arguments=("node", "--test", *_NODE, *kept),
                results=_XML,
                environment=tuple(environment),
            )
        if _VARIABLE.fullmatch(word):
            name, _, value = word.partition("=")
            environment.append((name, value))
        elif not (word in _RUNS_OTHERS or word.startswith("-")):
            return None
    return None


def _of_package(name: str, words: list[str], environment: tuple[tuple[str, str], ...]) -> Runner:
    kind, options, results = _RUNNERS[name]
    kept = [one for one in words if not one.startswith(("--watch", "--reporter", "--json")) and one != "run"]
    once = ("run",) if name == "vitest" else ()
    return Runner(
        name=name,
        kind=kind,
        arguments=(f"node_modules/.bin/{name}", *once, *kept, *options),
        results=results,
        environment=environment,
    )
