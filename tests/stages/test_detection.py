"""Detection: which checks a tree of several languages shows, folder by folder, and which of them can run here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.types import CheckId
from stages.detection import Detected, detect, projects_apart, usable, why_not, without
from stages.lending import Lending
from stages.npm_scripts import runners
from stages.report import Check, CheckKind
from stages.toolchains import Language, Toolchains, language_of


def seen(files: Mapping[str, str]) -> tuple[Check, ...]:
    return detect(files, lambda path: files[path].encode() if path in files else None)


def package(script: str, **more: object) -> str:
    return json.dumps({"scripts": {"test": script}, "devDependencies": {"x": "1"}, **more})


def shown(files: Mapping[str, str]) -> dict[str, tuple[str, str, str]]:
    return {check.name: (check.kind.value, check.folder, check.results) for check in seen(files)}


def test_each_folder_of_a_monorepo_shows_its_own_checks() -> None:
    files = {
        "backend/pyproject.toml": "[tool.pytest.ini_options]\n",
        "backend/tests/test_a.py": "",
        "web/package.json": package("vitest run"),
        "api/go.mod": "module m",
        "api/a_test.go": "",
        "core/Cargo.toml": "[package]\n",
        "jvm/pom.xml": "<project/>",
        "jvm/inner/pom.xml": "<project/>",
        "app/build.gradle.kts": "",
        "web/node_modules/dep/package.json": package("jest"),
        "examples/one/package.json": package("jest"),
    }

    assert shown(files) == {
        "pytest-backend": ("pytest", "backend", ""),
        "vitest-web": ("junit", "web", "ticketsmith-results.xml"),
        "go-api": ("go", "api", ""),
        "cargo-core": ("cargo", "core", ""),
        "maven-jvm": ("junit", "jvm", "**/target/surefire-reports/*.xml"),
        "gradle-app": ("junit", "app", "**/build/test-results/test/*.xml"),
    }


def test_a_package_above_others_stands_for_them_and_a_go_module_does_not() -> None:
    files = {
        "package.json": package("jest"),
        "packages/a/package.json": package("jest"),
        "go.mod": "",
        "a_test.go": "",
        "tool/go.mod": "",
        "tool/b_test.go": "",
        "nothing/go.mod": "",
    }

    assert list(shown(files)) == ["jest", "go", "go-tool"]


@pytest.mark.parametrize(
    ("top", "program"),
    [
        ({"package.json": json.dumps({"workspaces": ["packages/*"]})}, "../../node_modules/.bin/vitest"),
        ({"package.json": "{}", "pnpm-workspace.yaml": "packages: ['packages/*']\n"}, "node_modules/.bin/vitest"),
    ],
)
def test_a_package_of_a_workspace_has_what_was_installed_for_all(
    top: dict[str, str], program: str, tmp_path: Path
) -> None:
    found = executable(tmp_path / "bin", "node")
    tools = Toolchains(path=str(found.parent))

    (check,) = seen({**top, "packages/web/package.json": package("vitest run")})

    assert (check.folder, check.arguments[0]) == ("packages/web", program)
    assert check.installed == ("../../node_modules", "node_modules")
    (tmp_path / "node_modules").mkdir()
    assert Lending(tmp_path).settled(check).installed == ("../../node_modules",)
    assert usable((check,), lambda check: why_not(check, tools, lambda place: False)).left_out == (
        "vitest-packages-web: node_modules is not installed; install the dependencies in your checkout",
    )


def test_a_node_test_of_a_workspace_is_no_program_of_it() -> None:
    (check,) = seen({"package.json": '{"workspaces": ["a"]}', "a/package.json": package("node --test")})

    assert check.arguments[:2] == ("node", "--test")


def test_unittest_files_that_pytest_would_not_find_are_a_check() -> None:
    files = {"tests.py": "import unittest\n", "setup.py": ""}

    (check,) = seen(files)

    assert (check.name, check.kind, check.arguments) == ("unittest", CheckKind.PYTEST, ("-o", "python_files=test*.py"))


def test_tests_outside_of_the_folders_with_settings_run_from_the_top() -> None:
    files = {"one/pytest.ini": "", "one/test_a.py": "", "test_b.py": ""}

    assert list(shown(files)) == ["pytest"]


WHOLE = Check(name=CheckId("pytest"), kind=CheckKind.PYTEST, arguments=("-q",))
PROJECTS = (
    *("pyproject.toml", "conftest.py", "tests/test_top.py", "packages/a/pyproject.toml", "packages/a/tests/test_a.py"),
    *("packages/b/setup.py", "packages/b/b/tests/test_b.py", "examples/c/setup.py", "examples/c/test_c.py"),
    *("packages/a/tests/fixtures/d/setup.py", "packages/a/tests/fixtures/d/test_d.py"),
)


@pytest.mark.parametrize(
    ("unread", "folders"),
    [
        (["packages/a/tests/test_a.py"], ["packages/a"]),
        (["packages/a/tests", "packages/b"], ["packages/a", "packages/b"]),
        (["packages/b/b/tests/test_b.py", "packages/a/tests/fixtures/d/test_d.py"], ["packages/a", "packages/b"]),
        (["tests/test_top.py"], []),
        (["examples/c/test_c.py"], []),
        ([], []),
    ],
)
def test_what_cannot_be_read_leads_to_the_projects_that_it_lies_in(unread: list[str], folders: list[str]) -> None:
    apart = projects_apart(WHOLE, unread, PROJECTS)

    assert [check.folder for check in apart] == folders
    assert all(check.arguments == ("-q",) for check in apart)
    assert without(WHOLE, apart).arguments == ("-q", *(f"--ignore={folder}" for folder in folders))


def test_two_folders_whose_names_are_alike_are_two_checks() -> None:
    files = {"a.b/Cargo.toml": "", "a-b/Cargo.toml": ""}

    assert list(shown(files)) == ["cargo-a-b", "cargo-a-b-2"]


@pytest.mark.parametrize(
    ("script", "arguments"),
    [
        ("vitest", "node_modules/.bin/vitest run"),
        ("pnpm lint && pnpm vitest run --coverage", "node_modules/.bin/vitest run --coverage"),
        ("vitest --watch", "node_modules/.bin/vitest run"),
        ("c8 --100 node --test test/", "node --test"),
        ("npx jest jest.test.js --watchAll", "node_modules/.bin/jest jest.test.js"),
        ("mocha 'test/**/*.js'", "node_modules/.bin/mocha test/**/*.js"),
        ("tap test/*.js", "npm test --silent"),
        ("jest | tee log", "npm test --silent"),
        ("cd lib && make", "npm test --silent"),
        ('bad "quote', "npm test --silent"),
    ],
)
def test_a_script_shows_what_runs_its_tests(script: str, arguments: str) -> None:
    (runner,) = runners(package(script).encode())

    assert " ".join(runner.arguments).startswith(arguments)
    assert (runner.kind is CheckKind.COMMAND) == (runner.name == "npm")


def test_variables_in_front_of_a_runner_are_kept() -> None:
    (runner,) = runners(package("cross-env TZ=UTC NODE_ENV=test jest").encode())

    assert runner.environment == (("TZ", "UTC"), ("NODE_ENV", "test"))


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"{}", b'{"scripts": []}', package('echo "Error: no test specified" && exit 1').encode()],
)
def test_a_package_without_tests_shows_no_check(data: bytes) -> None:
    assert runners(data) == ()


@given(st.text(max_size=80))
def test_no_script_brings_more_than_a_runner(script: str) -> None:
    for runner in runners(json.dumps({"scripts": {"test": script}}).encode()):
        assert runner.arguments


# --- what can run here -----------------------------------------------------------------------------------------------


def executable(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)
    return folder / name


CARGO = Check(name=CheckId("cargo"), kind=CheckKind.CARGO, arguments=("cargo", "test"))
JEST = Check(
    name=CheckId("jest"), kind=CheckKind.JEST, arguments=("node_modules/.bin/jest",), installed=("node_modules",)
)


def test_a_check_whose_toolchain_is_missing_is_left_out_with_the_reason(tmp_path: Path) -> None:
    tools = Toolchains(path=str(tmp_path))

    found = usable((CARGO, JEST), lambda check: why_not(check, tools, lambda place: True))

    assert found == Detected(
        left_out=(
            "cargo: the toolchain of rust is not on this machine; install it",
            "jest: the toolchain of node is not on this machine; install it",
        )
    )


def test_a_check_whose_dependencies_are_not_installed_is_left_out_with_the_reason(tmp_path: Path) -> None:
    executable(tmp_path / "bin", "node")
    tools = Toolchains(path=str(tmp_path / "bin"))

    assert usable((JEST,), lambda check: why_not(check, tools, lambda place: place == "node_modules")).checks == (JEST,)
    assert why_not(JEST, tools, lambda place: False) == (
        "node_modules is not installed; install the dependencies in your checkout"
    )


def test_more_checks_than_a_run_takes_are_told_by_name(tmp_path: Path) -> None:
    files = {f"part{number:02}/{name}": "" for number in range(14) for name in ("pytest.ini", "test_a.py")}

    found = usable(seen(files), lambda check: why_not(check, Toolchains(path=str(tmp_path)), lambda place: True))

    assert [check.folder for check in found.checks] == [f"part{number:02}" for number in range(12)]
    assert found.left_out == tuple(
        f"pytest-part{number}: a run takes 12 detected checks at most; name the ones it needs under [checks]"
        for number in (12, 13)
    )


def test_a_program_that_no_toolchain_has_is_missing_too(tmp_path: Path) -> None:
    executable(tmp_path / "bin", "java")
    check = Check(name=CheckId("gradle"), kind=CheckKind.JUNIT, arguments=("gradle", "test"))

    told = why_not(check, Toolchains(path=str(tmp_path / "bin")), lambda place: True)

    assert told == "the program gradle is not on this machine; install it"


def test_rust_by_rustup_is_the_default_toolchain_with_the_caches_of_home(tmp_path: Path) -> None:
    rustup = executable(tmp_path / "cargo" / "bin", "rustup")
    (rustup.parent / "cargo").symlink_to(rustup)
    (tmp_path / ".cargo" / "registry").mkdir(parents=True)
    executable(tmp_path / ".rustup" / "toolchains" / "stable-x" / "bin", "cargo")
    (tmp_path / ".rustup" / "settings.toml").write_text('default_toolchain = "stable-x"\n')
    tools = Toolchains(path=str(rustup.parent), home=tmp_path)

    found = tools.of(CARGO)

    assert found is not None
    assert found.path == (tmp_path / ".rustup/toolchains/stable-x/bin",)
    assert tmp_path / ".cargo/registry" in found.readable
    assert found.environment["CARGO_HOME"] == str(tmp_path / ".cargo")
    (tmp_path / ".rustup" / "settings.toml").write_text('default_toolchain = "../../etc"\n')
    assert Toolchains(path=str(rustup.parent), home=tmp_path).of(CARGO) is None


def test_go_unpacks_from_what_was_downloaded_and_asks_no_network(tmp_path: Path) -> None:
    executable(tmp_path / "go" / "bin", "go")
    downloads = tmp_path / "home" / "go" / "pkg" / "mod" / "cache" / "download"
    downloads.mkdir(parents=True)
    check = Check(name=CheckId("go"), kind=CheckKind.GO, arguments=("go", "test", "-json", "./..."))

    found = Toolchains(path=str(tmp_path / "go" / "bin"), home=tmp_path / "home").of(check)

    assert found is not None
    assert found.environment["GOPROXY"] == f"file://{downloads}"
    assert found.readable == (tmp_path / "go", downloads)


def test_java_brings_maven_and_its_repository_which_is_gradles_too(tmp_path: Path) -> None:
    for name in ("java", "mvn"):
        executable(tmp_path / "jdk" / "bin", name)
    (tmp_path / ".m2" / "repository").mkdir(parents=True)
    check = Check(name=CheckId("m"), kind=CheckKind.JUNIT, arguments=("mvn", "test"), results="**/*.xml")

    found = Toolchains(path=str(tmp_path / "jdk" / "bin"), home=tmp_path).of(check)

    assert found is not None
    for options in ("MAVEN_OPTS", "GRADLE_OPTS"):
        assert found.environment[options] == f"-Dmaven.repo.local={tmp_path}/.m2/repository"
    assert tmp_path / ".m2" / "repository" in found.readable


@pytest.mark.parametrize(
    ("arguments", "language"),
    [
        (("./mvnw", "test"), Language.JAVA),
        (("web/node_modules/.bin/anything",), Language.NODE),
        (("make", "test"), None),
        ((), None),
    ],
)
def test_the_toolchain_of_a_command_shows_in_its_program(arguments: tuple[str, ...], language: Language | None) -> None:
    assert language_of(Check(name=CheckId("c"), kind=CheckKind.COMMAND, arguments=arguments)) is language
