"""A calibration on a terminal: its figures in lines, its scores as bars."""

from __future__ import annotations

import math
from typing import Any, Final

from bot.curves import Curves, Point, Spread
from bot.node import Look
from bot.terminal import Terminal
from bot.wording import count
from memory.calibration import Basis, Calibration
from memory.intervals import Share
from memory.rules import FEW_NOTES
from memory.upkeep import Renewed

_BAR: Final = 30  # characters of the longest bar
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_RESTS_ON: Final = {
    Basis.TICKETS: "tickets that notes name, each with its notes taken out",
    Basis.NOTES: "the notes, each asking the index without itself",
    Basis.FIXED: "public reports: the notes here are too few, or too much alike, to tell better",
    Basis.PREVIOUS: "the calibration before: what was measured now would have let in more than was asked for",
}


def tell(made: Renewed, curves: Curves, terminal: Terminal) -> None:
    """Print what was measured and what follows from it."""
    found = made.measured.calibration
    terminal.line(f"Threshold {found.threshold:.3f}, {count(found.notes, 'note')}", Look.HEAD)
    terminal.line(f"  rests on {_RESTS_ON[found.basis]}")
    terminal.line(f"  questions without an answer that got a note: {share(found.false)}")
    if not found.held:
        terminal.line(f"  that is more than {100 * found.level:g} %{_missed(found)}", Look.BAD)
    terminal.line(f"  {bound(found)}", Look.GOOD if found.proven else Look.QUIET)
    if found.found.of:
        terminal.line(f"  tickets that got their note: {share(found.found)}")
        terminal.line(f"  notes that were right: {share(found.precision)}")
    else:
        terminal.line("  how many find their note is not known: no note names its tickets (front matter: tickets)")
    if made.before:
        terminal.line(
            f"  before: threshold {made.before.threshold:.3f}, {count(made.before.notes, 'note')}", Look.QUIET
        )
    if made.version is None:
        terminal.line(f"  not kept: with fewer than {FEW_NOTES} notes `coverage` decides", Look.QUIET)
    else:
        terminal.line(f"  kept with memory version {made.version.number}, and carried by the next ones", Look.GOOD)
    _bars(curves.spread, curves.chosen.threshold, terminal)
    _table(curves, terminal)


def _missed(found: Calibration) -> str:
    if found.basis is Basis.PREVIOUS:
        return ": the stricter threshold stays; notes publish all the same"
    return "; none was stricter before, so it is taken all the same, and notes publish"


def share(one: Share) -> str:
    """`3 of 120, 2.5 % (0.5 to 7.1 %)`."""
    return f"{one.hits} of {one.of}, {100 * one.value:.1f} % ({100 * one.low:.1f} to {100 * one.high:.1f} %)"


def bound(found: Calibration) -> str:
    """What is certain of the level that was asked for."""
    said = f"≤ {100 * found.level:g} %"
    surely = f"with 95 % certainty it is at most {100 * found.false.surely_below:.1f} %"
    if found.proven:
        return f"{said} is proven: {surely}"
    needed = math.ceil(math.log(0.05) / math.log1p(-found.level))  # that prove it when none of them got a note
    few = f"; that takes {needed} questions at least" if found.false.of < needed else ""
    return f"{said} is not proven: {surely}{few}"


def plain(made: Renewed, curves: Curves) -> dict[str, Any]:
    """As JSON has it."""
    found = made.measured.calibration
    return {
        "threshold": found.threshold,
        "basis": found.basis.value,
        "level": found.level,
        "proven": found.proven,
        "at_most": round(found.false.surely_below, 4),
        "notes": found.notes,
        "algorithm": found.algorithm,
        "at": found.at.isoformat(),
        "false_admission": _plain(found.false),
        "recall": _plain(found.found),
        "precision": _plain(found.precision),
        "version": made.version.number if made.version else None,
        "before": {"threshold": made.before.threshold, "notes": made.before.notes} if made.before else None,
        "curve": [
            {
                "threshold": round(point.threshold, 4),
                "false_admission": _plain(point.false),
                "recall": _plain(point.found),
            }
            for point in curves.points
        ],
    }


def _plain(one: Share) -> dict[str, Any]:
    return {"hits": one.hits, "of": one.of, "low": round(one.low, 4), "high": round(one.high, 4)}


def _bars(spread: Spread, threshold: float, terminal: Terminal) -> None:
    most = max((*spread.unanswered, *spread.answered), default=0.0) or 1.0
    terminal.line(
        "Best scores: of questions without an answer (left), of answered ones by their note (right)", Look.HEAD
    )
    for number, unanswered in enumerate(spread.unanswered):
        begins = spread.step(number)
        answered = spread.answered[number] if spread.answered else 0.0
        mark = " ← threshold" if number == spread.place(threshold) else ""
        left = f"{_bar(unanswered / most):<{_BAR}} {100 * unanswered:5.1f} %"
        right = f"   {_bar(answered / most):<{_BAR}} {100 * answered:5.1f} %" if spread.answered else ""
        terminal.line(f"  {begins:5.2f}  {left}{right}{mark}", Look.GOOD if mark else Look.PLAIN)


def _bar(part: float) -> str:
    eighths = round(8 * _BAR * part)
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()


def _table(curves: Curves, terminal: Terminal) -> None:
    rows = dict.fromkeys(_row(point) for point in curves.points)  # few questions have one threshold at several levels
    terminal.table(
        ("threshold", "got a note without an answer", "found their note"), [*rows, _row(curves.chosen, "→ ")]
    )


def _row(point: Point, mark: str = "") -> tuple[str, str, str]:
    found = share(point.found) if point.found.of else "not known"
    return f"{mark}{point.threshold:.3f}", share(point.false), found
