"""Pairs of texts: which are one failure."""

from __future__ import annotations

from typing import Any

import pytest

from memory.signature import STRONG, match, signatures
from tests.memory.signature.cases import CASES, Case, shared
from tests.memory.signature.changes import CHANGES, DRESSES


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_two_texts_meet_exactly_as_far_as_they_are_one_failure(case: Case) -> None:
    met = match(signatures("", case.one), signatures("", case.other))

    assert (met.level if met else "") == case.level


@pytest.mark.parametrize("change", (CHANGES | DRESSES).values(), ids=CHANGES | DRESSES)
def test_b58_what_happens_to_a_text_on_its_way_changes_no_key(change: Any) -> None:
    texts = [text for case in CASES for text in (case.one, case.other)]

    changed = [text for text in texts if _keys(change(text)) != _keys(text)]

    assert changed == []


def test_texts_of_two_cases_share_no_strong_key() -> None:
    owners: dict[str, set[str]] = {}
    for case in CASES:
        for text in (case.one, case.other):
            for signature in signatures("", text):
                for level in STRONG:
                    owners.setdefault(signature.keys.get(level, text), set()).add(case.name)

    shared_keys = {key: names for key, names in owners.items() if len(names) > 1}

    assert [names for names in shared_keys.values() if not _variations(names)] == []


def test_every_pair_of_the_public_data_is_right() -> None:
    pairs = shared("signatures", "pairs.jsonl")

    wrong = [
        pair["id"]
        for pair in pairs
        if bool(match(signatures("", pair["a"]), signatures("", pair["b"]))) != pair["same"]
    ]

    assert wrong == []


def test_every_issue_of_the_public_data_that_shows_a_traceback_has_a_signature() -> None:
    tickets = [ticket for ticket in shared("tickets", "python_issues.jsonl") if ticket["has_traceback"]]

    bare = [ticket["id"] for ticket in tickets if not signatures(ticket["title"], ticket["body"])]

    assert bare == []


def _keys(text: str) -> set[str]:
    return {key for signature in signatures("", text) for key in signature.keys.values()}


def _variations(names: set[str]) -> bool:
    """Cases about one failure in another dress: their names begin alike."""
    return len({name.split(":", 1)[0].split(" ", 1)[0] for name in names}) == 1
