"""Each kind of ending and each cause is reached by a run, and each run that ends does so once."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Final

import pytest

from bot.app import App
from bot.facts import Judged
from bot.run import Run, RunState
from memory.types import (
    Drop,
    DropCause,
    EndingKind,
    Hold,
    HoldCause,
    LessonStatus,
    NotOurs,
    NotOursCause,
    RunEnding,
    Verify,
    VerifyOutcome,
    Where,
)
from tests.bot import scenes
from tests.bot.kit import NOTHING, Script, bed, endings, facts_of, lessons, silent, told, writes
from tests.bot.laid import laid
from tests.bot.scenes import ON_GITHUB_ONLY, SCENES, Play, Reached, Scene


def reached(ending: RunEnding) -> set[Reached]:
    match ending.ending:
        case Hold(where=where, cause=cause):
            return {(EndingKind.HOLD, where), (EndingKind.HOLD, cause)}
        case Drop(cause=given_up):
            return {(EndingKind.DROP, given_up)}
        case NotOurs(cause=why):
            return {(EndingKind.NOT_OURS, why)}
        case Verify(outcome=outcome):
            return {(EndingKind.VERIFY, outcome)}
        case other:
            return {(EndingKind(_kind(other)), None)}


def _kind(ending: object) -> str:
    return {"Refix": "refix", "PassAfterHold": "pass-after-hold"}[type(ending).__name__]


def every() -> set[Reached]:
    causes: dict[EndingKind, list[type[StrEnum]]] = {
        EndingKind.HOLD: [Where, HoldCause],
        EndingKind.DROP: [DropCause],
        EndingKind.VERIFY: [VerifyOutcome],
        EndingKind.NOT_OURS: [NotOursCause],
    }
    return {(kind, cause) for kind in EndingKind for of_kind in causes.get(kind, []) for cause in of_kind} | {
        (kind, None) for kind in EndingKind if kind not in causes
    }


LOOKED_AT: Final[tuple[Play, ...]] = (
    scenes.a_patch_touches_a_workflow,
    scenes.a_second_attempt_passes,
    scenes.a_review_names_a_test_that_fails_alone,
)


def played(play: Play, folder: Path) -> tuple[App, Run]:
    """What a scene came to; one that several tests look at is played once."""
    if play not in LOOKED_AT:
        return play(folder)
    place, (_, run) = laid(play, folder)
    return bed(place).app(), run


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_a_run_ends_as_the_scene_says(scene: Scene, tmp_path: Path) -> None:
    app, run = played(scene.play, tmp_path)

    written = endings(app, run)
    assert (tuple(told(app, run)), run.park_reason) == (scene.told, "")
    assert set(scene.reaches) <= {one for ending in written for one in reached(ending.ending)}
    assert sum(ending.ending.final for ending in written) == (run.state is RunState.ENDED)
    assert run.state in (RunState.ENDED, RunState.PUBLISHED)
    assert not list((app.settings.home / "work").glob(f"{run.id}-*"))


def test_the_scenes_reach_everything_that_can_happen_on_this_machine() -> None:
    played = {one for scene in SCENES for one in scene.reaches}

    assert played | ON_GITHUB_ONLY == every()
    assert not played & ON_GITHUB_ONLY


def test_a_final_hold_refers_to_the_hold_before_and_teaches_nothing(tmp_path: Path) -> None:
    app, run = played(scenes.a_patch_touches_a_workflow, tmp_path)

    held, final = endings(app, run)
    (lesson,) = lessons(app, run)
    assert final.ending.refers_to == held.id
    assert (lesson.id, lesson.count) == (held.lesson, 1)
    assert run.outcome == "hold: protected"


def test_a_pass_names_the_holds_that_it_answers(tmp_path: Path) -> None:
    app, run = played(scenes.a_second_attempt_passes, tmp_path)

    held, _, passed = endings(app, run)
    assert passed.ending.ending.answers == (held.lesson,)  # type: ignore[union-attr]
    assert {lesson.status for lesson in lessons(app, run)} == {LessonStatus.VALIDATED}


def test_a_patch_that_a_person_sent_back_is_held_by_a_maintainer(tmp_path: Path) -> None:
    app, run = scenes.a_person_sends_the_patch_back(tmp_path)

    (held, *_) = endings(app, run)
    assert isinstance(held.ending.ending, Hold)
    assert (held.ending.ending.where, held.ending.evidence) == (Where.REVIEW, "maintainer")
    assert (run.state, run.branch) == (RunState.PUBLISHED, "ticketsmith/price-2")


def test_a_fix_that_did_not_hold_invalidates_what_it_taught(tmp_path: Path) -> None:
    ground = bed(tmp_path, scenes.LOUD)
    app = ground.app(Script.of(develop=writes(text=scenes.BREAKS_SANE)))
    run = ground.fix(app, scenes.TRACED)
    ground.merge(run.branch)
    app.verify(run, None, silent())
    ground.commit({"broken": "yes\n"})

    ground.fix(ground.app(Script.of(develop=NOTHING)), scenes.AGAIN)

    assert told(app, run)[-2:] == ["final verify: worked", "verify: recurred"]
    doubted = {lesson.ending.__class__.__name__ for lesson in lessons(app, run) if lesson.status == "invalidated"}
    assert doubted == {"PassAfterHold", "Verify"}


def test_a_file_that_a_patch_adds_is_not_named_in_a_lesson(tmp_path: Path) -> None:
    app, run = played(scenes.a_patch_touches_a_workflow, tmp_path)

    (lesson,) = lessons(app, run)
    (edit,) = lesson.ending.edits  # type: ignore[union-attr]
    assert edit.path.startswith("#")


def test_a_finding_holds_by_the_test_that_code_ran(tmp_path: Path) -> None:
    app, run = played(scenes.a_review_names_a_test_that_fails_alone, tmp_path)

    judged = [fact for fact in facts_of(app, run) if isinstance(fact, Judged)]

    assert [(fact.cause, fact.failing) for fact in judged] == [("finding", ("tests/test_till.py::test_ready",))]
    assert told(app, run) == ["hold: finding", "final hold: finding"]
