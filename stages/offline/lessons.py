"""What the lessons of the context section say about edits: which were held, which worked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from stages.offline.body import Body, edits_in

_FAILED: Final = re.compile(r"(.+) failed(?: \(exit -?\d+\))?")


@dataclass(frozen=True, kw_only=True)
class Taught:
    """Digests of edits that were held and that worked, places of those that worked, tests that held edits broke."""

    held: frozenset[str] = frozenset()
    worked: frozenset[str] = frozenset()
    places: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    broken: tuple[str, ...] = ()


def taught(body: Body) -> Taught:
    """Read the lessons; an edit that was held and worked counts for neither."""
    held, worked = set[str](), set[str]()
    places, broken = dict[str, tuple[int, ...]](), dict[str, None]()
    for lesson in body.lessons:
        kind, _, rest = lesson.partition(" · ")
        edits = edits_in(rest)
        if _worked(kind.strip(), rest):
            worked |= {edit.digest for edit in edits}
            for edit in edits:
                places[edit.path] = (*places.get(edit.path, ()), edit.line)
        elif kind.strip() in ("hold", "verify") and "unverified" not in rest:
            held |= {edit.digest for edit in edits}
            broken |= dict.fromkeys(_broken(rest))
    return Taught(
        held=frozenset(held - worked),
        worked=frozenset(worked - held),
        places=places,
        broken=tuple(broken),
    )


def _broken(rest: str) -> list[str]:
    """Tests that the held patch made fail: `a, b, +2 failed (exit 1)`."""
    found = [match[1] for part in rest.split(" · ") if (match := _FAILED.fullmatch(part.strip()))]
    return [test for tests in found for test in tests.split(", ") if "::" in test]


def _worked(kind: str, rest: str) -> bool:
    match kind:
        case "pass-after-hold":
            return True
        case "refix":
            return "still failing" not in rest
        case "verify":
            return "worked" in rest.split(" · ")
        case _:
            return False
