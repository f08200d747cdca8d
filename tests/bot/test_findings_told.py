"""What a review says, and what the gate allows, is shown to people; neither decides by its words."""

from __future__ import annotations

from pathlib import Path

from bot.facts import Found, Judged
from tests.bot.kit import Script, bed, facts_of, told

REMARK = {"path": "setup.py", "line": 1, "rule": "entry-point", "text": "It runs by itself."}


def develop(workspace: object) -> dict[str, object]:
    for path, text in (("price.txt", "3\n"), ("setup.py", "import price\n")):
        workspace.write(path, text.encode())  # type: ignore[attr-defined]
    return {"summary": "Both."}


def test_an_allowed_edit_passes_whatever_a_review_calls_it_and_people_are_told(tmp_path: Path) -> None:
    ground = bed(tmp_path)
    app = ground.app(script := Script.of(develop=develop, review={"findings": [REMARK]}))

    run = ground.fix(app)

    assert told(app, run) == []
    assert run.branch
    happened = facts_of(app, run)
    remark = next(fact for fact in happened if isinstance(fact, Found) and fact.what == "findings")
    assert remark.fields == {"at": "setup.py:1", "text": "It runs by itself.", "rule": "entry-point"}
    judged = next(fact for fact in happened if isinstance(fact, Judged))
    assert judged.noticed == ("look at this first: entry-point: setup.py",)
    assert "look at this first: entry-point: setup.py" in script.prompts[-1].body
