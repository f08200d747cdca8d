"""What stages read from answers, and what they refuse."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from memory.types import CheckId, CommitId, ErrorSignature
from stages.agents.base import Agent, Answer
from stages.base import Desk
from stages.case import Asking, Case
from stages.development import Development, DevelopmentGiven
from stages.diagnosis import Absent, Diagnosed, Diagnosis, DiagnosisGiven
from stages.errors import Refused, UnreadableAnswer
from stages.gate import Finding, GateReport
from stages.patch import Patch
from stages.prompt import EntryPoint
from stages.report import Check, CheckKind, CheckReport, Reproduction
from stages.reproducing import NotShown
from stages.review import Review, ReviewGiven
from stages.summary import Summary, SummaryGiven
from stages.triage import Ownership, Triage, TriageGiven
from stages.verification import Verification, VerificationGiven
from tests.fakes import GREEN, LINT, NOW, PYTEST, RED, SCOPE, TreeInMemory, budget, case, failed, passed, report, ticket

NEW_TEST = "def test_new():\n    assert total([1]) == 1\n"
NEW_PATH = "tests/test_new.py"
NEW = f"{NEW_PATH}::test_new"


def at(workspace: TreeInMemory | None = None) -> Desk:
    return Desk(agent=cast(Agent, None), workspace=workspace or TreeInMemory(), limits=budget())


def answer(**fields: object) -> Answer:
    return Answer(fields=fields)


def showing(*reports: CheckReport) -> TreeInMemory:
    """A workspace whose runs show these, in order."""
    left = list(reports)
    return TreeInMemory({"src/cart.py": "x", "tests/test_cart.py": "y"}, lambda files, check, tests: left.pop(0))


def diagnosed(workspace: TreeInMemory, given: Case | None = None, **fields: object) -> Diagnosed:
    stage = Diagnosis(EntryPoint.DIAGNOSE, at(workspace))
    about = given or case()
    said = {"quote": about.ticket.title, "cause": "off by one", "files": ["src/cart.py"], **fields}
    return stage.read(answer(**said), DiagnosisGiven(case=about))


# --- Triage, review, verification, summary, development --------------------------------------------------------------


@pytest.mark.parametrize("ownership", Ownership)
def test_triage_reads_whose_ticket_it_is(ownership: Ownership) -> None:
    found = Triage(EntryPoint.TRIAGE, at()).read(answer(ownership=ownership.value), TriageGiven(case=case()))

    assert found is ownership


def test_triage_refuses_another_word() -> None:
    with pytest.raises(UnreadableAnswer, match="one of ours, not-here, not-a-bug"):
        Triage(EntryPoint.TRIAGE, at()).read(answer(ownership="mine"), TriageGiven(case=case()))


def test_development_takes_the_patch_from_the_tree_and_not_from_the_answer() -> None:
    workspace = TreeInMemory({"src/cart.py": "x"})
    workspace.write("src/cart.py", b"y")
    given = DevelopmentGiven(case=case(), cause="c", files=(), reproduction=Reproduction(check=PYTEST.name, test=RED))

    patch = Development(EntryPoint.DEVELOP, at(workspace)).read(answer(summary="I changed all files"), given)

    assert patch.paths == ("src/cart.py",)


def test_development_tells_the_model_when_git_refuses_its_file_names() -> None:
    class Odd(TreeInMemory):
        def patch(self, *, touched_only: bool = True) -> Patch:
            raise Refused(reason="git refuses this name")

    given = DevelopmentGiven(case=case(), cause="c", files=(), reproduction=Reproduction(check=PYTEST.name, test=RED))

    with pytest.raises(UnreadableAnswer, match="git refuses this name"):
        Development(EntryPoint.DEVELOP, at(Odd())).read(answer(summary="s"), given)


REVIEWED = ReviewGiven(
    case=case(), cause="c", patch=Patch(diff=""), report=GateReport(attempt=1, base=CommitId("c" * 40))
)


def test_review_reads_findings_with_and_without_a_check() -> None:
    said = [{"path": "a.py", "line": 3, "text": "breaks", "check": RED}, {"path": "a.py", "line": 4, "text": "odd"}]

    found = Review(EntryPoint.REVIEW, at()).read(answer(findings=said), REVIEWED)

    assert found == (Finding(path="a.py", line=3, text="breaks", check=RED), Finding(path="a.py", line=4, text="odd"))


@pytest.mark.parametrize("said", [None, "none", [{"path": "a.py"}], [{"path": "a", "line": True, "text": "t"}], ["x"]])
def test_review_refuses_what_is_no_list_of_findings(said: object) -> None:
    with pytest.raises(UnreadableAnswer, match="finding"):
        Review(EntryPoint.REVIEW, at()).read(answer(findings=said), REVIEWED)


def test_verification_takes_a_known_check_or_test_only() -> None:
    given = VerificationGiven(case=case(), patch=Patch(diff=""), commit=CommitId("d" * 40))
    stage = Verification(EntryPoint.VERIFY, at())

    assert [stage.read(answer(check=name), given) for name in (RED, "lint")] == [RED, "lint"]
    with pytest.raises(UnreadableAnswer, match="'rm -rf /' is not among the known"):
        stage.read(answer(check="rm -rf /"), given)


def test_a_summary_is_sanitised_and_never_empty() -> None:
    given = SummaryGiven(case=case(), ended="passed")
    stage = Summary(EntryPoint.SUMMARISE, at())

    assert stage.read(answer(text="Fixed. <!-- hidden -->\u200b"), given) == "Fixed."
    with pytest.raises(UnreadableAnswer, match="empty"):
        stage.read(answer(text=" <!-- x --> "), given)


# --- Diagnosis: known tests ------------------------------------------------------------------------------------------


def test_a_known_test_that_fails_on_the_base_is_the_reproduction() -> None:
    workspace = showing(report("pytest", failed(RED)))

    found = diagnosed(workspace, reproduction=RED)

    assert found.reproduction == Reproduction(check=PYTEST.name, test=RED)
    assert workspace.runs == [(PYTEST.name, (RED,))]


def test_a_known_test_that_hangs_or_crashes_fails() -> None:
    broken = report("pytest", complete=False, timed_out=True, exit_status=None)

    assert diagnosed(showing(broken), reproduction=RED).reproduction is not None


def test_a_command_that_fails_is_a_reproduction() -> None:
    found = diagnosed(showing(report("lint", exit_status=1)), reproduction="lint")

    assert found.reproduction == Reproduction(check=LINT.name, test=CheckId("lint"))


def test_a_check_that_cannot_even_collect_is_a_reproduction() -> None:
    found = diagnosed(showing(report("pytest", exit_status=2)), reproduction="pytest")

    assert found.reproduction == Reproduction(check=PYTEST.name, test=CheckId("pytest"))


def test_a_whole_check_is_none_where_one_test_can_be_named() -> None:
    with pytest.raises(NotShown, match=f"name one test that fails, such as {RED}"):
        diagnosed(showing(report("pytest", failed(RED), passed(GREEN))), reproduction="pytest")


def test_an_unknown_test_is_refused_with_those_that_look_like_it() -> None:
    with pytest.raises(NotShown, match=f"do you mean {RED}"):
        diagnosed(showing(), reproduction="test_cart.py::test_total")
    with pytest.raises(NotShown, match="write a new test"):
        diagnosed(showing(), reproduction="tests/nowhere.py::test_nothing")


def test_a_test_that_the_ticket_names_and_that_passes_does_not_fail() -> None:
    given = case(ticket(f"{GREEN} is red", "since Monday"))

    found = diagnosed(showing(report("pytest", passed(GREEN))), given, reproduction=GREEN)

    assert (found.reproduction, found.absent, found.passing) == (None, Absent.DOES_NOT_FAIL, GREEN)


def test_a_test_that_passes_and_that_nobody_named_shows_nothing() -> None:
    with pytest.raises(NotShown, match="passes on the base commit"):
        diagnosed(showing(report("pytest", passed(GREEN))), reproduction=GREEN)


def test_a_refusal_of_the_workspace_is_told_to_the_model() -> None:
    workspace = showing()
    given = case(checks=(Check(name=CheckId("gone"), kind=CheckKind.COMMAND),), known={})

    with pytest.raises(NotShown, match="there is no check gone"):
        diagnosed(workspace, given, reproduction="gone")


def test_without_any_proof_the_diagnosis_says_so() -> None:
    found = diagnosed(showing())

    assert (found.reproduction, found.absent) == (None, Absent.NOT_SHOWN)


@pytest.mark.parametrize(
    "fields", [{"cause": " ", "files": []}, {"cause": "c"}, {"cause": "c", "files": [1]}, {"files": []}]
)
def test_a_diagnosis_without_cause_or_files_is_refused(fields: Mapping[str, Any]) -> None:
    with pytest.raises(UnreadableAnswer, match=r"cause is|files is"):
        Diagnosis(EntryPoint.DIAGNOSE, at()).read(Answer(fields=fields), DiagnosisGiven(case=case()))


# --- Diagnosis: new tests --------------------------------------------------------------------------------------------


def test_a_new_test_is_run_on_the_base_hashed_and_taken_away_again() -> None:
    seen: list[bytes] = []

    def shows(files: Mapping[str, bytes], check: CheckId, tests: Sequence[CheckId]) -> CheckReport:
        seen.append(files[NEW_PATH])
        return report("pytest", passed(f"{NEW_PATH}::test_other"), failed(NEW))

    workspace = TreeInMemory({"tests/test_cart.py": "y"}, shows)

    found = diagnosed(workspace, test_path=NEW_PATH, test_text=NEW_TEST)

    assert found.reproduction == Reproduction(
        check=PYTEST.name,
        test=CheckId(NEW),
        path=NEW_PATH,
        text=NEW_TEST,
        sha256=hashlib.sha256(NEW_TEST.encode()).hexdigest(),
    )
    assert (seen, workspace.runs) == ([NEW_TEST.encode()], [(PYTEST.name, (CheckId(NEW_PATH),))])
    assert workspace.files() == ("tests/test_cart.py",)


@pytest.mark.parametrize(
    ("path", "text", "reason"),
    [
        ("", NEW_TEST, "needs both"),
        (NEW_PATH, "  ", "needs both"),
        ("tests/test_cart.py", NEW_TEST, "there already"),
        ("../test_x.py", NEW_TEST, "relative path"),
        ("/tests/test_x.py", NEW_TEST, "relative path"),
        ("tests/conftest.py", NEW_TEST, "relative path"),
        (".github/test_x.py", NEW_TEST, "relative path"),
        ("tests/test_x.py\n", NEW_TEST, "relative path"),
        ("tests/test_x.txt", NEW_TEST, "relative path"),
        (NEW_PATH, "x" * 70_000, "more than 65536 characters"),
        (NEW_PATH, "x = '\ud800'", "no file can hold"),
    ],
)
def test_a_new_test_goes_only_under_a_safe_new_name(path: str, text: str, reason: str) -> None:
    workspace = showing()

    with pytest.raises(NotShown, match=reason):
        diagnosed(workspace, test_path=path, test_text=text)

    assert workspace.runs == []
    assert workspace.files() == ("src/cart.py", "tests/test_cart.py")


def test_a_new_test_belongs_to_the_innermost_check_of_its_folder() -> None:
    inner = Check(name=CheckId("inner"), kind=CheckKind.PYTEST, folder="packages/a")
    workspace = showing(report("inner", failed("packages/a/test_x.py::test_x")))
    workspace.checks = (PYTEST, inner)

    found = diagnosed(workspace, case(checks=(PYTEST, inner)), test_path="packages/a/test_x.py", test_text=NEW_TEST)

    assert found.reproduction is not None
    assert found.reproduction.check == "inner"


def test_a_new_test_needs_a_check_that_would_run_it() -> None:
    with pytest.raises(NotShown, match="no check would run"):
        diagnosed(showing(), case(checks=(LINT,)), test_path=NEW_PATH, test_text=NEW_TEST)


@pytest.mark.parametrize(
    ("shown", "reason"),
    [
        (report("pytest", exit_status=5), "no test of the file was collected"),
        (report("pytest", passed(NEW), complete=False, exit_status=None), "no test of the file was collected"),
        (report("pytest", passed(NEW)), "passes on the base commit"),
        (report("pytest", failed(NEW, "ImportError", "no module shop")), "ImportError: no module shop"),
        (report("pytest", failed(NEW, "", "")), "an error"),
    ],
)
def test_a_new_test_must_be_collected_and_fail_for_the_right_reason(shown: CheckReport, reason: str) -> None:
    workspace = showing(shown)

    with pytest.raises(NotShown, match=reason):
        diagnosed(workspace, test_path=NEW_PATH, test_text=NEW_TEST)

    assert workspace.files() == ("src/cart.py", "tests/test_cart.py")


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("Failed", case()),
        ("", case(ticket("Broken", "It says: AssertionError"))),
        ("shop.errors.EmptyCart", case(ticket("Crash", "it raises EmptyCart at night"))),
        ("KeyError", case(asking=Asking(scope=SCOPE, at=NOW, signatures=(
            ErrorSignature(kind="trace", language="python", type="builtins.KeyError", template="", keys={}),
        )))),
    ],
    ids=["pytest.fail", "while collecting", "named in the ticket", "of the alert"],
)  # fmt: skip
def test_the_exception_of_the_ticket_is_a_right_reason_too(kind: str, given: Case) -> None:
    found = diagnosed(
        showing(report("pytest", failed(NEW, kind, "AssertionError: x"))), given, test_path=NEW_PATH, test_text=NEW_TEST
    )

    assert found.reproduction is not None


def test_a_path_that_the_workspace_refuses_is_told_to_the_model() -> None:
    class Jailed(TreeInMemory):
        def write(self, path: str, data: bytes) -> None:
            raise Refused(reason="the folder is a link")

    with pytest.raises(NotShown, match="the folder is a link"):
        diagnosed(Jailed(), test_path=NEW_PATH, test_text=NEW_TEST)
