"""The default branch moves on while a run works: a patch that no longer merges is made anew once, else held."""

from __future__ import annotations

from bot.run import RunState
from stages.errors import ParkCause
from stages.prompt import EntryPoint
from stages.workspace import Workspace
from tests.bot.course.kept import Copies
from tests.bot.course.town import Town
from tests.bot.kit import Script, writes


def moves_on(town: Town, *texts: str) -> Script:
    """While the model works, people write one of these into the file that it writes to, each time another."""
    left = list(texts)

    def develop(workspace: Workspace) -> dict[str, object]:
        if left:
            town.github.people.push(town.shop, "main", {"price.txt": left.pop(0)}, town.ada)
        workspace.write("price.txt", b"3\n")
        return {"summary": "Done."}

    return Script.of(develop=develop)


def test_f25_a_patch_that_conflicts_with_the_base_as_it_is_now_is_made_anew_on_it_once(town: Town) -> None:
    town.script.answers.update(moves_on(town, "2\n").answers)
    issue = town.labelled()

    town.drain()

    run, pull = town.run(issue), town.pull().pull
    assert (run.base, run.generation) == (town.shop.git.head("main"), 2)
    assert pull is not None
    assert town.shop.git.git("rev-parse", f"{pull.head_sha}^").strip() == town.shop.git.head("main")
    assert town.run(issue).state is RunState.PUBLISHED
    assert (len(town.pulls()), len(town.branches())) == (1, 1)
    town.check()
    town.github.people.review(town.shop, town.pull(), town.ada, "A line break is missing.")
    town.drain()
    assert (town.run(issue).attempt, len(town.pulls())) == (2, 1)
    town.check()


def test_f25_a_base_that_moves_on_again_has_the_patch_held_until_a_person_says_so(town: Town) -> None:
    town.script.answers.update(moves_on(town, "2\n", "5\n").answers)
    issue = town.labelled()

    town.drain()

    run = town.run(issue)
    assert (run.state, run.park_cause) == (RunState.PARKED, ParkCause.BRANCH)
    assert run.patch
    assert (town.branches(), town.pulls()) == ([], [])
    assert town.own_labels(issue) == ["ticketsmith:held"]
    assert "conflicts with main" in town.comments(issue)[0]
    town.say(issue, "/ticketsmith retry")
    town.drain()
    assert town.run(issue).base == town.shop.git.head("main")
    assert town.run(issue).state is RunState.PUBLISHED
    assert len(town.pulls()) == 1
    town.check()


def test_f25_a_patch_that_is_out_and_made_anew_on_a_base_that_moved_on_can_be_merged(solved: Copies) -> None:
    town, issue = solved(refix=writes(text="3\n\n"))
    before = town.course(issue).pushed
    town.github.people.push(town.shop, "main", {"price.txt": "2\n"}, town.ada)

    town.say(issue, "/ticketsmith requeue A line break is missing.")
    town.drain()

    head = town.shop.git.head(town.branches()[0])
    parents = town.shop.git.git("show", "-s", "--format=%P", head or "").split()
    assert parents == [before, town.shop.git.head("main")]
    assert "A line break is missing." in town.script.bodies(EntryPoint.DEVELOP)[-1]
    town.github.people.merge(town.shop, town.pull(), town.ada)
    town.drain()
    assert town.run(issue).outcome == "verify: worked"
    town.check()


def test_f25_a_base_that_moved_on_elsewhere_changes_nothing(town: Town) -> None:
    base = town.shop.git.head("main")
    town.script.answers.update(Script.of(review=lambda _: elsewhere()).answers)

    def elsewhere() -> dict[str, object]:
        town.github.people.push(town.shop, "main", {"other.txt": "1\n"}, town.ada)
        return {"findings": []}

    issue = town.labelled()
    town.drain()

    assert (town.run(issue).base, town.run(issue).generation) == (base, 1)
    assert town.run(issue).state is RunState.PUBLISHED
    assert (len(town.pulls()), len(town.branches())) == (1, 1)
    town.check()
