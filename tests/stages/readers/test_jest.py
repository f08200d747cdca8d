"""Jest's JSON is read, and refused where it is not whole."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from stages.readers import jest
from stages.readers.told import Tally, Unreadable

PASSED = {"ancestorTitles": ["cart"], "title": "adds", "status": "passed", "duration": 5}
FAILED = {"ancestorTitles": [], "title": "sums", "status": "failed", "failureMessages": ["TypeError: no sum\n at x"]}


def whole(*tests: Mapping[str, object], success: bool = True, **file: object) -> bytes:
    one = {"name": "/tree/a.test.js", "status": "passed", "assertionResults": list(tests), **file}
    return json.dumps({"success": success, "testResults": [one]}).encode()


def read(data: bytes) -> Tally:
    tally = Tally(inside=("/tree",))
    jest.read(data, tally)
    return tally


def test_tests_are_named_by_file_and_titles() -> None:
    told = read(whole(PASSED, FAILED, {"title": "later", "status": "todo"}, success=False)).told()

    assert {outcome.id: outcome.outcome.value for outcome in told.outcomes} == {
        "a.test.js::cart > adds": "passed",
        "a.test.js::sums": "failed",
        "a.test.js::later": "skipped",
    }
    assert (told.outcomes[1].type, told.outcomes[1].message) == ("TypeError", "no sum")
    assert told.outcomes[0].seconds == 0.005


def test_a_file_that_could_not_be_read_has_failed() -> None:
    told = read(whole(status="failed", message="SyntaxError: bad\n", success=False)).told()

    assert [(outcome.id, outcome.outcome.value) for outcome in told.outcomes] == [("a.test.js", "failed")]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        whole()[:-3],
        whole(PASSED, success=False),
        whole({"title": "x", "status": "great"}),
        whole({"status": "passed"}),
        whole({**PASSED, "duration": "long"}),
        whole(PASSED).replace(b"5", b"NaN"),
        b'{"success": true, "testResults": [3]}',
        b"[" * 100_000,
    ],
    ids=repr,
)
def test_what_is_not_whole_is_refused(data: bytes) -> None:
    with pytest.raises(Unreadable):
        read(data)
