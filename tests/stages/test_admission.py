"""What a branch would show is judged whole: the patch, and the test file that was written for it."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from memory.scrub import Scrubber
from memory.types import CheckId, HoldCause
from stages.admission import Admission, published
from stages.agents.base import Agent
from stages.base import Desk
from stages.gate import Attempt, Gate, Held, decide
from stages.patch import FileChange, Patch
from stages.policy import Policy
from stages.report import CheckReport, Reproduction
from stages.reproducing import NotShown, Reproducing
from stages.workspace import Workspaces
from tests.fakes import TreeInMemory, budget, case, failed, report
from tests.stages.repositories import FIXED, checks, make, reproduction

CART = "src/shop/cart.py"
TOKEN = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
TEXT = "from shop.cart import total\n\n\ndef test_n():\n    assert total([5]) == 5\n"
LEAKING = f"TOKEN = '{TOKEN}'\n{TEXT}"


def reproducing(admission: Admission) -> Reproducing:
    shows = TreeInMemory({"src/cart.py": "x"}, lambda *_: report("pytest", failed("tests/test_n.py::test_n")))
    return Reproducing(case(), Desk(agent=cast(Agent, None), workspace=shows, limits=budget(), admission=admission))


@pytest.mark.parametrize(
    ("path", "text", "policy", "why"),
    [
        ("migrations/test_n.py", TEXT, Policy(protected=("migrations/",)), "protected: migrations/test_n.py"),
        ("tests/test_n.py", LEAKING, Policy(), "line 1 holds what has the shape of a secret"),
        ("tests/test_n.py", TEXT * 20, Policy(bytes_at_most=500), "at most 500"),
        ("tests/test_n.py", TEXT, Policy(lines_at_most=3), "5 lines, at most 3"),
        ("tests/test_n.py", TEXT, Policy(files_at_most=1), "one more"),
    ],
)
def test_a_new_test_that_may_not_be_published_is_refused(path: str, text: str, policy: Policy, why: str) -> None:
    with pytest.raises(NotShown, match="may not be") as refused:
        reproducing(Admission(policy=policy)).write(path, text)

    assert why in str(refused.value)
    assert TOKEN not in str(refused.value)


def test_a_secret_of_the_operator_is_one_in_a_new_test_too() -> None:
    with pytest.raises(NotShown, match="line 6 "):
        reproducing(Admission(scrubber=Scrubber(["total([5])"]))).write("tests/test_n.py", TEXT.replace("def", "\ndef"))


def test_a_new_test_that_may_be_published_is_taken() -> None:
    assert reproducing(Admission()).write("tests/test_n.py", TEXT).text == TEXT


@pytest.mark.parametrize(
    ("path", "text", "cause"),
    [
        ("migrations/test_n.py", TEXT, HoldCause.PROTECTED),
        ("tests/test_n.py", LEAKING, HoldCause.LEAK),
        ("tests/test_n.py", TEXT + "# long\n" * 100, HoldCause.TOO_BIG),
    ],
)
def test_the_gate_judges_the_frozen_test_with_the_patch(tmp_path: Path, path: str, text: str, cause: HoldCause) -> None:
    repository = make(tmp_path / "repository")
    spaces = Workspaces(tmp_path / "work", checks())
    space = spaces.make(repository, repository.resolve(), "one")
    space.write(CART, FIXED.encode())
    policy = Policy(protected=("migrations/",), bytes_at_most=800)

    seen = Gate(spaces, policy, Scrubber()).judge(
        Attempt(
            number=1,
            repository=repository,
            base=space.base,
            patch=space.patch(),
            reproduction=reproduction(path, text, f"{path}::test_n"),
            red=CheckReport(check=CheckId("pytest"), exit_status=1, seconds=0.0),
            baseline=(),
            checks=space.checks,
            workspace="gate",
        )
    )

    verdict = decide(seen)
    assert isinstance(verdict, Held)
    assert verdict.cause is cause
    assert seen.reproduction is None


@pytest.mark.parametrize("text", [TEXT, TEXT.rstrip("\n"), "\n", "a\n\nb"])
def test_what_is_judged_is_what_git_would_make_of_it(tmp_path: Path, text: str) -> None:
    repository = make(tmp_path / "repository")
    space = Workspaces(tmp_path / "work", checks()).make(repository, repository.resolve(), "one")
    space.write(CART, FIXED.encode())

    whole = published(space.patch(), reproduction("tests/test_n.py", text))

    again = Workspaces(tmp_path / "work", checks()).make(repository, repository.resolve(), "two")
    again.apply(whole)
    assert again.read("tests/test_n.py") == text.encode()
    assert again.patch().files == whole.files


def test_a_known_test_adds_nothing_to_a_patch() -> None:
    patch = Patch(diff="x", files=(FileChange(path="a", status="M", old_mode="100644", new_mode="100644"),))

    assert published(patch, Reproduction(check=CheckId("pytest"), test=CheckId("t"))) is patch


def test_a_patch_that_was_cut_stays_cut() -> None:
    assert published(Patch(diff="", cut=True), reproduction("tests/test_n.py", TEXT)).cut
