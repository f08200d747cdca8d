"""What happens on GitHub, whoever does it: the state changes, and a webhook tells."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.github_server.hooks import Hooks
from tests.github_server.state import (
    ACTIONS_APP_ID,
    Check,
    Comment,
    Deployment,
    Issue,
    LabelChange,
    Person,
    Pull,
    Repository,
    Review,
    State,
)


def open_issue(state: State, emit: Hooks, repository: Repository, by: Person, title: str, body: str) -> Issue:
    now = state.now()
    issue = Issue(repository.next_number, state.new_id(), title, body, by, now, now)
    repository.issues[issue.number] = issue
    emit("issues", "opened", repository, by, issue=issue)
    return issue


def edit_issue(state: State, emit: Hooks, repository: Repository, issue: Issue, by: Person, **new: str) -> None:
    changes = {name: {"from": getattr(issue, name)} for name in new}
    for name, value in new.items():
        setattr(issue, name, value)
    issue.updated = state.now()
    if "body" in new:
        issue.edited = issue.updated
    emit("issues", "edited", repository, by, issue=issue, changes=changes)


def comment(state: State, emit: Hooks, repository: Repository, issue: Issue, body: str, by: Person) -> Comment:
    now = state.now()
    made = Comment(state.new_id(), by, body, now, now)
    issue.comments.append(made)
    issue.updated = now
    emit("issue_comment", "created", repository, by, issue=issue, comment=made)
    return made


def edit_comment(
    state: State, emit: Hooks, repository: Repository, issue: Issue, one: Comment, body: str, by: Person
) -> None:
    before, one.body, one.updated = one.body, body, state.now()
    emit("issue_comment", "edited", repository, by, issue=issue, comment=one, changes={"body": {"from": before}})


def label(state: State, emit: Hooks, repository: Repository, issue: Issue, name: str, by: Person) -> None:
    """As GitHub does: a label that the repository has not is made, and `updated` stays."""
    known = next((one for one in repository.labels if one.lower() == name.lower()), name)
    repository.labels.setdefault(known, "ededed")
    if known in issue.labels:
        return
    issue.labels.append(known)
    issue.changes.append(LabelChange(state.new_id(), known, by, state.now(), added=True))
    kind = {"pull_request": issue} if issue.pull else {"issue": issue}
    emit("pull_request" if issue.pull else "issues", "labeled", repository, by, **kind, label=known)


def unlabel(state: State, emit: Hooks, repository: Repository, issue: Issue, name: str, by: Person) -> None:
    if name not in issue.labels:
        return
    issue.labels.remove(name)
    issue.changes.append(LabelChange(state.new_id(), name, by, state.now(), added=False))
    kind = {"pull_request": issue} if issue.pull else {"issue": issue}
    emit("pull_request" if issue.pull else "issues", "unlabeled", repository, by, **kind, label=name)


def open_pull(
    state: State, emit: Hooks, repository: Repository, by: Person, *, head: str, base: str, title: str, body: str,
    draft: bool = False,
) -> Issue:  # fmt: skip
    now = state.now()
    issue = Issue(repository.next_number, state.new_id(), title, body, by, now, now)
    issue.pull = Pull(head, base, repository.id, repository.git.head(head) or "", draft)
    repository.issues[issue.number] = issue
    emit("pull_request", "opened", repository, by, number=issue.number, pull_request=issue)
    return issue


def close(state: State, emit: Hooks, repository: Repository, issue: Issue, by: Person) -> None:
    issue.state, issue.closed_by, issue.closed_at = "closed", by, state.now()
    issue.updated = state.now()
    if issue.pull:
        emit("pull_request", "closed", repository, by, number=issue.number, pull_request=issue)
    else:
        emit("issues", "closed", repository, by, issue=issue)


def reopen(state: State, emit: Hooks, repository: Repository, issue: Issue, by: Person) -> None:
    issue.state, issue.closed_by, issue.closed_at = "open", None, None
    issue.updated = state.now()
    if issue.pull:
        emit("pull_request", "reopened", repository, by, number=issue.number, pull_request=issue)
    else:
        emit("issues", "reopened", repository, by, issue=issue)


def merge(state: State, emit: Hooks, repository: Repository, issue: Issue, by: Person) -> str:
    """A merge commit on the base branch."""
    pull = issue.pull
    assert pull
    assert not pull.merged
    sha = repository.git.merge(pull.base, pull.head_sha, f"Merge pull request #{issue.number}")
    assert sha, "the pull request conflicts with its base"
    pull.merged, pull.merge_commit, pull.merged_by, pull.merged_at = True, sha, by, state.now()
    close(state, emit, repository, issue, by)
    return sha


def review(
    state: State, emit: Hooks, repository: Repository, issue: Issue, by: Person, verdict: str, body: str,
    remarks: list[tuple[str, int | None, str]],
) -> Review:  # fmt: skip
    pull = issue.pull
    assert pull
    kept = [(state.new_id(), *remark) for remark in remarks]
    made = Review(state.new_id(), by, verdict, body, state.now(), pull.head_sha, kept)
    pull.reviews.append(made)
    emit("pull_request_review", "submitted", repository, by, pull_request=issue, review=made)
    return made


def check(
    state: State,
    emit: Hooks,
    repository: Repository,
    sha: str,
    *,
    name: str,
    status: str,
    conclusion: str | None,
    app: int,
    external_id: str = "",
    output: dict[str, Any] | None = None,
) -> Check:
    done = status == "completed" or conclusion is not None
    made = Check(state.new_id(), name, sha, "completed" if done else status, conclusion, app, external_id,
                 state.now(), state.now() if done else None, output or {})  # fmt: skip
    repository.checks[made.id] = made
    sender = state.actions_bot if app == ACTIONS_APP_ID else state.bot
    emit("check_run", "completed" if done else "created", repository, sender, check_run=made)
    return made


def conclude(
    state: State, emit: Hooks, repository: Repository, one: Check, status: str, conclusion: str | None
) -> None:
    was, one.status, one.conclusion = one.status, status, conclusion
    if status == "completed" and was != "completed":
        one.completed = state.now()
        emit("check_run", "completed", repository, state.bot, check_run=one)


def deploy(state: State, emit: Hooks, repository: Repository, sha: str, environment: str, outcome: str) -> Deployment:
    made = Deployment(state.new_id(), sha, environment, state.now())
    repository.deployments[made.id] = made
    reached = (state.new_id(), outcome, state.now())
    made.states.append(reached)
    emit("deployment_status", "created", repository, state.actions_bot, deployment=made, deployment_status=reached)
    return made


@contextmanager
def refs(state: State, emit: Hooks, repository: Repository, by: Person) -> Iterator[None]:
    """Whatever changes branches: pull requests follow their head, and close when it is deleted."""
    before = repository.git.refs()
    yield
    after = repository.git.refs()
    for name in before.keys() | after.keys():
        if before.get(name) == after.get(name):
            continue
        branch = name.removeprefix("refs/heads/")
        none = "0" * 40
        ends = {"before": before.get(name, none), "after": after.get(name, none)}
        marks = {"created": name not in before, "deleted": name not in after, "forced": False}
        emit("push", None, repository, by, ref=name, pusher={"name": by.login}, **ends, **marks)
        for issue in list(repository.issues.values()):
            if not issue.pull or issue.state != "open" or issue.pull.head != branch:
                continue
            if name not in after:
                close(state, emit, repository, issue, by)
            else:
                issue.pull.head_sha = after[name]
                emit("pull_request", "synchronize", repository, by, number=issue.number, pull_request=issue)
