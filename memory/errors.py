"""Errors whose docstring is their message and whose data are fields."""

from __future__ import annotations

import inspect


class Told(Exception):
    """Something went wrong."""

    def __init__(self, **fields: object) -> None:
        super().__init__()
        self.fields = fields

    def __str__(self) -> str:
        return inspect.cleandoc(type(self).__doc__ or "").format(**self.fields)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.fields)


def _rebuild(kind: type[Told], fields: dict[str, object]) -> Told:
    return kind(**fields)


class MemoryFault(Told):
    """Memory cannot be used."""


class MissingContext(MemoryFault):
    """No context, no call: {what} was given no memory context that recall made."""
