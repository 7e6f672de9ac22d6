"""Time and memory against the number of documents, on logarithmic axes, beside what was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt

from neardup.charts import save

GOAL = {"documents": 200_000_000, "seconds": 180, "gigabytes": 18}
_LOG = alt.Scale(type="log")
_COLOURS = {"memory": "#2563a8", "disk": "#c2410c"}


def chart(rows: Sequence[dict[str, Any]]) -> alt.HConcatChart:
    """Two panels, a line for each way."""
    values = [
        {
            "documents": row["documents"],
            "seconds": row["seconds"],
            "gigabytes": row["peak_mb"] / 1000,
            "way": f"from {row['from']}" if row["from"] == "disk" else "in memory",
        }
        for row in rows
    ]
    ways = [way for way in ("in memory", "from disk") if any(v["way"] == way for v in values)]
    colours = [_COLOURS["memory" if way == "in memory" else "disk"] for way in ways]
    panels = [
        _panel(values, "seconds", "seconds", ways, colours),
        _panel(values, "gigabytes", "memory, GB (from disk: without mapped features)", ways, colours),
    ]
    made: alt.HConcatChart = (
        alt.hconcat(*panels, spacing=40, title=alt.Title("Clusters by shared features: 2 of 6, two threads"))
        .configure(font="DejaVu Sans, Helvetica, Arial, sans-serif", background="white", padding=16)
        .configure_view(stroke=None)
        .configure_title(anchor="start", fontSize=16, offset=18)
        .configure_axis(gridColor="#e8e8e8", titleFontWeight="normal", titlePadding=10)
    )
    return made


def _panel(values: list[dict[str, Any]], field: str, title: str, ways: list[str], colours: list[str]) -> alt.LayerChart:
    sizes = sorted({GOAL["documents"], *(value["documents"] for value in values)})
    powers = [10.0**power for power in range(-4, 5)]
    x = alt.X("documents:Q", title="documents", scale=_LOG, axis=alt.Axis(format="~s", values=sizes))
    y = alt.Y(f"{field}:Q", title=title, scale=_LOG, axis=alt.Axis(format="~g", values=powers))
    colour = alt.Color(
        "way:N", title=None, scale=alt.Scale(domain=ways, range=colours), legend=alt.Legend(orient="top")
    )
    lines = alt.Chart(alt.Data(values=values)).mark_line(strokeWidth=2.5, point=True).encode(x=x, y=y, color=colour)
    goal = alt.Chart(alt.Data(values=[{**GOAL, "name": f"asked for: {GOAL[field]}"}])).encode(x=x, y=y)
    cross = goal.mark_point(shape="cross", size=120, color="#333333", filled=True)
    name = goal.mark_text(align="right", dx=-10, color="#333333", fontSize=11).encode(text="name:N")
    return alt.layer(lines, cross, name).properties(width=380, height=300)


def draw(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """To a file, SVG or PNG by its name."""
    save(chart(rows), path)
