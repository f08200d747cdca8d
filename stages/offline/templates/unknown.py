"""Names that nothing defines."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

import libcst as cst

from stages.offline.scope import Program
from stages.offline.source import Splice
from stages.offline.templates.base import Template
from stages.offline.templates.places import loads

_AT_MOST: Final = 12
_ALIKE: Final = 0.6  # difflib's own measure of how alike two names are
_NONE_OF_A_VALUE: Final = ("self", "cls")


class UnknownName(Template):
    """A name that is defined, for one that is not: first those that are written alike."""

    weight = 0.9

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in loads(source):
            if not isinstance(node, cst.Name) or hasattr(builtins, node.value):
                continue
            known = [name for name in source.scope.visible(node, module_too=True) if name not in _NONE_OF_A_VALUE]
            if node.value in (*known, *_NONE_OF_A_VALUE):
                continue
            alike = get_close_matches(node.value, [*known, *dir(builtins)], n=_AT_MOST, cutoff=_ALIKE)
            yield from (source.replace(node, name) for name in dict.fromkeys((*alike, *known[:_AT_MOST])))
