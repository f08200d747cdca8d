"""Plugins of pytest that our own environment holds."""

from __future__ import annotations

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
    return all(entry.value in OUR_PLUGINS.values() for entry in entry_points(group="pytest11"))
