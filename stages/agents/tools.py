"""The closed set of tools: arguments checked, paths and commands through the workspace, results quoted and cut."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from memory.text import one_line
from memory.types import CheckId
from stages.agents.arguments import mismatch
from stages.agents.limits import Budget
from stages.agents.schemas import FINISH, function, offered
from stages.agents.showing import show
from stages.agents.source import Source
from stages.as_read import as_meant
from stages.errors import Refused
from stages.prompt import EntryPoint
from stages.quoting import as_read, quote_output

if TYPE_CHECKING:
    from stages.checks import Checks
    from stages.workspace import Workspace

READ_LINES: Final = 400
READ_CHARACTERS: Final = 24_000
FILES_AT_MOST: Final = 1_000
HITS_AT_MOST: Final = 60
HIT_CHARACTERS: Final = 240
SEARCHED_FILES: Final = 5_000
HURRY_AT_LEAST: Final = 0.2  # seconds
_SEEN_AT_MOST: Final = 1_200  # characters
SEARCHED_BYTES: Final = 1_000_000  # a longer file is not searched


@dataclass(frozen=True, kw_only=True)
class Used:
    """What a tool call came to. `usable` is False when no tool was called at all."""

    text: str
    refused: bool = False
    usable: bool = True


class Tools:
    """The tools of one conversation. `warm` are the workspace's checks for the length of it, where there are such."""

    def __init__(
        self, entry_point: EntryPoint, workspace: Workspace, limits: Budget, warm: Checks | None = None
    ) -> None:
        self._workspace, self._limits, self._warm = workspace, limits, warm
        self._offered = {tool.name: tool for tool in offered(entry_point)}
        self._do: Mapping[str, Callable[..., str]] = {
            "list": self._list,
            "read": self._read,
            "search": self._search,
            "edit": self._edit,
            "write": self._write,
            "run": self._run,
        }

    @property
    def functions(self) -> list[dict[str, Any]]:
        """For the `tools` field of a call."""
        return [function(tool) for tool in self._offered.values()]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._offered)

    def misuse(self, name: str, arguments: Mapping[str, object]) -> str | None:
        """Why this is no call of a tool that was offered."""
        if name not in self._offered:
            return f"there is no tool {one_line(name)[:60]!r}; there are {', '.join(self._offered)}"
        return mismatch(self._offered[name].parameters, dict(arguments))

    def use(self, name: str, arguments: Mapping[str, object]) -> Used:
        """Do what a call asks, `finish` excepted."""
        if (problem := self.misuse(name, arguments)) is not None or name == FINISH:
            return refusal(problem or "finish ends the work", usable=name in self._offered)
        try:
            return Used(text=self._do[name](**arguments))
        except Refused as refused:
            return refusal(str(refused))

    def _list(self, path: str = "") -> str:
        files = self._workspace.files(path)
        lines = [f"| {as_read(file)}" for file in files[:FILES_AT_MOST]]
        if len(files) > FILES_AT_MOST:
            lines.append(f"({len(files) - FILES_AT_MOST} more files)")
        return "\n".join(lines) or "(no files)"

    def _read(self, path: str, start: int = 1, end: int | None = None) -> str:
        lines = Source.of(self._workspace.read(path)).lines
        first, last = max(1, start), min(len(lines), end if end is not None else len(lines))
        if not lines:
            return "(an empty file)"
        if first > last:
            raise Refused(reason=f"{path} has {len(lines)} lines")
        out, size = list[str](), 0
        for number in range(first, min(last, first + READ_LINES - 1) + 1):
            line = f"{number}| {as_read(lines[number - 1])}"
            if size + len(line) > READ_CHARACTERS:
                out = out or [f"{line[:READ_CHARACTERS]} (line cut)"]
                break
            out.append(line)
            size += len(line) + 1
        if len(out) < last - first + 1:
            out.append(f"(cut: lines {first}-{first + len(out) - 1} of {len(lines)})")
        return "\n".join(out)

    def _search(self, text: str, path: str = "") -> str:
        if not text or "\n" in text:
            raise Refused(reason="search takes one line of text")
        hits = list[str]()
        for file in self._below(path)[:SEARCHED_FILES]:
            hits.extend(self._hits(file, text))
            if len(hits) > HITS_AT_MOST:
                return "\n".join([*hits[:HITS_AT_MOST], f"(more than {HITS_AT_MOST} lines; name a path)"])
        return "\n".join(hits) or "(nothing found)"

    def _below(self, path: str) -> tuple[str, ...]:
        every = self._workspace.files()
        return (path,) if path in every else self._workspace.files(path)

    def _hits(self, file: str, text: str) -> list[str]:
        try:
            data = self._workspace.read(file)
            if len(data) > SEARCHED_BYTES or text.encode("utf-8", "surrogatepass") not in data:
                return []
            lines = Source.of(data).lines
        except Refused:  # a binary file, a link: nothing to find there
            return []
        return [
            f"| {as_read(file)}:{number}: {as_read(line)}"[:HIT_CHARACTERS]
            for number, line in enumerate(lines, 1)
            if text in line
        ]

    def _edit(self, path: str, old: str, new: str) -> str:
        source = Source.of(self._workspace.read(path))
        changed, line = source.replaced(path, old, new)
        self._workspace.write(path, changed)
        return f"edited {path} at line {line}"

    def _write(self, path: str, text: str) -> str:
        self._workspace.write(path, as_meant(text).encode())
        return f"wrote {path}, {len(text.splitlines())} lines"

    def _run(
        self,
        check: str,
        tests: list[str] | None = None,
        with_files: bool = False,
        coverage: bool = False,
        stop_at_first: bool = False,
        seconds: float | None = None,
    ) -> str:
        report = self._workspace.run(
            CheckId(check),
            tests=cast("list[CheckId]", tests or []),
            with_files=with_files,
            coverage=coverage,
            stop_at_first=stop_at_first,
            hurry=None if seconds is None else max(HURRY_AT_LEAST, float(seconds)),
            stopped=lambda: self._limits.stopped,
            warm=self._warm,
        )
        kinds = {known.name: known.kind for known in self._workspace.checks}
        kind = kinds.get(CheckId(check))
        return show(report, named=kind is not None and kind.names_tests)


def refusal(reason: str, *, usable: bool = True) -> Used:
    """What a call was refused for. Its first line is code's own; what follows was printed by others, and is quoted."""
    said, _, seen = reason.partition("\n")
    quoted = f"\n{quote_output(seen, characters=_SEEN_AT_MOST)}" if seen.strip() else ""
    return Used(text=f"refused: {one_line(said)[:800]}{quoted}", refused=True, usable=usable)
