"""Secrets that come to be known while the program runs, such as tokens that GitHub makes for an hour."""

from __future__ import annotations

import hashlib
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

from memory.scrub import Scrubber
from tests.memory.test_hidden_secrets import KEY, PASSWORD


def made_token(number: int) -> str:
    return f"made-token-{number}-{hashlib.sha256(str(number).encode()).hexdigest()[:24]}"


def test_a_secret_that_is_learnt_later_is_found_from_then_on_and_the_newest_stay() -> None:
    scrubber = Scrubber([PASSWORD])
    first, *made = [made_token(number) for number in range(70)]

    scrubber.learn(KEY, for_good=True)
    scrubber.learn(first)
    found = scrubber.leaks(first[8:])
    for token in made:
        scrubber.learn(token)

    assert found
    assert all(scrubber.leaks(token[8:]) and scrubber.holds_value(token) for token in made[-32:])
    assert not scrubber.holds_value(first)
    assert scrubber.holds_value(PASSWORD)
    assert scrubber.leaks(KEY.split("\n")[3])


def test_what_many_threads_learn_at_once_is_known_afterwards() -> None:
    scrubber, together = Scrubber(), threading.Barrier(16)
    tokens = [made_token(number) for number in range(16)]

    def learn(token: str) -> None:
        together.wait()
        scrubber.learn(token)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # seconds: threads meet in the midst of what they do
    try:
        with ThreadPoolExecutor(len(tokens)) as threads:
            list(threads.map(learn, tokens))
    finally:
        sys.setswitchinterval(before)

    assert [token for token in tokens if not scrubber.holds_value(token)] == []
