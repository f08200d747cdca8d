"""What the forge does when GitHub, the clock or the installation misbehaves."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bot.forge.errors import (
    AppSuspended,
    Archived,
    Forbidden,
    ForgeFault,
    Gone,
    Moved,
    NotThere,
    RateLimited,
    Rejected,
    Unauthorised,
    Unreachable,
)
from bot.forge.github import Forge
from tests.bot.clock import Clock
from tests.bot.forge.kit import account_of, forge_of, ref_of
from tests.github_server.fixtures import github  # noqa: F401
from tests.github_server.github import GitHub

ISSUE = "GET .*/issues/1"
MINT = "POST .*/access_tokens"
SECONDARY = {"message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}
PRIMARY = {"message": "API rate limit exceeded for installation ID 71."}


@pytest.fixture
def site(github: GitHub) -> GitHub:  # noqa: F811
    """A GitHub with one issue."""
    github.people.issue(github.till, github.ada, "Total is wrong")
    return github


# --- Credentials ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("minutes", [2, -2, 12, -12])
def test_f11_a_clock_that_is_wrong_is_noticed_and_corrected_once(site: GitHub, minutes: int) -> None:
    site.clock(ahead=timedelta(minutes=minutes))
    told: list[timedelta] = []
    forge = forge_of(site, clock_is_wrong=told.append)

    forge.issue(ref_of(site.till), 1)
    forge.installations()

    refused = [one for one in site.requests if one.status == 401]
    wrong = abs(minutes) > 10 or minutes < 0  # between them the proof is good for both clocks
    assert len(refused) == len(told) == (1 if wrong else 0)
    assert all(abs(skew - timedelta(minutes=minutes)) < timedelta(seconds=5) for skew in told)


def test_f11_a_key_that_github_does_not_know_is_refused_after_one_try(site: GitHub) -> None:
    site.fault(MINT, status=401, body={"message": "A JSON web token could not be decoded"}, times=9)

    with pytest.raises(Unauthorised):
        forge_of(site).issue(ref_of(site.till), 1)

    assert len(site.asked(MINT)) == 1


def keys_that_are_none() -> dict[str, str]:
    key, own = rsa.generate_private_key(public_exponent=65_537, key_size=2_048), serialization.PrivateFormat.PKCS8
    locked = key.private_bytes(serialization.Encoding.PEM, own, serialization.BestAvailableEncryption(b"word"))
    public = serialization.PublicFormat.SubjectPublicKeyInfo
    return {
        "empty": "",
        "text": "no key",
        "damaged": "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
        "encrypted": locked.decode(),
        "public": key.public_key().public_bytes(serialization.Encoding.PEM, public).decode(),
    }


@pytest.mark.parametrize("kind", ["empty", "text", "damaged", "encrypted", "public"])
def test_a_key_that_is_none_is_told_as_such(site: GitHub, kind: str) -> None:
    forge = Forge.for_app(app_id=4242, key=keys_that_are_none()[kind], base_url=site.url)

    with pytest.raises(Unauthorised) as refused:
        forge.issue(ref_of(site.till), 1)

    assert "private key" in str(refused.value)
    assert site.requests == []


def test_f12_r14_in_three_hours_a_token_is_never_older_than_45_minutes(site: GitHub) -> None:
    clock = Clock()
    forge, ages = forge_of(site, clock), []
    for _ in range(18):
        forge.issue(ref_of(site.till), 1)
        token = site.state.tokens[site.requests[-1].token]
        ages.append(clock() - (token.expires - timedelta(hours=1)))
        clock.ahead += timedelta(minutes=10)
        site.clock(ahead=clock.ahead)

    assert max(ages) <= timedelta(minutes=45)
    assert len(site.asked(MINT)) == 4
    assert not [one for one in site.requests if one.status == 401]


def test_f12_one_refusal_makes_one_new_token(site: GitHub) -> None:
    forge = forge_of(site)
    forge.issue(ref_of(site.till), 1)
    site.state.tokens.clear()

    forge.issue(ref_of(site.till), 1)

    assert [one.status for one in site.asked(ISSUE)] == [200, 401, 200]
    assert len(site.asked(MINT)) == 2


def test_f12_two_refusals_are_told(site: GitHub) -> None:
    site.fault(ISSUE, status=401, body={"message": "Bad credentials"}, times=9)

    with pytest.raises(Unauthorised):
        forge_of(site).issue(ref_of(site.till), 1)

    assert len(site.asked(ISSUE)) == 2


def test_f12_a_given_token_that_is_refused_is_told_at_once(site: GitHub) -> None:
    forge = Forge.for_token("ghs_" + "x" * 36, base_url=site.url)

    with pytest.raises(Unauthorised):
        forge.issue(ref_of(site.till), 1)

    assert len(site.requests) == 1


def test_a_ci_job_reads_with_the_token_that_it_was_given(site: GitHub) -> None:
    forge = Forge.for_token(site.ci_token(site.till), base_url=site.url)

    issue = forge.issue(ref_of(site.till), 1)

    assert issue.title == "Total is wrong"
    assert site.asked(MINT) == []
    with pytest.raises(Unauthorised):
        forge.installations()


def test_sec_22_each_token_is_for_one_repository_and_for_what_is_read(site: GitHub) -> None:
    other = site.repository("other", private=True)
    sha = site.till.git.head("main")
    assert sha
    forge, ref = forge_of(site), ref_of(site.till)

    forge.issue(ref, 1)
    forge.checks(ref, sha)
    forge.deployments(ref, sha)
    forge.permission(ref, account_of(site.ada))

    wanted = [one.body for one in site.asked(MINT)]
    assert [one["repository_ids"] for one in wanted] == [[site.till.id]] * 3
    assert {level for one in wanted for level in one["permissions"].values()} == {"read"}
    assert not [one for one in site.requests if other.full_name in one.path]


def test_f35_a_suspended_app_is_told_from_one_that_may_not(site: GitHub) -> None:
    forge, ref = forge_of(site), ref_of(site.till)
    forge.issue(ref, 1)
    site.people.suspend(71, site.ada)

    with pytest.raises(AppSuspended):
        forge.issue(ref, 1)
    with pytest.raises(AppSuspended):
        forge_of(site).issue(ref, 1)


def test_f35_an_app_that_was_removed_is_told(site: GitHub) -> None:
    forge, ref = forge_of(site), ref_of(site.till)
    forge.issue(ref, 1)
    site.people.uninstall(71, site.ada)

    with pytest.raises(AppSuspended):
        forge.issue(ref, 1)

    assert [one.status for one in site.requests[-3:]] == [401, 401, 404] or site.requests[-1].status == 404


def test_f36_a_permission_that_was_removed_is_named(site: GitHub) -> None:
    del site.installation.permissions["contents"]

    with pytest.raises(Forbidden) as refused:
        forge_of(site).issue(ref_of(site.till), 1)

    assert refused.value.permission == "contents: read"


def test_f34_a_repository_that_the_installation_lost_is_not_there(site: GitHub) -> None:
    site.installation.repositories = set()

    with pytest.raises(NotThere):
        forge_of(site).issue(ref_of(site.till), 1)


# --- Limits --------------------------------------------------------------------------------------------------------


def test_f13_at_the_primary_limit_nothing_is_asked_before_its_end(site: GitHub) -> None:
    clock = Clock()
    forge, ref = forge_of(site, clock), ref_of(site.till)
    reset = int((clock() + timedelta(minutes=40)).timestamp())
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(reset)}
    site.fault(ISSUE, status=403, body=PRIMARY, headers=headers)

    with pytest.raises(RateLimited) as limited:
        forge.issue(ref, 1)
    asked = len(site.requests)
    clock.ahead += timedelta(minutes=39)
    with pytest.raises(RateLimited):
        forge.issue(ref, 1)
    still = len(site.requests)
    clock.ahead += timedelta(minutes=2)
    issue = forge.issue(ref, 1)

    assert timedelta(minutes=39) < limited.value.until - (clock() - timedelta(minutes=41)) < timedelta(minutes=41)
    assert asked == still
    assert clock.slept == []
    assert issue.number == 1


def test_f13_the_end_of_a_limit_is_by_githubs_clock(site: GitHub) -> None:
    site.clock(ahead=timedelta(minutes=5))
    clock = Clock()
    reset = int((site.state.now() + timedelta(minutes=40)).timestamp())
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(reset)}
    site.fault(ISSUE, status=403, body=PRIMARY, headers=headers)

    with pytest.raises(RateLimited) as limited:
        forge_of(site, clock).issue(ref_of(site.till), 1)

    assert timedelta(minutes=39) < limited.value.until - clock() < timedelta(minutes=41)


@pytest.mark.parametrize("status", [403, 429])
def test_f15_a_secondary_limit_without_a_time_doubles(site: GitHub, status: int) -> None:
    clock = Clock()
    forge, ref = forge_of(site, clock), ref_of(site.till)
    site.fault(ISSUE, status=status, body=SECONDARY, times=4)
    waits = []
    for _ in range(4):
        with pytest.raises(RateLimited) as limited:
            forge.issue(ref, 1)
        waits.append(round((limited.value.until - clock()).total_seconds()))
        clock.ahead += limited.value.until - clock()

    assert waits == [90, 180, 360, 720]
    assert forge.issue(ref, 1).number == 1


def test_f15_a_secondary_limit_with_a_time_waits_for_that(site: GitHub) -> None:
    clock = Clock()
    site.fault(ISSUE, status=403, body=SECONDARY, headers={"retry-after": "30"})

    with pytest.raises(RateLimited) as limited:
        forge_of(site, clock).issue(ref_of(site.till), 1)

    assert round((limited.value.until - clock()).total_seconds()) == 30


def test_r26_a_scarce_quota_can_be_seen(site: GitHub) -> None:
    forge = forge_of(site)
    before = forge.quota(71)
    forge.issue(ref_of(site.till), 1)
    plenty = forge.quota(71)
    site._site.quota = 900
    forge.issue(ref_of(site.till), 1)
    scarce = forge.quota(71)

    assert before is None
    assert plenty is not None
    assert not plenty.scarce
    assert scarce is not None
    assert scarce.scarce


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        ("RATE_LIMITED", RateLimited),
        ("FORBIDDEN", Forbidden),
        ("NOT_FOUND", NotThere),
        ("SERVICE_UNAVAILABLE", Unreachable),
    ],
)
def test_graphql_tells_its_refusals_in_an_answer(site: GitHub, kind: str, fault: type[ForgeFault]) -> None:
    body = {"data": None, "errors": [{"type": kind, "message": "No."}]}
    site.fault("POST .*/graphql", status=200, body=body)

    with pytest.raises(fault):
        forge_of(site).body_edited_at(ref_of(site.till), 1)


# --- Answers that are none -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 502},
        {"status": 500, "body": "<html>unicorn</html>"},
        {"reset": True},
        {"status": 200, "body": "<html>proxy</html>"},
    ],
    ids=["502", "a page with 500", "reset", "a page with 200"],
)
def test_reads_are_tried_again_with_pauses(site: GitHub, fault: dict[str, Any]) -> None:
    clock = Clock()
    site.fault(ISSUE, times=3, **fault)

    issue = forge_of(site, clock).issue(ref_of(site.till), 1)

    assert issue.number == 1
    assert clock.slept == [1.0, 2.0, 4.0]


def test_reads_are_not_tried_for_ever(site: GitHub) -> None:
    site.fault(ISSUE, status=502, times=99)

    with pytest.raises(Unreachable):
        forge_of(site).issue(ref_of(site.till), 1)

    assert len(site.asked(ISSUE)) == 4


@pytest.mark.parametrize("fault", [{"trickle": 50.0}, {"hang": True}], ids=["a byte at a time", "no answer"])
def test_f26_an_answer_that_never_ends_is_given_up(site: GitHub, fault: dict[str, Any]) -> None:
    site.fault(ISSUE, times=99, **fault)

    with pytest.raises(Unreachable):
        forge_of(site, timeout=0.1).issue(ref_of(site.till), 1)


def test_an_answer_of_another_shape_is_no_crash(site: GitHub) -> None:
    site.fault(ISSUE, status=200, body={"number": 1})

    with pytest.raises(Unreachable):
        forge_of(site).issue(ref_of(site.till), 1)


def test_nobody_there_is_told_as_such(site: GitHub) -> None:
    forge = Forge.for_token("ghs_" + "x" * 36, base_url="http://127.0.0.1:9/api/v3", sleep=lambda _: None)

    with pytest.raises(Unreachable):
        forge.issue(ref_of(site.till), 1)


# --- Things that are gone or moved ---------------------------------------------------------------------------------


def test_f29_a_transferred_issue_is_not_followed(site: GitHub) -> None:
    other = site.repository("other")
    site.people.transfer(site.till, site.till.issues[1], other, site.ada)

    with pytest.raises(Moved) as moved:
        forge_of(site).issue(ref_of(site.till), 1)

    assert str(other.id) in str(moved.value)
    assert not [one for one in site.requests if str(other.id) in one.path or "other" in one.path]


@pytest.mark.parametrize("where", ["", "http://elsewhere.example/repositories/1/issues/1", "/repositories/77/issues/1"])
def test_f29_no_redirect_leads_anywhere_else(site: GitHub, where: str) -> None:
    site.fault(ISSUE, status=301, headers={"location": where})

    with pytest.raises(Moved):
        forge_of(site).issue(ref_of(site.till), 1)


def test_a_renamed_repository_is_followed_to_its_new_name(site: GitHub) -> None:
    ref = ref_of(site.till)
    site.people.rename(site.till, "till-2")
    forge = forge_of(site)

    about, issue = forge.repository(ref), forge.issue(ref, 1)

    assert (about.ref.id, about.ref.full_name, issue.number) == (site.till.id, "acme/till-2", 1)


def test_f30_a_deleted_issue_is_told_from_issues_that_are_off(site: GitHub) -> None:
    forge, ref = forge_of(site), ref_of(site.till)
    site.till.has_issues = False
    with pytest.raises(Gone) as off:
        forge.issue(ref, 1)
    site.till.has_issues = True
    site.people.delete(site.till, site.till.issues[1], site.ada)

    with pytest.raises(Gone) as deleted:
        forge.issue(ref, 1)

    assert (off.value.issues_disabled, deleted.value.issues_disabled) == (True, False)


def test_an_edit_date_of_an_issue_that_is_gone_is_no_date(site: GitHub) -> None:
    site.people.delete(site.till, site.till.issues[1], site.ada)

    with pytest.raises(NotThere):
        forge_of(site).body_edited_at(ref_of(site.till), 1)


def test_f34_a_deleted_repository_is_not_tried_again(site: GitHub) -> None:
    forge, ref = forge_of(site), ref_of(site.till)
    forge.issue(ref, 1)
    site.till.deleted = True
    before = len(site.requests)

    with pytest.raises(NotThere):
        forge.issue(ref, 1)

    assert len(site.requests) == before + 1


@pytest.mark.parametrize(
    ("status", "message", "fault"),
    [
        (403, "Repository was archived so is read-only.", Archived),
        (403, "Resource not accessible by integration", Forbidden),
        (403, "You have triggered an abuse detection mechanism.", RateLimited),
        (404, "Not Found", NotThere),
        (409, "Conflict", Rejected),
        (422, "Validation Failed", Rejected),
        (451, "Repository access blocked", Rejected),
    ],
)
def test_r23_each_refusal_has_its_own_name(site: GitHub, status: int, message: str, fault: type[ForgeFault]) -> None:
    site.fault(ISSUE, status=status, body={"message": message, "errors": ["more", {"field": "x", "code": "y"}]})

    with pytest.raises(fault) as refused:
        forge_of(site).issue(ref_of(site.till), 1)

    assert "{" not in str(refused.value)


# --- What must never show ------------------------------------------------------------------------------------------


def test_r15_no_credential_is_logged_or_shown(
    site: GitHub, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    forge, ref = forge_of(site), ref_of(site.till)
    forge.issue(ref, 1)
    remote = forge.remote(ref)
    site.fault(ISSUE, status=403, body=SECONDARY)
    with pytest.raises(RateLimited) as limited:
        forge.issue(ref, 1)

    tokens = list(site.state.tokens)
    shown = "\n".join((caplog.text, *capfd.readouterr(), repr(forge.api.tokens), repr(remote), repr(limited.value)))
    assert len(tokens) == 1
    assert not [token for token in tokens if token in shown]
    assert "PRIVATE KEY" not in shown
    assert remote.header not in shown
    assert remote.url == f"{site.web}/acme/till.git"
