"""The interpreter that a repository names, and that no repository opens with it what lies elsewhere on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.errors import ForeignInterpreter, NoInterpreter, WrongSetting
from bot.interpreter import interpreter
from bot.leaving import sentence
from bot.repository_config import RepositoryConfig, read_repository_config
from stages.repository import Repository
from stages.sandbox import needed_by
from tests.stages.repositories import commit, git, make

PYTHON = ".venv/bin/python"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return make(tmp_path / "checkout", {"a.py": ""})


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A folder that no test of the repository may read; it looks like an environment, as a home folder may."""
    folder = tmp_path / "secret"
    environment(folder)
    (folder / "lib" / "key").write_text("secret")
    return folder


def environment(folder: Path) -> Path:
    """A virtual environment of our own interpreter, in short."""
    for name in ("bin", "lib"):
        (folder / name).mkdir(parents=True)
    (folder / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).resolve().parent}\n")
    (folder / "bin" / "python").symlink_to(Path(sys.executable).resolve())
    return folder / "bin" / "python"


def opens(python: Path, secret: Path) -> bool:
    return any(path.resolve().is_relative_to(secret) for path in needed_by(python))


# --- Which one -----------------------------------------------------------------------------------------------------


def test_a_name_is_looked_up_on_the_path(
    tmp_path: Path, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = environment(tmp_path / "mine").rename(tmp_path / "mine" / "bin" / "python3.99")
    monkeypatch.setenv("PATH", os.pathsep.join((str(here.parent), os.environ["PATH"])))

    assert interpreter(RepositoryConfig(python="python3.99"), repository) == here


@pytest.mark.parametrize("named", [PYTHON, ""])
def test_an_environment_that_was_made_in_the_checkout_is_taken(named: str, repository: Repository) -> None:
    here = environment(repository.folder / ".venv")

    assert interpreter(RepositoryConfig(python=named), repository) == here


def test_an_environment_elsewhere_is_taken_through_a_link_that_git_does_not_track(
    tmp_path: Path, repository: Repository
) -> None:
    environment(tmp_path / "elsewhere")
    (repository.folder / ".venv").symlink_to(tmp_path / "elsewhere")

    assert interpreter(RepositoryConfig(), repository) == repository.folder / PYTHON


def test_a_real_environment_is_taken(repository: Repository) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(repository.folder / "venv")], check=True)

    assert interpreter(RepositoryConfig(), repository) == repository.folder / "venv" / "bin" / "python"


@pytest.mark.parametrize("python", ["python9.9", "tools/python"])
def test_what_is_not_there_is_told_with_both_forms(python: str, repository: Repository) -> None:
    with pytest.raises(NoInterpreter) as told:
        interpreter(RepositoryConfig(python=python), repository)

    assert f"{python} of this repository is not there" in sentence(told.value)
    assert "on PATH, such as python3.12" in sentence(told.value)
    assert ".venv/bin/python" in sentence(told.value)


def folder(place: Path) -> None:
    place.mkdir()


def no_program(place: Path) -> None:
    place.touch()


def script(place: Path) -> None:
    place.write_text("#!/bin/sh\n")
    place.chmod(0o755)


@pytest.mark.parametrize(("put", "told"), [(folder, "no program"), (no_program, "no program"), (script, "leads to")])
def test_what_is_no_interpreter_is_refused(put: Callable[[Path], None], told: str, repository: Repository) -> None:
    (repository.folder / "tools").mkdir()
    put(repository.folder / "tools" / "python")

    with pytest.raises(NoInterpreter, match=told):
        interpreter(RepositoryConfig(python="tools/python"), repository)


# --- Of a folder ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("places", "taken"),
    [
        (("packages/a/.venv", "packages/.venv", ".venv"), "packages/a/.venv"),
        (("packages/a/venv", "packages/.venv", ".venv"), "packages/a/venv"),
        (("packages/a/.venv", "packages/a/venv"), "packages/a/.venv"),
        (("packages/venv", ".venv"), "packages/venv"),
        (("packages/a/src/.venv", "packages/b/.venv", ".venv"), ".venv"),
        (("venv",), "venv"),
    ],
)
def test_the_environment_that_lies_nearest_to_a_folder_is_taken(
    places: tuple[str, ...], taken: str, repository: Repository
) -> None:
    for place in places:
        environment(repository.folder / place)

    found = interpreter(RepositoryConfig(), repository, "packages/a")

    assert found == repository.folder / taken / "bin" / "python"


@pytest.mark.parametrize("folder", [".", "packages/a"])
def test_without_an_environment_on_the_way_up_it_is_ours(folder: str, repository: Repository) -> None:
    environment(repository.folder.parent / ".venv")
    environment(repository.folder / "packages" / "b" / ".venv")

    assert interpreter(RepositoryConfig(), repository, folder) == Path(sys.executable)


def test_what_the_repository_names_goes_before_the_environment_of_a_folder(repository: Repository) -> None:
    named = environment(repository.folder / "tools")
    environment(repository.folder / "packages" / "a" / ".venv")

    assert interpreter(RepositoryConfig(python="tools/bin/python"), repository, "packages/a") == named


def test_an_environment_hurts_no_folder_but_those_below_it(repository: Repository) -> None:
    good = environment(repository.folder / ".venv")
    (repository.folder / "packages" / "b" / "venv" / "bin").mkdir(parents=True)
    script(repository.folder / "packages" / "b" / "venv" / "bin" / "python")

    assert interpreter(RepositoryConfig(), repository, "packages/a") == good
    with pytest.raises(NoInterpreter, match="packages/b/venv/bin/python of this repository leads to none"):
        interpreter(RepositoryConfig(), repository, "packages/b")


# --- What a repository cannot do -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "python", ["/home/u/.ssh", "/usr/bin/python3", "~/.ssh", "~u/x", "../x/bin/python", "a/../../x", "a/..", ".."]
)
def test_no_setting_names_a_place_outside_the_repository(python: str) -> None:
    with pytest.raises(WrongSetting, match="a path inside the repository"):
        read_repository_config(f"python = '{python}'".encode())


@pytest.mark.parametrize("python", ["python3.12", ".venv/bin/python", "tools/py..thon", "envs/a b/bin/python", "..a/b"])
def test_names_and_paths_inside_are_read(python: str) -> None:
    assert read_repository_config(f"python = '{python}'".encode()).python == python


def linked_program(checkout: Path, secret: Path) -> None:
    environment(checkout / ".venv")
    (checkout / PYTHON).unlink()
    (checkout / PYTHON).symlink_to(secret / "bin" / "python")


def home_of_an_environment(checkout: Path, secret: Path) -> None:
    environment(checkout / ".venv")
    (checkout / ".venv" / "pyvenv.cfg").write_text(f"home = {secret}/bin\n")


def linked_environment(checkout: Path, secret: Path) -> None:
    (checkout / ".venv").symlink_to(secret)


def linked_library(checkout: Path, secret: Path) -> None:
    environment(checkout / ".venv")
    (checkout / ".venv" / "lib").rmdir()
    (checkout / ".venv" / "lib").symlink_to(secret / "lib")


def link_to_a_link(checkout: Path, secret: Path) -> None:
    (checkout / "docs").symlink_to(secret)
    (checkout / ".venv").symlink_to("a/../docs")
    (checkout / "a").mkdir()


ATTACKS = [linked_program, home_of_an_environment, linked_environment, linked_library, link_to_a_link]


@pytest.mark.parametrize("named", [PYTHON, ""])
@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_that_git_tracks_decides_what_is_opened(
    attack: Callable[[Path, Path], None], named: str, repository: Repository, secret: Path
) -> None:
    attack(repository.folder, secret)
    commit(repository.folder)

    assert opens(repository.folder / PYTHON, secret), "the attack does not work: this test would prove nothing"
    with pytest.raises(ForeignInterpreter) as told:
        interpreter(RepositoryConfig(python=named), repository)
    assert "take .venv" in sentence(told.value) or "take docs" in sentence(told.value)
    assert "python3.12" in sentence(told.value)


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_that_git_tracks_decides_what_is_opened_for_a_folder(
    attack: Callable[[Path, Path], None], repository: Repository, secret: Path
) -> None:
    project = repository.folder / "packages" / "a"
    project.mkdir(parents=True)
    attack(project, secret)
    commit(repository.folder)

    assert opens(project / PYTHON, secret), "the attack does not work: this test would prove nothing"
    for folder in ("packages/a", "packages/a/src"):
        with pytest.raises(ForeignInterpreter, match="take packages/a/"):
            interpreter(RepositoryConfig(), repository, folder)


def test_a_folder_that_is_a_tracked_link_opens_no_environment_behind_it(repository: Repository, secret: Path) -> None:
    environment(secret / ".venv")
    (repository.folder / "packages").symlink_to(secret.parent)
    commit(repository.folder)

    with pytest.raises(ForeignInterpreter, match="take packages out"):
        interpreter(RepositoryConfig(), repository, "packages/secret")


@pytest.mark.parametrize("attack", ATTACKS)
def test_the_same_made_by_a_person_is_the_persons_choice(
    attack: Callable[[Path, Path], None], repository: Repository, secret: Path
) -> None:
    attack(repository.folder, secret)

    assert interpreter(RepositoryConfig(), repository) == repository.folder / PYTHON


def test_a_link_that_is_tracked_behind_a_persons_own_is_found(repository: Repository, secret: Path) -> None:
    (repository.folder / "envs").mkdir()
    (repository.folder / "envs" / "dev").symlink_to(secret)
    commit(repository.folder)
    (repository.folder / ".venv").symlink_to("envs/dev")

    with pytest.raises(ForeignInterpreter, match="envs/dev"):
        interpreter(RepositoryConfig(), repository)


def test_an_environment_in_a_submodule_is_the_repositorys(repository: Repository, secret: Path) -> None:
    inner = make(repository.folder / ".venv", {"a": ""}).folder
    (inner / "bin").mkdir()
    (inner / "bin" / "python").symlink_to(secret / "bin" / "python")
    head = commit(inner)
    git(repository.folder, "update-index", "--add", "--cacheinfo", f"160000,{head},.venv")

    with pytest.raises(ForeignInterpreter, match=r"\.venv"):
        interpreter(RepositoryConfig(), repository)


def test_a_name_that_path_finds_in_the_checkout_is_the_repositorys(
    repository: Repository, secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository.folder / "python3.99").symlink_to(secret / "bin" / "python")
    commit(repository.folder)
    monkeypatch.setenv("PATH", os.pathsep.join((".", os.environ["PATH"])))
    monkeypatch.chdir(repository.folder)

    with pytest.raises(ForeignInterpreter, match=r"python3\.99"):
        interpreter(RepositoryConfig(python="python3.99"), repository)
