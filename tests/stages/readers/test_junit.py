"""JUnit XML of many writers is read; what is broken, hostile or too much is refused as a whole."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stages.readers import junit
from stages.readers.told import CASES_AT_MOST, Tally, Told, Unreadable
from stages.report import Outcome

SUREFIRE = b"""<?xml version="1.0" encoding="UTF-8"?>
<testsuite xmlns:x="urn:x" name="a.CartTest" time="1,002.5" tests="3" failures="1">
  <properties><property name="x" value="y"/></properties>
  <testcase name="total" classname="a.CartTest" time="1,000.25">
    <failure message="expected: &lt;3&gt; but was: &lt;4&gt;" type="org.opentest4j.AssertionFailedError">
      <![CDATA[trace]]></failure>
  </testcase>
  <testcase name="count" classname="a.CartTest" time="0.1"/>
  <testcase name="later" classname="a.CartTest"><skipped message="not yet"/></testcase>
</testsuite>"""
VITEST = b"""<testsuites name="vitest tests"><testsuite name="src/cart.test.ts" failures="0" errors="0">
<testcase classname="src/cart.test.ts" name="cart &gt; adds" time="0.001"><system-out>99 passed</system-out></testcase>
</testsuite></testsuites>"""
NODE = b"""<testsuites><testsuite name="cart" failures="1"><testsuite name="inner">
<testcase name="adds" classname="test"><failure type="testCodeFailure" message="1 == 2">text</failure></testcase>
</testsuite></testsuite><testcase name="alone" classname="test"/><!-- pass 1 --></testsuites>"""
NAMESPACED = b'<t:testsuite xmlns:t="urn:t" name="s"><t:testcase name="a"><t:error/></t:testcase></t:testsuite>'


def read(*files: bytes, prefix: str = "") -> Told:
    tally = Tally(prefix, ("/site/tree",))
    for data in files:
        junit.read(data, tally)
    return tally.told()


def ended(told: Told) -> dict[str, str]:
    return {outcome.id: outcome.outcome.value for outcome in told.outcomes}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (SUREFIRE, {"a.CartTest::total": "failed", "a.CartTest::count": "passed", "a.CartTest::later": "skipped"}),
        (VITEST, {"src/cart.test.ts::cart > adds": "passed"}),
        (NODE, {"cart > inner::adds": "failed", "alone": "passed"}),
        (NAMESPACED, {"s::a": "failed"}),
        (b'<testsuite><testcase name="a" status="notrun"/></testsuite>', {"a": "skipped"}),
        (b'<testsuite><testcase name="a" file="/site/tree/t.py"/></testsuite>', {"t.py::a": "passed"}),
        (b"<testsuites/>", {}),
    ],
)
def test_each_writers_tests_are_named_and_ended(data: bytes, expected: dict[str, str]) -> None:
    assert ended(read(data)) == expected


def test_a_failure_is_told_with_its_type_message_text_and_time() -> None:
    total = read(SUREFIRE).outcomes[0]

    assert (total.type, total.message) == ("org.opentest4j.AssertionFailedError", "expected: <3> but was: <4>")
    assert total.text.strip() == "trace"
    assert total.seconds == 1000.25


def test_ids_are_relative_to_the_tree_and_carry_the_folder() -> None:
    data = b'<testsuite name="/site/tree/js/a.test.ts"><testcase name="x"/></testsuite>'

    assert list(ended(read(data, prefix="js/"))) == ["js/js/a.test.ts::x"]


def test_a_test_that_is_told_twice_ended_as_its_worse_report_says_and_is_counted_twice() -> None:
    good = b'<testsuite><testcase classname="c" name="x"/></testsuite>'
    bad = b'<testsuite><testcase classname="c" name="x"><error/></testcase></testsuite>'

    told = read(bad, good)

    assert ended(told) == {"c::x": "failed"}
    assert told.collected == ("c::x", "c::x #2")


def test_a_suite_that_failed_as_a_whole_is_a_failure() -> None:
    told = read(b'<testsuites><testsuite name="s" errors="1"><testcase name="a"/></testsuite></testsuites>')

    assert told.outcomes[-1].outcome is Outcome.FAILED
    assert told.outcomes[-1].id == "s"


BOMB = b"".join(
    [
        b'<!DOCTYPE t [<!ENTITY a0 "haha">',
        *(b'<!ENTITY a%d "%b">' % (n, b"&a%d;" % (n - 1) * 10) for n in range(1, 10)),
        b']><testsuite><testcase name="&a9;"/></testsuite>',
    ]
)
HOSTILE = {
    "B62 entity bomb": BOMB,
    "B62 external entity": (
        b'<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]><testsuite><testcase name="&x;"/></testsuite>'
    ),
    "B62 parameter entity": b'<!DOCTYPE t SYSTEM "http://127.0.0.1:9/x.dtd"><testsuite/>',
    "B62 NaN time": b'<testsuite><testcase name="a" time="NaN"/></testsuite>',
    "B62 endless time": b'<testsuite><testcase name="a" time="inf"/></testsuite>',
    "no time": b'<testsuite><testcase name="a" time="soon"/></testsuite>',
    "no number": b'<testsuite failures="many"/>',
    "cut": SUREFIRE[:-20],
    "two roots": SUREFIRE + SUREFIRE,
    "empty": b"",
    "no XML": b"99 passed",
    "another document": b"<html><testcase name='a'/></html>",
    "unknown encoding": b'<?xml version="1.0" encoding="klingon"?><testsuite/>',
    "wrong encoding": b'<?xml version="1.0" encoding="utf-8"?><testsuite name="\xff"/>',
    "nested": b"<testsuite>" * 5_000 + b"</testsuite>" * 5_000,
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE.keys())
def test_b62_what_is_broken_or_hostile_is_refused_whole(data: bytes) -> None:
    before = time.monotonic()

    with pytest.raises(Unreadable):
        read(data)

    assert time.monotonic() - before < 2.0


def test_b62_a_million_cases_are_refused_once_there_are_too_many() -> None:
    data = b"<testsuite>" + b'<testcase name="a"/>' * 1_000_000 + b"</testsuite>"
    tally = Tally()

    with pytest.raises(Unreadable, match=f"more than {CASES_AT_MOST} tests"):
        junit.read(data, tally)

    assert len(tally.told().collected) <= CASES_AT_MOST + 1


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_name_leads_to_anything_but_an_id_of_one_line(name: str, message: str) -> None:
    tally = Tally()

    tally.add(name, Outcome.FAILED, message=message)

    (told,) = tally.told().outcomes
    assert len(told.id.splitlines()) <= 1
    assert len(told.id) <= 500
    told.id.encode()


@given(st.binary(max_size=200))
def test_no_bytes_bring_anything_but_tests_or_a_refusal(data: bytes) -> None:
    for whole in (data, b"<testsuite>" + data + b"</testsuite>"):
        try:
            told = read(whole)
        except Unreadable:
            continue
        assert told.problem == ""
