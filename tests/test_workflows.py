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

from tests.bot.ci.condition import holds
from tests.bot.ci.workflow import LOOKS, READS, RECEIVES, WRITES

ROOT: Final = Path(__file__).parent.parent
FILES: Final = sorted((ROOT / ".github").rglob("*.yml"))
ACTION: Final = ROOT / ".github" / "actions" / "ticketsmith"
ZIZMOR: Final = Path(sys.executable).parent / "zizmor"
# Nothing in here was written by a stranger: numbers, paths of the runner, what the caller of the workflow sets.
HARMLESS: Final = re.compile(
    r"inputs\.[a-z-]+|steps\.run\.outputs\.[a-z]+|runner\.temp|github\.(token|api_url|ref)"
    r"|github\.event\.repository\.default_branch|secrets\.model-key|matrix\.(python|issue)"
    r"|(fromJSON\()?needs\.look\.outputs\.(issues\)|aside|stops)( [!=]= '(true)?')?"
)


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    return found


def steps(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for job in document.get("jobs", {}).values():
        yield from job.get("steps", ())
    yield from document.get("runs", {}).get("steps", ())


WORKFLOWS: Final = ROOT / ".github" / "workflows"
CALLED: Final = read(WORKFLOWS / "ticketsmith.yml")
OF_ISSUE: Final = read(WORKFLOWS / "ticketsmith-issue.yml")
JOBS: Final = {**CALLED["jobs"], **OF_ISSUE["jobs"]}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_r65_everything_that_is_used_is_pinned_by_its_commit(path: Path) -> None:
    used = [step["uses"] for step in steps(read(path)) if "uses" in step]

    loose = [one for one in used if not re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", one)]
    assert [one for one in loose if one != "./ticketsmith/.github/actions/ticketsmith"] == []  # of the pinned checkout


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_sec_34_no_script_holds_an_expression_and_no_expression_holds_a_stranger_s_text(path: Path) -> None:
    scripts = [step["run"] for step in steps(read(path)) if "run" in step]
    expressions = re.findall(r"\$\{\{\s*(.*?)\s*\}\}", path.read_text("utf-8"))

    assert [script for script in scripts if "${{" in script] == []
    assert [one for one in expressions if not HARMLESS.fullmatch(one)] == []


def test_sec_21_each_job_has_the_permissions_that_its_tests_run_with() -> None:
    def granted(name: str) -> dict[str, str]:
        return {what.replace("-", "_"): level for what, level in JOBS[name]["permissions"].items()}

    assert (CALLED["permissions"], OF_ISSUE["permissions"]) == ({}, {})
    assert (granted("look"), granted("receive")) == (LOOKS, RECEIVES)
    assert (granted("work"), granted("publish")) == (READS, WRITES)
    every = [granted(name).items() for name in ("look", "receive", "work", "publish")]
    assert granted("issue").items() >= {pair for pairs in every for pair in pairs if pair[1] == "write"}


def test_only_the_job_that_works_has_a_key_and_only_jobs_that_run_nothing_can_write() -> None:
    keys = {name for name, job in OF_ISSUE["jobs"].items() if "secrets." in str(job)}
    doing = {name: [step["with"]["do"] for step in job["steps"] if "do" in step.get("with", {})]
             for name, job in JOBS.items() if "steps" in job}  # fmt: skip

    assert (keys, "write" in JOBS["work"]["permissions"].values()) == ({"work"}, False)
    assert doing == {
        "look": ["look"], "receive": ["receive"], "work": ["markers", "work"], "publish": ["publish"]
    }  # fmt: skip
    assert [step for name in ("receive", "publish") for step in JOBS[name]["steps"] if "run" in step] == []


def test_no_checkout_keeps_a_credential_and_each_of_the_repository_is_of_its_default_branch() -> None:
    outs = [
        step["with"] for job in JOBS.values() for step in job.get("steps", ()) if "checkout" in step.get("uses", "")
    ]

    assert {one["persist-credentials"] for one in outs} == {False}
    branch = "${{ github.event.repository.default_branch }}"
    assert [one["ref"] for one in outs if one["path"] == "target"] == [branch] * 4


def test_r5_jobs_of_an_issue_wait_for_each_other_and_nobody_else_is_pushed_out() -> None:
    group = JOBS["issue"]["concurrency"]

    assert group["group"] == "ticketsmith-${{ matrix.issue }}${{ needs.look.outputs.aside }}"
    assert group["cancel-in-progress"] == "${{ needs.look.outputs.stops == 'true' }}"
    assert [name for name, job in JOBS.items() if "concurrency" in job] == ["issue"]
    assert JOBS["issue"]["uses"] == "./.github/workflows/ticketsmith-issue.yml"
    # YAML 1.1 reads `on` as true.
    (triggers,) = (value for key, value in OF_ISSUE.items() if str(key) in ("on", "True"))
    assert set(JOBS["issue"]["with"]) == set(triggers["workflow_call"]["inputs"])


def issue(*labels: str, **more: Any) -> dict[str, Any]:
    return {"issue": {"labels": [{"name": name} for name in labels]}, **more}


def said(body: str, by: str) -> dict[str, Any]:
    return issue(comment={"body": body, "author_association": by})


def pull(branch: str, of: str = "acme/shop", **more: Any) -> dict[str, Any]:
    return {"pull_request": {"head": {"ref": branch, "repo": {"full_name": of}}}, **more}


def ran(branch: str, of: str = "acme/shop") -> dict[str, Any]:
    return {"workflow_run": {"head_branch": branch, "head_repository": {"full_name": of}}}


OURS: Final = "ticketsmith/issue-7"


@pytest.mark.parametrize(
    ("name", "event", "looked_at"),
    [
        ("issues", issue("fix it", action="labeled", label={"name": "Fix it"}), True),
        ("issues", issue("fix it", action="labeled", label={"name": "bug"}), False),
        ("issues", issue(action="unlabeled", label={"name": "fix it"}), True),
        ("issues", issue("fix it", action="opened"), True),
        ("issues", issue("bug", action="opened"), False),
        ("issues", issue("ticketsmith:pr", action="closed"), True),
        ("issues", issue(action="closed"), False),
        ("issue_comment", said("/ticketsmith stop", "MEMBER"), True),
        ("issue_comment", said("/ticketsmith stop", "CONTRIBUTOR"), True),
        ("issue_comment", said("/ticketsmith stop", "NONE"), False),
        ("issue_comment", said("/ticketsmith stop", "FIRST_TIMER"), False),
        ("issue_comment", said("/ticketsmith stop", "FIRST_TIME_CONTRIBUTOR"), False),
        ("issue_comment", said("I agree.", "OWNER"), False),
        ("pull_request", pull(OURS, action="closed"), True),
        ("pull_request", pull(OURS, "bob/shop", action="closed"), False),
        ("pull_request_review", pull("feature", action="submitted"), False),
        ("pull_request_review", pull(OURS, action="submitted"), True),
        ("check_suite", {"check_suite": {"head_branch": OURS}}, True),
        ("check_suite", {"check_suite": {"head_branch": None}}, False),
        ("workflow_run", ran(OURS), True),
        ("workflow_run", ran(OURS, "bob/shop"), False),
        ("workflow_run", ran("main"), False),
        ("deployment_status", {}, True),
        ("schedule", {}, True),
        ("push", {}, False),
    ],
)
def test_r5_an_event_is_looked_at_only_when_it_may_be_about_us(
    name: str, event: dict[str, Any], looked_at: bool
) -> None:
    github = {"event_name": name, "event": event, "repository": "acme/shop"}

    assert holds(JOBS["look"]["if"], {"github": github, "inputs": {"label": "fix it"}}) is looked_at


@pytest.mark.parametrize(("issues", "goes_on"), [("", False), ("[]", False), ("[7]", True)])
def test_jobs_of_issues_follow_only_where_the_look_found_some(issues: str, goes_on: bool) -> None:
    assert holds(JOBS["issue"]["if"], {"needs": {"look": {"outputs": {"issues": issues}}}}) is goes_on


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
        ({"DO": "look"}, "ci look --repo t"),
        ({"DO": "receive"}, "ci receive --repo t --issue 7"),
        ({"DO": "receive", "ASIDE": "true"}, "ci receive --repo t --issue 7 --aside"),
        ({"DO": "work", "MODEL": "a/b c"}, "ci --repo t --issue 7 --bundle b.json --model a/b c"),
        ({"DO": "work"}, "ci --repo t --issue 7 --bundle b.json"),
        ({"DO": "publish"}, "ci publish b.json --repo t --issue 7"),
        ({"DO": "markers"}, "markers"),
    ],
)
def test_a_step_calls_the_program(tmp_path: Path, variables: dict[str, str], called: str) -> None:
    program(tmp_path)

    done = script("run.sh", tmp_path, **{**STEP, **variables})

    assert (done.returncode, done.stdout.splitlines()[1:-1]) == (0, [called])


def test_sec_34_nothing_that_a_step_prints_is_a_command_to_the_runner(tmp_path: Path) -> None:
    program(tmp_path, "echo '::set-output name=work::true' && exit 3")

    done = [script("run.sh", tmp_path, **{**STEP, "DO": "receive"}) for _ in range(2)]

    ends = [one.stdout.splitlines()[0].removeprefix("::stop-commands::") for one in done]
    assert [one.stdout.splitlines()[1:] for one in done] == [
        ["::set-output name=work::true", f"::{end}::"] for end in ends
    ]
    assert all(re.fullmatch("[0-9a-f]{32}", end) for end in ends)
    assert ends[0] != ends[1]


STEP: Final = {"BUNDLE": "b.json", "TARGET": "t", "ISSUE": "7", "ASIDE": "false", "MODEL": ""}


@pytest.mark.parametrize(("leaves", "output"), [("touch b.json", "bundle=true\n"), ("true", None)])
def test_a_bundle_that_was_left_is_told(tmp_path: Path, leaves: str, output: str | None) -> None:
    program(tmp_path, leaves)

    script("run.sh", tmp_path, **{**STEP, "DO": "work"})

    told = tmp_path / "output"
    assert (told.read_text() if told.exists() else None) == output


def test_a_step_that_fails_is_red_and_one_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    program(tmp_path, "exit 7")

    failed = script("run.sh", tmp_path, **{**STEP, "DO": "publish"})
    unknown = script("run.sh", tmp_path, **{**STEP, "DO": "rm -rf /"})

    assert (failed.returncode, unknown.returncode) == (7, 2)


def test_the_environment_holds_the_program_and_nothing_of_the_folder_it_is_called_in(tmp_path: Path) -> None:
    # The libraries of this environment stand in for those that pip would bring: it is not called here.
    made = tmp_path / "temp" / "ticketsmith"
    tools = tmp_path / "tools"
    tools.mkdir()
    fake = tools / "python-for-test"
    site = Path(yaml.__file__).parent.parent
    fake.write_text(
        f'#!/bin/sh\n[ -z "$GITHUB_TOKEN$MODEL_KEY" ] || exit 9\n"{sys.executable}" -m venv --without-pip "$3"\n'
        'mv "$3/bin/python" "$3/bin/real"\n'
        'printf \'#!/bin/sh\\n[ "$2" = pip ] || exec "%s/bin/real" "$@"\\n\' "$3" >"$3/bin/python"\n'
        'chmod +x "$3/bin/python"\n'
        f'echo "{site}" >"$(ls -d "$3"/lib/python*/site-packages)/libraries.pth"\n'
    )
    fake.chmod(0o755)
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot" / "__init__.py").write_text("raise SystemExit('the repository was imported')")

    installed = script("install.sh", tmp_path, PYTHON=str(fake), DO="publish", GITHUB_TOKEN="t", MODEL_KEY="k")
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
    lines = JOBS["look"]["steps"][0]["run"]

    done = subprocess.run(["bash", "-e", "-c", lines], env={"COMMIT": commit}, capture_output=True)

    assert done.returncode == status
