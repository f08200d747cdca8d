"""New tests made of the code that a ticket shows."""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from stages.agents.embedded import call
from stages.offline.account import exceptions
from stages.offline.paths import is_test_file
from stages.offline.steps import Steps

_FENCE: Final = re.compile(r"^ *(?:```|~~~) *([\w-]*)[^\n]*\n(.*?)^ *(?:```|~~~) *$", re.MULTILINE | re.DOTALL)
_PROMPT: Final = re.compile(r"^ *>>> ")
_WANTED: Final = re.compile(r"# *(?:expected|should (?:be|give|return)|want(?:ed)?|->|=>)[: ]*(.+)$", re.IGNORECASE)
_INLINE: Final = re.compile(
    r"`([^`\n]+\([^`\n]*\))`[^\n]*?\b(?:should|must|expected)\b[^`\n]*?`([^`\n]+)`"
    r"|`([^`\n]+\([^`\n]*\))`[^`]*?\binstead of `([^`\n]+)`"
)
_TESTS_AT_MOST: Final = 3


@dataclass(frozen=True, kw_only=True)
class NewTest:
    """A new test file, and what it is thought to show."""

    path: str
    text: str
    cause: str
    files: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Snippet:
    """Code of a ticket as the body of a test function; it may lack imports."""

    body: str
    shows: str


def new_tests(ticket: str, paths: Sequence[str], folders: Collection[str] = ("",)) -> Steps[list[NewTest]]:
    """At most three tests: from blocks with asserts, from doctests, from sentences with code and a value.

    `folders` are those in which checks run; "" is the top.
    """
    made: list[NewTest] = []
    for snippet in list(snippets(ticket))[:_TESTS_AT_MOST]:
        imports, files = yield from _imports(snippet.body, paths, folders)
        text = f"{imports}\n\ndef test_ticket():\n{textwrap.indent(snippet.body, '    ')}\n".lstrip("\n")
        path = _free_path(paths, _folder_of(files, folders))
        made.append(NewTest(path=path, text=text, cause=f"The ticket's own code fails: {snippet.shows}", files=files))
    return made


def snippets(ticket: str) -> Iterator[Snippet]:
    """Code of the ticket that can fail, the surest first."""
    blocks = [
        textwrap.dedent(found[2]).strip("\n")
        for found in _FENCE.finditer(ticket)
        if found[1].lower() in ("", "python", "py", "pycon", "python3")
    ]
    for block in blocks:
        if any(_PROMPT.match(line) for line in block.split("\n")):
            yield from _from_doctest(block, ticket)
        elif _is_python(block) and "assert" in block:
            yield Snippet(body=block, shows=_short(block))
    for found in _INLINE.finditer(ticket):
        expression, wanted = (found[1], found[2]) if found[1] else (found[3], found[4])
        if _is_python(f"({expression})") and _is_python(f"({wanted})"):
            yield Snippet(body=f"assert {expression} == {wanted}", shows=f"{expression} is not {wanted}.")
    for block in blocks:
        if "assert" not in block and _is_python(block) and exceptions(ticket) and "(" in block:
            yield Snippet(body=block, shows=_short(block))


def _from_doctest(block: str, ticket: str) -> Iterator[Snippet]:
    statements: list[str] = []
    asserted = False
    for code, result in _examples(block):
        wanted = _WANTED.search(code)
        bare = code[: wanted.start()].rstrip() if wanted else code
        value = wanted[1].strip() if wanted else result
        if value and not value.startswith("Traceback") and _is_expression(bare):
            wants = value if _is_expression(value) else repr(value)
            left = bare if _is_expression(value) else f"repr({bare})"
            statements.append(f"assert {left} == {wants}")
            asserted = True
        else:
            statements.append(bare)
            asserted = asserted or value.startswith("Traceback")
    body = "\n".join(statements)
    if _is_python(body) and (asserted or exceptions(ticket)):
        yield Snippet(body=body, shows=_short(statements[-1]))


def _examples(block: str) -> Iterator[tuple[str, str]]:
    code: list[str] = []
    result: list[str] = []
    for line in block.split("\n"):
        if _PROMPT.match(line):
            if code:
                yield "\n".join(code), "\n".join(result).strip()
            code, result = [line.lstrip()[4:]], []
        elif line.lstrip().startswith("... ") and not result:
            code.append(line.lstrip()[4:])
        elif code:
            result.append(line)
    if code:
        yield "\n".join(code), "\n".join(result).strip()


def _imports(body: str, paths: Sequence[str], folders: Collection[str]) -> Steps[tuple[str, tuple[str, ...]]]:
    """Import lines for the names that a snippet uses and does not make, and the files that they come from."""
    missing = _unknown_names(body)[:8]
    if not missing:
        return "", _files_of_imports(body, paths, folders)
    results = yield tuple(call("search", text=word) for name in missing for word in (f"def {name}(", f"class {name}"))
    lines: list[str] = []
    files: dict[str, None] = {}
    for place, name in enumerate(missing):
        found = re.findall(
            r"^\| ([^\n:]+\.py):\d+: (?:def|class) (\w+)", "\n".join(results[2 * place : 2 * place + 2]), re.MULTILINE
        )
        path = next((path for path, known in found if known == name and not is_test_file(path)), "")
        if path:
            lines.append(f"from {_module(path, folders)} import {name}")
            files[path] = None
        elif module := next((own for own in paths if _module(own, folders) == name), ""):
            lines.append(f"import {_module(module, folders)}")
            files[module] = None
    return "\n".join(lines), tuple(files)


def _files_of_imports(body: str, paths: Sequence[str], folders: Collection[str]) -> tuple[str, ...]:
    modules = re.findall(r"^(?:from|import) +([\w.]+)", body, re.MULTILINE)
    return tuple(path for path in paths if path.endswith(".py") and _module(path, folders) in modules)


def _unknown_names(body: str) -> list[str]:
    tree = ast.parse(body)
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    stored |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    stored |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            stored |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    loaded = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    return [name for name in dict.fromkeys(loaded) if name not in stored and not hasattr(builtins, name)]


def _module(path: str, folders: Collection[str]) -> str:
    """The name by which tests import a file: from the folder in which their check runs, and from its `src`."""
    inside = path.removeprefix(_folder_of((path,), folders)).removeprefix("src/")
    return inside.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _folder_of(files: Sequence[str], folders: Collection[str]) -> str:
    """The innermost of these folders that the first file lies in, with a `/` at its end; else the outermost one."""
    around = sorted((f"{folder}/" if folder else "" for folder in folders), key=len)
    inside = [folder for folder in around if files and files[0].startswith(folder)]
    return [*around[:1], *inside][-1]


def _free_path(paths: Sequence[str], folder: str) -> str:
    """Where a new test goes, among those of this folder."""
    places = (f"{folder}tests/", f"{folder}test/")
    place = next((place for place in places if any(path.startswith(place) for path in paths)), folder)
    names = ("test_ticket.py", *(f"test_ticket_{number}.py" for number in range(2, 100)))
    return next(path for name in names if (path := f"{place}{name}") not in paths)


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def _short(text: str) -> str:
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return next((line for line in lines if "assert" in line), lines[-1] if lines else "")[:120]
