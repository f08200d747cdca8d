"""Which agent a run works with: an external program, or a model with its price and key."""

from __future__ import annotations

import shlex
from functools import partial
from typing import Final

from bot.config import Settings
from bot.errors import SecretInCommand
from memory.scrub import Scrubber
from stages.agents.limits import Limits
from stages.agents.loop import Loop
from stages.agents.model import FREE, Model, Price
from stages.errors import Parked
from stages.journal import Event
from stages.offline import MODEL as OFFLINE
from stages.offline import handler as offline_handler
from stages.prompt import Prompt

OFFLINE_LIMITS: Final = Limits(calls=5_000, tokens=10**12, money=0.0, minutes=60.0)

_OFFLINE_WINDOW: Final = 10**9  # tokens: the embedded model reads everything that was said
_PROGRAM: Final = "program: "


def program_name(command: tuple[str, ...]) -> str:
    """How a run writes down that a program answers its prompts; "" for no program."""
    return _PROGRAM + shlex.join(command) if command else ""


def program_of(name: str) -> tuple[str, ...]:
    """The command behind such a name; empty when the name is a model's."""
    return tuple(shlex.split(name.removeprefix(_PROGRAM))) if name.startswith(_PROGRAM) else ()


def check_command(command: tuple[str, ...], scrubber: Scrubber) -> None:
    """Raises SecretInCommand: a run keeps its command, as `runs retry` has to call it again."""
    said = " ".join(command[1:])  # the program itself may lie in a folder that is named by a hash
    if scrubber.scrub(said) != said:
        raise SecretInCommand(program=command[0])


def model_of(name: str, settings: Settings) -> Model:
    """A model as the operator configured it."""
    if name == OFFLINE:
        handler = partial(offline_handler, candidate_runs=settings.candidate_runs)
        return Model(name=name, price=FREE, window=_OFFLINE_WINDOW, provider=handler)
    price = settings.prices.get(name)
    return Model(
        name=name,
        url=settings.model_url,
        key=settings.model_key,
        key_variable=settings.model_key_variable,
        price=Price(input=price.input, output=price.output) if price else None,
    )


def check_price(name: str, settings: Settings) -> None:
    """Raises UnknownPrice before a run begins that could not make one call. A missing key may still come."""
    model = model_of(name, settings)
    if model.price is not None:
        return  # litellm takes seconds to import: not for what is known
    try:
        Loop(_Nobody(), model).check()
    except Parked:
        return


def check_model(name: str, settings: Settings) -> None:
    """Raises what stands in the way of a call, UnknownPrice or Parked, without making one."""
    Loop(_Nobody(), model_of(name, settings)).check()


class _Nobody:
    """A journal of a conversation that is not held."""

    def asked(self, prompt: Prompt) -> None:
        """Nothing is asked."""

    def happened(self, event: Event) -> None:
        """Nothing happens."""
