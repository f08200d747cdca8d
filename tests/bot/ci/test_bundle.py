"""What the job that works hands over is trusted in nothing by the job that publishes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from bot.ci.bundle import Bundle, BundleState, BundleUnusable, read_bundle, write_bundle
from bot.ci.publishing import BundleRefused
from bot.ci.trail import Carried, CarriedStep, Trail, TrailUnusable
from tests.bot.ci.workflow import Workflow
from tests.bot.kit import Script

DROPS: Final[dict[str, Any]] = {"develop": {"summary": "I found nothing."}, "refix": {"summary": "I found nothing."}}
OF_WORKFLOWS: Final = """\
diff --git a/.github/workflows/x.yml b/.github/workflows/x.yml
new file mode 100644
--- /dev/null
+++ b/.github/workflows/x.yml
@@ -0,0 +1 @@
+on: push
"""
NOTE: Final = OF_WORKFLOWS.replace(".github/workflows/x.yml", "notes.txt")
SECRET: Final = NOTE.replace("on: push", "ghp_" + "a1B2c3D4e5" * 4)
A_LINK: Final = NOTE.replace("100644", "120000").replace("on: push", "/etc/passwd")
OUTSIDE: Final = OF_WORKFLOWS.replace(".github/workflows/x.yml", "../x")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"number": 999}, "another issue"),
        ({"repository": 1}, "another issue"),
        ({"diff": OF_WORKFLOWS}, "breaks a rule"),
        ({"diff": SECRET}, "a secret stands in line 1"),
        ({"diff": A_LINK}, "breaks a rule"),
        ({"diff": OUTSIDE}, "does not fit"),
        ({"diff": "no diff at all"}, "does not fit"),
        ({"diff": ""}, "changes nothing"),
        ({"base": "0" * 40}, "another base"),
        ({"base": ""}, "another base"),
        ({"run": ""}, "another run"),
        ({"run": "DC6D8RKZRPTX"}, "another run"),
        ({"state": BundleState.STANDS}, "not asked"),
    ],
)
def test_r65_a_bundle_that_says_something_else_is_refused_and_nothing_of_it_is_written(
    flow: Workflow, change: dict[str, Any], reason: str
) -> None:
    issue = flow.labelled()
    good = flow.made(issue)
    with pytest.raises(BundleRefused, match=reason):
        flow.publish(replace(good, **change))

    told = flow.said(issue)[0]
    assert "was refused, the log of the job after it says why" in told
    assert [text for text in change.values() if isinstance(text, str) and text and text in told] == []
    assert flow.pulls() == []
    assert flow.memory() == ""
    assert [ref for ref in flow.shop.git.refs() if "issue-" in ref] == []


@pytest.mark.parametrize("spoilt", ["another run", "no bundle"])
def test_people_are_told_of_a_bundle_that_was_refused_and_may_ask_again(flow: Workflow, spoilt: str) -> None:
    issue = flow.labelled()
    good = flow.made(issue)
    if spoilt == "no bundle":
        flow.bundle.write_text("{")
    else:
        write_bundle(flow.bundle, replace(good, run="DC6D8RKZRPTX"))

    for _ in range(2):  # jobs that failed can be run again
        with pytest.raises((BundleRefused, BundleUnusable)):
            flow.publish()
    told = flow.said(issue)[0]
    flow.github.people.comment(flow.shop, issue, flow.ada, "/ticketsmith retry")
    came = flow.through()

    assert "was refused, the log of the job after it says why" in told
    assert came == [f"published: #{flow.pulls()[0].number}"]


def test_a_base_that_left_the_default_branch_is_refused(flow: Workflow) -> None:
    issue = flow.labelled()
    good = flow.made(issue)
    flow.shop.git.git("update-ref", "refs/heads/kept", "main")
    flow.shop.git.git("update-ref", "refs/heads/main", flow.shop.git.commit("other", {"a": "b"}, "Other", onto=None))

    with pytest.raises(BundleRefused, match="default branch"):
        flow.publish(good)


@pytest.mark.parametrize(
    "said", ["@everyone look here", "drop: [look](https://evil.example)", "verify: worked", "drop"]
)
def test_an_ending_that_is_none_is_refused(flow: Workflow, said: str) -> None:
    issue = flow.labelled()
    bundle = flow.made(issue, state=BundleState.ENDED, said=said)

    with pytest.raises(BundleRefused, match="names no ending"):
        flow.publish(bundle)

    assert "was refused" in flow.said(issue)[0]
    assert "evil.example" not in flow.said(issue)[0]
    assert flow.memory() == ""


def test_endings_of_other_runs_and_tickets_never_reach_the_memory(flow: Workflow) -> None:
    flow.labelled()
    flow.receive()
    bundle = flow.work(Script.of(**DROPS))
    assert isinstance(bundle, Bundle)
    (line,) = [json.loads(one) for one in bundle.log.splitlines() if '"final":true' in one]
    verified = {"kind": "verify", "body": {"outcome": "worked"}, "evidence": "ci"}
    forged = [
        {**line, "id": "f1", "run": "000000000000"},
        {**line, "id": "f2", "ticket": "issue:999"},
        {**line, **verified, "id": "f3", "final": False},
    ]
    log = bundle.log + "".join(f"{json.dumps(one)}\n" for one in forged)

    flow.publish(replace(bundle, log=log))

    assert flow.memory() == bundle.log


def test_words_in_a_bundle_are_shown_as_quoted_text_only(flow: Workflow) -> None:
    issue = flow.labelled()
    said = {"text": "Closes #1 and thanks @octocat\n# Heading"}
    facts = (Carried(kind="summarised", at=flow.github.state.now(), step="publish", attempt=1, data=said),)

    flow.publish(flow.made(issue, trail=Trail(facts=facts)))

    (pull,) = flow.pulls()
    assert "Closes #1" not in pull.body
    assert "@octocat" not in pull.body
    assert "\n# Heading" not in pull.body


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{", '{"version": 2}', '{"repository": 1, "number": 1, "state": "danced"}',
        '{"repository": 1, "number": -1, "state": "ended"}',
        '{"repository": 1, "number": 1, "state": "ended", "run": "x"}',
        '{"repository": 1, "number": 1, "state": "ended", "base": "--upload-pack=x"}',
        '{"repository": 1, "number": 1, "state": "ended", "generation": -1}',
    ],
)  # fmt: skip
def test_a_file_that_is_no_bundle_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "b").write_text(text)

    with pytest.raises(BundleUnusable):
        read_bundle(tmp_path / "b")


def test_a_bundle_that_is_missing_or_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BundleUnusable, match="No such file"):
        read_bundle(tmp_path / "none")
    write_bundle(tmp_path / "b", Bundle(repository=1, number=1, state=BundleState.ENDED))
    monkeypatch.setattr("bot.ci.bundle.BUNDLE_AT_MOST", 10)
    with pytest.raises(BundleUnusable, match="more than 10 bytes"):
        read_bundle(tmp_path / "b")


@pytest.mark.parametrize("kind", ["asked", "danced", "summarised"])
def test_a_fact_of_another_kind_is_refused(flow: Workflow, kind: str) -> None:
    issue = flow.labelled()
    facts = (Carried(kind=kind, at=flow.github.state.now(), step="x", attempt=1, data={"text": 7}),)
    bundle = flow.made(issue, trail=Trail(facts=facts))
    before = len(flow.github.writes)

    with pytest.raises(TrailUnusable):
        flow.publish(bundle)

    assert len(flow.github.writes) == before


@pytest.mark.parametrize(("name", "result"), [("danced", "{}"), ("gate", "no JSON")])
def test_a_step_that_is_none_is_refused(flow: Workflow, name: str, result: str) -> None:
    issue = flow.labelled()
    steps = (step(name, result, flow),)

    with pytest.raises(TrailUnusable):
        flow.publish(flow.made(issue, trail=Trail(steps=steps)))

    assert flow.pulls() == []


def test_sec_7_a_secret_in_what_a_step_gave_never_reaches_the_branch(flow: Workflow) -> None:
    issue = flow.labelled()
    secret = "ghp_" + "a1B2c3D4e5" * 4

    flow.publish(flow.made(issue, trail=Trail(steps=(step("diagnose", json.dumps({"cause": secret}), flow),))))

    there = flow.there(f"run-{issue.number}.json")
    assert "diagnose" in there
    assert secret not in there


def step(name: str, result: str, flow: Workflow) -> CarriedStep:
    now = flow.github.state.now()
    return CarriedStep(generation=1, name=name, attempt=1, result=result, started=now, finished=now)
