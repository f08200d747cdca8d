"""The policy: which paths, modes and sizes a patch may have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.types import HoldCause
from stages.patch import FileChange, Patch
from stages.policy import Policy, Rule, Violation, judge, notices
from stages.protected import is_entry_point, is_protected


def change(path: str, modes: tuple[str, str] = ("100644", "100644"), **more: object) -> FileChange:
    status = "A" if modes[0] == "000000" else "D" if modes[1] == "000000" else "M"
    return FileChange(path=path, status=status, old_mode=modes[0], new_mode=modes[1], **more)  # type: ignore[arg-type]


def broken(path: str, policy: Policy | None = None) -> set[Rule]:
    return {violation.rule for violation in judge(Patch(diff="", files=(change(path),)), policy or Policy())}


PROTECTED = [
    # What the forge and CI do, and who may decide.
    ".github/workflows/ci.yml",
    ".github/CODEOWNERS",
    "CODEOWNERS",
    "docs/CODEOWNERS",
    ".gitlab-ci.yml",
    ".circleci/config.yml",
    ".travis.yml",
    "Jenkinsfile",
    "Jenkinsfile.release",
    "azure-pipelines.yml",
    "ci/azure-pipelines-nightly.yaml",
    "bitbucket-pipelines.yml",
    # The bot's own.
    ".github/ticketsmith.toml",
    ".github/ticketsmith/tuning.md",
    "ticketsmith.toml",
    # What tells agents and editors what to do.
    "AGENTS.md",
    "sub/AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    "copilot-instructions.md",
    ".cursor/rules/a.mdc",
    ".cursorrules",
    ".mcp.json",
    "mcp.json",
    ".vscode/tasks.json",
    ".devcontainer/devcontainer.json",
    ".claude/settings.json",
    # What was resolved.
    "uv.lock",
    "poetry.lock",
    "Cargo.lock",
    "Gemfile.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "bun.lockb",
    "go.sum",
    "web/yarn.lock",
    # Git's own, and other files that begin with a dot.
    ".gitmodules",
    "vendor/.gitmodules",
    ".gitattributes",
    ".lfsconfig",
    ".mailmap",
    ".envrc",
    ".pre-commit-config.yaml",
    ".npmrc",
    ".git/config",
    # The same in another case, form or spelling.
    ".GitHub/workflows/ci.yml",
    ".github\u200b/workflows/ci.yml",
    ".g\u200cithub/workflows/ci.yml",
    "\uff0egithub/workflows/ci.yml",
    "codeowners",
    "Claude.MD",
    "agents.md ",
    "AGENTS.md.",
    "UV.LOCK",
    "sub\\.github\\workflows\\ci.yml",
    "AGENTS.md:stream",
]


@pytest.mark.parametrize("path", PROTECTED)
def test_r45_sec_20_b71_b73_a_path_that_only_people_change_is_protected(path: str) -> None:
    assert Rule.PROTECTED in broken(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/shop/cart.py",
        "README.md",
        "docs/agents.rst",
        "locks/lock.py",
        "src/locked.py",
        "tests/test_lock.py",
        ".gitignore",
        ".editorconfig",
        "pyproject.toml",
        "github/client.py",
        "migrations/0001.py",
        "ä/ö.py",
    ],
)
def test_an_ordinary_path_may_be_changed(path: str) -> None:
    assert broken(path) == set()


def test_a_path_that_is_too_long_to_compare_is_protected_and_shown() -> None:
    path = "src/" + "a" * 2_000 + ".py"

    assert is_protected(path)
    assert is_entry_point(path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("migrations/**", "migrations/0001.py"),
        ("migrations/**", "src/migrations/0001.py"),
        ("migrations/", "migrations/a/b.py"),
        ("migrations", "migrations/a/b.py"),
        ("*.sql", "db/schema.SQL"),
        ("Notes/*.md", "notes/a.md"),
    ],
)
def test_maintainers_protect_more(pattern: str, path: str) -> None:
    assert broken(path, Policy(protected=(pattern,))) == {Rule.PROTECTED}
    assert broken("src/shop/cart.py", Policy(protected=(pattern,))) == set()


@pytest.mark.parametrize(
    "path",
    [
        "line\nbreak.py",
        "a\x01.py",
        "-rf",
        "src/-x.py",
        "a\\..\\b.py",
        "caf\\xe9.py",
        "sub/.g\u200cit/hooks/x",
        "git~1/config",
        ".git./config",
        "x\u200b.py",
        "a\u202egnp.py",
        "end ",
        "/etc/passwd",
        "../x",
        "a//b",
        "./a",
        "x" * 300,
    ],
)
def test_b68_a_name_that_can_be_taken_for_another_is_refused(path: str) -> None:
    assert Rule.NAME in broken(path)


@given(st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=30))
def test_sec_20_no_unseen_character_hides_a_protected_path(noise: str) -> None:
    unseen = "".join(character for character in noise if not character.isprintable() and character not in "\n/")

    rules = broken(f".github{unseen}/workflows/ci.yml")

    assert Rule.PROTECTED in rules


@pytest.mark.parametrize(
    ("modes", "rule"),
    [
        (("100644", "100755"), Rule.MODE),
        (("100755", "100644"), Rule.MODE),
        (("000000", "100755"), Rule.MODE),
        (("100664", "100664"), Rule.MODE),
        (("000000", "120000"), Rule.LINK),
        (("120000", "120000"), Rule.LINK),
        (("100644", "120000"), Rule.LINK),
        (("120000", "100644"), Rule.LINK),
        (("120000", "000000"), Rule.LINK),
        (("000000", "160000"), Rule.LINK),
        (("160000", "160000"), Rule.LINK),
        (("160000", "000000"), Rule.LINK),
        (("000000", "100644"), None),
        (("100644", "100644"), None),
        (("100755", "100755"), None),
        (("100644", "000000"), None),
        (("100755", "000000"), None),
    ],
)
def test_sec_20_modes_stay_and_links_are_refused(modes: tuple[str, str], rule: Rule | None) -> None:
    patch = Patch(diff="", files=(change("a.py", modes),))

    assert [violation.rule for violation in judge(patch, Policy())] == ([rule] if rule else [])


def test_a_binary_file_is_more_than_people_can_review() -> None:
    patch = Patch(diff="", files=(change("a.png", binary=True),))

    assert [violation.cause for violation in judge(patch, Policy())] == [HoldCause.TOO_BIG]
    assert judge(patch, Policy(binary_allowed=True)) == ()


@pytest.mark.parametrize(
    ("patch", "rule"),
    [
        (Patch(diff="", files=tuple(change(f"a{number}.py") for number in range(21))), Rule.FILES),
        (Patch(diff="", files=tuple(change(f"a{number}.py") for number in range(20))), None),
        (Patch(diff="ä" * 100_001, files=(change("a.py"),)), Rule.SIZE),
        (Patch(diff="a" * 200_000, files=(change("a.py"),)), None),
        (Patch(diff="", files=(change("a.py"),), cut=True), Rule.SIZE),
        (Patch(diff="", files=(change("a.py", added=60, removed=41),)), Rule.SIZE),
        (Patch(diff="", files=(change("a.py", added=60, removed=40),)), None),
    ],
)
def test_b76_a_patch_has_a_size_that_people_can_review(patch: Patch, rule: Rule | None) -> None:
    found = judge(patch, Policy(lines_at_most=100))

    assert [(violation.rule, violation.cause) for violation in found] == ([(rule, HoldCause.TOO_BIG)] if rule else [])


@pytest.mark.parametrize(
    "path",
    ["conftest.py", "tests/conftest.py", "sitecustomize.py", "a/b.pth", "setup.py", "Makefile", "package.json"],
)
def test_b74_code_that_runs_by_itself_is_allowed_and_shown_first(path: str) -> None:
    paths = (path, "src/shop/cart.py")
    diff = "".join(f"diff --git a/{one} b/{one}\nindex 1..2 100644\n" for one in paths)
    patch = Patch(diff=diff, files=tuple(map(change, paths)))

    assert judge(patch, Policy()) == ()
    assert notices(patch) == (Violation(rule=Rule.ENTRY_POINT, path=path),)


@pytest.mark.parametrize(
    ("path", "line", "told"),
    [
        ("shop/cart.py", "if os.environ.get('PYTEST_CURRENT_TEST'):", True),
        ("shop/fixtures.py", "def pytest_pyfunc_call(pyfuncitem):", True),
        ("tests/test_cart.py", "import pytest", False),
        ("shop/cart.py", "return total", False),
    ],
)
def test_code_that_knows_of_the_tests_that_run_it_is_shown_first(path: str, line: str, told: bool) -> None:
    diff = f"diff --git a/{path} b/{path}\nindex 1..2 100644\n--- a/{path}\n+++ b/{path}\n@@ -1 +1,2 @@\n x\n+{line}\n"
    noticed = notices(Patch(diff=diff, files=(change(path, added=1, removed=0),)))

    assert [(one.rule, one.path) for one in noticed] == ([(Rule.TESTS, path)] if told else [])


def test_every_rule_has_a_cause_and_a_text() -> None:
    for rule in Rule:
        violation = Violation(rule=rule, path="a.py", detail="why")
        assert violation.cause in HoldCause
        assert str(violation) == f"{rule.value}: a.py: why"


def test_ordinary_code_is_no_entry_point() -> None:
    assert not is_entry_point("src/makefile_reader.py")
    assert not is_protected("src/codeowners_reader.py")
