"""The terminal: the one place that knows how text gets its colours, and what must never reach a screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TextIO

from rich import box
from rich.console import Console
from rich.status import Status
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from bot.node import Look, Node
from memory.text import fold

_STYLES: Final = {
    Look.PLAIN: "",
    Look.HEAD: "bold",
    Look.GOOD: "green",
    Look.BAD: "red",
    Look.QUIET: "dim",
    Look.QUOTE: "cyan",
}
_ENDLESS = 100_000  # characters: a line in a file or a pipe is never broken


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise  # rich calls this where that is handled, and would end the program


class Terminal:
    """Prints trees, tables and lines; without colours and without breaking lines when `file` is no terminal."""

    def __init__(self, file: TextIO, *, live: bool | None = None, width: int | None = None) -> None:
        self.live = file.isatty() if live is None else live
        width = width or (None if self.live else _ENDLESS)
        self._console = _Console(
            file=file, force_terminal=self.live, width=width, markup=False, emoji=False, highlight=False
        )
        self._encoding = file.encoding or "utf-8"  # a file in memory has none
        self._status: Status | None = None

    def line(self, text: str, look: Look = Look.PLAIN) -> None:
        self._console.print(self._text(text, look))

    def tree(self, root: Node) -> None:
        tree = Tree(self._label(root), guide_style="dim")
        self._grow(tree, root.below)
        self._console.print(tree)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for column in columns:
            table.add_column(column, overflow="fold")
        for row in rows:
            table.add_row(*(self._text(cell, Look.PLAIN) for cell in row))
        self._console.print(table)

    def moving(self, text: str) -> None:
        """Show a line that moves while something works, in place of the one before."""
        if self._status is None:
            self._status = self._console.status(self._text(text, Look.PLAIN))
            self._status.start()
        else:
            self._status.update(self._text(text, Look.PLAIN))

    def still(self) -> None:
        """Take the moving line away."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _grow(self, tree: Tree, nodes: Iterable[Node]) -> None:
        for node in nodes:
            self._grow(tree.add(self._label(node)), node.below)

    def _label(self, node: Node) -> Text:
        label = self._text(node.text, node.look)
        for line in node.quote:
            label.append("\n").append_text(self._text(line, Look.QUOTE))
        return label

    def _text(self, text: str, look: Look) -> Text:
        # Folded here, whoever wrote it: no escape sequence of a ticket or a command ever reaches a screen.
        shown = " ".join(fold(text)).encode(self._encoding, "replace").decode(self._encoding)
        return Text(shown, style=_STYLES[look], overflow="fold")
