"""What the job that works hands to the job that publishes: a file. Whoever reads it trusts nothing in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, TypeAdapter, ValidationError

from bot.ci.trail import Number, Trail
from bot.errors import WrongInput
from stages.agents.limits import Spent
from stages.errors import ParkCause

FORMAT: Final = 2
BUNDLE_AT_MOST: Final = 32 * 1024 * 1024  # bytes


class BundleUnusable(WrongInput):
    """The bundle {path} cannot be used: {reason}."""


class BundleState(StrEnum):
    PUBLISHED = "published"  # a patch passed the gate
    PARKED = "parked"
    ENDED = "ended"
    STANDS = "stands"  # a merged patch of which nothing can be said yet


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """`said` is the outcome, what a parked run waits for, or why a merged patch was not verified.

    `diff` is the patch against `base`; `log` holds the endings of the run, and `trail` what the next job goes on from.
    """

    version: Annotated[int, Field(ge=FORMAT, le=FORMAT)] = FORMAT
    repository: Annotated[int, Field(ge=0, lt=2**63)]
    number: Annotated[int, Field(gt=0, lt=2**63)]
    state: BundleState
    said: Annotated[str, Field(max_length=20_000)] = ""
    cause: ParkCause | None = None
    run: Annotated[str, Field(pattern=r"^([0-9A-HJKMNP-TV-Z]{12})?$")] = ""
    base: Annotated[str, Field(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})?$")] = ""
    generation: Number = 1
    attempt: Number = 0
    diff: str = ""
    spent: Spent = field(default_factory=Spent)
    trail: Trail = field(default_factory=Trail)
    log: str = ""


_BUNDLE: Final = TypeAdapter(Bundle)


def write_bundle(path: Path, bundle: Bundle) -> None:
    """Raises OSError."""
    path.write_bytes(_BUNDLE.dump_json(bundle, indent=1) + b"\n")


def read_bundle(path: Path) -> Bundle:
    """Raises BundleUnusable."""
    try:
        with path.open("rb") as file:
            data = file.read(BUNDLE_AT_MOST + 1)
    except OSError as error:
        raise BundleUnusable(path=path, reason=error.strerror or "unknown error") from error
    if len(data) > BUNDLE_AT_MOST:
        raise BundleUnusable(path=path, reason=f"it has more than {BUNDLE_AT_MOST} bytes")
    try:
        return _BUNDLE.validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(one) for one in first["loc"])[:80]
        raise BundleUnusable(path=path, reason=f"{place or 'it'} is not as it should be ({first['type']})") from error
