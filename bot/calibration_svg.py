"""A calibration as a picture: how scores are spread, and recall against false admission, as one SVG file."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from bot.calibration_words import bound, share
from bot.curves import Curves
from bot.svg_panel import Panel
from bot.wording import count
from memory.calibration import Calibration

_WIDTH, _HEIGHT = 820, 720
# Blue and vermilion are told apart by every kind of colour vision (Okabe and Ito 2008); the hatching says it again.
_UNANSWERED, _ANSWERED = "#0072b2", "#b34700"
_FULL: Final = f'fill="{_UNANSWERED}"'
_HATCHED: Final = f'fill="url(#hatch)" stroke="{_ANSWERED}"'
_FALSE_AT_MOST: Final = 0.2


def svg(found: Calibration, curves: Curves) -> str:
    """The picture. It says in words what it shows, for readers who cannot see it."""
    body = "\n".join((*_scores(curves), *(_recall(curves) if curves.chosen.found.of else _admission(curves))))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" \
height="{_HEIGHT}" role="img" aria-labelledby="title told">
<title id="title">Calibration of {found.at:%Y-%m-%d}: scores, and recall against false admission</title>
<desc id="told">{escape(_told(found))}</desc>
<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">\
<path d="M0 0V6" stroke="{_ANSWERED}" stroke-width="3"/></pattern></defs>
<rect width="100%" height="100%" fill="#ffffff"/>
<g font-family="system-ui, 'DejaVu Sans', sans-serif" font-size="15" fill="#1a1a1a">
{body}
</g>
</svg>
"""


def _told(found: Calibration) -> str:
    answered = f" Tickets that got their note: {share(found.found)}." if found.found.of else ""
    return (
        f"Threshold {found.threshold:.3f} with {count(found.notes, 'note')}. "
        "Questions without an answer that got a note: "
        f"{share(found.false)}. {bound(found)}.{answered}"
    )


def _scores(curves: Curves) -> Iterator[str]:
    spread = curves.spread
    panel = Panel(
        head="Best score of each question",
        name="score",
        shown="{:.2f}",
        top=70,
        height=210,
        across=(spread.low, spread.high),
        up=(0.0, max((*spread.unanswered, *spread.answered), default=0.0) or 1.0),
    )
    yield from panel.drawn()
    for number, part in enumerate(spread.unanswered):
        yield panel.column(spread.step(number), spread.step(number + 1), part, _FULL)
    for number, part in enumerate(spread.answered):
        yield panel.column(spread.step(number), spread.step(number + 1), part, _HATCHED, second=True)
    yield panel.upright(curves.chosen.threshold, f"threshold {curves.chosen.threshold:.3f}")
    yield panel.key(0, _FULL, "questions without an answer here")
    if spread.answered:
        yield panel.key(360, _HATCHED, "tickets, by the note that is about them")


def _recall(curves: Curves) -> Iterator[str]:
    panel = Panel(
        head="Recall against false admission",
        name="share of questions without an answer that get a note",
        shown="{:.0%}",
        top=430,
        height=200,
        across=(0.0, _FALSE_AT_MOST),
        up=(0.0, 1.0),
    )
    yield from panel.drawn()
    points = [
        (p.false.value, p.found.value, p.found.low, p.found.high)
        for p in curves.whole
        if p.false.value <= _FALSE_AT_MOST
    ]
    yield from panel.curve(points, _UNANSWERED)
    yield panel.dot(curves.chosen.false.value, curves.chosen.found.value)
    yield from _keys(panel, "share of tickets that get their note, with its 95 % interval")


def _admission(curves: Curves) -> Iterator[str]:
    panel = Panel(
        head="False admission by threshold; recall is not known, no note names a ticket",
        name="threshold",
        shown="{:.2f}",
        top=430,
        height=200,
        across=(curves.spread.low, curves.spread.high),
        up=(0.0, _FALSE_AT_MOST),
    )
    yield from panel.drawn()
    seen = [point for point in curves.whole if point.false.value <= _FALSE_AT_MOST]
    points = [(p.threshold, p.false.value, p.false.low, p.false.high) for p in seen]
    yield from panel.curve(points, _UNANSWERED)
    yield panel.dot(curves.chosen.threshold, curves.chosen.false.value)
    yield from _keys(panel, "share of questions that get a note, with its 95 % interval")


def _keys(panel: Panel, told: str) -> Iterator[str]:
    yield panel.key(0, _FULL, told)
    yield panel.key(510, 'fill="#1a1a1a" rx="6"', "the chosen threshold")
