"""Texts of many languages, tools and services: one failure in several prints, and other failures beside it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from memory.signature import STRONG, match, signatures
from memory.types import ErrorSignature
from tests.memory.signature.changes import STRANGERS, WRITERS

_FOLDER = Path(__file__).parent / "samples"
_LINES_OF_STRANGERS = 5  # fewer say too little about what stands in front of them all


@dataclass(frozen=True, kw_only=True)
class Sample:
    """`one` and `same` are one failure, `other` are others; at `level` "t" words alone tell, at "" nothing does."""

    name: str
    one: str
    same: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    level: str = "f"


def _samples() -> list[Sample]:
    found = [row for file in sorted(_FOLDER.glob("*.toml")) for row in tomllib.loads(file.read_text("utf-8"))["sample"]]
    return [Sample(**row) for row in found]


SAMPLES = _samples()
_TOLD = [sample for sample in SAMPLES if sample.level]
_STRONG = [sample for sample in SAMPLES if sample.level == "f"]


def _of(text: str) -> list[ErrorSignature]:
    return signatures("", text)


def _strong(text: str) -> frozenset[str]:
    return frozenset(key for found in _of(text) for level, key in found.keys.items() if level in STRONG)


def _keys(text: str) -> frozenset[str]:
    return _strong(text) or frozenset(key for found in _of(text) for key in found.keys.values())


@pytest.mark.parametrize("sample", _TOLD, ids=lambda sample: sample.name)
def test_one_failure_meets_itself_in_every_print(sample: Sample) -> None:
    met = [match(_of(sample.one), _of(text)) for text in (sample.one, *sample.same)]

    assert [found is not None and (found.strong or sample.level == "t") for found in met] == [True] * len(met)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_another_failure_does_not_meet_it(sample: Sample) -> None:
    texts = (sample.one, *sample.same)

    met = [(text, other) for text in texts for other in sample.other if match(_of(text), _of(other))]

    assert met == []


def test_failures_of_two_samples_share_no_strong_key() -> None:
    owners: dict[str, set[str]] = {}
    for sample in SAMPLES:
        for at, text in enumerate((sample.one, *sample.same, *sample.other)):
            named = sample.name if at <= len(sample.same) else f"{sample.name}, another"
            for key in _strong(text):
                owners.setdefault(key, set()).add(named)

    assert [names for names in owners.values() if len(names) > 1] == []


@pytest.mark.parametrize("sample", [sample for sample in SAMPLES if not sample.level], ids=lambda sample: sample.name)
def test_what_says_nothing_of_a_failure_has_no_strong_key(sample: Sample) -> None:
    assert _strong(sample.one) == frozenset()


@pytest.mark.parametrize("writer", WRITERS)
def test_who_wrote_it_down_does_not_change_the_failure(writer: str) -> None:
    texts = {sample.name: sample.one for sample in _TOLD}

    lost = [name for name, text in texts.items() if not _keys(WRITERS[writer](text)) & _keys(text)]

    assert lost == []


@pytest.mark.parametrize("writer", STRANGERS)
def test_a_writer_that_nobody_has_heard_of_hides_nothing(writer: str) -> None:
    texts = {sample.name: sample.one for sample in _STRONG if len(sample.one.split("\n")) >= _LINES_OF_STRANGERS}

    lost = [name for name, text in texts.items() if not _keys(STRANGERS[writer](text)) & _keys(text)]

    assert lost == []
