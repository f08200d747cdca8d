"""An issue from its label to a pull request, and what people see on the way."""

from __future__ import annotations

from bot.course.office import taking
from bot.course.points import CourseStep, Moment
from bot.run import RunState
from tests.bot.course.town import Town
from tests.github_server.state import Issue


def test_a_labelled_issue_becomes_a_draft_pull_request(town: Town) -> None:
    issue = town.labelled()

    town.drain()

    run, pull = town.run(issue), town.pull()
    assert run.state is RunState.PUBLISHED
    assert town.branches() == [f"ticketsmith/issue-{issue.number}"]
    assert town.file(town.branches()[0]) == "3"
    assert pull.pull is not None
    assert (pull.pull.draft, pull.pull.base, pull.pull.head) == (True, "main", town.branches()[0])
    assert pull.body.startswith(f"Fixes #{issue.number}")
    assert town.own_labels(issue) == ["ticketsmith:pr"]
    assert len(town.comments(issue)) == 1
    assert f"see #{pull.number}" in town.comments(issue)[0]
    assert run.branch == town.branches()[0]
    assert "| attempt 1 | exit 0" in pull.body
    assert "- `price.txt`, line 1" in pull.body
    (check,) = town.shop.checks.values()
    assert (check.conclusion, check.head_sha) == ("success", pull.pull.head_sha)
    town.check()


def test_an_issue_is_told_that_it_waits_while_another_one_of_its_repository_is_worked_on(town: Town) -> None:
    def label_another(step: CourseStep, moment: Moment) -> None:
        if (step, moment) == (CourseStep.PURSUE, Moment.BEFORE_EFFECT) and not second:
            second.append(town.labelled(title="Another one"))
            with taking(town.office) as one:
                one.receive(town.jobs.waiting()[-1])

    second: list[Issue] = []
    town.reached = label_another
    first = town.labelled()
    job = town.jobs.waiting()[0]
    town.jobs.taken(job.id)
    town.take(job)

    assert "see #" in town.comments(first)[0]
    assert "It waits for its turn." in town.comments(second[0])[0]
