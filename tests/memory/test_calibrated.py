"""The rule `calibrated`: what it sees, and what changes nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.calibrated import Calibrated
from memory.index import FtsIndex, FtsSearch
from memory.recall import Recall
from memory.types import NoteFile
from tests.memory.recall_kit import ShelfOf, asking, chunks_of, filler, note, version

REDIS = note(
    "redis.md",
    "# Sentinel of the redis cache is down\nFail over by hand: promote the replica, then restart the sentinel process.",
)
DISK = note("disk.md", "# Disk of the build host is full\nRemove old images, then restart the builder.")
TITLE = "Redis cache: sentinel down"
BODY = "The sentinel process does not answer since the replica was promoted."
RULE = Calibrated(threshold=0.5)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> FtsIndex:
    return _index(tmp_path_factory.mktemp("index"), REDIS, DISK, *filler(60))


def _index(folder: Path, *notes: NoteFile) -> FtsIndex:
    return FtsSearch(folder).open("d", lambda: chunks_of(notes))


def _paths(index: FtsIndex, title: str, body: str = "") -> list[str]:
    judged = RULE.judge(index, asking(title, body=body))
    return [index.chunk(one.row).note for one in judged.scored if one.score >= judged.threshold]


def test_the_note_about_the_ticket_is_admitted_and_no_other(index: FtsIndex) -> None:
    assert _paths(index, TITLE, BODY) == ["redis.md"]


def test_a_ticket_about_something_else_gets_nothing(index: FtsIndex) -> None:
    assert _paths(index, "Login page shows the wrong language", "Since the last release users see German.") == []


@pytest.mark.parametrize("title", ["", "of the and", "!!!", "unheard words alone"])
def test_a_ticket_without_known_words_gets_nothing(index: FtsIndex, title: str) -> None:
    judged = RULE.judge(index, asking(title))

    assert judged.scored == ()
    assert judged.looked_for == ()


@pytest.mark.parametrize(
    "junk",
    [" ".join(f"junk{n}qx" for n in range(40)), "x" * 100_000, "AND OR NOT NEAR( \" * ^ {a}:" * 40],
    ids=["40 words", "100,000 characters", "syntax"],
)  # fmt: skip
def test_junk_in_the_title_changes_nothing(index: FtsIndex, junk: str) -> None:
    plain = RULE.judge(index, asking(TITLE, body=BODY))

    assert RULE.judge(index, asking(f"{TITLE} {junk}", body=BODY)) == plain


def test_a_title_of_one_word_admits_no_note_by_that_word_alone(tmp_path: Path) -> None:
    short = note("deploy.md", "# Deploy\nPush the tag, then watch the rollout of every region.")
    index = _index(tmp_path, short, *filler(60))

    assert _paths(index, "Deploy broken", "It says so since noon.") == []
    assert _paths(index, "Deploy broken: rollout of a region hangs", "I pushed the tag and watch it.") == ["deploy.md"]


def test_one_known_word_is_no_whole_subject(index: FtsIndex) -> None:
    one = RULE.judge(index, asking("Upgrade zookeeper sentinel 3.8.2")).scored[0]
    two = RULE.judge(index, asking("Upgrade zookeeper sentinel replica 3.8.2")).scored[0]

    assert (one.score, one.why) == (0.0, "only one word in common: sentinel")
    assert "subject words of the note found: sentinel replica, 0.67 of the subject" in two.why


def test_the_scores_name_words_as_the_ticket_has_them(index: FtsIndex) -> None:
    one = RULE.judge(index, asking("Upgrade zookeeper sentinels 3.8.2")).scored[0]
    two = RULE.judge(index, asking("Upgrade zookeeper sentinels, replicas 3.8.2")).scored[0]

    assert one.why == "only one word in common: sentinels"
    assert "subject words of the note found: sentinels replicas, " in two.why


def test_the_scores_are_told_in_words(index: FtsIndex) -> None:
    why = RULE.judge(index, asking(TITLE, body=BODY)).scored[0].why

    assert why.startswith("subject words of the note found: ")
    assert "sentinel" in why
    assert "clear of the next note by" in why


def test_the_headline_of_an_alert_is_the_subject_and_the_title_still_counts(index: FtsIndex) -> None:
    judged = RULE.judge(index, asking("Disk trouble", headline=TITLE, body=BODY))

    assert index.chunk(judged.scored[0].row).note == "redis.md"
    assert "disk" in judged.looked_for


def test_two_notes_on_one_matter_stand_in_each_others_way(tmp_path: Path) -> None:
    rival = note("rival.md", "# Sentinel of the redis cache is slow\nWait until the sentinel process catches up.")

    alone = RULE.judge(_index(tmp_path / "a", REDIS, *filler(60)), asking(TITLE)).scored[0].score
    beside = RULE.judge(_index(tmp_path / "b", REDIS, rival, *filler(60)), asking(TITLE)).scored[0].score

    assert beside < alone


def test_near_twins_count_as_one_and_are_told_apart_by_their_environment(tmp_path: Path) -> None:
    text = REDIS.text + " " + " ".join(f"step{n} of the recovery" for n in range(12))
    twins = [
        note(f"{name}.md", f"---\nenvironment: {name}\n---\n{text}\nOn {name} only.")
        for name in ("staging", "production")
    ]
    shelf = ShelfOf(notes=[*twins, *filler(60)])

    context = Recall(shelf, FtsSearch(tmp_path), RULE)(asking(TITLE, body=BODY, environment="staging"), version())

    assert [record.id for record in context.notes.shown] == ["staging.md"]
    assert context.rule == "calibrated"


def test_a_twin_takes_nothing_from_the_lead_of_its_note(tmp_path: Path) -> None:
    text = REDIS.text + " " + " ".join(f"step{n} of the recovery" for n in range(12))
    twins = [note(f"{name}.md", f"{text}\nOn {name} only.") for name in ("staging", "production")]

    judged = RULE.judge(_index(tmp_path, *twins, *filler(60)), asking(TITLE, body=BODY))

    leads = [re.findall(r"(?:clear of the next note by |\+)(\d\.\d\d)", one.why) for one in judged.scored[:2]]
    assert [[float(lead) > 0.3 for lead in of_one] for of_one in leads] == [[True] * 3] * 2


def test_a_title_of_one_word_is_never_found_whole(tmp_path: Path) -> None:
    page = note("page.md", "# Sentinel\nPromote the replica of the redis cache.")

    judged = RULE.judge(_index(tmp_path, page, *filler(60)), asking(TITLE, body=BODY))

    assert "0.50 of its title is in the ticket" in judged.scored[0].why


def test_a_ticket_that_has_only_common_words_has_candidates(tmp_path: Path) -> None:
    pages = [note(f"{n}.md", f"# Restart number{n}\nRestart the worker.") for n in range(20)]

    judged = RULE.judge(_index(tmp_path, *pages, *filler(40)), asking("Restart the worker"))

    assert len(judged.scored) == 20


def test_identifiers_in_a_title_are_matched_by_their_parts(tmp_path: Path) -> None:
    page = note("page.md", "# KubeletPodStartUpLatencyHigh\nCheck the image registry.")

    assert _paths(_index(tmp_path, page, *filler(60)), "Kubelet pod start up latency is too high") == ["page.md"]


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=300), st.text(max_size=300))
def test_any_ticket_can_be_judged(index: FtsIndex, title: str, body: str) -> None:
    scores = [one.score for one in RULE.judge(index, asking(title, body=body)).scored]

    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    "title", ["数据库连接超时", "get order by id", "getOrderById fails", "ERR_SSL_VERSION in src/app/orders.py"]
)
def test_identifiers_codes_and_cjk_are_found(tmp_path: Path, title: str) -> None:
    text = "# 生产环境数据库连接超时怎么办\n\ngetOrderById(3) raises ERR_SSL_VERSION in src/app/orders.py"

    index = _index(tmp_path, note("found.md", text), *filler(60))

    judged = RULE.judge(index, asking(title))

    assert index.chunk(judged.scored[0].row).note == "found.md"
    assert judged.scored[0].why.startswith("subject words of the note found: ")
    assert judged.scored[0].score > 0.25
