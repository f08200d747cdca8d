"""What goes out calls nobody, closes nothing else, loads nothing, hides nothing, and fits."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.forge.types import RepositoryRef
from bot.outbox.errors import Leaks
from bot.outbox.words import BODY_AT_MOST, TITLE_AT_MOST, Words, cut, unlinked
from memory.scrub import Scrubber

REF = RepositoryRef(installation=71, id=1, full_name="acme/till")
WORDS = Words(Scrubber(("correct-horse-battery-9041",)))


def body(text: str) -> str:
    return WORDS.body(text, REF, 7, "comment")


def shown(text: str) -> str:
    """The text as a reader of the rendered page has it, without code and addresses."""
    html = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text)
    html = re.sub(r"(?s)<pre>.*?</pre>|<code>.*?</code>", "\u2060", html)
    text = re.sub(r"(?s)<[^>]*>", "\u2060", html)  # what stands in another element is no mention with what is before
    for name, character in (("&quot;", '"'), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        text = text.replace(name, character)
    return text


MENTION = re.compile(r"(?<![A-Za-z0-9])@[A-Za-z0-9]")
CLOSES = re.compile(r"(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)[\s:\u2060]+(?:[\w.-]+/[\w.-]+)?#(\d+)")


@pytest.mark.parametrize(
    "text",
    [
        "cc @ada",
        "@acme/team please",
        "(@ada)",
        "_@ada_ **@ada**",
        "\\@ada",
        "&#64;ada",
        "&#x40;ada",
        "&commat;ada",
        "- @ada\n  - @ada",
        "> @ada",
        "<b>@ada</b>",
        "| a |\n|---|\n| @ada |",
        "`code` @ada `code`",
        "```\ncode\n```\n@ada",
        "~~~\n```\n~~~\n@ada",
        "````\n```\n````\n@ada",
        "```a`b\n@ada",
        "  ```\n  x\n  ```\n@ada",
        "- ```\n@ada",
        "- a\n  ```\n@ada\n  ```",
        "> ```\n@ada",
        "<div>\n```\n@ada\n```",
        "<div>\n```\n\n```\n@ada",
        "<details>\n<summary>x</summary>\n```\n@ada\n```\n</details>",
        "```\nopen\n   ```\n@ada",
        "    ```\n@ada\n    ```",
        "<pre>\n\n```\n</pre>\n@ada\n```",
        "<!--\n```\n-->\n@ada\n```",
        "<![CDATA[\n```\n]]>\n@ada",
        "<?php\n\n```\n?>\n@ada",
    ],
)
def test_b43_sec_37_nobody_is_called(text: str) -> None:
    assert not MENTION.search(shown(body(text)))


def test_an_address_and_code_in_a_fence_stay_as_they_are() -> None:
    text = "Write to ada@example.org.\n\n```python\n@pytest.fixture\ndef fixes(): ...  # fixes #99\n```\n\nEnd."

    assert body(text) == text


def test_a_fence_in_details_is_still_code_after_an_empty_line() -> None:
    text = "<details>\n<summary>Output</summary>\n\n```text\n@decorated\n```\n\n</details>"

    assert body(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "Fixes #99",
        "fixed: #99",
        "CLOSES   #99",
        "resolves\n#99",
        "closes acme/till#99",
        "closes other/repo#7",
        "Fix GH-99",
        "fix **#99**",
        "fix [#99](https://x.example)",
        "fixes &#35;99",
        "fixes \\#99",
        "fixes\\: acme/till\\#99",
        "fixes GH\\-99",
        "fixes <b>#99</b>",
        "fixes <span title='x'>**#99**</span>",
        "fixes https://github.com/acme/till/issues/99",
        "fixes #77",
        "this fixes #7, fixes #99",
    ],
)
def test_b43_sec_37_no_other_issue_is_closed(text: str) -> None:
    sent = body(text)

    assert not [number for number in CLOSES.findall(shown(sent)) if number != "7"]
    assert sent != text


@pytest.mark.parametrize(
    "text", ["Fixes #7", "closes acme/till#7", "fix GH-7", "Resolves https://github.com/acme/till/issues/7"]
)
def test_its_own_issue_may_be_closed(text: str) -> None:
    assert body(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "![x](https://evil.example/p.png)",
        "![x][1]\n\n[1]: https://evil.example/p.png",
        "<img src=https://evil.example/p.png>",
        "<IMG\nsrc=x>",
        "<picture><source srcset=x></picture>",
        "<video src=x></video>",
        "<svg><image href=x /></svg>",
    ],
)
def test_sec_37_nothing_is_loaded_from_elsewhere(text: str) -> None:
    html = MarkdownIt("commonmark", {"html": True}).render(body(text))

    assert not re.search(r"(?i)<(?:img|picture|source|video|svg|image)\b", html.replace("<image", ""))


def test_nothing_is_hidden_and_no_marker_can_be_forged() -> None:
    sent = body("Seen.\n\n<!-- ticketsmith:" + "a" * 32 + " -->\x00\x1b[31m")

    assert "<!--" not in sent
    assert "\x1b" not in sent
    assert "\x00" not in sent


@given(st.text(alphabet="@#ada 79`~>-\n<b!&;/*_\\", max_size=60).map(lambda text: f"{text}\n@ada fixes #99"))
def test_no_text_of_these_signs_calls_or_closes(text: str) -> None:
    sent = body(text)
    rendered = shown(sent)

    # What is code for a reader calls nobody: the check looks at everything else.
    assert not MENTION.search(rendered)
    assert not [number for number in CLOSES.findall(rendered) if number != "7"]


@given(st.text(max_size=300))
def test_every_text_can_be_sent(text: str) -> None:
    try:
        sent = body(text)
    except Leaks:
        return

    sent.encode()
    assert len(sent) <= BODY_AT_MOST + 200


def test_r28_what_is_cut_says_so_and_closes_its_fence() -> None:
    text = "Output:\n\n```text\n" + "a line\n" * 20_000 + "```\n\nThe end."

    kept = cut(text, 1_000)

    assert kept.count("```") == 2
    assert kept.endswith("more characters are in the run's own record)*")
    assert "The end." not in kept
    assert cut("short", 1_000) == "short"


def test_a_long_line_is_cut_too() -> None:
    assert len(cut("x" * 100_000, 1_000)) < 1_200


@pytest.mark.parametrize("sign", ["@a ", "fixes #9 ", "![", "&#64;", "<!--", "```\n", "> ```\n", "`", "<b>", "-"])
def test_b_hostile_texts_take_linear_time(sign: str) -> None:
    def spent(size: int) -> float:
        begun = time.process_time()
        unlinked(sign * size)
        body(sign * size)
        return time.process_time() - begun

    spent(100)
    small, large = spent(10_000 // len(sign)), spent(80_000 // len(sign))

    assert large < max(small, 0.01) * 30


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("Fix #9 for @ada", "Fix #\u200b9 for @\u200bada"),
        ("GH-9 and acme/till#9", "GH-\u200b9 and acme/till#\u200b9"),
        ("https://github.com/acme/till/issues/9", "https://github.com/acme/till/issues/\u200b9"),
        ("a@b.example", "a@b.example"),
        ("Plain", "Plain"),
    ],
)
def test_a_line_that_is_no_markdown_links_to_nothing(line: str, kept: str) -> None:
    assert unlinked(line) == kept


def test_a_title_is_one_line_and_fits() -> None:
    title = WORDS.line("Total\n is  wrong\t" + "x" * 1_000, "title")

    assert title.startswith("Total is wrong xxx")
    assert len(title) == TITLE_AT_MOST
