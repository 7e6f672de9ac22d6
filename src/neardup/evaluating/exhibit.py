"""A table or figure of a paper for a collection at hand: the data, the picture's specification, and words.

Exhibit    the data as rows, the Vega-Lite specification as a plain dict
.csv()     the data, as CSV
.svg()     the picture
.table()   headings and cells as text, for people
"""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from neardup.charts import draw_svg

Value = str | int | float | None
Row = Mapping[str, Value]


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """One table or figure."""

    key: str
    """Unique, for file names: table-1, figure-6, jain-figure-6."""
    title: str
    """What is seen."""
    source: str
    """Where it is in the paper: "Henzinger, table 1"; nothing for what is our own."""
    caption: str = ""
    """What the rows are, and the figures that the paper gives in its text."""
    rows: Sequence[Row] = ()
    chart: dict[str, Any] | None = None
    note: str = ""
    """Why it is empty or what to beware of."""

    def noting(self, remark: str) -> "Exhibit":
        """The same, with one more remark."""
        return replace(self, note=f"{self.note} {remark}".strip())

    def csv(self) -> str:
        """The rows as CSV with a line of names; nothing in a cell is taken for a formula by a spreadsheet."""
        made = io.StringIO()
        writer = csv.writer(made, lineterminator="\n")
        if self.rows:
            writer.writerow([_plain(name) for name in self.rows[0]])
            writer.writerows([_plain(value) for value in row.values()] for row in self.rows)
        return made.getvalue()

    def svg(self, *, alone: bool = True) -> str:
        """The picture; `alone` it has a title and a white ground, within a page the page has them."""
        if self.chart is None:
            return ""
        chart = dict(self.chart)
        if not alone:
            chart.pop("title", None)
            chart["background"] = None
        return draw_svg(chart)

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Headings and rows of text; a share stands with its interval in one cell."""
        if not self.rows:
            return [], []
        names = [name for name in self.rows[0] if not name.endswith((" low", " high"))]
        return names, [[_cell(row, name) for name in names] for row in self.rows]


def empty(key: str, title: str, source: str, why: str) -> Exhibit:
    """In place of an exhibit for which the collection has nothing."""
    return Exhibit(key=key, title=title, source=source, note=why)


def _plain(value: Value) -> Value:
    if isinstance(value, float):
        return "" if math.isnan(value) else float(f"{value:.6g}")
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return "'" + value
    return value


def _cell(row: Row, name: str) -> str:
    shown = _shown(row[name])
    low, high = row.get(f"{name} low"), row.get(f"{name} high")
    if low is None or high is None or shown == "–":
        return shown
    return f"{shown} ({_shown(low)}–{_shown(high)})"


def _shown(value: Value) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, float):
        size = abs(value)
        made = f"{value:.3f}" if size <= 1 else f"{value:.2f}" if size < 10 else f"{value:,.1f}"
        return made.replace("-", "−")
    return f"{value:,}" if isinstance(value, int) else value
