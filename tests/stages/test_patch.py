"""Patches: edits and their digests, and diffs that are easily misread."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from memory.types import Edit
from stages.patch import FileChange, Patch, added, changes, edit_digest
from stages.workspace import Workspace
from tests.stages.repositories import workspace

MODIFIED = FileChange(path="a.py", status="M", old_mode="100644", new_mode="100644")


def patch(section: str, file: FileChange = MODIFIED) -> Patch:
    return Patch(diff=f"diff --git a/{file.path} b/{file.path}\n{section}", files=(file,))


def digest(*lines: str) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


def test_a_digest_keeps_the_sign_and_cuts_trailing_blanks() -> None:
    assert edit_digest(["-a = 1  ", "+a = 2\t"]) == digest("-a = 1", "+a = 2")


def test_each_unbroken_run_of_changes_is_an_edit_at_its_first_line_of_the_base() -> None:
    diff = patch("--- a/a.py\n+++ b/a.py\n@@ -1,5 +1,5 @@\n-one\n+ONE\n two\n three\n-four\n five\n+six\n")

    assert diff.edits == (
        Edit(path="a.py", line=1, digest=digest("-one", "+ONE")),
        Edit(path="a.py", line=4, digest=digest("-four")),
        Edit(path="a.py", line=6, digest=digest("+six")),
    )


def test_content_that_looks_like_a_header_is_content() -> None:
    diff = patch("--- a/a.py\n+++ b/a.py\n@@ -3,2 +3,2 @@\n--- x\n+++ y\n @@ -9 +9 @@\n")

    assert diff.edits == (Edit(path="a.py", line=3, digest=digest("--- x", "+++ y")),)


def test_a_line_without_a_break_at_the_end_of_the_file_is_one_line() -> None:
    diff = patch(
        "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"
    )

    assert diff.edits == (Edit(path="a.py", line=1, digest=digest("-a", "+b")),)


def test_an_insertion_stands_at_the_line_that_it_becomes() -> None:
    diff = patch("--- a/a.py\n+++ b/a.py\n@@ -12,0 +13,2 @@\n+a\n+b\n")

    assert [edit.line for edit in diff.edits] == [13]


def test_carriage_returns_do_not_count_in_a_digest() -> None:
    assert edit_digest(["-a\r", "+b\r"]) == edit_digest(["-a", "+b"])


def test_a_patch_that_was_cut_has_files_and_no_edits() -> None:
    cut = Patch(diff="", files=(MODIFIED,), cut=True)

    assert cut
    assert cut.edits == ()


def test_added_lines_have_the_numbers_of_the_new_file() -> None:
    section = [
        "--- a/a.py",
        "+++ b/a.py",
        "@@ -1,2 +1,3 @@",
        "-one",
        "+ONE",
        "+and",
        " two",
        "@@ -9 +10 @@",
        "-x",
        "+--y",
        "\\ No newline",
    ]

    assert list(added(section)) == [(1, "ONE"), (2, "and"), (10, "--y")]


def test_sections_that_do_not_match_the_files_are_an_error() -> None:
    with pytest.raises(ValueError, match="zip"):
        _ = Patch(diff="", files=(MODIFIED,)).edits


def test_a_patch_survives_json() -> None:
    adapter, whole = TypeAdapter(Patch), patch("@@ -1 +1 @@\n-ä\n+ß\n")

    assert adapter.validate_json(adapter.dump_json(whole)) == whole


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace(tmp_path_factory.mktemp("patch"), {"a.txt": "1\n2\n3\n4\n5\n6\n"})


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(new=st.lists(st.sampled_from(["1", "2", "3", "4", "5", "6", "--- x", "+++ y", "@@ -1 +1 @@", ""]), max_size=9))
def test_the_edits_of_gits_diff_say_which_lines_of_the_base_go(tree: Workspace, new: list[str]) -> None:
    tree.write("a.txt", "".join(f"{line}\n" for line in new).encode())
    base = ["1", "2", "3", "4", "5", "6"]

    made = tree.patch()

    kept, reached = list[str](), 0
    for _, section in made.sections:
        for line, run in changes(section):
            removed = [text[1:] for text in run if text.startswith("-")]
            assert base[line - 1 : line - 1 + len(removed)] == removed
            kept += base[reached : line - 1] + [text[1:] for text in run if text.startswith("+")]
            reached = line - 1 + len(removed)
    assert kept + base[reached:] == new


def test_a_change_of_type_has_two_sections_and_one_file(tmp_path: Path) -> None:
    made = workspace(tmp_path, {"a.py": "a = 1\n", "b.py": "b = 1\n"})
    (made.tree / "a.py").unlink()
    (made.tree / "a.py").symlink_to("b.py")

    patch = made.patch(touched_only=False)

    assert [(file.status, file.new_mode) for file in patch.files] == [("T", "120000")]
    assert [edit.path for edit in patch.edits] == ["a.py", "a.py"]
