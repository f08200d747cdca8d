"""No context, no call: the four locks, each tried on its own."""

from __future__ import annotations

import inspect
from typing import cast

import pytest

from memory.errors import MissingContext
from memory.types import Block, MemoryContext, MemoryVersion, take_seal
from stages.agents.base import Agent, Answer, Found, Reading
from stages.agents.limits import Budget
from stages.base import Desk, Stage
from stages.development import Development
from stages.diagnosis import Diagnosis
from stages.errors import UnreadableAnswer
from stages.prompt import EntryPoint, Prompt
from stages.review import Review
from stages.summary import Summary
from stages.triage import Ownership, Triage, TriageGiven
from stages.verification import Verification
from stages.workspace import Workspace
from tests.fakes import SCOPE, RecordingJournal, TreeInMemory, budget, case, context, prompt


class Reciting(Agent):
    """Gives its answers in order, and counts the conversations."""

    def __init__(self, journal: RecordingJournal, *answers: Answer) -> None:
        super().__init__(journal)
        self.answers, self.conversations = list(answers), 0

    def _converse(self, prompt: Prompt, workspace: Workspace, limits: Budget, reading: Reading[Found]) -> None:
        self.conversations += 1
        for answer in self.answers:
            if reading.refusal(answer) is None:
                return


def desk(*answers: Answer) -> tuple[Desk, Reciting, RecordingJournal]:
    journal = RecordingJournal()
    agent = Reciting(journal, *answers)
    return Desk(agent=agent, workspace=TreeInMemory(), limits=budget()), agent, journal


def test_lock_1_a_stage_runs_only_with_a_context() -> None:
    at, agent, journal = desk()

    with pytest.raises(MissingContext, match="the triage stage"):
        Triage(EntryPoint.TRIAGE, at).run(TriageGiven(case=case()), context=cast(MemoryContext, None))

    assert (agent.conversations, journal.prompts) == (0, [])


def test_lock_1_the_run_of_a_stage_is_final_and_its_context_has_no_default() -> None:
    stages = (Triage, Diagnosis, Development, Review, Verification, Summary)

    assert Stage.run.__final__  # type: ignore[attr-defined]
    assert inspect.signature(Stage.run).parameters["context"].default is inspect.Parameter.empty
    assert all("run" not in vars(stage) and "__init__" not in vars(stage) for stage in stages)
    assert set(stages) == {stage for stage in Stage.__subclasses__() if stage.__module__.startswith("stages.")}
    assert {point for stage in stages for point in stage.entry_points} == set(EntryPoint)


def test_lock_1_a_stage_stands_only_at_its_own_entry_points() -> None:
    at, _, _ = desk()

    with pytest.raises(ValueError, match="Diagnosis does not stand at develop"):
        Diagnosis(EntryPoint.DEVELOP, at)


def test_lock_2_a_prompt_refuses_a_context_that_recall_did_not_seal() -> None:
    forged = object.__new__(MemoryContext)
    object.__setattr__(forged, "entry_point", "triage")

    with pytest.raises(MissingContext, match="the triage prompt"):
        Prompt(entry_point=EntryPoint.TRIAGE, context=forged, body="x")


@pytest.mark.parametrize("not_a_prompt", [None, "a text", {"body": "x"}])
def test_lock_3_an_agent_refuses_anything_but_a_prompt_before_any_cost(not_a_prompt: object) -> None:
    _, agent, journal = desk(Answer())
    limits = budget()

    with pytest.raises(MissingContext, match="an agent"):
        agent.ask(cast(Prompt, not_a_prompt), TreeInMemory(), limits, lambda answer: answer)

    assert (agent.conversations, journal.prompts, limits.spent.calls) == (0, [], 0)


def test_lock_3_the_ask_of_an_agent_is_final() -> None:
    assert Agent.ask.__final__  # type: ignore[attr-defined]


def test_lock_4_nobody_but_recall_makes_a_context_or_gets_the_seal() -> None:
    import memory.recall  # noqa: F401 - takes the seal when it is imported

    nothing = Block()

    with pytest.raises(MissingContext, match="a memory context"):
        MemoryContext(
            seal=object(),
            version=MemoryVersion(scope=SCOPE, number=0, digest=""),
            entry_point="triage",
            tuning=nothing,
            lessons=nothing,
            notes=nothing,
            rule="coverage",
            searched=0,
        )
    with pytest.raises(MissingContext, match="second holder"):
        take_seal()


def test_a_stage_with_a_context_asks_once_and_gives_what_it_read() -> None:
    at, agent, journal = desk(Answer(fields={"ownership": "ours", "reason": "a frame is here"}))

    found = Triage(EntryPoint.TRIAGE, at).run(TriageGiven(case=case()), context=context(EntryPoint.TRIAGE))

    assert found is Ownership.OURS
    assert agent.conversations == 1
    assert journal.prompts[0].text == journal.prompts[0].section + journal.prompts[0].body


def test_an_answer_is_refused_three_times_and_then_the_conversation_ends() -> None:
    _, agent, _ = desk(*[Answer()] * 5)
    reasons = []

    def read(answer: Answer) -> None:
        reasons.append("asked")
        raise UnreadableAnswer(reason=f"no {len(reasons)}")

    with pytest.raises(UnreadableAnswer, match="no 4"):
        agent.ask(prompt(), TreeInMemory(), budget(), read)

    assert len(reasons) == 4


def test_a_conversation_without_an_answer_ends_with_its_last_refusal() -> None:
    _, silent, _ = desk()
    _, refused, _ = desk(Answer())

    def read(answer: Answer) -> None:
        raise UnreadableAnswer(reason="not this one")

    with pytest.raises(UnreadableAnswer, match="ended without an answer"):
        silent.ask(prompt(), TreeInMemory(), budget(), read)
    with pytest.raises(UnreadableAnswer, match="not this one"):
        refused.ask(prompt(), TreeInMemory(), budget(), read)
