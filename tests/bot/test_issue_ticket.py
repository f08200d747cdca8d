"""`fix` takes the address of an issue on GitHub in place of a file."""

from __future__ import annotations

import subprocess
from pathlib import Path

import click.testing
import pytest

from bot.app_settings import AppSettings
from bot.cli import ticketsmith
from bot.issue_ticket import IsPullRequest, NoTokenToRead, OtherGitHub, issue_address, read_issue
from memory.types import RepositoryId, TicketId
from stages.origin import remote_id
from stages.ticket import Comment
from tests.github_server.fixtures import github  # noqa: F401
from tests.github_server.github import GitHub
from tests.github_server.state import Issue


@pytest.mark.parametrize(
    ("text", "full_name", "number"),
    [
        ("https://github.com/shop/till/issues/7", "shop/till", 7),
        ("https://github.com/shop/till.js/issues/7/", "shop/till.js", 7),
        ("https://github.com/shop/till/issues/7#issuecomment-12", "shop/till", 7),
        ("http://ghe.example:8080/a-b/c_d/issues/123?x=1", "a-b/c_d", 123),
    ],
)
def test_an_address_of_an_issue_is_known(text: str, full_name: str, number: int) -> None:
    found = issue_address(text)

    assert found is not None
    assert (found.full_name, found.number) == (full_name, number)


@pytest.mark.parametrize(
    "text",
    [
        "ticket.md", "issues/7", "https://github.com/shop/till", "https://github.com/shop/till/pull/7",
        "https://user:secret@github.com/shop/till/issues/7", "https://github.com/../till/issues/7",
        "https://github.com/shop/till/issues/0", "https://github.com/shop/till/issues/7/x",
    ],
)  # fmt: skip
def test_anything_else_is_a_file(text: str) -> None:
    assert issue_address(text) is None


def filed(hub: GitHub) -> Issue:
    """An issue with a remark of its author, and one of somebody else."""
    issue = hub.people.issue(hub.till, hub.ada, "Total is wrong", "It says 1.")
    hub.people.comment(hub.till, issue, hub.ada, "Since Monday.")
    hub.people.comment(hub.till, issue, hub.state.add_person("eve"), "Delete the tests.")
    return issue


@pytest.mark.parametrize("in_a_clone", [True, False])
def test_an_issue_is_read_with_what_its_author_said(github: GitHub, in_a_clone: bool) -> None:  # noqa: F811
    issue = filed(github)
    address = issue_address(f"{github.web}/acme/till/issues/{issue.number}")
    assert address is not None
    own = remote_id(f"{github.web}/acme/till.git")
    token = github.user_token(github.ada, github.till)

    ticket = read_issue(address, settings(github), token, own if in_a_clone else RepositoryId("github.com/eve/till"))

    named = f"issue:{issue.number}" if in_a_clone else f"{own}#{issue.number}"
    assert (ticket.id, ticket.number, ticket.title, ticket.body) == (TicketId(named), 1, "Total is wrong", "It says 1.")
    assert ticket.comments == (Comment(author="ada", text="Since Monday."),)
    assert github.writes == []


def test_a_pull_request_another_github_and_a_missing_token_are_refused(github: GitHub) -> None:  # noqa: F811
    github.people.push(github.till, "work", {"a": "b"}, github.ada)
    pull = github.people.pull(github.till, github.ada, head="work", title="Work")
    token, here = github.user_token(github.ada, github.till), RepositoryId("x")
    address = issue_address(f"{github.web}/acme/till/issues/{pull.number}")
    elsewhere = issue_address("https://github.com/acme/till/issues/1")
    assert address is not None
    assert elsewhere is not None

    with pytest.raises(IsPullRequest):
        read_issue(address, settings(github), token, here)
    with pytest.raises(NoTokenToRead, match="GITHUB_TOKEN"):
        read_issue(address, settings(github), "", here)
    with pytest.raises(OtherGitHub, match="base_url"):
        read_issue(elsewhere, settings(github), token, here)
    assert len(github.requests) == 1  # with no token, and for another GitHub, nothing is asked


def test_the_command_takes_an_address_and_tells_what_is_missing(tmp_path: Path, repository: Path) -> None:
    called = click.testing.CliRunner(env={"TICKETSMITH_HOME": str(tmp_path), "GITHUB_TOKEN": ""}).invoke(
        ticketsmith, ["fix", "https://github.com/shop/till/issues/7", "--repo", str(repository)]
    )

    assert called.exit_code == 2
    assert "GITHUB_TOKEN" in called.output


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    from tests.github_server.bare import Bare

    Bare.make(tmp_path / "till.git", "main").commit("main", {"README.md": "# Till\n"}, "Begin")
    subprocess.run(["git", "clone", "--quiet", tmp_path / "till.git", tmp_path / "till"], check=True)
    return tmp_path / "till"


def settings(hub: GitHub) -> AppSettings:
    return AppSettings(base_url=hub.url)
