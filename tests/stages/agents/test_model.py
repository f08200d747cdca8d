"""What is known of a model without calling it."""

from __future__ import annotations

from typing import Any

import pytest

from stages.agents.model import WINDOW_TOKENS, Model, Price, UnknownPrice, listed, price_of, window_of

CATALOGUE: dict[str, dict[str, Any]] = {
    "azure/big": {"litellm_provider": "azure", "input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6},
    "big": {"litellm_provider": "openai", "input_cost_per_token": 3e-6, "output_cost_per_token": 15e-6},
}


@pytest.mark.parametrize(
    ("name", "found"),
    [("azure/big", "azure/big"), ("openai/big", "big"), ("big", "big"), ("hosted_vllm/big", None), ("openai/no", None)],
)
def test_a_model_is_found_under_its_own_provider_only(name: str, found: str | None) -> None:
    assert listed(name, CATALOGUE) == (CATALOGUE[found] if found else {})


def test_prices_are_told_for_a_million_tokens() -> None:
    price = price_of(Model(name="openai/big"), CATALOGUE["big"])

    assert [price.input, price.output] == pytest.approx([3.0, 15.0])
    assert price.of(1_000_000, 100_000) == pytest.approx(4.5)


def test_a_configured_price_wins_also_where_it_is_zero() -> None:
    assert price_of(Model(name="big", price=Price(input=0, output=0)), CATALOGUE["big"]) == Price(input=0, output=0)


@pytest.mark.parametrize("entry", [{}, {"input_cost_per_token": 1e-6}, {"input_cost_per_token": None}])
def test_a_price_that_is_not_listed_is_never_zero(entry: dict[str, Any]) -> None:
    with pytest.raises(UnknownPrice, match="Nobody knows what some/model costs"):
        price_of(Model(name="some/model"), entry)


@pytest.mark.parametrize(
    ("window", "entry", "found"),
    [
        (9_000, {"max_input_tokens": 5}, 9_000),
        (None, {"max_input_tokens": 128_000}, 128_000),
        (None, {}, WINDOW_TOKENS),
    ],
)
def test_the_window_is_the_configured_the_listed_or_a_small_one(
    window: int | None, entry: dict[str, Any], found: int
) -> None:
    assert window_of(Model(name="m", window=window), entry) == found
