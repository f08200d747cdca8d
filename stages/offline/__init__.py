"""The embedded model: a search for small repairs, for a first run without a key and for measuring the machinery."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from litellm.llms.custom_llm import CustomLLM

MODEL: Final = "offline/repair"
"""Its name for litellm: provider `offline`, price zero."""
CANDIDATE_RUNS_AT_MOST: Final = 500
"""Candidates that one conversation runs before it gives up."""


def handler(*, candidate_runs: int = CANDIDATE_RUNS_AT_MOST) -> CustomLLM:
    """A handler for litellm's `custom_provider_map`; litellm and libcst are imported by this call, not before."""
    from stages.agents.embedded import handler_of
    from stages.offline.model import RepairModel

    return handler_of(RepairModel(candidate_runs=candidate_runs))
