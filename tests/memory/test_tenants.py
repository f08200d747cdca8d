"""What one repository learnt, no other one reads; nor the same one of another installation in the same database."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Final

import pytest

from memory.index import FtsSearch
from memory.lesson_table import ForeignVersion
from memory.recall import Recall
from memory.store import MemoryStore
from memory.types import (
    CheckId,
    CommitId,
    Edit,
    Ending,
    MemoryContext,
    MemoryQuery,
    MemoryVersion,
    NoteFile,
    RepositoryId,
    Scope,
    Sources,
    TicketId,
)
from tests.memory.store_kit import AT, COMMIT, DROP, HOLD, NOT_OURS, PASS, ended, make_store, signature

QUERIES: Final = 1_000
DIGITS: Final = "0123"
WORDS: Final = ("redis", "failover", "cart", "total", "rounding", "voucher", "deploy", "login", "timeout", "price")
SCOPES: Final = tuple(
    Scope(installation=installation, repository=RepositoryId(repository))
    for installation, repository in product(
        ("acme", "globex"), ("github.com/acme/shop", "github.com/acme/shop-ui", "github.com/acme/Shop")
    )
)


def canary(scope: Scope) -> str:
    return f"canary{SCOPES.index(scope)}x"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> MemoryStore:
    """Six tenants in one database, with equal tickets, failures and words; each name of theirs holds their canary."""
    store = make_store(tmp_path_factory.mktemp("tenants") / "t.sqlite")
    for number, scope in enumerate(SCOPES):
        name = canary(scope)
        edit = Edit(path=f"src/{name}.py", line=1, digest=f"{number}" * 12)
        test = CheckId(f"tests/test_{name}.py::test_it")
        endings: tuple[Ending, ...] = (
            replace(HOLD, failing=(test,), edits=(edit,)),
            replace(PASS, edits=(edit,)),
            replace(NOT_OURS, proof=(test,)),
            DROP,
        )
        for place, (ending, digit) in enumerate(product(endings, DIGITS)):
            told = ended(
                ending, run=f"{name}r{place}", ticket=f"shop#{digit}", signatures=(signature(digit=digit),), scope=scope
            )
            store.record(replace(told, at=AT + timedelta(minutes=place)))
        notes = tuple(
            NoteFile(path=f"{word}-{name}.md", text=f"# {word} {name}\n\n{' '.join(_near(at))} of {name}.\n")
            for at, word in enumerate(WORDS)
        )
        store.publish_sources(scope, Sources(commit=CommitId(COMMIT), notes=notes, tuning=f"- Mind {name}."), AT)
    return store


def _near(at: int) -> tuple[str, ...]:
    return tuple(WORDS[(at + step) % len(WORDS)] for step in range(5))


def random_queries(count: int) -> Iterator[MemoryQuery]:
    chance = random.Random(20261103)
    for _ in range(count):
        words = _near(chance.randrange(len(WORDS)))
        # Names of others in the title pull nothing of theirs.
        others = [canary(one) for one in chance.sample(SCOPES, 2)] if chance.random() < 0.5 else []
        yield MemoryQuery(
            scope=chance.choice(SCOPES),
            ticket=TicketId(f"shop#{chance.choice(DIGITS)}"),
            entry_point=chance.choice(("diagnose", "develop")),
            title=" ".join([*words, *others]),
            signatures=(signature(digit=chance.choice(DIGITS)),) if chance.random() < 0.8 else (),
            at=AT + timedelta(days=chance.randint(0, 20)),
        )


def said(context: MemoryContext) -> str:
    blocks = (context.tuning, context.lessons, context.notes)
    shown = [" ".join((record.id, record.why, *record.lines)) for block in blocks for record in block.shown]
    return "\n".join([*shown, *(left.id for block in blocks for left in block.left_out)])


def test_sec_23_in_1000_random_queries_nothing_of_another_tenant_is_read(store: MemoryStore, tmp_path: Path) -> None:
    recall = Recall(store, FtsSearch(tmp_path))
    versions = {scope: store.current(scope) for scope in SCOPES}
    crossings: list[tuple[Scope, str]] = []
    own = lessons = notes = 0

    for query in random_queries(QUERIES):
        context = recall(query, versions[query.scope])
        text = said(context)
        crossings.extend((query.scope, canary(one)) for one in SCOPES if one != query.scope and canary(one) in text)
        own += canary(query.scope) in text
        lessons += len(context.lessons.shown)
        notes += len(context.notes.shown)

    assert crossings == []
    assert (own, lessons > 2 * QUERIES, notes > QUERIES // 10) == (QUERIES, True, True), "nothing was there to cross"


def test_sec_23_the_lists_for_people_are_of_one_tenant_too(store: MemoryStore) -> None:
    for scope in SCOPES:
        others = [canary(one) for one in SCOPES if one != scope]
        seen = repr((store.lessons(scope), store.notes(store.current(scope))))

        assert canary(scope) in seen
        assert not any(one in seen for one in others)


def test_sec_23_a_query_of_one_tenant_reads_no_version_of_another(store: MemoryStore, tmp_path: Path) -> None:
    recall = Recall(store, FtsSearch(tmp_path))
    (query,) = random_queries(1)
    other: MemoryVersion = next(store.current(scope) for scope in SCOPES if scope != query.scope)

    with pytest.raises(ForeignVersion, match="says nothing about"):
        recall(query, other)


def test_sec_23_a_lesson_is_not_found_by_its_id_from_another_tenant(store: MemoryStore) -> None:
    scope, other = SCOPES[0], SCOPES[3]

    mine = {lesson.id for lesson in store.lessons(scope)}

    assert mine
    for identifier in mine:
        found = store.lesson(other, identifier)
        assert found is None or found.scope == other
