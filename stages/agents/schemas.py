"""The tools that a model is offered, in the form of function calling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from stages.answers import FIELDS
from stages.prompt import EntryPoint, May

FINISH: Final = "finish"


@dataclass(frozen=True, kw_only=True)
class Tool:
    """`may` is what an entry point must allow for it."""

    name: str
    may: May | None
    description: str
    parameters: Mapping[str, Any]


def _takes(required: tuple[str, ...], **properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def _text(description: str) -> Mapping[str, Any]:
    return {"type": "string", "description": description}


_PATH: Final = _text("Relative to the root of the tree.")

_TOOLS: Final = (
    Tool(
        name="list",
        may=May.READ,
        description="The files of the tree, one a line.",
        parameters=_takes((), path=_text("Only below this folder.")),
    ),
    Tool(
        name="read",
        may=May.READ,
        description="Lines of a file, each with its number in front: `12| text`. At most 400 lines at once.",
        parameters=_takes(
            ("path",),
            path=_PATH,
            start={"type": "integer", "description": "First line, from 1."},
            end={"type": ["integer", "null"], "description": "Last line; the end of the file where it is missing."},
        ),
    ),
    Tool(
        name="search",
        may=May.READ,
        description="Lines that contain a text, exactly as written: `path:line: text`. At most 60.",
        parameters=_takes(("text",), text=_text("No pattern: plain text."), path=_text("Only this file or folder.")),
    ),
    Tool(
        name="edit",
        may=May.WRITE,
        description="Replace the one place in a file where `old` stands by `new`. Without the numbers that read shows.",
        parameters=_takes(
            ("path", "old", "new"),
            path=_PATH,
            old=_text("Exact text, with enough lines around it to stand only once."),
            new=_text("What stands there afterwards."),
        ),
    ),
    Tool(
        name="write",
        may=May.WRITE,
        description="Write a whole file: a new one, or one that is replaced.",
        parameters=_takes(("path", "text"), path=_PATH, text=_text("All of it.")),
    ),
    Tool(
        name="run",
        may=May.RUN,
        description="Run a check, or some of its tests, and see what failed.",
        parameters=_takes(
            ("check",),
            check=_text("Name of the check."),
            tests={"type": "array", "items": {"type": "string"}, "description": "Ids of tests, in this order."},
            with_files={"type": "boolean", "description": "Run their whole files, and show these tests alone."},
            coverage={"type": "boolean", "description": "Show which lines failing and passing tests ran."},
            stop_at_first={"type": "boolean", "description": "Stop at the first failure."},
            seconds={
                "type": "number",
                "description": "A test that takes longer, and far longer than without any change, has failed.",
            },
        ),
    ),
)


def offered(entry_point: EntryPoint) -> tuple[Tool, ...]:
    """The tools of an entry point: what it allows, and always `finish`."""
    finish = Tool(name=FINISH, may=None, description="Give your answer. Ends the work.", parameters=FIELDS[entry_point])
    return (*(tool for tool in _TOOLS if tool.may in entry_point.may), finish)


def function(tool: Tool) -> dict[str, Any]:
    """A tool as the `tools` field of a call takes it."""
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
    }
