"""What becomes of an event: the same answer for the same event, a reason for each, and never a failure."""

from __future__ import annotations

import copy
import itertools
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.forge.types import Account, AccountKind
from bot.intake import EVENTS, Event, Own, arrival_of, decide
from bot.job import (
    Closed,
    Command,
    Deployed,
    FollowUp,
    FollowUpReason,
    Gone,
    GoneCause,
    JobKind,
    Start,
    StartCause,
)
from bot.jobs import Jobs
from tests.bot import payloads as p
from tests.bot.books import make_book

needs_real = pytest.mark.skipif(not p.REAL.exists(), reason="the recorded webhooks are not here")


def kind(event: Event, own: Own = p.OWN) -> JobKind | None:
    job = decide(event, own).job
    return job.kind if job else None


# --- Labels --------------------------------------------------------------------------------------------------------


def test_the_label_starts_a_run_of_the_issue_as_the_event_shows_it() -> None:
    decision = decide(p.labeled(), p.OWN)

    job = decision.job
    assert job is not None
    assert (job.kind, job.number, job.ref.installation, job.ref.id, job.at) == (JobKind.START, 7, 9, 5, p.NOW)
    assert job.actor == Account(id=11, login="mira", kind=AccountKind.USER)
    assert isinstance(job.data, Start)
    assert (job.data.title, job.data.labels, job.data.cause) == (
        "Ten cups are too dear",
        ("bug", "ticketsmith"),
        StartCause.LABELLED,
    )
    assert decision.reason == "start: issues labeled"


def test_r6_another_label_starts_nothing_while_the_label_is_there() -> None:
    assert decide(p.labeled("bug"), p.OWN).reason == "ignored: another label"


def test_r8_a_deployment_with_another_label_leaves_the_issue_alone() -> None:
    assert kind(p.labeled(), Own(label="second-bot")) is None
    assert kind(p.labeled("Second-Bot"), Own(label="second-bot")) is JobKind.START


@pytest.mark.parametrize(
    ("event", "wanted"),
    [
        (p.issue_event("opened", "ticketsmith"), JobKind.START),
        (p.issue_event("opened", "bug"), None),
        (p.issue_event("reopened", "ticketsmith"), JobKind.START),
        (p.issue_event("reopened"), None),
        (p.issue_event("assigned", "ticketsmith"), None),
        (p.issue_event("edited", "ticketsmith"), None),
        (p.issue_event("locked", "ticketsmith"), None),
        (p.issue_event("unlabeled", label={"name": "ticketsmith"}), JobKind.STOP),
        (p.issue_event("unlabeled", label={"name": "bug"}), None),
        (p.issue_event("closed", "ticketsmith"), JobKind.CLOSED),
        (p.issue_event("closed", "ticketsmith:working"), JobKind.CLOSED),
        (p.issue_event("closed", "bug"), None),
        (p.issue_event("transferred"), JobKind.GONE),
        (p.issue_event("deleted"), JobKind.GONE),
        (p.labeled(issue=p.issue("ticketsmith", pull_request={})), None),
    ],
    ids=lambda one: f"{one.action}" if isinstance(one, Event) else str(one),
)
def test_an_issue_event_asks_for(event: Event, wanted: JobKind | None) -> None:
    assert kind(event) is wanted


def test_r1_the_three_events_of_one_trigger_give_one_job_in_every_order(tmp_path: Path) -> None:
    events = (
        p.issue_event("opened", "ticketsmith"),
        p.labeled(),
        p.issue_event("assigned", "ticketsmith"),
    )
    jobs = Jobs(make_book(tmp_path))

    for order, permutation in enumerate(itertools.permutations(events)):
        for place, event in enumerate(permutation):
            payload = {**event.payload, "repository": {"id": 100 + order, "full_name": f"acme/r{order}"}}
            one = p.event(event.name, payload)
            jobs.add(arrival_of(one, f"{order}-{place}", ""), decide(one, p.OWN))

    assert [job.ref.id for job in jobs.waiting()] == [100, 101, 102, 103, 104, 105]


# --- Who did it ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sender", "acts"),
    [
        (p.MIRA, True),
        ({"id": 12, "login": "looks-like[bot]", "type": "User"}, True),
        (p.BOT, False),
        ({"id": 903, "login": "mira", "type": "Bot"}, False),
        (p.ALLOWED_BOT, True),
        (p.OURSELVES, False),
        ({"id": 13, "login": "acme", "type": "Organization"}, False),
        ({"id": 14, "login": "old", "type": "Mannequin"}, False),
        ({"id": 10137, "login": "ghost", "type": "User"}, False),
        (None, False),
    ],
    ids=["user", "user named as a bot", "bot", "bot named as a user", "allowed", "we", "org", "other", "ghost", "null"],
)
def test_sec_5_who_acts_is_told_by_type_and_number_and_never_by_name(sender: object, acts: bool) -> None:
    assert (kind(p.labeled(sender=sender)) is JobKind.START) is acts


OWN_COMMENT: Final = "<!-- ticketsmith:00ff -->\nI am on it. Say `/ticketsmith stop` to end it.\n/ticketsmith retry"


def test_r9_our_own_comment_100_times_starts_nothing() -> None:
    as_ourselves = [kind(p.commented(OWN_COMMENT, "ticketsmith", of=p.OURSELVES)) for _ in range(100)]
    by_others = [kind(p.commented(OWN_COMMENT, "ticketsmith", of=who)) for who in (p.BOT, p.MIRA, p.ALLOWED_BOT)]

    assert {*as_ourselves, *by_others} == {None}


def test_a_comment_through_our_own_app_is_ours_and_a_quoted_marker_is_not() -> None:
    comment = {"id": 31, "body": "/ticketsmith why", "user": p.MIRA, "created_at": "2026-11-03T09:10:00Z"}
    through_us = p.commented("", comment={**comment, "performed_via_github_app": {"id": 77}})
    quoting = p.commented("> <!-- ticketsmith:00ff -->\n> done\n\n/ticketsmith why")

    assert kind(through_us) is None
    assert kind(quoting) is JobKind.WHY


# --- Commands ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "wanted", "argument"),
    [
        ("/ticketsmith stop", JobKind.STOP, ""),
        ("/ticketsmith retry", JobKind.RETRY, ""),
        ("/TicketSmith  Why  ", JobKind.WHY, ""),
        ("/ticketsmith help", JobKind.HELP, ""),
        ("/ticketsmith", JobKind.HELP, ""),
        ("/ticketsmith dance", JobKind.HELP, ""),
        ("/ticketsmith forget 01J5-2", JobKind.FORGET, "01J5-2"),
        ("/ticketsmith requeue mind the cents", JobKind.REQUEUE, "mind the cents"),
        ("/ticketsmith requeue mind\nthe cents\n> no\nquoted on\n\nend", JobKind.REQUEUE, "mind\nthe cents\n\nend"),
        ("Thanks!\r\n\r\n/ticketsmith retry\r\n", JobKind.RETRY, ""),
        ("```\nfirst\n```\n/ticketsmith stop", JobKind.STOP, ""),
        ("/ticketsmith retry --repo https://evil.example model=x", JobKind.RETRY, ""),
        ("/ticketsmith stop\n/ticketsmith retry", JobKind.STOP, ""),
    ],
)
def test_a_command_is_read(body: str, wanted: JobKind, argument: str) -> None:
    job = decide(p.commented(body), p.OWN).job

    assert job is not None
    assert isinstance(job.data, Command)
    assert (job.kind, job.data.argument, job.data.comment, job.number) == (wanted, argument, 31, 7)
    assert job.at.isoformat() == "2026-11-03T09:10:00+00:00"


@pytest.mark.parametrize(
    "body",
    [
        "Please /ticketsmith stop",
        " /ticketsmith stop",
        "`/ticketsmith stop`",
        "/ticketsmithstop",
        "> /ticketsmith stop",
        "> so he said:\n/ticketsmith stop",
        "```\n/ticketsmith stop\n```",
        "~~~~\n```\n~~~\n/ticketsmith stop",
        "<!-- hidden\n/ticketsmith stop\n-->",
        "<!-- never closed\n/ticketsmith stop",
        "text\u2028/ticketsmith stop",
        "",
    ],
)
def test_a_command_that_is_quoted_shown_or_hidden_is_none(body: str) -> None:
    assert kind(p.commented(body)) is None


def test_a_comment_on_a_labelled_issue_is_a_remark_and_elsewhere_nothing() -> None:
    assert kind(p.commented("It is the tax.", "ticketsmith")) is JobKind.REMARK
    assert kind(p.commented("It is the tax.")) is None
    assert kind(p.commented("It is the tax.", "ticketsmith", issue=p.issue("ticketsmith", pull_request={}))) is None


def test_a_command_on_a_pull_request_names_it() -> None:
    job = decide(p.commented("/ticketsmith why", issue=p.issue(pull_request={"url": "u"})), p.OWN).job

    assert job is not None
    assert isinstance(job.data, Command)
    assert (job.number, job.data.pull) == (0, 7)


def test_r59_a_command_takes_no_settings_and_no_address() -> None:
    job = decide(p.commented("/ticketsmith forget x --repo=https://evil.example/o/r"), p.OWN).job

    assert job is not None
    assert job.ref.full_name == "acme/till"


def test_b48_words_of_authority_do_nothing() -> None:
    assert kind(p.commented("maintainer here: apply label ticketsmith, @org/everyone, Fixes #1")) is None


# --- Pull requests, checks, deployments ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "wanted"),
    [
        (p.reviewed("changes_requested"), FollowUpReason.REVIEW),
        (p.reviewed("commented"), None),
        (p.reviewed("approved"), None),
        (p.reviewed("changes_requested", of=p.BOT), None),
        (p.reviewed("changes_requested", of=p.ALLOWED_BOT), FollowUpReason.REVIEW),
        (p.reviewed("changes_requested", branch="feature"), None),
        (p.reviewed("changes_requested", repository=None), None),
        (p.suite("failure"), FollowUpReason.CHECK),
        (p.suite("timed_out"), FollowUpReason.CHECK),
        (p.suite("success"), None),
        (p.suite("cancelled"), None),
        (p.suite("failure", app=77), None),
        (p.suite("failure", branch=None), None),
        (p.suite("failure", branch="trunk"), None),
        (p.check("failure"), FollowUpReason.CHECK),
        (p.check("neutral"), None),
        (p.check("failure", app=77), None),
        (p.deployed("failure"), FollowUpReason.DEPLOYMENT),
        (p.deployed("error"), FollowUpReason.DEPLOYMENT),
        (p.deployed("pending"), None),
    ],
)
def test_r38_what_speaks_against_our_own_patch_is_followed_up(event: Event, wanted: FollowUpReason | None) -> None:
    job = decide(event, p.OWN).job

    assert (job.data.reason if job and isinstance(job.data, FollowUp) else job) is wanted


def test_r50_all_failing_checks_of_one_commit_are_one_subject() -> None:
    jobs = [decide(event, p.OWN).job for event in (p.suite("failure"), p.check("failure"), p.check("timed_out"))]

    assert {job.subject for job in jobs if job} == {f"check:5:{p.SHA}"}
    assert [job.number for job in jobs if job] == [7, 7, 7]


def test_a_deployment_that_went_well_is_evidence() -> None:
    job = decide(p.deployed("success", ref="ticketsmith/issue-7-2"), p.OWN).job

    assert job is not None
    assert (job.kind, job.number) == (JobKind.VERIFY, 7)
    assert job.data == Deployed(deployment=61, commit=p.SHA, environment="staging")


@pytest.mark.parametrize(("merged", "commit"), [(True, p.SHA), (False, None)])
def test_the_end_of_our_pull_request_is_told(merged: bool, commit: str | None) -> None:
    job = decide(p.pull_closed(merged=merged, merge_commit_sha=p.SHA), p.OWN).job

    assert job is not None
    assert isinstance(job.data, Closed)
    assert (job.number, job.data.pull, job.data.merged, job.data.merge_commit) == (7, 8, merged, commit)


@pytest.mark.parametrize(
    "branch",
    [
        "-f",
        "refs/heads/../x",
        "HEAD",
        p.SHA,
        "main\u200b",
        "ticketsmith/issue-0",
        "ticketsmith/issue-7/x",
        "x/ticketsmith/issue-7",
    ],
)
def test_b85_a_branch_with_another_name_is_not_ours(branch: str) -> None:
    assert kind(p.pull_closed(branch=branch, merged=True)) is None


@pytest.mark.parametrize("fork", [6, None], ids=["a fork", "a fork that is gone"])
@pytest.mark.parametrize("branch", ["ticketsmith/issue-7", "patch-1"])
def test_r42_a_pull_request_of_a_fork_is_none_of_ours_whatever_its_branch_is_called(
    fork: int | None, branch: str
) -> None:
    closed = decide(p.pull_closed(repository=fork, branch=branch, merged=True), p.OWN)
    reviewed = decide(p.reviewed("changes_requested", repository=fork, branch=branch), p.OWN)

    assert (closed.job, closed.reason != "") == (None, True)
    told = fork is not None and branch.startswith("ticketsmith/")
    assert (reviewed.job.number if reviewed.job else None) == (0 if told else None), "it belongs to no issue of ours"
    assert kind(p.reviewed("changes_requested")) is JobKind.FOLLOW_UP, "what is asked for our own branch is done"


# --- Installations and repositories --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "payload", "wanted"),
    [
        ("installation", {"action": "deleted"}, Gone(cause=GoneCause.UNINSTALLED)),
        ("installation", {"action": "suspend"}, Gone(cause=GoneCause.SUSPENDED)),
        ("installation", {"action": "unsuspend"}, None),
        ("installation", {"action": "deleted", "installation": {"id": 9, "app_id": 78}}, None),
        (
            "installation_repositories",
            {"action": "removed", "repositories_removed": [{"id": 5}, {"id": 6}]},
            Gone(cause=GoneCause.REMOVED, repositories=(5, 6)),
        ),
        ("installation_repositories", {"action": "removed", "repositories_removed": [{"id": "5"}]}, None),
        ("installation_repositories", {"action": "added", "repositories_removed": []}, None),
        ("repository", {"action": "archived"}, Gone(cause=GoneCause.ARCHIVED, repositories=(5,))),
        ("repository", {"action": "deleted"}, Gone(cause=GoneCause.REPOSITORY_DELETED, repositories=(5,))),
        ("repository", {"action": "privatized"}, Gone(cause=GoneCause.PRIVATISED, repositories=(5,))),
        ("repository", {"action": "edited"}, None),
    ],
)
def test_f34_f35_what_goes_away_is_told(name: str, payload: dict[str, object], wanted: Gone | None) -> None:
    job = decide(p.event(name, p.around(**payload)), p.OWN).job

    assert (job.data if job else None) == wanted


@pytest.mark.parametrize(("action", "cause"), [("transferred", GoneCause.TRANSFERRED), ("deleted", GoneCause.DELETED)])
def test_f29_f30_an_issue_that_goes_away_is_told_with_its_old_repository(action: str, cause: GoneCause) -> None:
    job = decide(p.issue_event(action), p.OWN).job

    assert job is not None
    assert (job.data, job.number, job.ref.id) == (Gone(cause=cause), 7, 5)


def test_a_repository_that_was_renamed_has_another_name_and_no_job() -> None:
    decision = decide(p.event("repository", p.around(action="renamed")), p.OWN)

    assert decision.job is None
    assert decision.renamed is not None
    assert decision.renamed.full_name == "acme/till"


# --- Bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (p.event("gollum", p.around(action="created")), "no event that we listen to"),
        (p.event("issues", p.around(action="danced", issue=p.issue())), "nothing to do for this action"),
        (p.event("issues", p.around(action="labeled", issue=p.issue())), "unreadable, label is missing"),
        (p.event("issues", p.around(action=["labeled"], issue=p.issue())), "nothing to do for this action"),
        (p.labeled(issue=None), "unreadable, issue is missing"),
        (p.labeled(issue=[]), "unreadable, issue: model_type"),
        (p.labeled(issue=p.issue(number="7")), "unreadable, issue.number: int_type"),
        (p.labeled(issue=p.issue(number=True)), "unreadable, issue.number: int_type"),
        (p.labeled(issue=p.issue(number=2**70)), "unreadable, issue.number: less_than"),
        (
            p.labeled(repository={"id": 5, "full_name": "../../etc"}),
            "unreadable, repository.full_name: string_pattern_mismatch",
        ),
        (p.labeled(sender={"id": 1, "login": "a\nb"}), "unreadable, sender.login: string_pattern_mismatch"),
    ],
)
def test_b9_what_is_unknown_or_of_another_kind_is_ignored_with_a_reason(event: Event, reason: str) -> None:
    assert decide(event, p.OWN).reason == f"ignored: {reason}"


def test_b11_no_installation_or_another_app_is_ignored() -> None:
    without = {key: value for key, value in p.labeled().payload.items() if key != "installation"}

    assert decide(p.event("issues", without), p.OWN).reason == "ignored: unreadable, installation is missing"
    assert (
        decide(p.event("issues", p.labeled().payload, app=78), p.OWN).reason == "ignored: it was meant for another App"
    )
    assert kind(p.event("issues", p.labeled().payload, app=77)) is JobKind.START
    assert kind(p.event("issues", without), Own(installation=0)) is JobKind.START


def test_b46_a_huge_text_is_cut() -> None:
    job = decide(p.labeled(issue=p.issue(title="x" * 100_000, body="y" * 200_000)), p.OWN).job

    assert job is not None
    assert isinstance(job.data, Start)
    assert (len(job.data.title), len(job.data.body)) == (1_024, 65_536)


@needs_real
@pytest.mark.parametrize("label", ["bug", "ticketsmith"])
def test_every_real_event_has_a_decision_and_only_known_ones_ask_for_something(label: str) -> None:
    own = Own(label=label, installation=1)
    decided = [(one, decide(p.event(one["event"], one["payload"]), own)) for one in p.real()]

    asks = {f"{one['event']}.{one['action']}" for one, decision in decided if decision.job}
    assert len(decided) == 110
    assert not [decision.reason for _, decision in decided if "unreadable" in decision.reason]
    assert asks == {
        "bug": {
            "installation.deleted", "installation.suspend", "issue_comment.created", "issues.deleted", "issues.labeled",
            "issues.opened", "issues.reopened", "issues.unlabeled",
        },
        "ticketsmith": {"installation.deleted", "installation.suspend", "issues.deleted"},
    }[label]  # fmt: skip


VALUES: Final = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(max_size=9), st.just([]), st.just({}), st.just([{"id": "x"}]),
    st.just("\ud800"), st.floats(),
)  # fmt: skip
KNOWN: Final = [
    p.labeled(), p.issue_event("closed", "ticketsmith"), p.commented("/ticketsmith stop"),
    p.reviewed("changes_requested"), p.pull_closed(merged=True), p.suite("failure"), p.check("failure"),
    p.deployed("success"), p.deployed("error"),
    p.event("installation", p.around(action="deleted")), p.event("repository", p.around(action="archived")),
    p.event("installation_repositories", p.around(action="removed", repositories_removed=[{"id": 1}])),
]  # fmt: skip


def places(value: object, at: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    found = [at] if at else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [place for key, one in items for place in places(one, (*at, key))]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_b9_no_value_anywhere_makes_intake_fail_or_give_what_no_table_holds(data: st.DataObject) -> None:
    event = data.draw(st.sampled_from(KNOWN))
    payload: Any = copy.deepcopy(dict(event.payload))
    place = data.draw(st.sampled_from(places(payload)))
    inner = payload
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = data.draw(VALUES)
    changed = p.event(event.name, payload)

    decision = decide(changed, p.OWN)

    arrival = arrival_of(changed, "g", "")
    numbers = [arrival.installation, arrival.repository, arrival.sender]
    if decision.job:
        numbers += [decision.job.number, decision.job.ref.id, decision.job.actor.id if decision.job.actor else 0]
        assert decision.job.subject.isascii()
    assert all(number is None or 0 <= number < 2**63 for number in numbers)
    assert len(decision.reason) < 200


def test_the_events_that_are_listened_to_are_those_of_the_app() -> None:
    assert set(EVENTS) == {
        "issues", "issue_comment", "pull_request", "pull_request_review", "check_run", "check_suite",
        "deployment_status", "installation", "installation_repositories", "repository",
    }  # fmt: skip
