"""Rules of relevance, checked against figures that a plain FTS5 table gives."""

from __future__ import annotations

import math
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.index import FtsIndex, FtsSearch
from memory.rules import Coverage, PerWord, Rule
from memory.types import NoteFile
from memory.words import words
from tests.memory.recall_kit import asking, chunks_of, filler, note

REDIS = note("redis.md", "# Redis\nFail over by hand when the sentinel of the cache is down")


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> FtsIndex:
    notes = [REDIS, *filler(168)]
    return FtsSearch(tmp_path_factory.mktemp("index")).open("big", lambda: chunks_of(notes))


def index_of(tmp_path: Path, *notes: NoteFile) -> FtsIndex:
    return FtsSearch(tmp_path).open(f"d{len(notes)}", lambda: chunks_of(notes))


def plain_bm25(query: str) -> float:
    """What FTS5 itself says of the note about Redis among the 169."""
    table = sqlite3.connect(":memory:")
    table.execute("CREATE VIRTUAL TABLE notes USING fts5(text, tokenize=\"ascii tokenchars '_+#.-/:'\")")
    for file in [REDIS, *filler(168)]:
        heading, _, text = file.text.partition("\n")
        table.execute("INSERT INTO notes VALUES(?)", (" ".join(words(f"{heading}\n{text}")),))
    match = " OR ".join(f'"{word}"' for word in words(query))
    score: float = table.execute(
        "SELECT rank FROM notes WHERE notes MATCH ? ORDER BY rank LIMIT 1", (match,)
    ).fetchone()[0]
    return -score


def test_per_word_is_bm25_of_the_best_chunk_for_each_distinct_word(big: FtsIndex) -> None:
    judged = PerWord().judge(big, asking("redis sentinel cache unheard"))

    assert judged.scored[0].score == pytest.approx(plain_bm25("redis sentinel cache unheard") / 4, abs=1e-4)
    assert big.chunk(judged.scored[0].row).note == "redis.md"


def test_an_unknown_word_counts(big: FtsIndex) -> None:
    short = PerWord().judge(big, asking("redis sentinel")).scored[0].score
    longer = PerWord().judge(big, asking("redis sentinel unheard")).scored[0].score

    assert longer == pytest.approx(short * 2 / 3)


def test_a_repeated_word_counts_once(big: FtsIndex) -> None:
    once = PerWord().judge(big, asking("redis sentinel cache"))
    often = PerWord().judge(big, asking("redis sentinel redis cache sentinel cache"))

    assert often == once


def test_the_same_note_is_above_or_below_the_line_by_its_score(big: FtsIndex) -> None:
    score = PerWord().judge(big, asking("redis sentinel cache")).scored[0].score

    assert PerWord(threshold=score - 0.01).judge(big, asking("redis sentinel cache")).scored[0].score == score
    assert score > 1.8
    assert PerWord().judge(big, asking("redis sentinel cache" + " unheard of things" * 2)).scored[0].score < score


def test_only_the_first_24_words_are_looked_for(big: FtsIndex) -> None:
    title = " ".join(f"unheard{'x' * n}" for n in range(30)) + " sentinel"

    judged = PerWord().judge(big, asking(title))

    assert len(judged.looked_for) == 24
    assert judged.scored == ()


def test_a_word_that_half_of_the_chunks_hold_finds_nothing_alone(big: FtsIndex) -> None:
    assert PerWord().judge(big, asking("nothing")).scored == ()


def test_the_headline_of_an_alert_stands_in_for_the_title(big: FtsIndex) -> None:
    assert PerWord().judge(big, asking("anything", headline="sentinel")).looked_for == ("sentinel",)
    assert PerWord().judge(big, asking("sentinel", headline=" ")).looked_for == ("sentinel",)


@pytest.mark.parametrize("title", ["", "!!!", "42", "\u200b"])
def test_a_title_without_words_finds_nothing(big: FtsIndex, title: str) -> None:
    assert PerWord().judge(big, asking(title)).scored == ()
    assert Coverage().judge(big, asking(title)).scored == ()


@pytest.mark.parametrize(
    "title",
    ["C++ crash", "can't open \"x", "foo AND", "NEAR(a b)", "-x", "a*", "{a b}:c", "^ sentinel", "words: x", 'a" OR "b',
     "sentinel' --", "NOT sentinel", "\x00sentinel", "x" * 100_000],
)  # fmt: skip
def test_no_title_is_read_as_a_search_expression(big: FtsIndex, title: str) -> None:
    rules: tuple[Rule, ...] = (PerWord(), Coverage())
    for rule in rules:
        assert rule.judge(big, asking(title)).rule == rule.name


@settings(deadline=None)
@given(st.text())
def test_any_title_can_be_looked_for(big: FtsIndex, title: str) -> None:
    rules: tuple[Rule, ...] = (PerWord(), Coverage())
    for rule in rules:
        assert all(scored.score >= 0 for scored in rule.judge(big, asking(title)).scored)


def test_a_title_of_100_000_characters_finds_what_its_beginning_finds(big: FtsIndex) -> None:
    short = PerWord().judge(big, asking("redis sentinel cache " + "x" * 100))
    long = PerWord().judge(big, asking("redis sentinel cache " + "x" * 100_000))

    assert long == short


def test_every_note_above_the_line_is_judged_however_many_there_are(tmp_path: Path) -> None:
    notes = [note(f"n{n:03}.md", "sentinel failover of the cache") for n in range(90)] + filler(300)

    judged = PerWord(threshold=0.1).judge(index_of(tmp_path, *notes), asking("sentinel failover"))

    assert len(judged.scored) == 90


def test_a_note_of_many_chunks_leaves_room_for_others(tmp_path: Path) -> None:
    long = note("long.md", "\n\n".join(f"# Part {n}\nsentinel " + f"alpha{n} " * 40 for n in range(60)))
    other = note("other.md", "a sentinel among " + "beta gamma delta " * 12)

    judged = PerWord().judge(index_of(tmp_path, long, other, *filler(200)), asking("sentinel"))

    assert len(judged.scored) == 2


def test_coverage_is_the_share_of_the_rarity_of_what_was_looked_for(tmp_path: Path) -> None:
    index = index_of(tmp_path, REDIS, *filler(9))

    judged = Coverage().judge(index, asking("Redis sentinel cache unheard nothing"))

    rare, common = math.log(1 + 9.5 / 1.5), math.log(1 + 1.5 / 9.5)
    assert judged.scored[0].score == pytest.approx(3 * rare / (4 * rare + common))
    assert judged.scored[0].why == "3 of 5 words: redis sentinel cache"


def test_coverage_asks_for_three_words(tmp_path: Path) -> None:
    assert Coverage().judge(index_of(tmp_path, REDIS, *filler(9)), asking("Redis sentinel")).scored == ()


def test_coverage_finds_the_note_in_an_index_of_one(tmp_path: Path) -> None:
    index = index_of(tmp_path, REDIS)

    judged = Coverage().judge(index, asking("Sentinel of the redis cache is broken"))

    assert judged.scored[0].score >= judged.threshold


def test_words_that_say_nothing_admit_no_note(tmp_path: Path) -> None:
    index = index_of(tmp_path, REDIS)

    assert Coverage().judge(index, asking("When is the colour of the sky down by over?")).scored == ()


@pytest.mark.parametrize("title", ["数据库连接超时", "get order by id", "getOrderById", "ERR_SSL_VERSION in app"])
@pytest.mark.parametrize("crowd", [5, 60])
def test_identifiers_codes_and_cjk_are_found(tmp_path: Path, title: str, crowd: int) -> None:
    text = "生产环境数据库连接超时怎么办\n\ngetOrderById(3) raises ERR_SSL_VERSION in src/app/orders.py"
    index = index_of(tmp_path, note("found.md", text), *filler(crowd))

    judged = PerWord(threshold=0.5).judge(index, asking(title))

    assert index.chunk(judged.scored[0].row).note == "found.md"


def test_two_characters_of_chinese_find_their_note(tmp_path: Path) -> None:
    index = index_of(tmp_path, note("found.md", "生产环境迁移步骤"), *filler(40))

    assert PerWord().judge(index, asking("迁移")).scored[0].score > 1.8
