"""The tool loop: a model behind litellm works with our tools until code can read its answer."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

from stages.agents.base import Agent, Reading
from stages.agents.conversation import Conversation, tokens
from stages.agents.failures import Failure, failure
from stages.agents.limits import Budget
from stages.agents.model import Model, NoModel, Price, listed, price_of, window_of
from stages.agents.tools import Tools
from stages.agents.turn import Message, Turn, turn_of
from stages.agents.work import Work
from stages.errors import ParkCause, Parked
from stages.journal import Journal, ModelAnswered
from stages.prompt import Prompt

if TYPE_CHECKING:
    from stages.workspace import Workspace

Found = TypeVar("Found")

RETRIES_AT_MOST: Final = 3
WAIT_AT_MOST: Final = 60.0  # seconds; a longer wait is not ours to sit through
OUTPUT_AT_LEAST: Final = 256  # tokens: with less room no answer is worth asking for


class Loop(Agent):
    """Asks `model` by litellm, which is imported by the first call and never before.

    `sleep` waits that many seconds between tries; `clean` takes secrets out of what tools tell the model.
    """

    def __init__(
        self,
        journal: Journal,
        model: Model,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clean: Callable[[str], str] = str,
    ) -> None:
        super().__init__(journal)
        self._model, self._sleep, self._clean = model, sleep, clean

    def check(self) -> Ready:
        """What is known of the model without calling it. Raises NoModel, UnknownPrice, and Parked without a key."""
        if not self._model.name:
            raise NoModel
        litellm = _litellm()
        entry = listed(self._model.name, litellm.model_cost)
        ready = Ready(
            model=self._model,
            litellm=litellm,
            price=price_of(self._model, entry),
            window=window_of(self._model, entry),
        )
        if not (self._model.key or self._model.url or self._model.provider) and ready.missing:
            reason = f"{self._model.name} needs a key; set the environment variable {ready.key_variable}"
            raise Parked(cause=ParkCause.TOKEN, reason=reason)
        return ready

    def _converse(self, prompt: Prompt, workspace: Workspace, limits: Budget, reading: Reading[Found]) -> None:
        """Raises NoModel and UnknownPrice before any cost, and what `Agent.ask` raises."""
        caller = Caller(self.check(), limits, self._journal, self._sleep)
        with workspace.warm() as warm:
            tools = Tools(prompt.entry_point, workspace, limits, warm)
            Work(caller.ask, tools, self._journal, reading, self._clean).through(Conversation(prompt.text))


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A model that may be called. `window` in tokens."""

    model: Model
    litellm: Any = field(repr=False)
    price: Price
    window: int

    @property
    def missing(self) -> list[str]:
        """Environment variables that litellm looks for and does not find."""
        missing: list[str] = self.litellm.validate_environment(self.model.name)["missing_keys"]
        return missing

    @property
    def key_variable(self) -> str:
        """Where the key comes from, for people who have to mend it."""
        own = f"{self.model.name.partition('/')[0].upper()}_API_KEY"
        return self.model.key_variable or " and ".join(self.missing) or own


class Caller:
    """Makes the calls of one conversation: the budget before each, retries counted, every cost written down."""

    def __init__(self, ready: Ready, limits: Budget, journal: Journal, sleep: Callable[[float], None]) -> None:
        self._ready, self._limits, self._journal, self._sleep = ready, limits, journal, sleep
        self._model, self._litellm, self._price, self._window = ready.model, ready.litellm, ready.price, ready.window
        self._turns = 0
        if self._model.provider is not None:
            _register(self._litellm, self._model.name.partition("/")[0], self._model.provider())

    def ask(self, conversation: Conversation, functions: list[dict[str, Any]]) -> Turn:
        """One turn. Raises LimitReached, Stopped, Parked, and UnreadableAnswer when the provider will not answer."""
        tries = 0
        schema = tokens(str(functions))
        while True:
            messages, size = conversation.within(self._window - self._output - schema)
            most = self._admit(size + schema)
            started = time.monotonic()
            try:
                response = self._complete(messages, functions, most)
            except self._errors as error:
                failed = failure(error, self._model, self._ready.key_variable)
                self._limits.after_call(
                    tokens=size if failed.sent else 0, money=self._price.of(size, 0) if failed.sent else 0.0
                )
                tries += 1
                self._after(failed, tries)
                continue
            self._count(response, size + schema, time.monotonic() - started)
            self._turns += 1
            return turn_of(response, self._turns)

    def _admit(self, size: int) -> int:
        """The most tokens that the answer may have: what the budget can pay for in the worst case."""
        left = self._limits.left
        most = min(self._output, left.tokens - size)
        if self._price.output > 0:
            most = min(most, int((left.money - self._price.of(size, 0)) * 1_000_000 / self._price.output))
        most = max(most, OUTPUT_AT_LEAST)
        self._limits.before_call(tokens=size + most, money=self._price.of(size, most))
        return most

    def _complete(self, messages: list[Message], functions: list[dict[str, Any]], most: int) -> Any:
        return self._litellm.completion(
            model=self._model.name,
            messages=messages,
            tools=functions,
            max_tokens=most,
            max_retries=0,
            timeout=max(1.0, min(self._model.timeout_seconds, self._limits.seconds_left)),
            api_key=self._model.key or ("none" if self._model.url else None),
            api_base=self._model.url or None,
        )

    def _count(self, response: Any, size: int, seconds: float) -> None:
        usage = getattr(response, "usage", None)
        tokens_in, tokens_out = (int(getattr(usage, f"{kind}_tokens", 0) or 0) for kind in ("prompt", "completion"))
        if tokens_in == 0 and self._price.input > 0:
            tokens_in = size  # a provider that tells no usage is not free
        if tokens_out == 0 and self._price.output > 0:
            tokens_out = tokens(str(getattr(response, "choices", "")))
        price = self._price.of(tokens_in, tokens_out)
        self._limits.after_call(tokens=tokens_in + tokens_out, money=price)
        self._journal.happened(
            ModelAnswered(
                model=self._model.name, tokens_in=tokens_in, tokens_out=tokens_out, price=price, seconds=seconds
            )
        )

    def _after(self, failed: Failure, tries: int) -> None:
        """Wait for the next try, or raise what the conversation ends with."""
        if failed.too_long and tries <= RETRIES_AT_MOST:
            self._window //= 2
            return
        wait = failed.wait_seconds if failed.wait_seconds is not None else 2.0**tries
        here = self._model.provider is not None  # what failed in this process fails again
        if here or not failed.again or tries > RETRIES_AT_MOST or wait > WAIT_AT_MOST:
            raise failed.ending from None
        self._sleep(min(wait, self._limits.seconds_left))

    @property
    def _output(self) -> int:
        return min(self._model.output, self._window // 4)

    @property
    def _errors(self) -> tuple[type[Exception], ...]:
        errors = self._litellm.exceptions
        return (
            errors.APIError,
            errors.APIConnectionError,
            errors.APIResponseValidationError,
            errors.AuthenticationError,
            errors.BadGatewayError,
            errors.BadRequestError,
            errors.InternalServerError,
            errors.NotFoundError,
            errors.PermissionDeniedError,
            errors.RateLimitError,
            errors.ServiceUnavailableError,
            errors.Timeout,
            errors.UnprocessableEntityError,
        )


def _litellm() -> Any:
    # Read when litellm is imported: without them it fetches its price map and loads any `.env` it finds above.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS"] = "True"
    os.environ["LITELLM_MODE"] = "PRODUCTION"
    with _nothing_collected():
        import litellm

    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.disable_aiohttp_transport = True
    return litellm


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """What an import makes stays: a quarter of litellm's time went to looking through it again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _register(litellm: Any, provider: str, handler: object) -> None:
    others = [entry for entry in litellm.custom_provider_map if entry["provider"] != provider]
    litellm.custom_provider_map = [*others, {"provider": provider, "custom_handler": handler}]
