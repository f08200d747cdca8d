"""Which steps lock files ask for: those that there is one way to take."""

from __future__ import annotations

import pytest

from stages.installs import Install, detect_installs


def detected(files: dict[str, str]) -> dict[str, Install]:
    return {step.name: step for step in detect_installs(files, lambda path: files[path].encode())}


def test_each_kind_of_lock_file_asks_for_its_step() -> None:
    files = {
        "requirements.txt": "a==1\n",
        "web/package.json": "{}",
        "web/package-lock.json": "{}",
        "go.mod": "",
        "go.sum": "",
        "Cargo.toml": "",
        "Cargo.lock": "",
    }

    found = detected(files)

    assert list(found) == [
        "pip install of requirements.txt",
        "npm ci in web",
        "go mod download in .",
        "cargo fetch in .",
    ]
    assert all(step.detected for step in found.values())


def test_a_step_sees_what_its_tool_reads_and_nothing_else() -> None:
    files = {
        "package.json": "{}",
        "package-lock.json": "{}",
        ".npmrc": "",
        "packages/a/package.json": "{}",
        "packages/a/index.js": "",
        "node_modules/b/package.json": "{}",
        "other.package.json": "{}",
    }

    (step,) = detected(files).values()

    assert step.files == (".npmrc", "package-lock.json", "package.json", "packages/a/package.json")
    assert step.keeps == ("node_modules", "packages/a/node_modules")


def test_uv_goes_before_requirements() -> None:
    found = detected({"uv.lock": "", "pyproject.toml": "", "requirements.txt": "a\n"})

    assert list(found) == ["uv sync"]
    assert found["uv sync"].program == "uv"


def test_requirements_that_name_each_other_are_one_step() -> None:
    found = detected({"requirements.txt": "a\n", "requirements-dev.txt": "-r requirements.txt\nb --hash=sha256:0\n"})

    assert found["pip install of requirements.txt, requirements-dev.txt"].files == (
        "requirements.txt",
        "requirements-dev.txt",
    )


@pytest.mark.parametrize(
    "line",
    [
        "-e .",
        "--editable=.",
        ".",
        "./libs/a",
        "../a",
        "/opt/a",
        "file:///opt/a",
        "a @ file:///opt/a",
        "-r other.txt",
        "-c limits.txt",
        "--requirement \\\nother.txt",
    ],
)
def test_requirements_that_reach_out_of_their_file_are_no_step(line: str) -> None:
    assert detected({"requirements.txt": f"a==1\n{line}\n"}) == {}
    assert len(detected({"requirements.txt": f"a==1\n# {line}\n"})) == 1


@pytest.mark.parametrize(
    "files",
    [
        {"package-lock.json": ""},
        {"examples/x/package.json": "", "examples/x/package-lock.json": ""},
        {"a/b/c/d/go.mod": "", "a/b/c/d/go.sum": ""},
        {"go.sum": ""},
        {"uv.lock": ""},
        {"docs/requirements.txt": "a"},
    ],
    ids=lambda files: next(iter(files)),
)
def test_what_is_no_project_of_the_tree_is_no_step(files: dict[str, str]) -> None:
    assert detected(files) == {}
