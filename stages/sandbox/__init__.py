"""Where foreign commands run: commands, levels of isolation, and the choice among them."""

from stages.sandbox.base import Sandbox
from stages.sandbox.choosing import choose
from stages.sandbox.command import Bounds, Command, Level, Ran
from stages.sandbox.hosts import Host
from stages.sandbox.interpreter import NotAnInterpreter, decided_by, needed_by
from stages.sandbox.probe import Probe, probe
from stages.sandbox.tree import give, own, remove
from stages.sandbox.warm import warm

__all__ = [
    "Bounds",
    "Command",
    "Host",
    "Level",
    "NotAnInterpreter",
    "Probe",
    "Ran",
    "Sandbox",
    "choose",
    "decided_by",
    "give",
    "needed_by",
    "own",
    "probe",
    "remove",
    "warm",
]
