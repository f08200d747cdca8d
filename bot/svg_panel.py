"""A panel of a picture: its frame and axes, and what is drawn in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeAlias

INK, _GRID = "#1a1a1a", "#d9d9d9"
Curve: TypeAlias = Sequence[tuple[float, float, float, float]]
"""Points: across, up, and the bounds of up."""


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Where it stands, and what its axes run over; `up` is a share."""

    head: str
    name: str  # of the axis across
    shown: str  # how its values are written
    top: float
    height: float
    across: tuple[float, float]
    up: tuple[float, float]
    left: float = 70
    width: float = 710

    def x(self, value: float) -> float:
        low, high = self.across
        return self.left + self.width * (min(max(value, low), high) - low) / (high - low)

    def y(self, value: float) -> float:
        low, high = self.up
        return self.top + self.height * (1 - (min(max(value, low), high) - low) / (high - low))

    @property
    def bottom(self) -> float:
        return self.top + self.height

    def drawn(self) -> Iterator[str]:
        """Heading and axes."""
        yield (
            f'<text x="{self.left:.1f}" y="{self.top - 26:.1f}" font-size="18" font-weight="600">'
            f"{escape(self.head)}</text>"
        )
        for step in _steps(self.up):
            y = self.y(step)
            yield f'<path d="M{self.left} {y:.1f}H{self.left + self.width}" stroke="{_GRID}"/>'
            yield f'<text x="{self.left - 8}" y="{y + 5:.1f}" text-anchor="end">{step:.0%}</text>'
        for step in _steps(self.across):
            yield self._centred(self.x(step), 20, self.shown.format(step))
        yield self._centred(self.left + self.width / 2, 40, self.name)
        yield f'<path d="M{self.left} {self.top}V{self.bottom}H{self.left + self.width}" fill="none" stroke="{INK}"/>'

    def column(self, begins: float, ends: float, part: float, looks: str, *, second: bool = False) -> str:
        """One column; two series stand side by side in each step."""
        step = self.x(ends) - self.x(begins)
        x, y = self.x(begins) + (step / 2 if second else 0), self.y(part)
        return f'<rect x="{x + 1:.1f}" y="{y:.1f}" width="{step / 2 - 2:.1f}" height="{self.bottom - y:.1f}" {looks}/>'

    def upright(self, value: float, told: str) -> str:
        """A line at a value, with its name beside it, on the side that has room."""
        at = self.x(value)
        shift, anchor = (-6, "end") if at > self.left + self.width / 2 else (6, "start")
        return (
            f'<path d="M{at:.1f} {self.top - 8:.1f}V{self.bottom:.1f}" stroke="{INK}" stroke-width="2"/>'
            f'<text x="{at + shift:.1f}" y="{self.top + 6:.1f}" text-anchor="{anchor}">{escape(told)}</text>'
        )

    def curve(self, points: Curve, colour: str) -> Iterator[str]:
        """A line with its interval."""
        lower = [(x, low) for x, _, low, _ in points]
        upper = [(x, high) for x, _, _, high in reversed(points)]
        yield f'<polygon points="{self._path([*lower, *upper])}" fill="{colour}" fill-opacity="0.15"/>'
        line = self._path([(x, y) for x, y, _, _ in points])
        yield f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2.5"/>'

    def dot(self, x: float, y: float) -> str:
        return f'<circle cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="6" fill="{INK}"/>'

    def key(self, shift: float, looks: str, told: str) -> str:
        """What a colour means, below the panel."""
        x, y = self.left + shift, self.bottom + 64
        return (
            f'<rect x="{x:.1f}" y="{y - 12:.1f}" width="16" height="12" {looks}/>'
            f'<text x="{x + 24:.1f}" y="{y:.1f}">{escape(told)}</text>'
        )

    def _centred(self, x: float, below: float, told: str) -> str:
        return f'<text x="{x:.1f}" y="{self.bottom + below:.1f}" text-anchor="middle">{escape(told)}</text>'

    def _path(self, points: Sequence[tuple[float, float]]) -> str:
        return " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)


def _steps(over: tuple[float, float]) -> list[float]:
    low, high = over
    return [low + (high - low) * n / 4 for n in range(5)]
