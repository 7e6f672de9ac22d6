"""Time and memory against the number of documents, beside what was asked for; and both engines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt

from neardup.charts import save

GOAL = {"documents": 200_000_000, "seconds": 180, "gigabytes": 18}
_LOG = alt.Scale(type="log")
_COLOURS = {"memory": "#2563a8", "disk": "#c2410c"}
_ENGINES = {
    "local": ("local, 2 threads", "#2563a8"),
    "spark": ("Spark, local[2]", "#c2410c"),
    "spark-cluster": ("Spark, cluster of 2 workers", "#4d7c0f"),
}
_SHUFFLED = "#e9a07c"


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
    return _dressed(panels, "Clusters by shared features: 2 of 6, two threads")


def engines_chart(rows: Sequence[dict[str, Any]]) -> alt.HConcatChart:
    """Seconds and bytes per document of both engines, a line for each."""
    values = [
        {
            "documents": row["documents"],
            "seconds": row["seconds"],
            "bytes": row["work_bytes"] / row["documents"],
            "way": _ENGINES[row["engine"]][0],
        }
        for row in rows
        if row["engine"] in _ENGINES
    ]
    shuffled = [
        {
            "documents": row["documents"],
            "bytes": sum(stage["shuffle_bytes"] for stage in row["stages"]) / row["documents"],
            "way": f"{_ENGINES[row['engine']][0]}, shuffled",
        }
        for row in rows
        if row["engine"] == "spark"
    ]
    used = [name for name in _ENGINES if any(row["engine"] == name for row in rows)]
    names, colours = [_ENGINES[name][0] for name in used], [_ENGINES[name][1] for name in used]
    both = [*names, *dict.fromkeys(value["way"] for value in shuffled)]
    panels = [
        _lines(values, "seconds", "seconds, the whole command on two cores", names, colours),
        _lines(
            values + shuffled,
            "bytes",
            "bytes a document: kept on disk, shuffled",
            both,
            [*colours, _SHUFFLED],
            zero=True,
        ),
    ]
    return _dressed(panels, "neardup dedup on both engines: documents of 3.2 kB, recipe default")


def _dressed(panels: list[Any], title: str) -> alt.HConcatChart:
    made: alt.HConcatChart = (
        alt.hconcat(*panels, spacing=40, title=alt.Title(title))
        .resolve_scale(color="independent")
        .configure(font="DejaVu Sans, Helvetica, Arial, sans-serif", background="white", padding=16)
        .configure_view(stroke=None)
        .configure_title(anchor="start", fontSize=16, offset=18)
        .configure_axis(gridColor="#e8e8e8", titleFontWeight="normal", titlePadding=10)
    )
    return made


def _lines(
    values: list[dict[str, Any]], field: str, title: str, ways: list[str], colours: list[str], *, zero: bool = False
) -> alt.Chart:
    sizes = sorted({value["documents"] for value in values})
    x = alt.X("documents:Q", title="documents", scale=_LOG, axis=alt.Axis(format="~s", values=sizes))
    scale, axis = (alt.Scale(zero=True), alt.Axis(tickCount=6)) if zero else (_LOG, alt.Axis(format="~g", tickCount=4))
    colour = alt.Color(
        "way:N", title=None, scale=alt.Scale(domain=ways, range=colours), legend=alt.Legend(orient="top", columns=2)
    )
    made: alt.Chart = (
        alt.Chart(alt.Data(values=values))
        .mark_line(strokeWidth=2.5, point=True)
        .encode(x=x, y=alt.Y(f"{field}:Q", title=title, scale=scale, axis=axis), color=colour)
        .properties(width=380, height=300)
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


def draw_engines(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """To a file, SVG or PNG by its name."""
    save(engines_chart(rows), path)


def draw(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """To a file, SVG or PNG by its name."""
    save(chart(rows), path)
