"""The fields that `finish` takes at each entry point, as JSON schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from stages.prompt import EntryPoint

Schema = Mapping[str, Any]

_TEXT: Final[Schema] = {"type": "string"}


def _object(required: tuple[str, ...], **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


_DIAGNOSIS: Final = _object(
    ("quote", "cause", "files"),
    quote={**_TEXT, "description": "One line of the ticket, copied: what the cause below explains."},
    cause={**_TEXT, "description": "What is wrong and why it shows, in at most five sentences."},
    files={"type": "array", "items": _TEXT, "description": "The files that a fix must change."},
    reproduction={**_TEXT, "description": "The id of a known test or check that fails because of this."},
    test_path={**_TEXT, "description": "Where no known test fails: the path of a new test file."},
    test_text={**_TEXT, "description": "The whole text of that new test file; it must fail now."},
)
_PATCH: Final = _object(("summary",), summary={**_TEXT, "description": "What was changed and why, for the reviewer."})

FIELDS: Final[Mapping[EntryPoint, Schema]] = {
    EntryPoint.TRIAGE: _object(
        ("ownership", "reason"),
        ownership={"type": "string", "enum": ["ours", "not-here", "not-a-bug"]},
        reason=_TEXT,
    ),
    EntryPoint.DIAGNOSE: _DIAGNOSIS,
    EntryPoint.REDIAGNOSE: _DIAGNOSIS,
    EntryPoint.DEVELOP: _PATCH,
    EntryPoint.REFIX: _PATCH,
    EntryPoint.REVIEW: _object(
        ("findings",),
        findings={
            "type": "array",
            "items": _object(
                ("path", "line", "text"),
                path=_TEXT,
                line={"type": "integer", "description": "A line of the new file that the diff adds or changes."},
                check={**_TEXT, "description": "The known test that shows it; code runs it alone."},
                rule={**_TEXT, "description": "The rule that people should look at; the gate evaluates rules itself."},
                text=_TEXT,
            ),
        },
    ),
    EntryPoint.VERIFY: _object(("check",), check={**_TEXT, "description": "One of the known checks or tests."}),
    EntryPoint.SUMMARISE: _object(("text",), text={**_TEXT, "description": "For people, in plain words."}),
}
