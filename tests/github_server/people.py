"""What people do on GitHub. Each act sends its webhook, and ends when that was answered."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.github_server import acts
from tests.github_server.hooks import Hooks
from tests.github_server.state import (
    ACTIONS_APP_ID,
    Check,
    Comment,
    Deployment,
    Issue,
    Person,
    Repository,
    Review,
    State,
)


class People:
    def __init__(self, state: State, hooks: Hooks, lock: threading.RLock) -> None:
        self._state, self._hooks, self._lock = state, hooks, lock

    @contextmanager
    def _acting(self) -> Iterator[tuple[State, Hooks]]:
        with self._lock:
            yield self._state, self._hooks
        self._hooks.flush()

    def issue(self, where: Repository, by: Person, title: str, body: str = "", labels: tuple[str, ...] = ()) -> Issue:
        """Open an issue; `labels` are in it from the start, and each is told too, as GitHub does."""
        with self._acting() as (state, emit):
            issue = acts.open_issue(state, emit, where, by, title, body)
            for name in labels:
                acts.label(state, emit, where, issue, name, by)
            return issue

    def edit(self, where: Repository, issue: Issue, by: Person, **new: str) -> None:
        with self._acting() as (state, emit):
            acts.edit_issue(state, emit, where, issue, by, **new)

    def label(self, where: Repository, issue: Issue, by: Person, name: str = "ticketsmith") -> None:
        with self._acting() as (state, emit):
            acts.label(state, emit, where, issue, name, by)

    def unlabel(self, where: Repository, issue: Issue, by: Person, name: str = "ticketsmith") -> None:
        with self._acting() as (state, emit):
            acts.unlabel(state, emit, where, issue, name, by)

    def comment(self, where: Repository, issue: Issue, by: Person, body: str) -> Comment:
        with self._acting() as (state, emit):
            return acts.comment(state, emit, where, issue, body, by)

    def edit_comment(self, where: Repository, issue: Issue, comment: Comment, by: Person, body: str) -> None:
        with self._acting() as (state, emit):
            acts.edit_comment(state, emit, where, issue, comment, body, by)

    def close(self, where: Repository, issue: Issue, by: Person) -> None:
        with self._acting() as (state, emit):
            acts.close(state, emit, where, issue, by)

    def reopen(self, where: Repository, issue: Issue, by: Person) -> None:
        with self._acting() as (state, emit):
            acts.reopen(state, emit, where, issue, by)

    def lock(self, where: Repository, issue: Issue, by: Person) -> None:
        with self._acting() as (_, emit):
            issue.locked = True
            emit("issues", "locked", where, by, issue=issue)

    def delete(self, where: Repository, issue: Issue, by: Person) -> None:
        with self._acting() as (_, emit):
            emit("issues", "deleted", where, by, issue=issue)
            issue.deleted = True

    def transfer(self, where: Repository, issue: Issue, to: Repository, by: Person) -> None:
        with self._acting() as (state, emit):
            emit("issues", "transferred", where, by, issue=issue)
            number = to.next_number
            now = state.now()
            to.issues[number] = Issue(number, state.new_id(), issue.title, issue.body, issue.author, now, now)
            issue.moved_to = (to.id, number)

    def pull(
        self, where: Repository, by: Person, *, head: str, title: str, body: str = "", draft: bool = False
    ) -> Issue:
        """Open a pull request into the default branch."""
        with self._acting() as (state, emit):
            base = where.default_branch
            return acts.open_pull(state, emit, where, by, head=head, base=base, title=title, body=body, draft=draft)

    def review(
        self,
        where: Repository,
        pull: Issue,
        by: Person,
        body: str = "",
        *,
        verdict: str = "CHANGES_REQUESTED",
        remarks: tuple[tuple[str, int | None, str], ...] = (),
    ) -> Review:
        with self._acting() as (state, emit):
            return acts.review(state, emit, where, pull, by, verdict, body, list(remarks))

    def merge(self, where: Repository, pull: Issue, by: Person) -> str:
        """Merge a pull request; gives the merge commit."""
        with self._acting() as (state, emit):
            return acts.merge(state, emit, where, pull, by)

    def push(
        self, where: Repository, branch: str, files: Mapping[str, str | None], by: Person, message: str = "A commit"
    ) -> str:
        """One commit on a branch, which is made from the default branch where it is missing."""
        with self._acting() as (state, emit), acts.refs(state, emit, where, by):
            onto = where.git.head(where.default_branch)
            author = f"{by.login} <{by.login}@example.org>"
            return where.git.commit(branch, files, message, onto=onto, author=author)

    def delete_branch(self, where: Repository, branch: str, by: Person) -> None:
        with self._acting() as (state, emit), acts.refs(state, emit, where, by):
            where.git.delete(branch)

    def check(self, where: Repository, sha: str, conclusion: str | None, name: str = "ci") -> Check:
        """GitHub Actions finishes a check run; without a conclusion it begins one."""
        status = "completed" if conclusion else "in_progress"
        with self._acting() as (state, emit):
            return acts.check(state, emit, where, sha, name=name, status=status, conclusion=conclusion,
                              app=ACTIONS_APP_ID)  # fmt: skip

    def deploy(self, where: Repository, sha: str, outcome: str, environment: str = "staging") -> Deployment:
        with self._acting() as (state, emit):
            return acts.deploy(state, emit, where, sha, environment, outcome)

    def rename(self, where: Repository, name: str) -> None:
        """The old name leads to the new one for a while, as on GitHub. The bare repository stays where it is."""
        with self._lock:
            self._state.former_names[where.full_name.lower()] = where.id
            where.name = name

    def suspend(self, number: int, by: Person) -> None:
        with self._acting() as (state, emit):
            state.installations[number].suspended = True
            shown = {"action": "suspend", "installation": emit.shapes.installation(state.installations[number])}
            emit.keep("installation", "suspend", shown | {"sender": emit.shapes.person(by)}, number, None)

    def uninstall(self, number: int, by: Person) -> None:
        with self._acting() as (state, emit):
            shown = {"action": "deleted", "installation": emit.shapes.installation(state.installations[number])}
            state.installations[number].removed = True
            emit.keep("installation", "deleted", shown | {"sender": emit.shapes.person(by)}, number, None)
