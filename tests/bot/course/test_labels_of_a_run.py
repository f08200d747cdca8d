"""The labels that the README promises, at each state of a run; and whose name stands under a patch."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from bot.outbox.types import OwnLabel
from bot.run import RunState
from stages.errors import ParkCause, Parked
from stages.workspace import Workspace
from tests.bot.course.kept import Copies
from tests.bot.course.town import Town
from tests.bot.kit import NOTHING, Act, Script

README: Final = Path(__file__).parents[3].joinpath("README.md").read_text("utf-8")
NO_MAKE: Final = Parked(cause=ParkCause.ENVIRONMENT, reason="no make here")
ENDS: Final[Mapping[OwnLabel, tuple[Mapping[str, Act], RunState]]] = {
    OwnLabel.PR: ({}, RunState.PUBLISHED),
    OwnLabel.HELD: ({"review": NOTHING, "triage": NO_MAKE}, RunState.PARKED),
    OwnLabel.DROPPED: ({"develop": NOTHING}, RunState.ENDED),
}


def test_r7_the_readme_names_exactly_the_labels_that_the_bot_sets() -> None:
    assert set(re.findall(r"`(ticketsmith:\w+)`", README)) == {one.value for one in OwnLabel}
    assert set(ENDS) | {OwnLabel.WORKING} == set(OwnLabel)
    assert "sets these itself and leaves yours alone" in " ".join(README.split())


@pytest.mark.parametrize("label", ENDS)
def test_r7_a_run_has_the_label_of_its_state_and_the_trigger_stays(found: Callable[..., Town], label: OwnLabel) -> None:
    answers, state = ENDS[label]
    seen: list[list[str]] = []

    def looks(_: Workspace) -> Mapping[str, object]:
        seen.append(list(issue.labels))
        act = answers.get("triage", {"ownership": "ours", "reason": "It is here."})
        if isinstance(act, BaseException):
            raise act
        assert isinstance(act, Mapping)
        return act

    town = found(script=Script.of(**{**answers, "triage": looks}))
    issue = town.issue()
    town.github.people.label(town.shop, issue, town.ada)
    town.github.people.label(town.shop, issue, town.ada, "urgent")

    town.drain()

    assert [sorted(labels) for labels in seen] == [["ticketsmith", "ticketsmith:working", "urgent"]]
    assert sorted(issue.labels) == sorted(["ticketsmith", "urgent", label.value])
    assert town.run(issue).state is state


def test_sec_36_a_pull_request_is_a_draft_that_names_who_asked_for_it(solved: Copies) -> None:
    town, issue = solved()

    pull = town.pull()

    assert pull.pull is not None
    assert pull.pull.draft
    assert town.course(issue).actor.login == "ada"
    assert "Asked for by `ada`; nobody should approve alone what they asked for." in pull.body
    assert pull.author != town.ada, "GitHub sees that it is not hers"


def test_r39_a_branch_is_pushed_with_a_token_of_the_installation_so_that_ci_begins(solved: Copies) -> None:
    town, _ = solved()

    pushes = [one for one in town.github.requests if one.git and one.path.endswith("git-receive-pack")]

    assert pushes
    tokens = [town.github.state.tokens[one.token] for one in pushes]
    assert {token.installation for token in tokens} == {71}, "GitHub begins no CI for what GITHUB_TOKEN pushed"
    assert all(token.permissions["contents"] == "write" for token in tokens)
