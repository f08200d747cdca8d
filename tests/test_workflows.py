"""The CI job as it is shipped: pinned, with the least permissions, and without a word of strangers in a script."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml  # type: ignore[import-untyped]

ROOT: Final = Path(__file__).parent.parent
FILES: Final = sorted((ROOT / ".github").rglob("*.yml"))
ACTION: Final = ROOT / ".github" / "actions" / "ticketsmith"
ZIZMOR: Final = Path(sys.executable).parent / "zizmor"
# Nothing in here was written by a stranger: numbers, paths of the runner, what the caller of the workflow sets.
HARMLESS: Final = re.compile(
    r"inputs\.[a-z-]+|steps\.run\.outputs\.bundle|needs\.work\.outputs\.bundle|runner\.temp|github\.(token|api_url|ref)"
    r"|github\.event\.issue\.number|secrets\.model-key|matrix\.python"
)


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    return found


def steps(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for job in document.get("jobs", {}).values():
        yield from job.get("steps", ())
    yield from document.get("runs", {}).get("steps", ())


WORKFLOW: Final = read(ROOT / ".github" / "workflows" / "ticketsmith.yml")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_r65_everything_that_is_used_is_pinned_by_its_commit(path: Path) -> None:
    used = [step["uses"] for step in steps(read(path)) if "uses" in step]

    loose = [one for one in used if not re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", one)]
    assert [one for one in loose if one != "./ticketsmith/.github/actions/ticketsmith"] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_sec_34_no_script_holds_an_expression_and_no_expression_holds_a_stranger_s_text(path: Path) -> None:
    scripts = [step["run"] for step in steps(read(path)) if "run" in step]
    expressions = re.findall(r"\$\{\{\s*(.*?)\s*\}\}", path.read_text("utf-8"))

    assert [script for script in scripts if "${{" in script] == []
    assert [one for one in expressions if not HARMLESS.fullmatch(one)] == []


def test_the_job_that_works_reads_and_the_job_that_publishes_has_no_key() -> None:
    work, publish = WORKFLOW["jobs"]["work"], WORKFLOW["jobs"]["publish"]

    assert WORKFLOW["permissions"] == {}
    assert work["permissions"] == {"contents": "read", "issues": "read"}
    assert publish["permissions"] == {
        "contents": "write", "issues": "write", "pull-requests": "write", "checks": "write",
    }  # fmt: skip
    assert "secrets." not in str(publish)
    assert {step["with"]["persist-credentials"] for step in steps(WORKFLOW) if "checkout" in step.get("uses", "")} == {
        False
    }


def test_the_job_that_publishes_runs_nothing_of_the_repository() -> None:
    publishing = WORKFLOW["jobs"]["publish"]["steps"]

    assert [step for step in publishing if "run" in step] == []
    assert [step["with"]["do"] for step in publishing if step["uses"].startswith("./ticketsmith")] == ["publish"]


def test_the_markers_are_checked_before_the_work() -> None:
    doing = [step["with"]["do"] for step in WORKFLOW["jobs"]["work"]["steps"] if "do" in step.get("with", {})]

    assert doing == ["markers", "work"]


def test_r5_runs_of_different_issues_do_not_push_each_other_out_of_the_queue() -> None:
    for job in WORKFLOW["jobs"].values():
        assert "github.event.issue.number" in job["concurrency"]["group"]
        assert job["concurrency"]["cancel-in-progress"] is False


@pytest.mark.skipif(not ZIZMOR.exists(), reason="zizmor is not in this environment")
def test_sec_34_zizmor_finds_nothing() -> None:
    done = subprocess.run(
        [str(ZIZMOR), "--offline", "--no-progress", "--no-config", str(ROOT / ".github")],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"},
        timeout=60,
    )

    assert done.returncode == 0, done.stdout


# --- The shell lines, run here -------------------------------------------------------------------------------------


def script(name: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": f"{folder / 'tools'}:{os.environ['PATH']}",
        "HOME": str(folder),
        "RUNNER_TEMP": str(folder / "temp"),
        "GITHUB_ACTION_PATH": str(ACTION),
        "GITHUB_OUTPUT": str(folder / "output"),
        **variables,
    }
    command = ["bash", str(ACTION / name)]
    return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=120)


def program(folder: Path, text: str = 'echo "$@"') -> None:
    """A program in the place of ours."""
    path = folder / "temp" / "ticketsmith" / "bin" / "ticketsmith"
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.mark.parametrize(
    ("variables", "called"),
    [
        ({"DO": "work", "MODEL": "a/b c"}, "ci --repo t --bundle b.json --model a/b c"),
        ({"DO": "work", "MODEL": ""}, "ci --repo t --bundle b.json"),
        ({"DO": "publish", "MODEL": ""}, "ci publish b.json --repo t"),
        ({"DO": "markers", "MODEL": ""}, "markers"),
    ],
)
def test_a_step_calls_the_program(tmp_path: Path, variables: dict[str, str], called: str) -> None:
    program(tmp_path)

    done = script("run.sh", tmp_path, BUNDLE="b.json", TARGET="t", **variables)

    assert (done.returncode, done.stdout) == (0, f"{called}\n")


@pytest.mark.parametrize(("leaves", "output"), [("touch b.json", "bundle=true\n"), ("true", None)])
def test_a_bundle_that_was_left_is_told(tmp_path: Path, leaves: str, output: str | None) -> None:
    program(tmp_path, leaves)

    script("run.sh", tmp_path, DO="work", MODEL="", BUNDLE="b.json", TARGET=".")

    told = tmp_path / "output"
    assert (told.read_text() if told.exists() else None) == output


def test_a_step_that_fails_is_red_and_one_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    program(tmp_path, "exit 7")

    failed = script("run.sh", tmp_path, DO="publish", BUNDLE="b", TARGET=".", MODEL="")
    unknown = script("run.sh", tmp_path, DO="rm -rf /", BUNDLE="b", TARGET=".", MODEL="")

    assert (failed.returncode, unknown.returncode) == (7, 2)


def test_the_environment_holds_the_program_and_nothing_of_the_folder_it_is_called_in(tmp_path: Path) -> None:
    # The libraries of this environment stand in for those that pip would bring: it is not called here.
    made = tmp_path / "temp" / "ticketsmith"
    tools = tmp_path / "tools"
    tools.mkdir()
    fake = tools / "python-for-test"
    site = Path(yaml.__file__).parent.parent
    fake.write_text(
        f'#!/bin/sh\n"{sys.executable}" -m venv --without-pip "$3"\n'
        'mv "$3/bin/python" "$3/bin/real"\n'
        'printf \'#!/bin/sh\\n[ "$2" = pip ] || exec "%s/bin/real" "$@"\\n\' "$3" >"$3/bin/python"\n'
        'chmod +x "$3/bin/python"\n'
        f'echo "{site}" >"$(ls -d "$3"/lib/python*/site-packages)/libraries.pth"\n'
    )
    fake.chmod(0o755)
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot" / "__init__.py").write_text("raise SystemExit('the repository was imported')")

    installed = script("install.sh", tmp_path, PYTHON=str(fake), DO="publish")
    done = subprocess.run(
        [str(made / "bin" / "ticketsmith"), "ci", "--help"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert installed.returncode == 0, installed.stderr
    assert done.returncode == 0, done.stderr
    assert "ticketsmith ci publish" in done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not here")
@pytest.mark.parametrize(("commit", "status"), [("a" * 40, 0), ("main", 1), ("a" * 39, 1), ("a" * 40 + "\n", 1)])
def test_the_pin_of_the_program_must_be_a_whole_commit(commit: str, status: int) -> None:
    lines = WORKFLOW["jobs"]["work"]["steps"][0]["run"]

    done = subprocess.run(["bash", "-e", "-c", lines], env={"COMMIT": commit}, capture_output=True)

    assert done.returncode == status
