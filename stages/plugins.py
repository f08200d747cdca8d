"""Plugins of pytest that our own environment may hold."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Final

OUR_PLUGINS: Final = {
    "hypothesis": "_hypothesis_pytestplugin",
    "anyio": "anyio.pytest_plugin",
    "respx": "respx.plugin",
    "pytest.cov|--(no-)?cov": "pytest_cov.plugin",
    r"xdist|--dist\b|-n[ =\"',]*(auto|logical|\d)": "xdist.plugin",
    "looponfail": "xdist.looponfail",
    r"\.timeout\(|--timeout|timeout\s*=": "pytest_timeout",
}
"""What in the target's tests and settings asks for them, and their modules."""


@cache
def only_our_plugins() -> bool:
    """True when our environment has no pytest plugin but those that came with us: no target chose any of them."""
    return all(module in OUR_PLUGINS.values() for module in _modules())


@cache
def installed_plugins() -> Mapping[str, str]:
    """Those of OUR_PLUGINS that are here: most come with the tools of development, and one that is missing ends a run
    before its first test.
    """
    here = _modules()
    return {pattern: module for pattern, module in OUR_PLUGINS.items() if module in here}


def _modules() -> frozenset[str]:
    return frozenset(entry.value for entry in entry_points(group="pytest11"))
