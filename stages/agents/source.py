"""The text of a source file: its lines for reading, and one replacement that keeps every other byte."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from stages.as_read import Place, places, restored
from stages.errors import Refused

_NUMBERED: Final = re.compile(r"^\d+\| ")


@dataclass(frozen=True, kw_only=True)
class Source:
    """`text` has line feeds only; `crlf` says that the file has carriage returns before all of them.

    Bytes that are not UTF-8 are kept as lone surrogates, and written back as they were.
    """

    text: str
    crlf: bool = False

    @classmethod
    def of(cls, data: bytes) -> Source:
        """Raises Refused for a binary file."""
        if b"\0" in data:
            raise Refused(reason="this is a binary file")
        text = data.decode("utf-8", "surrogateescape")
        crlf = text.count("\r\n")
        if crlf and crlf == text.count("\n"):
            return cls(text=text.replace("\r\n", "\n"), crlf=True)
        return cls(text=text)

    @property
    def lines(self) -> list[str]:
        lines = self.text.split("\n")
        return lines[:-1] if lines[-1] == "" else lines

    def replaced(self, path: str, old: str, new: str) -> tuple[bytes, int]:
        """The file with `new` in the one place of `old`, and the line where that is. Raises Refused."""
        wanted = old.replace("\r\n", "\n") if self.crlf else old
        if not wanted:
            raise Refused(reason="`old` is empty; use write for a new file")
        if old == new:
            raise Refused(reason="`old` and `new` are the same")
        place, changed = self._place(path, wanted), new.replace("\r\n", "\n") if self.crlf else new
        changed = restored(changed, wanted, self.text[place.start : place.end])
        text = self.text[: place.start] + changed + self.text[place.end :]
        if self.crlf:
            text = text.replace("\n", "\r\n")
        return text.encode("utf-8", "surrogateescape"), self.text.count("\n", 0, place.start) + 1

    def _place(self, path: str, wanted: str) -> Place:
        """Where `wanted` stands, as it is or as it was shown. Raises Refused unless that is in one place."""
        at = self.text.find(wanted)
        found = [Place(start=at, end=at + len(wanted))] if at >= 0 else places(self.text, wanted)
        if not found and _NUMBERED.match(wanted):
            raise Refused(reason=f"{path} does not contain this; leave out the numbers that read puts in front")
        if not found:
            raise Refused(reason=f"{path} does not contain this; read the lines again and copy them exactly")
        if len(found) > 1 or (at >= 0 and self.text.find(wanted, at + 1) >= 0):
            raise Refused(reason=f"this stands more than once in {path}; add lines around it")
        return found[0]
