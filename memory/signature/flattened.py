"""Traces whose line breaks were lost: escaped in JSON, or pasted into one line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory.signature.prefixes import without_json_log

# A trace in one line is longer than this.
_FLAT_FROM = 120
_FRAME_START = r"(?:at |File \\{0,3}\"|from |#\d|Traceback|Caused by|goroutine |Stack trace|\d{1,3}: |stack backtrace)"
_ARRAY = '","    at '
_ESCAPED = re.compile(rf"\\n(?:\\t|\\r|[ \t]){{0,16}}{_FRAME_START}")
_ESCAPE = re.compile(r"\\(u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|[\\nrt\"'/])")
_WRAPPED = re.compile(
    r"(?P<ahead>[^'\"\n]{0,120}?)(?<!\w)b?(?P<mark>['\"])(?!:)"
    r"(?P<text>(?:(?!(?P=mark))[^\\]|\\.)*)(?P=mark)[)\]}.,;]{0,4}\s*$"
)
_MESSAGE = re.compile(r"(?:Error|Exception|Failure)\b")  # whose words may be a string
_BREAKS_OF_STRING = 2  # of lines, in what looks like a string of a language
_MEANING = {"n": "\n", "r": "", "t": "\t", '"': '"', "'": "'", "/": "/", "\\": "\\"}
_FIELD = re.compile(r",? ?\"(?:stack|stack_?trace|stackTrace|exception|message|error|err|trace|exc_info)\" ?: ?\"")
_STRING_END = re.compile(r"(?<!\\)\"(?: ?[,}\]]|$)")
_AT = re.compile(r" (?:at|bei|à|en|em) (?=[\w$.<>/\[\]]{1,200}[.(:])")
_BREAKS = re.compile(
    r"\s(?=(?:at|bei|à|en|em) [\w$.<>/\[\]@` ]{1,200}\()"
    r"|\s(?=at (?:async )?(?:https?://|file://|/|[\w./\\-]{1,200}:\d{1,7}:\d))"
    r"|\s(?=--- )|\s(?=Caused by: )|\s(?=---> )|\s(?=\.\.\. \d{1,4} (?:more|common))"
)
_PYTHON_BREAKS = re.compile(
    r"\s(?=File \"[^\"\n]{1,400}\", line \d)"
    r"|(?<=\S)\s(?=Traceback \(most recent call last\))"
    r"|\s(?=(?:During handling of the above|The above exception was the direct))"
    r"|(?<=exception occurred:)\s|(?<=following exception:)\s|(?<=call last\):)\s(?=\S)"
)
_PYTHON_FLAT = re.compile(r"File \"[^\"\n]{1,400}\", line \d{1,7}, in \S")
_GOROUTINE = re.compile(r" goroutine \d{1,9} \[[a-z ,\d]{1,60}\]:")
_PHP_BREAKS = re.compile(r"\s(?=#\d{1,3} (?:[/\w\[{]))|\s(?=Stack trace:)")
_PYTHON_CODE = re.compile(r"(File \"[^\"\n]{1,400}\", line \d{1,7}, in [\w.<>]{1,200})[ \t]+(?=\S)")
_PYTHON_END = re.compile(
    r"[ \t](?=[A-Za-z_][\w.]{0,150}(?:Error|Exception|Warning|Interrupt|Exit|Failure|Timeout|Fault)(?:: |$))"
)


def unflatten(text: str) -> Iterator[str]:
    """Lines of `text`; escaped and flattened traces are broken up again."""
    if _ARRAY in text:
        text = text.replace('","', "\n").replace('["', "\n").replace('"]', "\n")  # a stack as an array of strings
    for line in text.split("\n"):
        if _is_json(line) or ("\\n" in line and _ESCAPED.search(line)):
            for part in _unescaped(_unwrapped(without_json_log(line))).split("\n"):
                yield from _broken(part)
        else:
            yield from _broken(line)


def strings_opened(text: str) -> str:
    """`text` with what looks like one string of a language with escaped line breaks as the lines that it holds."""
    if "\\n" not in text:
        return text
    return "\n".join(_unescaped(_unwrapped(line)) if _is_string(line) else line for line in text.split("\n"))


def _is_string(line: str) -> bool:
    return line.count("\\n") >= _BREAKS_OF_STRING and _unwrapped(line) != line


def _unwrapped(line: str) -> str:
    """The text inside the quotes that a language puts around a string with escapes."""
    found = _WRAPPED.match(line)
    return found["text"] if found and not _MESSAGE.search(found["ahead"]) else line


def _is_json(line: str) -> bool:
    return line.lstrip().startswith('{"') and '":' in line


def _unescaped(line: str) -> str:
    line = _fields(line)
    # Logs inside logs are escaped twice.
    for _ in range(2):
        if not ("\\n" in line or '\\"' in line):
            break
        line = _ESCAPE.sub(_meant, line)
        line = _fields(line) if '\\"' in line else line
    return line


def _meant(found: re.Match[str]) -> str:
    return _MEANING[found[1]] if found[1] in _MEANING else chr(int(found[1][1:], 16))


def _fields(line: str) -> str:
    """`line` broken where the strings of a JSON object begin and end."""
    return _STRING_END.sub("\n", _FIELD.sub("\n", line)) if '":' in line else line


def _broken(line: str) -> list[str]:
    if " goroutine " in line and (stack := _GOROUTINE.search(line)):
        return [line[: stack.start()], *_broken(line[stack.start() + 1 :])]
    if len(line) <= _FLAT_FROM:
        return [line]
    if 'File "' in line and len(_PYTHON_FLAT.findall(line)) + ("Traceback (most" in line) >= 2:
        return _python(line)
    if "#0 " in line and "#1 " in line:
        return _PHP_BREAKS.sub("\n", line).split("\n")
    if "[object] (" not in line and len(_AT.findall(line)) >= 2:
        return _BREAKS.sub("\n", line).split("\n")
    return [line]


def _python(line: str) -> list[str]:
    parts = _PYTHON_BREAKS.sub("\n", line).split("\n")
    broken: list[str] = []
    for part in parts:
        head, code = _frame_and_code(part)
        broken.append(head)
        if code:
            broken.extend(_PYTHON_END.sub("\n", f"    {code}", count=1).split("\n"))
    return broken


def _frame_and_code(part: str) -> tuple[str, str]:
    found = _PYTHON_CODE.match(part.lstrip())
    if not found:
        return part, ""
    return f"  {found[1]}", part.lstrip()[found.end() :]
