"""Test files and test settings of other languages than Python: read line by line, since nobody here parses them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from memory.types import CheckId
from stages.weakening import Weakened, Weakening

_TEST_FILE: Final = re.compile(
    r"(?:.*/)?(?:(?:[^/]+[._-](?:test|spec)|test(?:-[^/]+)?)\.[cm]?[jt]sx?|[^/]+_test\.go|(?:Test[^/]+|[^/]+Tests?|[^/]+IT)\.(?:java|kt|groovy|scala))"
)
_FOLDERS: Final = frozenset({"test", "tests", "__tests__", "spec", "specs", "testing", "integration_tests"})
_SOURCE: Final = re.compile(r".*\.(?:[cm]?[jt]sx?|go|rs|java|kt|groovy|scala)")
_SETTINGS: Final = re.compile(r"(?:jest|vitest|karma|mocha|ava)\.(?:config|conf)\.[cm]?[jt]s(?:on)?")
_OF_PACKAGE: Final = ("jest", "vitest", "mocha", "ava", "tap", "c8", "nyc")
_CALLED: Final = re.compile(r"\b(?:npm|pnpm|yarn|bun)(?:\s+run(?:-script)?)?(?:\s+-\S+)*\s+([\w:.-]+)")
_ASSERTION: Final = re.compile(
    r"\b(?:assert\w*!?|expect\w*|should\w*|verify\w*|fail)\s*[(.!]"
    r"|\b[tb]\.(?:Error|Fatal|Fail)\w*\(|\brequire\.\w+\(|#\[should_panic"
)
_HIDES: Final = re.compile(
    r"\b(?:it|test|describe|suite|context|bench|t)\.(?:skip|only|todo|fails|failing)\b|\b[xf](?:it|test|describe)\b\s*[(.]"
    r"|\b[tb]\.Skip\w*\(|\btesting\.Short\(|#\[(?:cfg_attr\(.*)?ignore|@(?:Disabled|Ignore|Ignored|EnabledIf)\w*\b"
    r"|\b(?:this|ctx)\.skip\(|\{\s*(?:skip|todo|only)\s*:|\bassume\w*\("
)


def is_foreign_test(path: str) -> bool:
    """True for a file of tests in another language than Python."""
    if not _SOURCE.fullmatch(path):
        return False
    return _TEST_FILE.fullmatch(path) is not None or not _FOLDERS.isdisjoint(PurePosixPath(path).parts[:-1])


def is_foreign_settings(path: str) -> bool:
    """True for a file that steers a test runner of another language, and nothing else."""
    return _SETTINGS.fullmatch(PurePosixPath(path).name) is not None


def weakened_text(path: str, before: bytes | None, after: bytes | None) -> Iterator[Weakened]:
    """Whether lines that assert are gone, or new ones hide tests; what is deleted shows in what was run."""
    if before is None or after is None:
        return
    there, here = _lines(before), _lines(after)
    if _matching(_ASSERTION, there) - _matching(_ASSERTION, here):
        yield Weakened(what=CheckId(path), how=Weakening.ASSERTS)
    if _matching(_HIDES, here) - _matching(_HIDES, there):
        yield Weakened(what=CheckId(path), how=Weakening.SKIPPED)


def scripts_changed(before: bytes | None, after: bytes | None) -> bool:
    """True when a package.json no longer says the same about tests; also when it cannot be read any more."""
    try:
        return _about_tests(before) != _about_tests(after)
    except (ValueError, RecursionError, AttributeError):
        return True


def _about_tests(data: bytes | None) -> object:
    package = json.loads(data or b"{}")
    scripts = package.get("scripts", {})
    wanted = [name for name in scripts if name.startswith(("test", "pretest", "posttest"))]
    tests: dict[str, object] = {}
    while wanted:
        if (name := wanted.pop()) in scripts and name not in tests:
            tests[name] = scripts[name]
            called = _CALLED.findall(str(scripts[name]))
            wanted += [f"{when}{one}" for one in called for when in ("", "pre", "post")]
    return tests, {key: package.get(key) for key in _OF_PACKAGE}


def _lines(data: bytes) -> list[str]:
    lines = (" ".join(line.split()) for line in data.decode("utf-8", "replace").splitlines())
    return [line for line in lines if not line.startswith(("//", "*", "/*"))]


def _matching(expression: re.Pattern[str], lines: list[str]) -> Counter[str]:
    return Counter(line for line in lines if expression.search(line))
