"""Which model is called, at what price, and what stands in the way of calling it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from stages.errors import StageError

WINDOW_TOKENS: Final = 32_768  # where nothing says more
_MILLION: Final = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Price:
    """US dollars for a million tokens."""

    input: float
    output: float

    def of(self, tokens_in: float, tokens_out: float) -> float:
        """US dollars."""
        return (tokens_in * self.input + tokens_out * self.output) / _MILLION


FREE: Final = Price(input=0.0, output=0.0)


@dataclass(frozen=True, kw_only=True)
class Model:
    """A model by its name for litellm, such as `openai/gpt-5`.

    `key_variable` is the environment variable that `key` was read from. Without a `price` litellm's own price map is
    asked. `window` is the most tokens of one call, `output` the most of its answer. `provider` makes the handler of a
    model that runs in this process; it is called when the model is first asked.
    """

    name: str
    url: str = ""
    key: str = field(default="", repr=False)
    key_variable: str = ""
    price: Price | None = None
    window: int | None = None
    output: int = 8_192
    timeout_seconds: float = 300.0
    provider: Callable[[], object] | None = field(default=None, repr=False)


class UnknownPrice(StageError):
    """Nobody knows what {model} costs, so that no limit of money could hold. Set its price in US dollars for a million
    tokens, 0 where it costs nothing: in the operator's ticketsmith.toml, [prices."{model}"], input = …, output = …."""


class NoModel(StageError):
    """No model is configured. Set `model` in the operator's ticketsmith.toml or TICKETSMITH_MODEL, such as
    openai/gpt-5, or take the embedded one, offline/repair."""


def listed(name: str, catalogue: Mapping[str, Mapping[str, object]]) -> Mapping[str, object]:
    """What a price map in litellm's form says about a model; empty when it does not name it."""
    provider, _, bare = name.partition("/")
    if entry := catalogue.get(name):
        return entry
    entry = catalogue.get(bare, {})
    return entry if entry.get("litellm_provider") == provider else {}


def price_of(model: Model, entry: Mapping[str, object]) -> Price:
    """The configured price, or the listed one. Raises UnknownPrice; a price that is not listed is never zero."""
    if model.price is not None:
        return model.price
    input_, output = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if not isinstance(input_, int | float) or not isinstance(output, int | float):
        raise UnknownPrice(model=model.name)
    return Price(input=input_ * _MILLION, output=output * _MILLION)


def window_of(model: Model, entry: Mapping[str, object]) -> int:
    """The most tokens of one call."""
    if model.window is not None:
        return model.window
    most = entry.get("max_input_tokens")
    return most if isinstance(most, int) and most > 0 else WINDOW_TOKENS
