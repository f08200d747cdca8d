"""What `cargo test` prints is read, and must agree with its own summaries."""

from __future__ import annotations

import pytest

from stages.readers import cargotest
from stages.readers.told import Tally, Told, Unreadable

WHOLE = """\
   Compiling shop v0.1.0 (/tree)
     Running unittests src/lib.rs (target/debug/deps/shop-0123456789abcdef)

running 3 tests
test cart::adds ... ok
test cart::sums - should panic ... FAILED
test cart::later ... ignored, not yet

failures:

---- cart::sums stdout ----
thread 'cart::sums' panicked at src/lib.rs:7:9:
assertion `left == right` failed
  left: 3
 right: 4

failures:
    cart::sums

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests shop

running 2 tests
test src/lib.rs - add (line 10) ... ok
test src/lib.rs - add (line 20) ... ok

test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s
"""


def read(text: str) -> Told:
    tally = Tally()
    cargotest.read(text.encode(), tally)
    return tally.told()


def test_tests_are_named_by_binary_and_doc_tests_without_their_lines() -> None:
    told = read(WHOLE)

    assert {outcome.id: outcome.outcome.value for outcome in told.outcomes} == {
        "shop::cart::adds": "passed",
        "shop::cart::sums": "failed",
        "shop::cart::later": "skipped",
        "doc shop::src/lib.rs - add": "passed",
    }
    assert told.collected[-2:] == ("doc shop::src/lib.rs - add", "doc shop::src/lib.rs - add #2")
    failed = told.outcomes[1]
    assert (failed.type, failed.message) == ("panic", "assertion `left == right` failed left: 3 right: 4")


BROKEN = {
    "no summary": WHOLE.split("failures:")[0],
    "fewer lines than counted": WHOLE.replace("test cart::adds ... ok\n", ""),
    "a line more": WHOLE.replace("running 3 tests\n", "running 3 tests\ntest forged ... ok\n"),
    "a failure turned": WHOLE.replace("panic ... FAILED", "panic ... ok"),
    "a summary alone": "test result: ok. 99 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_what_does_not_agree_with_its_summary_is_refused(text: str) -> None:
    with pytest.raises(Unreadable):
        read(text)
