"""Labelled traces as they stand on disk, and how two simple rules would compare them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory.signature import RepoView

_JAVA_TESTED_BY = ("java.", "javax.", "sun.", "jdk.", "junit.", "org.junit.", "org.apache.tools.ant.", "org.hamcrest.")
_PACKAGE_SEGMENTS = 4
_BASELINE_FRAMES = 5


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """One trace; traces of one group of a project are one bug."""

    id: str
    project: str
    group: str
    text: str
    test: str
    variant: str
    inside: bool  # raised inside the program, not by a test's own line
    simple: str  # type and five innermost frames of the program
    words: str  # type and message


def read(path: Path) -> list[Labelled]:
    """The traces of one file."""
    return [_java(row) if row["language"] == "java" else _python(row) for row in lines(path)]


def lines(path: Path) -> list[dict[str, Any]]:
    """The records of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def repositories(traces: Iterable[Mapping[str, Any]]) -> dict[str, RepoView]:
    """What the product would know of each project of Java traces: the packages of its tests."""
    names: dict[str, set[str]] = {}
    for row in traces:
        if row["language"] == "java":
            package = row["test_class"].rsplit(".", 1)[0].split(".")[:_PACKAGE_SEGMENTS]
            names.setdefault(row["project"], set()).add(".".join(package))
    return {project: RepoView(own_packages=tuple(sorted(found))) for project, found in names.items()}


def _python(row: Mapping[str, Any]) -> Labelled:
    own = [frame for frame in row["frames"] if frame["in_app"]]
    kept = [f"{frame['rel']}:{frame['func']}" for frame in own if not frame["test"]][-_BASELINE_FRAMES:]
    return _labelled(row, inside=bool(own) and not own[-1]["test"], kept=kept)


def _java(row: Mapping[str, Any]) -> Labelled:
    own = [frame for frame in row["frames"] if not frame["cls"].startswith(_JAVA_TESTED_BY)]
    kept = [f"{frame['cls']}.{frame['func']}" for frame in own if not _is_test(frame["cls"], row["test_class"])]
    inside = bool(own) and not _is_test(own[0]["cls"], row["test_class"])
    return _labelled(row, inside=inside, kept=kept[:_BASELINE_FRAMES])


def _is_test(class_: str, test_class: str) -> bool:
    outer = class_.split("$", 1)[0]
    name = outer.rsplit(".", 1)[-1]
    return outer == test_class or name.startswith("Test") or name.endswith(("Test", "Tests", "TestCase"))


def _labelled(row: Mapping[str, Any], *, inside: bool, kept: list[str]) -> Labelled:
    return Labelled(
        id=row["id"],
        project=row["project"],
        group=row["group"],
        text=row["text"],
        test=row.get("test", ""),
        variant=row.get("variant", ""),
        inside=inside,
        simple="|".join([row["etype"], *kept]) if kept else "",
        words=f"{row['etype']}: {row['message']}",
    )
