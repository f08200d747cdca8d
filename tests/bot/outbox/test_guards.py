"""A guard that fails, or says nothing, lets nothing pass; and what is unknown stays unknown."""

from __future__ import annotations

from threading import Thread
from typing import Any

import pytest

from bot.forge.errors import Unreachable
from bot.forge.github import Forge
from bot.outbox.errors import Leaks
from bot.outbox.ledger import State
from bot.outbox.outbox import Outbox
from bot.outbox.types import CheckStatus, Conclusion, OwnLabel
from bot.outbox.words import Words
from memory.scrub import Scrubber
from memory.types import CommitId
from tests.bot.outbox.kit import BRANCH, RUN, Post

POST = "POST .*/issues/1/comments"


class Broken(Scrubber):
    """A guard that raises."""

    def leaks(self, text: str) -> Any:
        raise RuntimeError("out of order")

    def holds_value(self, text: str) -> Any:
        raise RuntimeError("out of order")


class Silent(Scrubber):
    """A guard that says nothing."""

    def leaks(self, text: str) -> Any:
        return None

    def holds_value(self, text: str) -> Any:
        return None


@pytest.mark.parametrize(("guard", "error"), [(Broken, RuntimeError), (Silent, Leaks)])
def test_sec_5_9_without_a_word_of_the_leak_check_nothing_is_sent(
    post: Post, guard: type[Scrubber], error: type[Exception]
) -> None:
    copy = post.copy()
    commit = post.commit(copy)
    object.__setattr__(post.outbox._comments._sender, "words", Words(guard()))

    with pytest.raises(error):
        post.outbox.status(RUN, post.ref, 1, "Working on it.")
    with pytest.raises(error):
        post.outbox.push(RUN, post.ref, copy, BRANCH, commit, None)
    with pytest.raises(error):
        post.outbox.pull(RUN, post.ref, BRANCH, "main", "Fix", "Fixes #1", draft=True)

    assert post.github.writes == []
    assert post.github.till.git.head(BRANCH) is None


def test_r67_two_failures_in_a_row_are_told_and_the_comment_is_made_later(post: Post) -> None:
    post.github.fault(POST, status=502, times=2)

    with pytest.raises(Unreachable):
        post.outbox.status(RUN, post.ref, 1, "Working on it.")
    unknown = [one.state for one in post.outbox.sent(RUN)]
    post.again().outbox.status(RUN, post.ref, 1, "Working on it.")

    assert unknown == [State.INTENDED]
    assert len(post.issue.comments) == 1
    assert len(post.github.asked(POST)) == 3


def test_r67_a_second_try_that_arrived_though_it_broke_off_is_found(post: Post) -> None:
    post.github.fault(POST, status=502)
    post.github.fault(POST, status=502, stored=True)

    number = post.outbox.status(RUN, post.ref, 1, "Working on it.")

    assert [one.id for one in post.issue.comments] == [number]


def test_r67_an_edit_that_broke_off_is_sent_again_and_is_the_same(post: Post) -> None:
    post.outbox.status(RUN, post.ref, 1, "Working on it.")
    post.github.fault("PATCH .*/issues/comments/.*", status=502, stored=True)

    post.outbox.status(RUN, post.ref, 1, "Done.")

    assert len(post.issue.comments) == 1
    assert post.issue.comments[0].body.startswith("Done.")


def test_sec_5_7_after_a_restart_a_push_that_was_cut_off_is_adopted(post: Post) -> None:
    copy = post.copy()
    commit = post.commit(copy)
    post.github.fault("POST .*/git-receive-pack", reset=True, stored=True)
    post.github.fault("GET .*/info/refs", skip=2, status=502, times=4)
    with pytest.raises(Unreachable):
        post.outbox.push(RUN, post.ref, copy, BRANCH, commit, None)
    post.github.faults.clear()

    result = post.again().outbox.push(RUN, post.ref, copy, BRANCH, commit, None)

    assert (result.branch, post.github.till.git.head(BRANCH)) == (BRANCH, commit)
    assert len(post.github.asked("POST .*/git-receive-pack")) <= 2


def test_two_threads_that_want_one_comment_make_one(post: Post) -> None:
    post.github.fault(POST, delay=0.3, stored=True)
    numbers: list[int] = []
    threads = [
        Thread(target=lambda: numbers.append(post.outbox.status(RUN, post.ref, 1, "Working on it."))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)

    assert len(numbers) == 4
    assert {one.id for one in post.issue.comments} == set(numbers)


def test_a_ci_job_writes_in_the_name_of_githubs_own_account(post: Post) -> None:
    till, actions = post.github.till, post.github.state.actions_bot
    copy = post.copy()
    forge = Forge.for_token(post.github.ci_token(till), base_url=post.github.url, sleep=post.clock.sleep)
    outbox = Outbox.of(
        forge, post.book, Scrubber(()), me=actions.id, secret=str(till.id), clock=post.clock, sleep=post.clock.sleep
    )
    commit = post.commit(copy)

    outbox.status(RUN, post.ref, 1, "Working on it.")
    outbox.push(RUN, post.ref, copy, BRANCH, commit, None)
    pull = outbox.pull(RUN, post.ref, BRANCH, "main", "Fix", "Fixes #1", draft=True)
    outbox.check(RUN, post.ref, commit, CheckStatus.COMPLETED, Conclusion.SUCCESS, "The gate", "Seen.")
    outbox.labels(post.ref, 1, OwnLabel.PR)
    outbox.close_pull(RUN, post.ref, pull.number, "Over.")
    outbox.delete_branch(RUN, post.ref, BRANCH, only_if_head=commit)

    assert post.issue.comments[0].author is actions
    assert till.issues[pull.number].author is actions
    assert [one.app for one in till.checks.values()] == [15_368]
    assert post.issue.labels == ["ticketsmith:pr"]
    assert till.git.head(BRANCH) is None
    assert post.github.asked(".*access_tokens") == post.github.asked("POST .*/installations/71/access_tokens")[:1]


def test_sec_18_no_program_that_a_repository_names_runs_when_its_commit_is_looked_at(post: Post) -> None:
    copy = post.copy()
    plain = post.commit(copy)
    text = copy.git.run("cat-file", "commit", plain).decode()
    head, _, message = text.partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    text = f"{head}\n{signature}\n\n{message}"
    signed = copy.git.run("hash-object", "-t", "commit", "-w", "--stdin", stdin=text.encode())
    commit = CommitId(signed.decode().strip())
    ran = post.folder / "ran"
    program = post.folder / "gpg"
    program.write_text(f"#!/bin/sh\ntouch {ran}\nexit 1\n")
    program.chmod(0o755)
    for name, value in (("log.showSignature", "true"), ("gpg.program", str(program))):
        copy.git.run("config", name, value)
    copy.git.try_to("log", "-1", commit)  # the positive control: it is run when nobody says no
    control = ran.exists()
    ran.unlink(missing_ok=True)

    post.outbox.push(RUN, post.ref, copy, BRANCH, commit, None)

    assert control
    assert not ran.exists()
    assert post.github.till.git.head(BRANCH) == commit
