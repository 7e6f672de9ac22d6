"""A curve drawn with braille dots, two across and four down in a character, for terminals of any width.

draw       the picture as rich text: axes with labels, the curve, vertical marks with their names above them
decades    how many powers of ten a logarithmic axis of that curve should have
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, log10

from rich.text import Text

ROWS = 13
"""Of the plot: five labels at equal distances, as 13 = 3·4 + 1."""

GUTTER = 8
"""Columns left of the plot, for the labels."""

_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Mark:
    """A place on the x axis with a name."""

    at: float
    name: str
    style: str = "yellow"


def draw(
    curve: Callable[[float], float],
    *,
    start: float,
    end: float,
    width: int,
    log: bool = False,
    marks: Sequence[Mark] = (),
    x_title: str = "",
    y_title: str = "",
) -> Text:
    """The curve from `start` to `end`, in `width` columns. With `log` the y axis is in powers of ten."""
    columns = max(16, min(width, 100) - GUTTER - 2)
    powers = decades(curve, start, end) if log else 0
    cells = _dots([_height(curve(start + (end - start) * i / (2 * columns - 1)), powers) for i in range(2 * columns)])
    places = {_column(m.at, start, end, columns): m for m in marks if start <= m.at <= end}
    picture = Text(no_wrap=True)
    picture.append(f"{' ' * (GUTTER - 6)}{y_title}{', logarithmic scale' if log else ''}\n", "bold")
    for line in _names(marks, start, end, columns):
        picture.append(" " * (GUTTER + 1)).append_text(line).append("\n")
    for row in range(ROWS):
        label = _y_label(row, powers)
        picture.append(f"{label:>{GUTTER - 1}} {'┤' if label else '│'}", "dim")
        for column in range(columns):
            if cells[row][column]:
                picture.append(chr(0x2800 + cells[row][column]), "cyan")
            elif column in places:
                picture.append("┊", places[column].style)
            else:
                picture.append(" ")
        picture.append("\n")
    ticks, labels = _x_axis(start, end, columns)
    picture.append(f"{' ' * GUTTER}└{ticks}\n{' ' * (GUTTER + 1)}{labels}\n", "dim")
    picture.append(" " * (GUTTER + 1) + x_title.center(columns).rstrip(), "bold")
    return picture


def decades(curve: Callable[[float], float], start: float, end: float) -> int:
    """4, 8 or 12 powers of ten: as many as two thirds of the curve have."""
    values = [curve(start + (end - start) * i / 24) for i in range(25)]
    small = sorted(values)[len(values) // 3]
    needed = -log10(small) if small > 0 else 12.0
    return next((d for d in (4, 8) if needed <= d), 12)


def _height(y: float, decades: int) -> int | None:
    """The dot from the top; None where the value lies below the picture."""
    if decades:
        if y <= 0 or log10(y) < -decades:
            return None
        y = 1 + log10(y) / decades
    return round((1 - min(1.0, max(0.0, y))) * (4 * ROWS - 1))


def _dots(heights: list[int | None]) -> list[list[int]]:
    """Braille patterns by row and column. Dots that follow each other are joined, half the way each."""
    cells = [[0] * (len(heights) // 2) for _ in range(ROWS)]
    for x, y in enumerate(heights):
        if y is None:
            continue
        beside = [h for h in heights[max(0, x - 1) : x + 2] if h is not None]
        if x + 1 < len(heights) and heights[x + 1] is None:
            beside.append(4 * ROWS - 1)
        if x and heights[x - 1] is None:
            beside.append(4 * ROWS - 1)
        top, bottom = min((y + min(beside) + 1) // 2, y), max((y + max(beside)) // 2, y)
        for dot in range(top, bottom + 1):
            cells[dot // 4][x // 2] |= _DOTS[x % 2][dot % 4]
    return cells


def _column(x: float, start: float, end: float, columns: int) -> int:
    return round((x - start) / (end - start) * (2 * columns - 1)) // 2


def _names(marks: Sequence[Mark], start: float, end: float, columns: int) -> list[Text]:
    """A row for every name, the rightmost first, so that no name stands in the way of another's line."""
    lines, begun = [], list[tuple[int, Mark]]()
    for mark in sorted((m for m in marks if start <= m.at <= end), key=lambda m: -m.at):
        column = _column(mark.at, start, end, columns)
        name = f"{mark.name} ┐"
        if len(name) > column + 1:
            name, left = f"┌ {mark.name}", column
        else:
            left = column + 1 - len(name)
        line = Text(" " * left).append(name, mark.style)
        for at, other in reversed(begun):
            if at >= len(line):
                line.append(" " * (at - len(line))).append("┊", other.style)
        begun.append((column, mark))
        lines.append(line)
    return lines


def _y_label(row: int, decades: int) -> str:
    if row % 3:
        return ""
    quarter = row // 3
    if not decades:
        return f"{1 - quarter / 4:.2f}"
    power = -decades * quarter // 4
    return f"10{str(power).translate(_SUPERSCRIPT)}" if power else "1"


def _x_axis(start: float, end: float, columns: int) -> tuple[str, str]:
    """The line with its ticks, and the numbers below it."""
    step = _step((end - start) / max(2, columns // 7))
    ticks, labels = ["─"] * columns, [" "] * (columns + 4)
    i = 0
    while start + i * step <= end + step / 1e6:
        x = start + i * step
        column = _column(x, start, end, columns)
        ticks[column] = "┬"
        label = f"{x:.10g}"
        left = max(0, column - len(label) // 2)
        labels[left : left + len(label)] = label
        i += 1
    return "".join(ticks), "".join(labels).rstrip()


def _step(least: float) -> float:
    """1, 2 or 5 times a power of ten."""
    power = 10.0 ** floor(log10(least))
    return next(power * m for m in (1, 2, 5, 10) if power * m >= least * (1 - 1e-9))
