"""The git wrapper: what a repository or an environment could make git do does not happen here."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from stages.errors import ParkCause, Parked
from stages.git import Git, GitFailed, GitMissing, Reach
from stages.repository import Repository
from stages.workspace import Workspaces
from tests.stages.repositories import checks, git, make, put

NAMED = ("-c", "user.name=a", "-c", "user.email=a@b.example")
PLAIN_GIT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}


def trap(folder: Path, marker: Path, name: str = "trap") -> Path:
    """A program that leaves a mark when it runs."""
    program = folder / name
    program.write_text(f"#!/bin/sh\necho ran >> {marker}\ncat 2>/dev/null\n")
    program.chmod(0o755)
    return program


def set_filter(repository: Path, program: Path) -> None:
    put(repository, {".gitattributes": "* filter=evil\n"})
    git(repository, "config", "filter.evil.clean", str(program))
    git(repository, "config", "filter.evil.smudge", str(program))


def set_fsmonitor(repository: Path, program: Path) -> None:
    git(repository, "config", "core.fsmonitor", str(program))


def set_external_diff(repository: Path, program: Path) -> None:
    git(repository, "config", "diff.external", str(program))


def set_textconv(repository: Path, program: Path) -> None:
    put(repository, {".gitattributes": "* diff=evil\n"})
    git(repository, "config", "diff.evil.textconv", str(program))


def set_hook(repository: Path, program: Path) -> None:
    for name in ("reference-transaction", "post-checkout", "pre-commit", "post-index-change"):
        hook = repository / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(program.read_text())
        hook.chmod(0o755)


def set_gpg(repository: Path, program: Path) -> None:
    git(repository, "config", "commit.gpgSign", "true")
    git(repository, "config", "gpg.program", str(program))


def set_gpg_format(repository: Path, program: Path) -> None:
    git(repository, "config", "commit.gpgSign", "true")
    git(repository, "config", "gpg.format", "ssh")
    git(repository, "config", "gpg.ssh.program", str(program))
    git(repository, "config", "user.signingKey", "key::ssh-ed25519 AAAA")


def set_editor(repository: Path, program: Path) -> None:
    git(repository, "config", "core.editor", str(program))


def set_hooks_path(repository: Path, program: Path) -> None:
    folder = repository.parent / "hooks"
    folder.mkdir()
    for name in ("reference-transaction", "post-checkout", "pre-commit", "post-index-change"):
        (folder / name).write_text(program.read_text())
        (folder / name).chmod(0o755)
    git(repository, "config", "core.hooksPath", str(folder))


def set_included(repository: Path, program: Path) -> None:
    more = repository.parent / "more"
    more.write_text(f"[core]\n\tfsmonitor = {program}\n[diff]\n\texternal = {program}\n")
    git(repository, "config", "include.path", str(more))


def set_process_filter(repository: Path, program: Path) -> None:
    put(repository, {".gitattributes": "* filter=evil\n"})
    git(repository, "config", "filter.evil.process", str(program))


TRAPS: dict[str, Callable[[Path, Path], None]] = {
    "filter": set_filter,
    "fsmonitor": set_fsmonitor,
    "external diff": set_external_diff,
    "textconv": set_textconv,
    "hook": set_hook,
    "gpg": set_gpg,
    "gpg of another format": set_gpg_format,
    "editor": set_editor,
    "hooks elsewhere": set_hooks_path,
    "included settings": set_included,
    "process filter": set_process_filter,
}


@pytest.mark.parametrize("set_trap", TRAPS.values(), ids=TRAPS.keys())
def test_sec_18_no_program_of_a_repository_runs(tmp_path: Path, set_trap: Callable[[Path, Path], None]) -> None:
    repository, marker = make(tmp_path / "repository"), tmp_path / "marker"
    set_trap(repository.folder, trap(tmp_path, marker))
    put(repository.folder, {"src/shop/cart.py": "def total(prices):\n    return sum(prices)\n"})
    os.utime(repository.folder / "tests" / "test_cart.py", (1, 1))

    opened = Repository.open(repository.folder)
    opened.uncommitted()
    space = Workspaces(tmp_path / "work", checks()).make(opened, opened.resolve(), "one")
    space.write("src/shop/cart.py", b"def total(prices):\n    return 1\n")
    space.absorb()
    patch = space.patch()
    branch, made = opened.publish("ticketsmith/issue-1", space, patch, "Change the total")

    assert branch == "ticketsmith/issue-1"
    assert opened.contains(made, patch)
    assert not marker.exists()
    for command in (
        ["status"],
        ["diff"],
        ["add", "-A"],
        ["checkout", "-q", "-b", "other"],
        ["commit", "-a"],
        ["commit", "--allow-empty", "-m", "x"],
    ):
        subprocess.run(
            ["git", *NAMED, *command], cwd=repository.folder, env=PLAIN_GIT, capture_output=True, check=False
        )
    assert marker.exists(), "the trap does not work without the wrapper either"


def test_sec_14_git_sees_nothing_of_our_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path / "right")
    wrong = make(tmp_path / "wrong", {"wrong.txt": "wrong"})
    monkeypatch.setenv("GIT_DIR", str(wrong.folder / ".git"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "alias.canary")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "!env")
    monkeypatch.setenv("CANARY_TOKEN", "canary")

    opened = Repository.open(tmp_path / "right")
    seen = Git(folder=tmp_path / "right", settings={"alias.show-env": "!env"}).run("show-env").decode()

    assert "src/shop/cart.py" in opened.files(opened.resolve())
    assert "CANARY_TOKEN" not in seen
    assert "GIT_CONFIG_COUNT" not in seen
    with pytest.raises(GitFailed):
        Git(folder=tmp_path / "right").run("canary")


def test_b83_no_transport_is_allowed(tmp_path: Path) -> None:
    make(tmp_path / "source")
    marker = tmp_path / "marker"

    for address in (str(tmp_path / "source"), f"ext::sh -c touch% {marker}", "https://127.0.0.1:9/x"):
        assert Git(folder=tmp_path).ask("ls-remote", "--", address) is None

    assert not marker.exists()


def test_sec_15_another_address_cannot_be_put_in_place_of_ours(tmp_path: Path) -> None:
    repository, marker = make(tmp_path / "repository"), tmp_path / "marker"
    git(repository.folder, "config", f"url.ext::touch {marker} .insteadOf", "https://packages.example/")

    for reaching in (
        Git(folder=repository.folder),
        replace(Git(folder=repository.folder), reach=Reach(protocol="https")),
    ):
        assert reaching.ask("ls-remote", "https://packages.example/x") is None

    assert not marker.exists()
    plain = ["git", "-c", "protocol.ext.allow=always", "ls-remote", "https://packages.example/x"]
    subprocess.run(plain, cwd=repository.folder, env=PLAIN_GIT, capture_output=True, check=False, timeout=30)
    assert marker.exists(), "the trap does not work without the wrapper either"


def test_sec_18_objects_that_a_tree_lends_itself_are_not_read(tmp_path: Path) -> None:
    other = make(tmp_path / "other", {"secret.txt": "canary"})
    blob = git(other.folder, "rev-parse", "HEAD:secret.txt")
    repository = make(tmp_path / "repository")
    space = Workspaces(tmp_path / "work", checks()).make(repository, repository.resolve(), "one")
    put(
        space.tree,
        {".git/objects/info/alternates": f"{other.folder}/.git/objects\n", ".git/HEAD": "ref: refs/heads/x\n"},
    )
    (space.tree / ".git/refs").mkdir()

    space.absorb()
    own = Git(folder=space.tree, git_dir=tmp_path / "work/one/git")

    assert own.ask("cat-file", "-e", blob) is None
    put(
        space.tree,
        {".git/objects/info/alternates": f"{other.folder}/.git/objects\n", ".git/HEAD": "ref: refs/heads/x\n"},
    )
    (space.tree / ".git/refs").mkdir(exist_ok=True)
    lent = subprocess.run(
        ["git", "cat-file", "-p", blob], cwd=space.tree, env=PLAIN_GIT, capture_output=True, check=False
    )
    assert lent.stdout == b"canary", "the trap does not work without the wrapper either"


def test_a_failure_says_which_command_and_why(tmp_path: Path) -> None:
    make(tmp_path / "source")

    with pytest.raises(GitFailed) as failure:
        Git(folder=tmp_path / "source").run("cat-file", "blob", "nothing")

    assert "git cat-file failed (exit 128)" in str(failure.value)
    assert "nothing" in str(failure.value)


def test_a_missing_git_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(GitMissing, match="Install git"):
        Git(folder=tmp_path).run("version")


def test_a_full_disk_parks_the_run(tmp_path: Path) -> None:
    full = Git(folder=tmp_path, settings={"alias.fill": "!echo fatal: write error: No space left on device >&2; false"})

    with pytest.raises(Parked) as parked:
        full.run("fill")

    assert parked.value.cause is ParkCause.DISK


@pytest.mark.parametrize("name", ["$HOME", "f_${HOME}", "~root", "%HOME%", "-C", "a b\nc"])
def test_git_runs_in_exactly_the_folder_that_is_named(tmp_path: Path, name: str) -> None:
    tip = make(tmp_path / "other").resolve()
    os.rename(tmp_path / "other", tmp_path / name)

    found = Repository.open(tmp_path / name)

    assert (found.folder, found.resolve()) == (tmp_path / name, tip)


@pytest.mark.parametrize("folder", [".", "shop", "shop/../shop"])
def test_a_relative_folder_is_one_below_the_folder_of_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    monkeypatch.chdir(make(tmp_path).folder)
    (tmp_path / "shop").mkdir(exist_ok=True)
    top = Path(os.path.relpath(tmp_path, folder))

    found = Git(folder=Path(folder))
    named = replace(found, git_dir=top / ".git", work_tree=top)

    assert found.line("rev-parse", "--show-toplevel") == str(tmp_path)
    assert found.line("rev-parse", "--show-prefix") == named.line("rev-parse", "--show-prefix")
    assert named.line("rev-parse", "--show-toplevel") == str(tmp_path)


def test_a_folder_that_is_not_there_is_no_other_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(make(tmp_path / "here").folder)

    assert Git(folder=tmp_path / "gone").line("rev-parse", "--show-toplevel") is None
