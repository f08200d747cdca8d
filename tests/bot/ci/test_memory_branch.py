"""The branch that remembers: several jobs add to it at the same time, and nothing is lost or overwritten."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from bot.ci.memory_branch import BRANCH, FILE, TRIES, Change, MemoryBranch, MemoryNotKept, Remembered
from bot.forge.types import RepositoryRef
from memory.types import CommitId
from stages.remote import Remote, RemoteForbidden
from stages.repository import Repository
from tests.bot.ci.workflow import READS, WRITES, Workflow


def line(name: str) -> str:
    return json.dumps({"v": 9, "id": name, "at": name, "final": False}) + "\n"


def place(flow: Workflow) -> RepositoryRef:
    return RepositoryRef(installation=0, id=flow.shop.id, full_name=flow.shop.full_name)


def branch(flow: Workflow, before: Callable[[int], object] = lambda _: None, writes: bool = True) -> MemoryBranch:
    """The branch as one job has it; `before` is called each time that git is about to reach GitHub."""
    checkout, forge = flow.checkout(), flow.forge(WRITES if writes else READS)
    calls = iter(range(1_000))

    def remote() -> Remote:
        before(next(calls))
        return forge.remote(place(flow), writes=writes)

    return MemoryBranch(checkout.git, remote, sleep=lambda _: None)


def add_aside(flow: Workflow, name: str) -> None:
    """Another job adds a line."""
    flow.shop.git.commit(BRANCH, {FILE: flow.memory() + line(name)}, "Remember", onto=None)


def test_the_first_line_makes_the_branch_and_the_same_line_changes_nothing(flow: Workflow) -> None:
    one = branch(flow)

    added = [one.add(Change(log=line("a"))), one.add(Change(log=line("a")))]

    assert added == [True, False]
    assert one.read() == Remembered(log=line("a"))
    assert flow.shop.git.git("show", f"{BRANCH}:.gitattributes") == f"{FILE} merge=union\nforgotten.txt merge=union"
    assert flow.shop.git.git("rev-list", "--count", BRANCH) == "1"


def test_a_job_that_was_overtaken_adds_its_line_to_what_is_there_now(flow: Workflow) -> None:
    branch(flow).add(Change(log=line("a")))

    # The first call reads the branch, the second one pushes.
    branch(flow, before=lambda call: add_aside(flow, "b") if call == 1 else None).add(Change(log=line("c")))

    assert flow.memory() == line("a") + line("b") + line("c")


def test_jobs_that_add_at_the_same_time_lose_nothing(flow: Workflow) -> None:
    jobs = [branch(flow) for _ in range(3)]

    with ThreadPoolExecutor(3) as many:
        added = list(many.map(lambda pair: pair[1].add(Change(log=line(f"job{pair[0]}"))), enumerate(jobs)))

    assert added == [True] * 3
    assert flow.memory() == "".join(line(f"job{number}") for number in range(3))


def test_a_job_that_is_always_overtaken_says_so(flow: Workflow) -> None:
    branch(flow).add(Change(log=line("a")))
    overtaken = branch(flow, before=lambda call: add_aside(flow, f"b{call:03}") if call % 2 else None)

    with pytest.raises(MemoryNotKept, match=BRANCH):
        overtaken.add(Change(log=line("z")))

    assert flow.memory().count("\n") == 1 + TRIES


def test_a_token_that_can_only_read_adds_nothing(flow: Workflow) -> None:
    with pytest.raises(RemoteForbidden):
        branch(flow, writes=False).add(Change(log=line("a")))

    assert flow.shop.git.head(BRANCH) is None


def test_a_rule_that_refuses_the_branch_is_told_with_its_words(flow: Workflow) -> None:
    flow.shop.git.reject("GH013: Repository rule violations found")

    with pytest.raises(MemoryNotKept, match="GH013"):
        branch(flow).add(Change(log=line("a")))


def test_a_fetch_that_was_killed_is_made_again(flow: Workflow) -> None:
    branch(flow).add(Change(log=line("a")))
    folder = flow.folder / "checkout"
    source = f"file://{flow.shop.git.path}"  # by its address: else all objects are taken
    flow.shop.git.git("clone", "--quiet", "--single-branch", "--branch", "main", source, str(folder))
    checkout = Repository.open(folder)
    head = CommitId(str(flow.shop.git.head(BRANCH)))
    alone = flow.shop.git.git("cat-file", "commit", head) + "\n"  # git unpacks commits first
    kept = checkout.git.run("hash-object", "-w", "-t", "commit", "--stdin", stdin=alone.encode()).decode().strip()
    remote = partial(flow.forge(READS).remote, place(flow), writes=False)

    read = MemoryBranch(checkout.git, remote, sleep=lambda _: None).read()

    assert kept == head
    assert read == Remembered(log=line("a"))


def test_a_partial_clone_that_has_the_branch_without_its_files_gets_them(flow: Workflow) -> None:
    branch(flow).add(Change(log=line("a")))
    folder = flow.folder / "checkout"
    source = f"file://{flow.shop.git.path}"
    flow.shop.git.git("clone", "--quiet", "--filter=blob:none", "--branch", "main", source, str(folder))
    remote = partial(flow.forge(READS).remote, place(flow), writes=False)

    read = MemoryBranch(Repository.open(folder).git, remote, sleep=lambda _: None).read()

    assert read == Remembered(log=line("a"))


def test_a_branch_that_did_not_move_is_not_fetched_again(flow: Workflow) -> None:
    branch(flow).add(Change(log=line("a")))
    one = branch(flow, writes=False)
    one.read()
    before = len(flow.github.requests)

    assert one.read() == Remembered(log=line("a"))
    # What the service can do, and its refs: no third request brings anything.
    assert [exchange.path.rpartition("/")[2] for exchange in flow.github.requests[before:]] == [
        "refs",
        "git-upload-pack",
    ]
