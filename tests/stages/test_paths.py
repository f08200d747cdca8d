"""Which spellings of a path are taken, and which are refused (requirements B68)."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stages.errors import Refused
from stages.paths import plain, usable

GIT_SPELLINGS = (
    ".git/config",
    ".GIT/x",
    "sub/.git/hooks/x",
    "git~1/x",
    "GIT~12/x",
    ".git./x",
    ".git /x",
    ".git. . /x",
    ".git::$INDEX_ALLOCATION/x",
    ".g\u200cit/x",
    ".git\u200c/config",
    "\ufeff.git/config",
    ".g\u034fit/x",
    ".gi\ufe0ft/x",
    "\uff0egit/x",
    ".git",
    "a/.git\u00a0/x",
    "a\\.git\\x",
)
UNSEEN = (
    "a\x00b",
    "a\nb",
    "a\rb",
    "a\x01b",
    "a\x7fb",
    "a\u2028b",
    "a\u202eb",
    "a\u200bb",
    "a\udc80b",
    "a\U000e0041b",
    "a\u3164b",
)


@pytest.mark.parametrize("path", GIT_SPELLINGS)
def test_b68_no_spelling_of_gits_folder_is_a_path(path: str) -> None:
    with pytest.raises(Refused):
        plain(path)


@pytest.mark.parametrize("path", UNSEEN)
def test_b68_a_name_with_an_unseen_character_is_no_path(path: str) -> None:
    with pytest.raises(Refused, match="cannot be seen"):
        plain(path)


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("/etc/passwd", "relative"),
        ("//x", "relative"),
        ("../x", "leaves the tree"),
        ("a/../../x", "leaves the tree"),
        ("a/..", "leaves the tree"),
        ("-rf", "option"),
        ("a/--help", "option"),
        ("a\\..\\b", "backslash"),
        ("C:\\Windows", "backslash"),
        (":(exclude)a", "colon"),
        (":/a", "colon"),
        ("a /b", "blank"),
        (" a", "blank"),
        ("n" * 256, "too long"),
        ("ü" * 128, "too long"),
        ("a/" * 600, "too long"),
        ("a/" * 65 + "b", "too long"),
    ],
)
def test_b68_a_path_that_somebody_would_misread_is_refused(path: str, problem: str) -> None:
    with pytest.raises(Refused, match=problem):
        plain(path)


@pytest.mark.parametrize(
    ("path", "spelled"),
    [
        ("a", "a"),
        ("./a//b/", "a/b"),
        ("", ""),
        (".", ""),
        ("a/./b", "a/b"),
        ("...", "..."),
        (".github/workflows/ci.yml", ".github/workflows/ci.yml"),
        (".gitignore", ".gitignore"),
        ("src/[id].tsx", "src/[id].tsx"),
        ("文書/ノート.md", "文書/ノート.md"),
        ("a:b", "a:b"),
        ("git~x", "git~x"),
    ],
)
def test_an_ordinary_path_has_one_spelling(path: str, spelled: str) -> None:
    assert plain(path) == spelled


def test_a_refusal_shows_the_path_without_its_hidden_characters() -> None:
    with pytest.raises(Refused) as refused:
        plain("a\x1b[31m\u202eb\nc")

    assert all(unicodedata.category(character)[0] != "C" for character in str(refused.value))


@given(st.text(max_size=40))
def test_what_is_taken_is_relative_clean_and_spelled_once(path: str) -> None:
    try:
        spelled = plain(path)
    except Refused:
        return

    names = spelled.split("/") if spelled else []
    assert plain(spelled) == spelled
    assert all(usable(name) for name in names)
    assert not spelled.startswith(("/", "-", ":"))
    assert "\n" not in spelled
    assert ".git" not in [name.casefold() for name in names]
