"""Charts of the report: Vega-Lite specifications as plain dictionaries, which `charts` draws to SVG.

sizes_chart        group sizes, logarithmic both ways
similarity_chart   scores of removed documents around the threshold, with the filter's curve over them

Colours are fixed strings; the page's style sheet gives each its own in light, dark and print (report.css). So a chart
says nothing but numbers and our own words: no text of a document or name of a file is in it.
"""

from typing import Any

INK, SOFT, LINE, REMOVED, KEPT, CURVE, MARK = (
    "#1a1d20", "#555e67", "#d9dde1", "#1f5fa8", "#9db9d8", "#8a5300", "#b02a2a"
)  # fmt: skip
"""The colours that report.css knows."""

ESTIMATED = "kept, by the nearest kept one (estimated)"

WIDE, NARROW = 480, 290
"""Widths of the drawing itself, in pixels."""

_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
_CONFIG = {
    "background": None,
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": INK, "titleColor": SOFT, "gridColor": LINE, "domainColor": SOFT, "tickColor": SOFT,
        "titleFontWeight": "normal", "labelFontSize": 11, "titleFontSize": 12, "titlePadding": 8,
    },
    "legend": {"labelColor": INK, "titleColor": SOFT, "labelFontSize": 11, "orient": "top", "title": None,
               "labelLimit": 0},
}  # fmt: skip


def sizes_chart(sizes: list[list[int]], *, width: int = WIDE) -> dict[str, Any]:
    """[size, groups] as points; where both fall on a line, sizes follow a power law."""
    widest = max((size for size, _ in sizes), default=2)
    tallest = max((n for _, n in sizes), default=1)
    return {
        "$schema": _SCHEMA,
        "width": width,
        "height": 220,
        "config": _CONFIG,
        "data": {"values": [{"size": size, "groups": n} for size, n in sizes]},
        "mark": {"type": "point", "filled": True, "color": REMOVED, "size": 40, "opacity": 1},
        "encoding": {
            "x": {"field": "size", "type": "quantitative", "title": "documents in a group", **_log(2, widest)},
            "y": {"field": "groups", "type": "quantitative", "title": "groups of that size", **_log(1, tallest)},
        },
    }


def _log(least: int, most: int) -> dict[str, Any]:
    """A logarithmic axis with few lines: 1, 2, 5, 10, … or powers of ten alone."""
    top = max(10, most)
    steps = (1, 2, 5) if top <= 1_000 else (1,)
    ticks = [step * 10**power for power in range(10) for step in steps if least <= step * 10**power <= top]
    return {
        "scale": {"type": "log", "domain": [least * 0.85, top * 1.2], "nice": False},
        "axis": {"values": ticks, "format": "~s"},
    }


def similarity_chart(
    histogram: dict[str, Any],
    *,
    curve: list[tuple[float, float]] | None = None,
    below: list[list[float]] | None = None,
    width: int = WIDE,
) -> dict[str, Any]:
    """Bars: removed documents by score; `below`: [from, to, kept documents] by their nearest kept one, estimated.

    The curve has its own axis: the share of pairs that the features find.
    """
    counted = histogram["counted"]
    low = histogram["bins"][0][0] if histogram["bins"] else 0.0
    high = histogram["full"] + (1 if counted else 0)
    x = {
        "type": "quantitative",
        "title": histogram["unit"],
        "scale": {"domain": [low, high], "nice": False},
        "axis": {"labelFlush": False},
    }
    rows = [{"from": a, "to": b, "documents": n, "what": "removed"} for a, b, n in histogram["bins"] if n]
    rows += [{"from": a, "to": b, "documents": n, "what": ESTIMATED} for a, b, n in below or () if n]
    kinds = {"removed": REMOVED, ESTIMATED: KEPT}
    present = [kind for kind in kinds if any(row["what"] == kind for row in rows)] or ["removed"]
    bars = {
        "data": {"values": rows},
        "mark": {"type": "bar", "binSpacing": 1, "cursor": "default"},
        "encoding": {
            "x": {"field": "from", "bin": {"binned": True}, **x},
            "x2": {"field": "to"},
            "y": {
                "field": "documents", "type": "quantitative", "stack": None,
                "title": "documents" if counted else "documents per 0.01",
                "axis": {"tickCount": 5, "format": "~s"},
            },
            "color": {
                "field": "what", "type": "nominal",
                "scale": {"domain": present, "range": [kinds[kind] for kind in present]},
                "legend": {"direction": "vertical"} if len(present) > 1 else None,
            },
        },
    }  # fmt: skip
    mark = {
        "data": {"values": [{"at": histogram["threshold"]}]},
        "mark": {"type": "rule", "color": MARK, "strokeWidth": 1.5, "strokeDash": [5, 3]},
        "encoding": {"x": {"field": "at", **x}},
    }
    layers: list[dict[str, Any]] = [{"layer": [bars, mark] if histogram["threshold"] else [bars]}]
    if curve:
        layers.append(
            {
                "data": {"values": [{"x": a, "p": b} for a, b in curve if a >= low]},
                "mark": {"type": "line", "color": CURVE, "strokeWidth": 2},
                "encoding": {
                    "x": {"field": "x", **x},
                    "y": {
                        "field": "p", "type": "quantitative", "title": "pairs that are found",
                        "scale": {"domain": [0, 1]},
                        "axis": {"orient": "right", "format": ".0%", "grid": False, "titleColor": CURVE,
                                 "labelColor": CURVE, "tickCount": 5},
                    },
                },
            }
        )  # fmt: skip
    return {
        "$schema": _SCHEMA,
        "width": width,
        "height": 220,
        "config": _CONFIG,
        "layer": layers,
        "resolve": {"scale": {"y": "independent"}},
    }
