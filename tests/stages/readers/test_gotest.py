"""Events of `go test -json` are read; a run that broke off is a failure of the test that it broke off in."""

from __future__ import annotations

import json

import pytest

from stages.readers import gotest
from stages.readers.told import Tally, Told, Unreadable


def lines(*events: tuple[str, str, str] | tuple[str, str, str, str] | str) -> bytes:
    told = []
    for event in events:
        if isinstance(event, str):
            told.append(event)
            continue
        action, package, test, *output = event
        fields = {"Action": action, "Package": package, "Test": test, "Output": "".join(output), "Elapsed": 0.5}
        told.append(json.dumps({key: value for key, value in fields.items() if value != ""}))
    return "\n".join((*told, "")).encode()


def read(data: bytes) -> Told:
    tally = Tally("api/")
    gotest.read(data, tally)
    return tally.told()


def ended(told: Told) -> dict[str, str]:
    return {outcome.id: outcome.outcome.value for outcome in told.outcomes}


def test_tests_and_subtests_are_told_with_their_output() -> None:
    told = read(
        lines(
            ("run", "m/p", "TestA"),
            ("output", "m/p", "TestA", "=== RUN   TestA\n"),
            ("output", "m/p", "TestA", "    a_test.go:7: want 3\n"),
            ("fail", "m/p", "TestA"),
            ("pass", "m/p", "TestB/x y"),
            ("skip", "m/p", "TestC"),
            ("fail", "m/p", ""),
        )
    )

    assert ended(told) == {"api/m/p::TestA": "failed", "api/m/p::TestB/x y": "passed", "api/m/p::TestC": "skipped"}
    assert told.outcomes[0].message == "a_test.go:7: want 3"
    assert told.outcomes[0].seconds == 0.5


@pytest.mark.parametrize(
    "data",
    [
        lines(("run", "m/p", "TestA"), ("fail", "m/p", "")),
        lines(("run", "m/p", "TestA")),
    ],
    ids=["package failed", "no more events"],
)
def test_a_test_that_never_ended_has_failed(data: bytes) -> None:
    assert ended(read(data)) == {"api/m/p::TestA": "failed"}


@pytest.mark.parametrize(
    "data", [lines(("fail", "m/p", "")), lines("FAIL\tm/p [build failed]")], ids=["event", "older version"]
)
def test_a_package_that_could_not_be_built_has_failed(data: bytes) -> None:
    assert ended(read(data)) == {"api/m/p": "failed"}


def test_b63_what_a_test_prints_is_no_result() -> None:
    told = read(lines("===== 99 passed =====", "ok  \tm/p\t0.1s", ("run", "m/p", "TestA")))

    assert ended(told) == {"api/m/p::TestA": "failed"}


@pytest.mark.parametrize(
    "data",
    [b'{"Action":"pass","Package":"m"', b'{"Action"\n', b'{"Action":"pass","Test":"T","Elapsed":NaN}\n', b"{[\n"],
)
def test_cut_or_broken_events_are_refused(data: bytes) -> None:
    with pytest.raises(Unreadable):
        read(data)
