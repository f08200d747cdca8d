"""What a job pushed and could not write down any more: a branch on which we made every commit is our own."""

from __future__ import annotations

from typing import Final

from bot.course.course import Course, PullState
from bot.course.errand import Errand
from bot.course.placing import name_of
from bot.forge.types import OpenOrClosed
from bot.sources import default_commit
from memory.types import CommitId
from stages.git import EMAIL
from stages.remote import fault
from stages.repository import Repository

_FETCH_SECONDS: Final = 120.0
_REF: Final = "refs/ticketsmith/earlier"


def with_earlier_push(errand: Errand, repository: Repository, course: Course) -> Course:
    """The course with the branch and the pull request as they are on GitHub. Raises RemoteFault and ForgeFault.

    The commit that the branch is at is brought into the checkout.
    """
    branch = course.branch or name_of(course.number, 1)
    head = errand.forge.branch_head(errand.ref, branch)
    if head is None or not _is_ours(errand, repository, branch, head, course.pushed):
        return course
    found: dict[str, object] = {"branch": branch, "pushed": head}
    if course.pull is None:
        pulls = errand.forge.pulls_of_branch(errand.ref, branch)
        mine = (one for one in pulls if one.state is OpenOrClosed.OPEN and one.author.id == errand.me)
        if (pull := next(mine, None)) is not None:
            found |= {"pull": pull.number, "pull_state": PullState.OPEN.value}
    return errand.courses.change(course.run, **found)


def _is_ours(errand: Errand, repository: Repository, branch: str, head: str, pushed: CommitId | None) -> bool:
    git, remote = repository.git, errand.forge.remote(errand.ref)
    said = remote.reached_by(git, seconds=_FETCH_SECONDS).try_to(
        "fetch", "--quiet", "--no-tags", "--no-auto-gc", "--no-recurse-submodules", "--no-write-fetch-head",
        remote.url, f"+refs/heads/{branch}:{_REF}",
    )  # fmt: skip
    if said.status != 0:
        raise fault(remote.url, said)
    if head == pushed:
        return True
    made_by = git.run("log", "--format=%ae%x00%ce", f"{default_commit(repository)}..{head}")
    lines = made_by.decode("utf-8", "replace").splitlines()
    return bool(lines) and set(lines) == {f"{EMAIL}\0{EMAIL}"}
