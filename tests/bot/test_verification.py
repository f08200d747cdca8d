"""A published patch is judged where it was merged: from exit statuses there, whatever a model says."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from bot.book import utc_now
from bot.errors import NotMerged, NotPublished, NotVerified
from bot.facts import Decided
from bot.run import RunState
from memory.types import Verify
from stages.agents.limits import Limits
from stages.errors import ParkCause, Parked
from stages.repository import UnknownRevision
from tests.bot.kit import ANSWERS, SETTINGS, Script, bed, endings, facts_of, silent, told
from tests.bot.laid import merged, published
from tests.bot.scenes import TRACED, later

PYTEST = {
    ".github/ticketsmith.toml": '[checks.pytest]\npytest = ["tests"]\n',
    "tests/test_price.py": "def test_price():\n    assert open('price.txt').read() == '3\\n'\n",
}


def test_a_check_that_became_red_elsewhere_is_no_verdict(tmp_path: Path) -> None:
    ground, run = merged(tmp_path)
    ground.commit({".github/ticketsmith.toml": SETTINGS.replace('"! grep -q 4 price.txt"', '"false"')})
    app = ground.app()

    with pytest.raises(NotVerified, match="sane is red there"):
        app.verify(run, None, silent())

    assert app.stores.runs.get(run.id).state is RunState.PUBLISHED
    assert endings(app, run) == []


def test_a_test_that_is_not_there_any_more_is_no_recurrence(tmp_path: Path) -> None:
    ground = bed(tmp_path, PYTEST)
    script = Script.of(
        diagnose={"cause": "Wrong.", "files": ["price.txt"], "reproduction": "tests/test_price.py::test_price"},
        verify={"check": "pytest"},
    )
    app = ground.app(script)
    run = ground.fix(app)
    ground.merge(run.branch)
    ground.commit({"tests/test_price.py": "def test_the_price():\n    assert True\n"})

    with pytest.raises(NotVerified, match="test_price was not run there"):
        app.verify(run, None, silent())

    assert endings(app, run) == []


def test_a_check_that_is_not_there_any_more_is_told_and_no_recurrence(tmp_path: Path) -> None:
    ground, run = merged(tmp_path)
    ground.commit({".github/ticketsmith.toml": SETTINGS.replace("[checks.price]", "[checks.cost]")})
    app = ground.app()

    with pytest.raises(NotVerified, match="there is no check price any more, which showed the failure"):
        app.verify(run, None, silent())

    assert endings(app, run) == []


@pytest.mark.parametrize("answer", [{"check": "no-such-check"}, {}])
def test_a_model_that_names_no_check_keeps_no_verdict_back(answer: dict[str, object], tmp_path: Path) -> None:
    ground, run = merged(tmp_path)
    app = ground.app(Script.of(verify=answer))

    assert app.verify(run, None, silent()).outcome == "verify: worked"
    assert "the check of the reproduction is run" in [
        fact.what for fact in facts_of(app, run) if isinstance(fact, Decided)
    ]


def test_a_run_without_budget_can_still_be_verified(tmp_path: Path) -> None:
    ground, run = merged(tmp_path)
    ground.settings["limits"] = Limits(calls=len(ANSWERS) - 3)

    assert ground.app().verify(run, None, silent()).outcome == "verify: worked"


def test_a_fault_outside_leaves_the_run_published(tmp_path: Path) -> None:
    ground, run = merged(tmp_path)
    app = ground.app(Script.of(verify=Parked(cause=ParkCause.RATE_LIMIT, reason="later")))

    with pytest.raises(Parked, match="later"):
        app.verify(run, None, silent())

    assert ground.app().verify(run, None, silent()).outcome == "verify: worked"


def test_looking_at_a_run_does_not_begin_its_fourteen_days_anew(tmp_path: Path) -> None:
    ground, run = published(tmp_path)
    for days in (6, 12):
        app = later(ground.app(), days)
        with pytest.raises(NotMerged, match="ticketsmith/price"):
            app.verify(app.stores.runs.get(run.id), None, silent())
    app = later(ground.app(), days=14)
    app.book.now = lambda: utc_now() + timedelta(days=14, minutes=1)

    assert app.verify(app.stores.runs.get(run.id), None, silent()).outcome == "verify: unverified"


def test_a_commit_can_be_named_and_must_be_there(tmp_path: Path) -> None:
    ground, run = published(tmp_path)
    app = ground.app()

    with pytest.raises(UnknownRevision, match="v9"):
        app.verify(run, "v9", silent())

    assert app.verify(run, run.branch, silent()).outcome == "verify: worked"


def test_a_run_that_is_stopped_while_it_is_verified_ends_so(tmp_path: Path) -> None:
    ground, run = merged(tmp_path)
    app = ground.app()

    def stopped(_: object) -> dict[str, object]:
        app.stores.runs.request_stop(run.id)
        return {"check": "price"}

    ended = ground.app(Script.of(verify=stopped)).verify(run, None, silent())

    assert (ended.outcome, told(app, run)) == ("drop: stopped", ["final drop: stopped"])


def test_a_run_that_has_ended_is_not_judged_again(tmp_path: Path) -> None:
    ground = bed(tmp_path)
    run = ground.fix(ground.app(Script.of(develop={"summary": "Nothing."})))
    app = ground.app()

    assert app.verify(run, None, silent()).outcome == "drop: empty-patch"
    assert told(app, run) == ["final drop: empty-patch"]


def test_what_is_not_published_yet_cannot_be_verified(tmp_path: Path) -> None:
    ground = bed(tmp_path)
    run = ground.fix(ground.app(Script.of(develop=Parked(cause=ParkCause.MODEL, reason="down"))))

    with pytest.raises(NotPublished, match="parked"):
        ground.app().verify(run, None, silent())


def test_while_a_run_is_at_work_again_it_is_not_said_that_its_patch_must_be_merged(tmp_path: Path) -> None:
    ground, run = published(tmp_path)
    app = ground.app()
    again = app.requeue(run, "A line break is missing.", "mira")

    with pytest.raises(NotPublished, match=r"no published patch to verify \(working\)"):
        app.verify(again, None, silent())


def test_a_verified_fix_teaches_with_the_signature_of_its_ticket(tmp_path: Path) -> None:
    ground = bed(tmp_path)
    app = ground.app()
    run = ground.fix(app, TRACED)
    ground.merge(run.branch)
    run = app.verify(run, None, silent())

    (ending,) = [one.ending for one in endings(app, run)]
    assert isinstance(ending.ending, Verify)
    assert ending.ending.commit == ground.git("rev-parse", "main")
    assert [(signature.kind, "x" in signature.keys) for signature in ending.signatures] == [("trace", True)]
    assert [edit.path for edit in ending.ending.edits] == ["price.txt"]
