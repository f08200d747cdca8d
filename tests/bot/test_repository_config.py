"""The maintainers' settings are read as strictly as the operator's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import ConfigBroken, ConfigUnreadable, UnknownSetting, WrongInput, WrongSetting
from bot.repository_config import NOTES, PatchSize, RepositoryConfig, policy_of, read_repository_config
from memory.types import CheckId
from stages.protected import is_protected
from stages.report import Check, CheckKind

WHOLE = b"""
python = ".venv/bin/python"
notes = "docs/runbooks/"
environment = "production"
protected = ["deploy/", "*.lock"]
attempts = 2

[size]
files = 5
lines = 300
bytes = 10000

[checks.unit]
pytest = ["-q", "tests/unit"]

[checks.lint]
command = ["make", "lint"]
folder = "backend"
timeout_seconds = 90
"""


@pytest.mark.parametrize("data", [None, b"", b"# nothing\n", b"\xef\xbb\xbf"])
def test_without_settings_the_defaults_hold(data: bytes | None) -> None:
    config = read_repository_config(data)

    assert config == RepositoryConfig()
    assert (config.notes, config.checks, config.attempts) == (NOTES, (), None)


def test_every_setting_is_read() -> None:
    config = read_repository_config(WHOLE)

    assert config == RepositoryConfig(
        checks=(
            Check(name=CheckId("unit"), kind=CheckKind.PYTEST, arguments=("-q", "tests/unit")),
            Check(
                name=CheckId("lint"),
                kind=CheckKind.COMMAND,
                arguments=("make", "lint"),
                folder="backend",
                timeout_seconds=90.0,
            ),
        ),
        python=".venv/bin/python",
        notes="docs/runbooks",
        environment="production",
        protected=("deploy/", "*.lock"),
        size=PatchSize(files=5, lines=300, bytes=10_000),
        attempts=2,
    )


def test_pytest_without_arguments_is_a_check() -> None:
    (check,) = read_repository_config(b"[checks.all]\npytest = []").checks

    assert (check.kind, check.arguments) == (CheckKind.PYTEST, ())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("protectd = []", "Unknown setting protectd in .github/ticketsmith.toml. Did you mean protected?"),
        ("[size]\nfils = 1", "Unknown setting size.fils in .github/ticketsmith.toml. Did you mean files?"),
        ("[memory]\nrules = 1", "Unknown setting memory.rules in .github/ticketsmith.toml. Did you mean rule?"),
        ('[memory]\nrule = "best"', "memory.rule must be one of auto, per_word, coverage, calibrated, not 'best'."),
        ("[checks.u]\npytest = []\nfolders = 'x'", "Unknown setting checks.u.folders in"),
        ("[checks.u]\nfolder = 'x'", "checks.u.pytest must be a list of arguments, or command a list in its place"),
        ("[checks.u]\npytest = []\ncommand = ['x']", "in its place, not both."),
        ("[checks.u]\ncommand = []", "checks.u.command must be a program and its arguments, not an empty list."),
        ("[checks.u]\ncommand = ['', 'x']", "checks.u.command must be a program and its arguments"),
        ("[checks.u]\ncommand = 'make lint'", "checks.u.command must be a list of texts, not 'make lint'."),
        ("[checks.u]\npytest = []\ntimeout_seconds = 0", "timeout_seconds must be a number from 1 to 86400, not 0."),
        ("[checks.'a b']\npytest = []", "a name in checks must be small letters, digits, - and _, at most 40"),
        ("[checks]\nunit = 3", "checks.unit must be a table, [checks.unit], not 3."),
        ("notes = '../secrets'", "notes must be a folder inside the repository, without .., not '../secrets'."),
        ("notes = '/etc'", "notes must be a folder inside the repository"),
        ("notes = ''", "notes must be a folder inside the repository"),
        ("notes = '.git/x'", "notes must be a folder inside the repository"),
        ("[checks.u]\npytest = []\nfolder = '..'", "checks.u.folder must be a folder inside the repository"),
        ("environment = 'a b'", "environment must be a name of letters, digits, ., _ and -"),
        ("python = '-c'", "python must be a name such as python3.12, or a path inside the repository"),
        ("protected = ['']", "protected must be a list of path patterns, none of them empty, not a list."),
        ("attempts = 99", "attempts must be a whole number from 1 to 20, not 99."),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_sentence(text: str, told: str) -> None:
    with pytest.raises((UnknownSetting, WrongSetting)) as error:
        read_repository_config(text.encode())

    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_a_half_written_file_is_refused() -> None:
    with pytest.raises(ConfigBroken):
        read_repository_config(WHOLE[:40])


@pytest.mark.parametrize(
    ("data", "told"), [(b"\xff", "byte 0 is not UTF-8"), (b"#" * 300_000, "more than 262144 bytes")]
)
def test_what_is_no_settings_file_is_refused(data: bytes, told: str) -> None:
    with pytest.raises(ConfigUnreadable, match=told):
        read_repository_config(data)


@given(st.binary(max_size=80))
def test_no_bytes_bring_anything_but_settings_or_one_sentence(data: bytes) -> None:
    told = "read"
    try:
        read_repository_config(data)
    except WrongInput as error:
        told = str(error)

    assert len(told.splitlines()) == 1


def test_deep_nesting_is_refused_and_crashes_nothing() -> None:
    with pytest.raises(ConfigBroken):
        read_repository_config(b"x = " + b"[" * 100_000)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("", ".github/ticketsmith/notes/deploy.md"),
        ("", ".github/ticketsmith/tuning.md"),
        ("", ".github/ticketsmith.toml"),
        ('notes = "docs/runbooks"', "docs/runbooks/deploy.md"),
        ('notes = "docs/runbooks"', "Docs/Runbooks/deep/deploy.md"),
        ('notes = "docs/[old]"', "docs/[old]/deploy.md"),
        ('notes = "."', "deploy.md"),
    ],
)
def test_r62_sec_27_no_patch_touches_what_later_runs_read(text: str, path: str) -> None:
    policy = policy_of(read_repository_config(text.encode()))

    assert is_protected(path, policy.protected)
    assert not is_protected("src/shop/cart.py", policy.protected)
