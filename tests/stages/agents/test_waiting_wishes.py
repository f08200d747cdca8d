"""How long a provider wishes us to wait, as its headers say it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from stages.agents.failures import failure
from stages.agents.model import FREE, Model


class RateLimitError(Exception):
    """As litellm's, which is told by its class."""

    def __init__(self, headers: dict[str, str]) -> None:
        super().__init__("slow down")
        self.response = SimpleNamespace(headers=headers)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("7", 7.0), ("0", 0.0), ("0.5", 0.5), ("-1", None), ("nan", None), ("inf", None), ("Wed, 21 Oct", None)],
)
def test_a_wish_is_a_number_of_seconds_that_can_be_waited_for(header: str, seconds: float | None) -> None:
    failed = failure(RateLimitError({"retry-after": header}), Model(name="acme/one", price=FREE), "ACME_API_KEY")

    assert failed.wait_seconds == seconds
