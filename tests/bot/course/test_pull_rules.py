"""Our branches and pull requests among people: what is theirs is left alone, what is ours comes back when asked."""

from __future__ import annotations

from collections.abc import Callable

from bot.app_settings import PublishMode
from bot.course.course import PullState
from bot.run import RunState
from stages.errors import ParkCause
from tests.bot.course.kept import Copies
from tests.bot.course.town import Town
from tests.bot.kit import Script, writes
from tests.github_server.state import Issue


def branch_of(issue: Issue, suffix: str = "") -> str:
    return f"ticketsmith/issue-{issue.number}{suffix}"


def test_r33_a_second_attempt_goes_on_top_of_the_first_on_the_same_pull_request(solved: Copies) -> None:
    town, issue = solved(refix=writes(text="3\n\n"))
    before = town.course(issue).pushed

    town.github.people.review(town.shop, town.pull(), town.ada, "A line break is missing.")
    town.drain()

    pull = town.pull()
    assert pull.pull is not None
    assert pull.pull.head_sha == town.course(issue).pushed != before
    assert town.shop.git.git("rev-parse", f"{pull.pull.head_sha}^").strip() == before
    assert pull.state == "open"
    assert len(town.comments(issue)) == 1
    town.check()


def test_r32_a_foreign_commit_on_our_branch_means_hands_off_until_told(solved: Copies) -> None:
    town, issue = solved(refix=writes(text="3\n\n"))
    theirs = town.github.people.push(town.shop, branch_of(issue), {"note.txt": "mine\n"}, town.ada)
    town.people.append((town.shop, theirs))
    town.say(issue, "/ticketsmith requeue A line break is missing.")

    town.drain()

    assert town.shop.git.head(branch_of(issue)) == theirs
    assert town.course(issue).hands_off
    assert "hands off" in town.comments(issue)[0]
    town.say(issue, "/ticketsmith retry")
    town.drain()
    assert town.shop.git.head(branch_of(issue)) == theirs
    assert town.branches() == [branch_of(issue), branch_of(issue, "-2")]
    assert not town.course(issue).hands_off
    town.app.stop(town.run(issue))
    assert theirs in town.shop.git.git("log", "--format=%H", branch_of(issue))


def test_f20_a_branch_of_somebody_else_is_left_and_another_name_is_taken(passed: Copies) -> None:
    town, issue = passed()
    theirs = town.github.people.push(town.shop, branch_of(issue), {"note.txt": "mine\n"}, town.ada)
    town.people.append((town.shop, theirs))

    town.go_on(issue)

    assert town.shop.git.head(branch_of(issue)) == theirs
    assert town.branches() == [branch_of(issue), branch_of(issue, "-2")]
    town.check()


def test_r35_a_pull_request_that_a_person_closed_ends_the_run_and_comes_back_only_when_asked(solved: Copies) -> None:
    town, issue = solved()
    pull = town.pull()

    town.github.people.close(town.shop, pull, town.ada)
    town.drain()

    assert town.run(issue).outcome == "drop: closed-by-human"
    assert town.own_labels(issue) == ["ticketsmith:dropped"]
    assert town.branches() == []
    town.say(issue, "/ticketsmith retry")
    town.drain()
    assert [one.state for one in town.pulls()] == ["closed", "open"]
    assert town.run(issue).state is RunState.PUBLISHED
    town.check()


def test_a_merged_branch_is_followed_by_one_with_a_suffix(solved: Copies) -> None:
    town, issue = solved()
    town.github.people.merge(town.shop, town.pull(), town.ada)
    town.github.people.push(town.shop, "main", {"price.txt": "1\n"}, town.ada)
    town.drain()

    town.say(issue, "/ticketsmith retry")
    town.drain()

    assert branch_of(issue, "-2") in town.branches()


def test_r34_when_the_label_is_taken_away_our_pull_request_and_branch_go(solved: Copies) -> None:
    town, issue = solved()
    pull = town.pull()

    town.github.people.unlabel(town.shop, issue, town.ada)
    town.drain()

    assert (pull.state, town.branches()) == ("closed", [])
    assert town.run(issue).outcome == "drop: stopped"
    assert town.course(issue).pull_state is PullState.CLOSED_BY_US
    assert any("drop: stopped" in comment.body for comment in pull.comments)
    town.check()


def test_a_branch_with_a_persons_commit_is_not_deleted_with_the_run(solved: Copies) -> None:
    town, issue = solved()
    theirs = town.github.people.push(town.shop, branch_of(issue), {"note.txt": "mine\n"}, town.ada)
    town.people.append((town.shop, theirs))

    town.github.people.unlabel(town.shop, issue, town.ada)
    town.drain()

    assert town.shop.git.head(branch_of(issue)) == theirs
    town.check()


def test_r30_the_base_is_what_github_calls_the_default_branch(found: Callable[..., Town]) -> None:
    town = found()
    town.shop.git.git("update-ref", "refs/heads/trunk", town.shop.git.head("main") or "")
    town.shop.default_branch = "trunk"

    issue = town.solved()

    assert town.course(issue).base == "trunk"
    pull = town.pull()
    assert pull.pull is not None
    assert pull.pull.base == "trunk"


def test_r41_in_mode_ready_the_pull_request_is_no_draft(found: Callable[..., Town]) -> None:
    town = found(app_settings={"mode": PublishMode.READY})

    town.solved()

    pull = town.pull()
    assert pull.pull is not None
    assert not pull.pull.draft


def test_r41_in_mode_branch_there_is_no_pull_request(found: Callable[..., Town]) -> None:
    town = found(app_settings={"mode": PublishMode.BRANCH})

    issue = town.solved()

    assert (town.branches(), town.pulls()) == ([branch_of(issue)], [])
    assert branch_of(issue) in town.comments(issue)[0]


def test_sec_21_in_a_public_repository_nothing_is_pushed_that_ci_would_run_unread(found: Callable[..., Town]) -> None:
    def both(workspace: object) -> dict[str, object]:
        for path, text in (("price.txt", "3\n"), ("conftest.py", "import os\n")):
            workspace.write(path, text.encode())  # type: ignore[attr-defined]
        return {"summary": "Both."}

    town = found(private=False, script=Script.of(develop=both, refix=both))

    issue = town.solved()

    assert (town.branches(), town.pulls()) == ([], [])
    assert "conftest.py" in town.comments(issue)[0]
    assert "+import os" in town.comments(issue)[0]
    town.check()


def test_r40_a_rule_that_refuses_our_branch_is_read_before_work_and_named(town: Town) -> None:
    town.shop.rules.append({"type": "creation", "ruleset_source": "shop", "ruleset_source_type": "Repository",
                            "ruleset_id": 5})  # fmt: skip
    issue = town.labelled()

    town.drain()

    run = town.run(issue)
    assert (run.state, run.park_cause) == (RunState.PARKED, ParkCause.RULESET)
    assert "creation" in town.comments(issue)[0]
    assert town.script.asked == []
    assert town.own_labels(issue) == ["ticketsmith:held"]


def test_r40_where_only_signed_commits_are_taken_github_signs_ours_and_the_next_one_stands_on_it(
    found: Callable[..., Town],
) -> None:
    town = found(script=Script.of(refix=writes(text="3\n\n")))
    town.shop.rules.append({"type": "required_signatures", "ruleset_source": "shop",
                            "ruleset_source_type": "Repository", "ruleset_id": 5})  # fmt: skip
    town.shop.git.reject("GH013: Repository rule violations found: Commits must have verified signatures.")
    issue = town.solved()
    first = town.course(issue).pushed
    town.github.people.review(town.shop, town.pull(), town.ada, "A line break is missing.")

    town.drain()

    second = town.course(issue).pushed
    assert first
    assert second == town.shop.git.head(branch_of(issue)) != first
    assert town.shop.git.git("rev-parse", f"{second}^") == first
    assert first != town.run(issue).commit != second
    assert len(town.github.asked("POST .*/graphql")) >= 2
    assert (len(town.pulls()), town.pull().state) == (1, "open")
    town.check()


def test_f22_a_push_that_a_rule_refuses_parks_the_run_with_githubs_words_and_the_patch(passed: Copies) -> None:
    town, issue = passed()
    town.shop.git.reject("GH013: Repository rule violations found: branch names must begin with feature/")

    town.go_on(issue)

    run = town.run(issue)
    assert (run.state, run.park_cause) == (RunState.PARKED, ParkCause.RULESET)
    assert "must begin with feature/" in run.park_reason
    assert run.patch
    assert town.branches() == []
    town.check()
