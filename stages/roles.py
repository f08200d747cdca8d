"""Tokens by which models tell speakers and tool calls apart, broken so that everybody sees it."""

from __future__ import annotations

import re
from typing import Final

MARK: Final = "·"

_CALLS: Final = (
    "function_calls?|function_results?|tool_calls?|tool_use|tool_results?|tool_response|tools?_output|invoke|parameter"
    r"|antml:\w{1,40}"
)

# Each group 1 is followed by the mark, and no broken token matches again.
_SPEAKERS: Final = "system|assistant|human|user|start_of_turn|end_of_turn|think|thinking"
_TOKENS: Final = (
    re.compile(  # <|im_start|>, <tool_call>, </user>, <function=run>, <<SYS>>, </s>
        r"(<)(?=\|[A-Za-z_/][\w./ -]{0,60}\|>|<?/?SYS>>|/s>"
        rf"|(?i:/?(?:{_CALLS})\b|/?(?:{_SPEAKERS})>|function=\w))"
    ),
    re.compile(r"(\[)(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\])"),
    re.compile(
        r"^([ \t>*#_-]{0,12}(?:Human|Assistant|System|User|HUMAN|ASSISTANT|SYSTEM|USER))(?=[ *_]{0,4}:)", re.MULTILINE
    ),
    re.compile(r"^([ \t>]{0,12}#{1,6} ?(?:Instruction|Response))(?=s?:)", re.MULTILINE),
    re.compile(r"(\"(?:tool_calls|function_call|tool_use)\")(?=\s{0,20}:)"),
    re.compile(
        r"(\"name\"\s{0,20}:\s{0,20}\"[^\"\n]{0,100}\"\s{0,20},\s{0,20}\"(?:arguments|parameters|input)\")(?=\s{0,20}:)"
    ),
)


_IN_CODE: Final = _TOKENS[:2]  # those that mean nothing else: what looks like a speaker is often code


def marks_in_code(line: str) -> list[int]:
    """Where a `·` would break each token of `line` that a model could act on though it stands in source code."""
    if "<" not in line and "[" not in line:
        return []
    return sorted({found.end(1) for pattern in _IN_CODE for found in pattern.finditer(line)})


def marked(line: str) -> str:
    """`line` with a `·` at each of these places."""
    begin, parts = 0, []
    for at in marks_in_code(line):
        parts.append(line[begin:at])
        begin = at
    return MARK.join([*parts, line[begin:]])


def broken(text: str) -> tuple[str, int]:
    """`text` with a visible `·` in each such token, and how many there were. A second time changes nothing."""
    total = 0
    for pattern in _TOKENS:
        text, count = pattern.subn(rf"\1{MARK}", text)
        total += count
    return text, total
