"""Tests of other languages that say less than they did are seen in their lines."""

from __future__ import annotations

import pytest

from stages.foreign_tests import is_foreign_settings, is_foreign_test, scripts_changed, weakened_text


@pytest.mark.parametrize(
    "path",
    [
        "a.test.ts",
        "src/b.spec.mjs",
        "c_test.go",
        "src/test/java/X.java",
        "CartTests.kt",
        "tests/x.rs",
        "__tests__/d.js",
    ],
)
def test_files_of_tests_are_known_by_their_names(path: str) -> None:
    assert is_foreign_test(path)


@pytest.mark.parametrize("path", ["a.ts", "latest.js", "contest.go", "src/main/java/X.java", "tests/data.json", "x.py"])
def test_other_files_are_not(path: str) -> None:
    assert not is_foreign_test(path)


KEPT = "test('a', () => {\n  expect(sum(1, 2)).toBe(3);\n})\n"
WEAKER = {
    "assertion gone": KEPT.replace("  expect(sum(1, 2)).toBe(3);\n", ""),
    "assertion changed": KEPT.replace("toBe(3)", "toBeDefined()"),
    "commented out": KEPT.replace("  expect", "  // expect"),
    "skipped": KEPT.replace("test(", "test.skip("),
    "only another": KEPT + "test.only('b', () => {})\n",
    "renamed": KEPT.replace("test(", "xtest("),
}


@pytest.mark.parametrize("after", WEAKER.values(), ids=WEAKER.keys())
def test_b75_fewer_assertions_and_new_skips_are_seen(after: str) -> None:
    assert list(weakened_text("a.test.ts", KEPT.encode(), after.encode()))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if got != 3 {\n t.Errorf(`no`)\n}", "if got != 3 {\n}"),
        ("func TestA(t *testing.T) {", "func TestA(t *testing.T) {\n t.SkipNow()"),
        ("#[test]\nfn a() {}", "#[test]\n#[ignore]\nfn a() {}"),
        ("assert_eq!(a, b);", "let _ = (a, b);"),
        ("@Test\nvoid a() {}", "@Disabled\n@Test\nvoid a() {}"),
        ("assertEquals(3, a);", ""),
    ],
)
def test_b75_other_languages_too(before: str, after: str) -> None:
    assert list(weakened_text("x", before.encode(), after.encode()))


@pytest.mark.parametrize(
    "after",
    [KEPT + "test('more', () => { expect(1).toBe(1) })\n", KEPT.replace("  expect", "\texpect"), "// x\n" + KEPT],
)
def test_more_assertions_and_other_blanks_weaken_nothing(after: str) -> None:
    assert not list(weakened_text("a.test.ts", KEPT.encode(), after.encode()))


def test_new_and_deleted_files_show_in_what_was_run() -> None:
    assert not list(weakened_text("a.test.ts", None, b"test.skip()"))
    assert not list(weakened_text("a.test.ts", KEPT.encode(), None))


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        (b'{"scripts": {"test": "jest"}}', b'{"scripts": {"test": "true"}}', True),
        (b'{"jest": {}}', b'{"jest": {"testPathIgnorePatterns": ["a"]}}', True),
        (b'{"scripts": {"test": "jest"}}', b'{"scripts": {"test": "jest", "build": "tsc"}, "version": "2"}', False),
        (b"{}", b"{", True),
        (b"{}", b"[]", True),
        (None, b"{}", False),
    ],
)
def test_what_a_package_says_about_tests_may_not_change(before: bytes | None, after: bytes, changed: bool) -> None:
    assert scripts_changed(before, after) is changed


def test_settings_of_runners_are_known() -> None:
    assert is_foreign_settings("web/jest.config.js")
    assert is_foreign_settings("vitest.config.mts")
    assert not is_foreign_settings("vite.config.ts")
