"""Notes: chunks that can be shown on their own."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.budget import size
from memory.frontmatter import Flaw
from memory.notes import RECORD_AT_MOST, chunks, flaw, name, unknown_keys
from memory.pieces import split_block
from memory.text import fold
from memory.types import Chunk, NoteFile
from memory.words import words
from tests.machine import at_most

LONG = "\n\n".join(f"Sentence {n} says what to do when the cache of the shop is down." for n in range(10))
REDIS = f"""---
title: Redis
tags: [cache, 'failover']
status: live
environment: production   # the big one
component:
  - orders
  - carts
---
# Redis

Intro. <!-- for the authors only -->

## Failover

{LONG}

```sh
redis-cli failover
# not a heading
```

## Failover

{LONG}

### By hand

Short.
"""


def of(text: str, path: str = "deploy/redis.md", shared: bool = False) -> tuple[Chunk, ...]:
    return chunks(NoteFile(path=path, text=text, changed="2026-10-11", shared=shared))


def test_a_note_that_fits_is_one_chunk_with_its_headings() -> None:
    (chunk,) = of("# Redis\n\n## Failover\nBy hand only.")

    assert (chunk.anchor, chunk.heading) == ("", "Redis")
    assert chunk.text == "# Redis\n\n## Failover\nBy hand only."


def test_a_longer_note_is_split_at_its_headings() -> None:
    found = of(REDIS)

    assert [chunk.anchor for chunk in found][:2] == ["redis", "failover"]
    assert found[-1].anchor == "failover-1"
    assert {chunk.heading for chunk in found} == {
        f"{path} [cache, failover, orders, carts]" for path in ("Redis", "Redis > Failover")
    }
    assert [chunk.ordinal for chunk in found] == list(range(len(found)))


def test_a_short_section_joins_the_one_before_it_with_its_heading() -> None:
    assert of(REDIS)[-1].text.endswith("### By hand\n\nShort.")


def test_scope_and_date_travel_with_each_chunk() -> None:
    for chunk in of(REDIS):
        assert dict(chunk.scope) == {"environment": "production"}
        assert chunk.changed == "2026-10-11"


def test_a_comment_in_the_markdown_is_not_shown() -> None:
    assert not any("authors" in chunk.text for chunk in of(REDIS))


@pytest.mark.parametrize("hidden", ["<!-- a\n\nb -->", "<!-<!-- x -->- b -->", "<!-- b", "x <!-- a --> <!-- b -->"])
def test_nothing_that_hides_as_a_comment_survives(hidden: str) -> None:
    text = " ".join(chunk.text for chunk in of(f"Seen.\n\n{hidden}"))

    assert "Seen." in text
    assert "<!--" not in text


def test_comments_that_only_appear_when_others_go_end() -> None:
    (chunk,) = of("Seen " + "<!-" * 40 + "<!-- -->" + "- -->" * 40)

    assert "<!--" not in chunk.text


def test_a_comment_inside_a_code_block_stays() -> None:
    (chunk,) = of("Do\n\n```html\n<!-- keep -->\n```\n\nthen <!-- drop --> go")

    assert "<!-- keep -->" in chunk.text
    assert "drop" not in chunk.text


@pytest.mark.parametrize(
    "status", ["status: retired", "status: 'invalid'", "superseded_by: new.md", "Status: Archived"]
)
def test_a_retired_note_gives_no_chunk(status: str) -> None:
    assert of(f"---\n{status}\n---\nOld wisdom") == ()


@pytest.mark.parametrize(
    ("head", "line", "said"),
    [
        ("status: retird", 2, "the status 'retird' is not known; `active` and `retired` are"),
        ("title: x\nstatus:\n  - Draft", 4, "the status 'Draft' is not known; `active` and `retired` are"),
        ("title: x\nstatus retired", 3, "it is no `key: value`"),
        ("enviroment: staging", 2, "the key 'enviroment' is not known; `environment` is"),
        ("title: x\nEnviornment: staging", 3, "the key 'Enviornment' is not known; `environment` is"),
        ("staus: retired", 2, "the key 'staus' is not known; `status` is"),
        ("superceded-by: new.md", 2, "the key 'superceded-by' is not known; `superseded_by` is"),
        ("<<<<<<< HEAD\nstatus: retired", 2, "it is no `key: value`"),
        ("- status", 2, "it is no `key: value`"),
        ("]\nstatus: retired", 2, "it is no `key: value`"),
    ],
)
def test_a_note_whose_head_cannot_be_understood_is_not_used_and_its_line_is_named(
    head: str, line: int, said: str
) -> None:
    note = NoteFile(path="redis.md", text=f"---\n{head}\n---\nWisdom")

    assert chunks(note) == ()
    assert flaw(note) == Flaw(line=line, said=said)


def test_a_head_without_an_end_is_a_flaw_when_it_says_what_is_read() -> None:
    note = NoteFile(path="redis.md", text="---\nstatus: retired\n\nWisdom")

    assert chunks(note) == ()
    assert flaw(note) == Flaw(line=1, said="no second line of --- ends the front matter")


@pytest.mark.parametrize(
    "head",
    [
        "status: active",
        "Status: Approved # by ops",
        "status: ~",
        "last updated: 2026-01-01",
        "tag: till",
        "environment_url: https://till.example",
        "supersedes: old.md",
        "# a comment\n\n'title': x",
        "owner: >\n  the team\n  of payments",
        "tags:\n- a\n- b",
        "tags: [\n  a,\n  b\n]\nstatus: active",
    ],
)
def test_a_head_that_can_be_understood_has_no_flaw(head: str) -> None:
    note = NoteFile(path="redis.md", text=f"---\n{head}\n---\nWisdom")

    assert flaw(note) is None
    assert [chunk.text for chunk in chunks(note)] == ["Wisdom"]


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("title: x\nStatus: active\nsuperseded-by: ~\ntickets: [1]", ()),
        ("tag: till", ("tag (`tags`?)",)),
        ("titel: x\nDate: 2026-01-01\nowner:\n  name: mira\ncomponents: [till]",
         ("titel (`title`?)", "Date", "owner", "components (`component`?)")),
        ("enviroment: staging", ("enviroment (`environment`?)",)),
        ("stats: 12", ("stats",)),
        ("metadata:\n  enviroment: staging", ("metadata",)),
        ("summary: >\n  State: it was well", ("summary",)),
    ],
)  # fmt: skip
def test_keys_that_nobody_reads_are_named_with_the_known_one_that_is_near(head: str, said: tuple[str, ...]) -> None:
    assert unknown_keys(NoteFile(path="redis.md", text=f"---\n{head}\n---\nWisdom")) == said


@pytest.mark.parametrize("text", ["", "\n \n", "---\ntitle: x\n---\n", "<!-- only -->", "\u200b"])
def test_an_empty_note_gives_no_chunk(text: str) -> None:
    assert of(text) == ()


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('---\ntitle: "The: one" # x\n---\ntext', "The: one"),
        ("---\ntitle: ~\nsuperseded_by: null\n---\n# Own\ntext", "Own"),
        ("---\ntitle: 'open\n---\ntext", "'open"),
        ("---\nnot closed\n# Heading\ntext", "Heading"),
        ("Setext\n======\ntext", "Setext"),
        ("# On C#\ntext", "On C#"),
        ("## not first\n# - Closed ##\ntext", "- Closed"),
        ("text only", "redis"),
    ],
)
def test_the_title_comes_from_the_front_matter_or_the_first_heading_or_the_file(text: str, title: str) -> None:
    assert of(text)[0].heading == title


def test_a_code_block_that_fits_stays_whole() -> None:
    code = "```sh\n" + "\n".join(f"step {n}" for n in range(50)) + "\n```"

    found = of(f"# A\n{LONG}\n\n{code}\n\n{LONG}")

    assert any(code in chunk.text for chunk in found)


def test_each_piece_of_a_longer_code_block_has_its_fence() -> None:
    found = of("# A\n\n```sh\n" + "\n".join(f"a longer step {n}" for n in range(200)) + "\n```")

    assert len(found) > 2
    assert all(chunk.text.startswith("```sh\n") and chunk.text.endswith("\n```") for chunk in found)


def test_a_longer_list_breaks_between_its_items() -> None:
    items = [f"- item {n}\n  goes on " + "and on " * 20 for n in range(12)]

    found = of("# A\n\n" + "\n".join(items))

    assert len(found) > 1
    assert all(chunk.text.startswith("- item") for chunk in found)


def test_a_shared_note_is_told_from_an_own_one_of_the_same_path() -> None:
    assert of("text", shared=True)[0].note == "shared:deploy/redis.md"


def test_a_long_path_is_named_by_its_end() -> None:
    called = name("a/" * 200 + "redis.md", "failover")

    assert len(called) == 120
    assert called.endswith("a/redis.md#failover")


def test_a_block_without_borders_is_broken_between_words() -> None:
    pieces = split_block(["word " * 100], (), 100)

    assert all(size(piece) <= 100 for piece in pieces)
    assert " ".join(line for piece in pieces for line in piece).split() == ["word"] * 100


MARKDOWN = st.lists(
    st.one_of(
        st.text(max_size=60),
        st.sampled_from(["---", "# H", "## H2", "```", "~~~py", "- item", "  more", "| a | b |", "|---|---|", "> q",
                         "<!--", "-->", "title: x", "[ticketsmith:end]", "=====", "\u2028", "[a]: http://x", "x" * 950,
                         "word " * 300, "1. one", "<div>", "    code"]),
    ),
    max_size=40,
).map("\n".join)  # fmt: skip


@settings(deadline=None)
@given(MARKDOWN, st.text(min_size=1, max_size=300))
def test_whatever_a_note_holds_its_chunks_fit_and_are_folded(text: str, path: str) -> None:
    for chunk in of(text, path=path):
        lines = chunk.text.split("\n")
        assert size(lines) + len(name(chunk.note, chunk.anchor)) + 60 <= RECORD_AT_MOST
        assert "\n".join(fold(chunk.text)) == chunk.text
        assert chunk.text.strip()
        assert fold(chunk.heading) in ([chunk.heading], [])


def test_an_empty_heading_leaves_no_blank_at_the_end_of_its_line() -> None:
    texts = [chunk.text for chunk in of(f"0\n#\n0\n{'x' * 950}", path="0")]

    assert texts[0] == "0\n\n##\n\n0"
    assert ["\n".join(fold(text)) for text in texts] == texts


def test_a_list_that_is_broken_where_an_empty_line_stood_has_no_chunk_that_ends_with_it() -> None:
    texts = [chunk.text for chunk in of("- first\n" + "word " * 300 + "\n\n- " + "last " * 100, path="a.md")]

    assert len(texts) > 1
    assert [text.strip("\n") for text in texts] == texts


@settings(deadline=None)
@given(st.lists(st.sampled_from(["# H", "## H2", "- item", "text alpha", "word " * 200, "```", ""]), max_size=40))
def test_every_word_of_a_note_is_in_a_chunk(lines: list[str]) -> None:
    text = "\n".join(lines)

    found = {word for chunk in of(text) for word in words(f"{chunk.heading}\n{chunk.text}")}

    assert set(words(text)) - {"h", "h2"} <= found


def test_a_long_list_takes_no_more_than_linear_time() -> None:
    began = time.process_time()

    of("- word of a long list\n" * 40_000)

    assert time.process_time() - began < at_most(5)


@pytest.mark.parametrize("unit", ["> ", "- ", "[", "# a\n", "<!--", "|a", "```\n", "<!-- -->", "[a]: b\n", "*a "])
def test_a_hostile_note_takes_no_more_than_linear_time(unit: str) -> None:
    text = unit * (64_000 // len(unit))
    began = time.process_time()

    of(text)

    assert time.process_time() - began < at_most(5)
