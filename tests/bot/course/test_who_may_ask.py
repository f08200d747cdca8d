"""Who may spend the model's budget, and on which words: every role, every kind of account, every moment of an edit."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import product
from typing import Final

import pytest

from bot.book import utc_now
from bot.course.office import taking
from bot.engine.outcome import Settled
from bot.forge.types import Account, AccountKind
from bot.job import JobKind, NewJob, Start, StartCause
from bot.run import RunState
from tests.bot.course.town import Town
from tests.github_server.state import Issue

ROLES: Final = ("admin", "maintain", "write", "triage", "read", "none", "release-captains")
WRITE: Final = {"admin", "maintain", "write"}
WRITERS_ONLY: Final = "refused: this needs write permission in the repository"


def sweep(town: Town, issue: Issue, actor: Account | None, at: datetime | None = None) -> None:
    """A wish for an issue that was found with the label, set by `actor` or by somebody who has to be looked up."""
    start = Start(title="", body="", author=None, labels=(), updated=None, cause=StartCause.SWEPT)
    town.jobs.wish(
        NewJob(kind=JobKind.START, ref=town.ref, number=issue.number, subject=f"swept:{issue.number}:{at}",
               actor=actor, at=at or utc_now(), data=start)
    )  # fmt: skip


def account(town: Town, role: str, kind: str) -> Account:
    if kind == "ghost":
        return Account(id=9_999_999, login="ghost", kind=AccountKind.USER)
    login = f"{role}-{kind}"
    person = town.github.state.add_person(f"{login}[bot]" if kind == "bot" else login)
    town.shop.roles[person.id] = role
    of = AccountKind.BOT if kind == "bot" else AccountKind.USER
    return Account(id=person.id, login=person.login, kind=of)


def test_sec_4_of_all_roles_and_accounts_only_people_who_may_write_begin_a_run(town: Town) -> None:
    town.github.hooks.url = ""
    begun: set[tuple[str, str]] = set()
    for role, kind in product(ROLES, ("user", "bot", "ghost")):
        issue = town.labelled()
        sweep(town, issue, account(town, role, kind))
        job = town.jobs.waiting()[-1]
        town.jobs.taken(job.id)
        with taking(town.office) as one:
            outcome = one.receive(job)
        if isinstance(outcome, Settled):
            assert outcome.outcome.startswith("refused: ")
            town.jobs.done(job.id, outcome.outcome)
        else:
            begun.add((role, kind))
            town.jobs.done(job.id, "was admitted, which is all that is asked here")

    assert begun == {(role, "user") for role in WRITE}
    assert town.script.asked == []


@pytest.mark.parametrize(("after", "taken"), [(-1, True), (0, False), (1, False)], ids=["before", "equal", "after"])
def test_sec_6_a_text_that_was_edited_when_or_after_the_label_was_set_is_not_taken(
    town: Town, after: int, taken: bool
) -> None:
    town.github.hooks.url = ""
    issue = town.labelled()
    at = utc_now().replace(microsecond=0)
    issue.edited = at + timedelta(seconds=after)  # GitHub tells whole seconds

    sweep(town, issue, Account(id=town.ada.id, login="ada", kind=AccountKind.USER), at)
    outcome, *_ = town.drain()  # and a look at the checks of what went out

    assert town.script.asked != [] if taken else town.script.asked == []
    assert isinstance(outcome, Settled)
    assert ("edited after the label" in outcome.outcome) is not taken


def test_r11_a_sweep_works_for_whoever_set_the_label_last_if_they_may_now(town: Town) -> None:
    town.github.hooks.url = ""
    people = town.github.people
    jonas = town.github.state.add_person("jonas")
    issue, other = town.labelled(), town.labelled()
    for one in (issue, other):
        people.unlabel(town.shop, one, town.ada)
        people.label(town.shop, one, jonas)
    town.github.hooks.url = "kept"

    town.shop.roles[jonas.id] = "read"
    sweep(town, other, None)
    refused = town.drain()
    town.shop.roles[jonas.id] = "write"
    sweep(town, issue, None)
    town.drain()

    assert refused == [Settled(outcome=WRITERS_ONLY)], "ada may write, and it was she who set it before"
    assert town.run(issue).state is RunState.PUBLISHED
    assert town.course(issue).actor.login == "jonas"
    tokens = list(town.github.state.tokens.values())
    assert tokens
    assert all(token.installation for token in tokens), "what is asked, is asked by the installation and by no person"
