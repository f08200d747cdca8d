"""What a provider's refusal means: try again, wait outside the run, or tell the model to be brief."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from memory.text import one_line
from stages.agents.model import Model
from stages.errors import ParkCause, Parked, UnreadableAnswer


@dataclass(frozen=True, kw_only=True)
class Failure:
    """`ending` is what the conversation ends with when it is not tried again. `wait_seconds` is the provider's wish."""

    ending: Parked | UnreadableAnswer
    again: bool = False
    wait_seconds: float | None = None
    too_long: bool = False  # the conversation did not fit into the model's window
    sent: bool = False  # the provider may have worked, and asks to be paid


def failure(error: Exception, model: Model, variable: str) -> Failure:
    """Read one error of litellm's, told by its class and status. `variable` holds the provider's key."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    said = _said(error, model)
    status = getattr(error, "status_code", None)
    if status in (401, 403) or "AuthenticationError" in kinds:
        reason = f"{model.name} refused the key; set the environment variable {variable}"
        return Failure(ending=Parked(cause=ParkCause.TOKEN, reason=reason))
    if "ContextWindowExceededError" in kinds:
        return Failure(ending=Parked(cause=ParkCause.MODEL, reason=said), too_long=True)
    # A provider's own wording often reaches us under the class of any bad request.
    if "ContentPolicyViolationError" in kinds or "content_policy" in said:
        return Failure(ending=UnreadableAnswer(reason=f"the provider refused to answer: {said}"))
    if "RateLimitError" in kinds:
        reason = f"{model.name} allows no more calls for now"
        return Failure(ending=Parked(cause=ParkCause.RATE_LIMIT, reason=reason), again=True, wait_seconds=_wait(error))
    again = bool(kinds & {"APITimeoutError", "APIConnectionError"}) or (isinstance(status, int) and status >= 500)
    return Failure(
        ending=Parked(cause=ParkCause.MODEL, reason=said),
        again=again,
        wait_seconds=_wait(error),
        sent="APITimeoutError" in kinds,
    )


def _said(error: Exception, model: Model) -> str:
    text = one_line(str(getattr(error, "message", "") or error))
    if model.key:
        text = text.replace(model.key, "[secret]")
    return f"{model.name} cannot be asked, {type(error).__name__}: {text[:300]}"


def _wait(error: Exception) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", None)
    try:
        seconds = float(headers["retry-after"]) if isinstance(headers, Mapping) else None
    except (KeyError, ValueError):
        return None
    # A proxy may send anything: a number that nobody can wait for is no wish.
    return seconds if seconds is not None and math.isfinite(seconds) and seconds >= 0 else None
