"""A curve as a picture: where its axes, its line, its marks and their names are. templates/curve.html draws it.

Colours are classes that the page's style sheet knows, in light and in dark. No text of a document gets here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log10
from typing import NamedTuple

POINTS = 101
"""That can be read, from one end of the axis to the other."""

_SMOOTH = 4
"""Pieces of the line between two of them."""

_DECADES = 12
"""Of the logarithmic scale."""

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Mark(NamedTuple):
    """A place on the x axis, or on the y axis where it lies `across`."""

    at: float
    name: str
    kind: str
    """Its class: the style sheet has its colour."""
    across: bool = False


class Line(NamedTuple):
    """From one place to another."""

    kind: str
    x1: float
    y1: float
    x2: float
    y2: float


class Text(NamedTuple):
    """At a place."""

    kind: str
    x: float
    y: float
    text: str


@dataclass(frozen=True)
class Curve:
    """What is drawn, whatever its size."""

    value: Callable[[float], float]
    """From 0 to 1."""
    x_title: str
    y_title: str
    marks: Sequence[Mark] = ()
    logarithmic: bool = False

    def height(self, y: float) -> float | None:
        """From 0 at the bottom to 1; None for what lies below the picture."""
        if not self.logarithmic:
            return min(1.0, max(0.0, y))
        return None if y <= 0 or log10(y) < -_DECADES else min(1.0, 1 + log10(y) / _DECADES)

    def level(self, share: float) -> str:
        """What stands on the y axis at a height."""
        if not self.logarithmic:
            return f"{share:.2f}"
        power = round(_DECADES * (share - 1))
        return f"10{str(power).translate(_SUPERSCRIPT)}" if power else "1"


@dataclass(frozen=True)
class Picture:
    """A curve in so many pixels."""

    curve: Curve
    width: int
    height: int
    label: str
    """For those who cannot see it."""

    @property
    def _upright(self) -> list[Mark]:
        """In the right half names stand left of their lines and the leftmost is lowest; in the left half the other way
        round. So no name is crossed by its neighbour's line."""
        marks = [mark for mark in self.curve.marks if not mark.across]
        return sorted(marks, key=lambda mark: (mark.at <= 0.5, mark.at if mark.at > 0.5 else -mark.at))

    @cached_property
    def box(self) -> tuple[int, int, int, int]:
        """Left, top, width and height of the plot."""
        names = 16 * len(self._upright)
        return 46, 12 + names, self.width - 62, self.height - 54 - names

    def _x(self, value: float) -> float:
        return round(self.box[0] + value * self.box[2], 1)

    def _y(self, share: float) -> float:
        return round(self.box[1] + (1 - share) * self.box[3], 1)

    def lines(self) -> list[Line]:
        """Axes and marks."""
        made = [Line("grid", self._x(0), self._y(q / 4), self._x(1), self._y(q / 4)) for q in range(5)]
        made += [Line("axis", self._x(x), self._y(0), self._x(x), self._y(0) + 4) for x in self._ticks()]
        for row, mark in enumerate(self._upright):
            x = self._x(mark.at)
            made.append(Line(f"mark {mark.kind}", x, self._name_at(row) - 10, x, self._y(0)))
        for mark, share in self._across():
            made.append(Line(f"mark {mark.kind}", self._x(0), self._y(share), self._x(1), self._y(share)))
        return made

    def texts(self) -> list[Text]:
        """Numbers and names."""
        made = [Text("tick end", self._x(0) - 7, self._y(q / 4) + 4, self.curve.level(q / 4)) for q in range(5)]
        made += [Text("tick middle", self._x(x), self._y(0) + 17, f"{x:.1f}") for x in self._ticks()]
        made.append(Text("title middle", self._x(0.5), self._y(0) + 35, self.curve.x_title))
        for row, mark in enumerate(self._upright):
            side, beside = ("end", -5) if mark.at > 0.5 else ("start", 5)
            made.append(Text(f"{mark.kind} {side}", self._x(mark.at) + beside, self._name_at(row), mark.name))
        for mark, share in self._across():
            made.append(Text(f"{mark.kind} start", self._x(0) + 6, self._y(share) - 6, mark.name))
        return made

    def path(self) -> str:
        """The curve; it begins where it comes into the picture."""
        last = _SMOOTH * (POINTS - 1)
        found = ((i / last, self.curve.height(self.curve.value(i / last))) for i in range(last + 1))
        inside = [f"{self._x(x):g} {self._y(share):g}" for x, share in found if share is not None]
        return f"M{' L'.join(inside)}" if inside else ""

    def _ticks(self) -> list[float]:
        steps = 10 if self.width > 500 else 5
        return [i / steps for i in range(steps + 1)]

    def _name_at(self, row: int) -> int:
        return self.box[1] - 8 - 16 * row

    def _across(self) -> list[tuple[Mark, float]]:
        heights = [(mark, self.curve.height(mark.at)) for mark in self.curve.marks if mark.across]
        return [(mark, share) for mark, share in heights if share is not None]


def small(share: float) -> str:
    """A probability in a few digits; with a power of ten where it is small."""
    if share == 0 or share >= 5e-4:
        return f"{share:.4f}"
    digits, _, power = f"{share:.1e}".partition("e")
    return f"{digits}·10{str(int(power)).translate(_SUPERSCRIPT)}"
