"""What each family of traces reads out of a text."""

from __future__ import annotations

import html
import tomllib
from pathlib import Path
from typing import Any

import pytest

from memory.signature import match, signatures
from memory.signature.cleaning import clean
from memory.signature.java import FAMILY as JAVA
from memory.signature.shapes import Origin, RepoView
from memory.types import ErrorSignature

_ROWS = tomllib.loads((Path(__file__).parent / "traces.toml").read_text(encoding="utf-8"))["trace"]


def _first(text: str, repo: RepoView | None = None) -> ErrorSignature:
    return signatures("", text, repo)[0]


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row["name"])
def test_type_and_frames_are_read(row: dict[str, Any]) -> None:
    found = _first(row["text"])

    assert (found.language, found.type, list(found.frames)) == (row["language"], row["type"], row["frames"])


def test_a_class_that_the_repository_has_is_its_own_though_its_package_is_a_librarys() -> None:
    text = "java.io.IOException: no\n\tat com.google.common.io.Files.copy(Files.java:9)"
    repo = RepoView(files=frozenset({"guava/com/google/common/io/Files.java"}))

    assert _first(text).frames == ("lib:Files.copy",)
    assert _first(text, repo).frames == ("Files.copy",)


def test_what_checks_arguments_and_what_makes_exceptions_is_no_culprit() -> None:
    (trace,) = JAVA.parse(
        clean("", "a.b.CException: x\n\tat a.b.Validate.notNull(V.java:1)\n\tat a.b.CException.of(C.java:2)").lines
    )

    origins = [JAVA.place(frame, RepoView()).origin for frame in trace.chain[0].frames]

    assert origins == [Origin.LIBRARY, Origin.LIBRARY]


def test_a_fault_of_one_parser_does_not_lose_the_ticket(caplog: pytest.LogCaptureFixture) -> None:
    from memory.signature.extract import tried

    def broken() -> list[int]:
        return [][0]

    assert tried(broken) == []
    assert "failed" in caplog.text


def test_results_of_junit_are_read_out_of_their_xml() -> None:
    trace = (
        "org.opentest4j.AssertionFailedError: expected: <{}> but was: <4>\n\tat a.b.CartTest.total(CartTest.java:12)"
    )
    text = html.escape(trace.format(3))
    report = (
        f'<testcase classname="com.acme.CartTest">\n<failure message="expected: &lt;3&gt;" type="x">{text}\n</failure>'
    )

    met = match(signatures("", report), signatures("", trace.format(5)))

    assert met is not None
    assert met.strong
