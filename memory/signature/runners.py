"""Failed tests as runners other than pytest report them: Jest, Vitest, Go, Maven, Gradle, RSpec, PHPUnit, Cargo."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory.signature.normalise import template
from memory.signature.paths import plain_path, short_name
from memory.signature.shapes import Finding, RepoView

HINTS = (
    "●",
    "FAIL",
    "[ERROR]",
    "FAILED",
    "rspec ./",
    "ailures:",
    "rrors:",
    "There w",
    "ERRORS!",
    "::test",
    "Failed ",
    "not ok ",
    "✖",
    "#test_",
    "Test Case ",
)
_JEST = re.compile(r"\s{0,8}● (?P<test>[^\n]{1,300})$")
_MATCHER = re.compile(r"expect\([^\n)]{0,60}\)(?:\.(?:not|resolves|rejects))?\.(?P<type>\w{2,60})\(")
_RAISED = re.compile(r"\s*(?P<type>(?:[A-Za-z_]\w{0,60}\.){0,3}[A-Z]\w{0,80}(?:Error|Exception))(?: \[\w{1,40}\])?: ")
_VITEST = re.compile(
    r"\s{0,8}(?:FAIL|×|❯) {1,3}(?P<file>[^\s>]{1,200}\.[cm]?[jt]sx?) > (?P<test>[^\n]{1,300}?)(?: \d{1,7}ms)?$"
)
_GO = re.compile(r"\s{0,8}--- FAIL: (?P<test>Test[\w/#.=-]{1,200}) \(\d")
_GO_AT = re.compile(r"\s{0,12}(?P<file>[\w.-]{1,100}_test\.go):\d{1,7}: ")
_MAVEN = re.compile(
    r"\s{0,4}(?:\[ERROR\] )?\s{0,4}(?P<test>[A-Z]\w{1,150}\.[a-z]\w{1,150})(?:\([^)\n]{0,80}\))?"
    r"(?:->[\w.:]{1,200})?:\d{1,7} (?P<message>.{1,400})$"
)
_GRADLE = re.compile(r"\s{0,4}(?:[a-z][\w.]{0,200}\.)?(?P<test>[A-Z]\w{1,150} > [\w ,.()-]{1,200}?)(?:\(\))? FAILED$")
_RSPEC = re.compile(r"\s{0,4}rspec (?P<file>\./[^\s:]{1,200}_spec\.rb):\d{1,7} # (?P<test>[^\n]{1,300})$")
_PHPUNIT = re.compile(r"\s{0,4}\d{1,5}\) (?P<test>[\w\\]{1,200}::\w{1,200})(?: with data set .{0,200})?$")
_CARGO = re.compile(r"\s{0,4}test (?P<test>[\w:]{1,200}) \.\.\. FAILED$")
_MINITEST = re.compile(
    r"\s{0,4}(?P<test>[A-Z][\w:]{1,150}#test_\w{1,150})(?: \[(?P<file>[^\s\]:]{1,300}):\d{1,7}\])?:$"
)
_VSTEST = re.compile(
    r"\s{0,4}(?:X|Failed|\d{1,5}\) Failed :) (?P<test>(?:\w{1,150}\.){1,12}\w{1,200})(?:\(.{0,400}\))?"
    r"(?: \[[<\d .,msh]{1,20}\])?$"
)
_NODE = re.compile(r"\s{0,40}✖ (?P<test>[^\n]{1,300}?) \(\d[\d.]{0,12}m?s\)$")
_TAP = re.compile(r"\s{0,40}not ok \d{1,6} - (?P<test>[^\n#]{1,300}?)\s{0,4}$")
_XCTEST = re.compile(r"\s{0,8}Test Case '(?:-\[)?(?P<test>[\w.]{1,200}[ .]\w{1,200})\]?' failed")
_NEXTEST = re.compile(
    r"\s{0,12}FAIL \[ {0,8}[\d.]{1,12}s\] (?:\(\d{1,6}/\d{1,6}\) )?[\w:-]{1,80} (?P<test>[\w:]{1,200})$"
)
_NUMBERED = re.compile(r"#\d{1,6}|\b\d{1,12}\b")
_TYPE_WITHIN = 12
_UNTYPED = ("ruby", "dotnet", "node", "swift")  # their short reports do not say what was raised


def find(lines: Sequence[str], _repo: RepoView) -> list[Finding]:
    """One finding for each failed test, in the order of the report."""
    found: list[Finding] = []
    for at, line in enumerate(lines):
        told = _of_line(lines, line, at)
        if told and not any(told.frames == other.frames for other in found):
            found.append(told)
    return found


def _of_line(lines: Sequence[str], line: str, at: int) -> Finding | None:
    if "●" in line:
        jest = _JEST.match(line)
        return _finding("javascript", "", jest["test"], _type_below(lines, at), at) if jest and " › " in line else None
    for language, pattern in (
        ("javascript", _VITEST),
        ("ruby", _RSPEC),
        ("go", _GO),
        ("rust", _CARGO),
        ("rust", _NEXTEST),
        ("php", _PHPUNIT),
        ("java", _GRADLE),
        ("ruby", _MINITEST),
        ("dotnet", _VSTEST),
        ("node", _NODE),
        ("node", _TAP),
        ("swift", _XCTEST),
    ):
        match = pattern.match(line)
        if match:
            named = match.groupdict()
            file = named.get("file") or _go_file(lines, at, language)
            return _finding(language, file, _short(language, named["test"]), _type(language, lines, at), at)
    maven = _MAVEN.match(line)
    if maven and any("ailures:" in above or "rrors:" in above for above in lines[max(0, at - 30) : at]):
        words = template(maven["message"], "AssertionError")
        return _finding("java", "", maven["test"], words.canonical or "", at)
    return None


def _short(language: str, test: str) -> str:
    """The test without its namespace, where other reports of the runner leave it out."""
    if language in ("dotnet", "swift"):
        return ".".join(re.split(r"[. ]", test)[-2:])
    return test


def _type(language: str, lines: Sequence[str], at: int) -> str:
    if language == "rust":
        return "panic"
    return "" if language in _UNTYPED else _type_below(lines, at)


def _type_below(lines: Sequence[str], at: int) -> str:
    for line in lines[at + 1 : at + 1 + _TYPE_WITHIN]:
        if "●" in line:
            break
        match = _MATCHER.search(line) or _RAISED.match(line)
        if match:
            return match["type"].rsplit(".", 1)[-1]
    return ""


def _go_file(lines: Sequence[str], at: int, language: str) -> str:
    if language != "go":
        return ""
    return next((match["file"] for line in lines[at + 1 : at + 6] if (match := _GO_AT.match(line))), "")


def _finding(language: str, file: str, test: str, type_: str, at: int) -> Finding:
    name = " › ".join(part.strip() for part in re.split(r" [›>] ", test.strip()))
    return Finding(
        kind="test",
        language=language,
        type=type_,
        template="",
        frames=(short_name(plain_path(file)), _NUMBERED.sub("<num>", name)),
        first=at,
        last=at,
    )
