"""The pictures as Vega-Lite specifications: plain dicts with the data in them, in one style.

bars            a number for each of a few names, from the left
stacked         shares of correct, undecided, incorrect pairs, one bar per row
loglog          points and fitted lines on two logarithmic scales, decades labelled
histogram       pairs for each whole number
ridges          one distribution below the other
threshold       a share with its interval over a threshold
trade_off       one share against another, the chosen point marked
whiskers        least, average and largest share over a number
curves          shares over a number, one line per name
intervals       a few shares of each of a few names, as dots with their intervals

All are 400 pixels wide and a little more, so that text of 13 pixels is still read on a phone. Colours are told apart
by people who do not see red and green (after Okabe and Ito), and lines by their dashes too. INK, SOFT and LINE are the
colours of text and axes; a page may put its own in their place.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

INK, SOFT, LINE = "#1a1d20", "#555e67", "#d9dde1"
BLUE, ORANGE, GREY, GREEN, PINK, SKY = "#2b6cb0", "#d55e00", "#9aa3ab", "#009e73", "#cc79a7", "#56b4e9"
VERDICTS = {"correct": BLUE, "undecided": GREY, "incorrect": ORANGE}
_SERIES = (BLUE, ORANGE, GREEN, PINK, SKY, "#8a6d00", GREY)
_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 2], [10, 3], [1, 3])

WIDTH, HEIGHT = 400, 260

Rows = Sequence[Mapping[str, Any]]
Spec = dict[str, Any]

_SHORT: Spec = {"labelExpr": "format(datum.value, '~s')"}
"""20, 500, 1k, 2.5k, 1M: each number by itself, where the option `format` would write 0.02k below 1k."""

_CONFIG: Spec = {
    "font": "DejaVu Sans, Helvetica, Arial, sans-serif",
    "view": {"stroke": None},
    "title": {
        "anchor": "start", "color": INK, "fontSize": 15, "fontWeight": 600, "offset": 14,
        "subtitleColor": SOFT, "subtitleFontSize": 12, "subtitlePadding": 5,
    },
    "axis": {
        "labelFontSize": 13, "titleFontSize": 13, "titleFontWeight": "normal", "labelColor": INK, "titleColor": INK,
        "gridColor": LINE, "domainColor": SOFT, "tickColor": SOFT, "titlePadding": 8, "labelFlush": False,
        "labelLimit": 170, "labelOverlap": "greedy",
    },
    "legend": {
        "orient": "top", "title": None, "labelFontSize": 13, "labelColor": INK, "symbolStrokeWidth": 2,
        "labelLimit": 340, "columnPadding": 14,
    },
    "header": {"labelFontSize": 13, "labelColor": INK, "title": None},
}  # fmt: skip


def _chart(title: str, subtitle: str, rows: Rows, body: Spec) -> Spec:
    """What all have in common. Rows are copied, so that the specification stays what it was."""
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "background": "white",
        "padding": 12,
        "title": {"text": title, **({"subtitle": subtitle} if subtitle else {})},
        "data": {"values": [dict(row) for row in rows]},
        **body,
        "config": _CONFIG,
    }


def bars(
    rows: Rows, *, title: str, name: str, number: str, subtitle: str = "", axis: str = "", label: str = ""
) -> Spec:
    """One bar for each row, in the rows' order, `label` written at its end."""
    encoding = {
        "y": _named(name),
        "x": {"field": _field(number), "type": "quantitative", "title": axis or number, "axis": _whole()},
    }
    layers: list[Spec] = [{"mark": {"type": "bar", "color": BLUE, "height": {"band": 0.7}}}]
    if label:
        text = {"type": "text", "align": "left", "dx": 5, "color": INK, "fontSize": 13}
        layers.append({"mark": text, "encoding": {"text": {"field": _field(label), "type": "nominal"}}})
    size = {"width": WIDTH - 60, "height": {"step": 28}}
    return _chart(title, subtitle, rows, {**size, "encoding": encoding, "layer": layers})


def stacked(rows: Rows, *, title: str, name: str, subtitle: str = "") -> Spec:
    """Rows have `name` and the three shares by the names of the verdicts; they stand in one bar from 0 to 1."""
    long = [
        {name: row[name], "verdict": verdict, "share": row[verdict], "order": i}
        for row in rows
        for i, verdict in enumerate(VERDICTS)
    ]
    body: Spec = {
        "width": WIDTH - 60,
        "height": {"step": 28},
        "mark": {"type": "bar", "height": {"band": 0.72}},
        "encoding": {
            "y": _named(name),
            "x": {
                "field": "share", "type": "quantitative", "title": "share of the judged pairs", "stack": "zero",
                "scale": {"domain": [0, 1]}, "axis": _percent(),
            },
            "order": {"field": "order", "type": "quantitative"},
            "color": {"field": "verdict", "type": "nominal", "scale": _colours(VERDICTS)},
        },
    }  # fmt: skip
    return _chart(title, subtitle, long, body)


def loglog(points: Rows, lines: Rows, *, title: str, x: str, y: str, subtitle: str = "") -> Spec:
    """`points` have x and y; `lines` have x, y and the name of the line. Zeros have no place here."""
    names = list(dict.fromkeys(str(row["line"]) for row in lines))

    def axis(field: str, rows: Rows) -> Spec:
        top = max((row[field] for row in rows), default=1)
        decades = [10**i for i in range(len(str(int(top))) + 1)]
        return {
            "field": _field(field), "type": "quantitative", "title": field,
            "scale": {"type": "log", "domain": [0.8, max(top * 1.25, 10)], "nice": False},
            "axis": {"values": decades, **_SHORT},
        }  # fmt: skip

    dots = {"type": "point", "filled": True, "color": BLUE, "size": 22, "opacity": 0.65}
    stroke = {"type": "line", "clip": True, "strokeWidth": 2}
    colour = {"field": "line", "type": "nominal", "scale": _palette(names, _SERIES[1:]), "legend": _list(names)}
    dash = {"field": "line", "type": "nominal", "scale": {"domain": names, "range": list(_DASHES[: len(names)])}}
    layers: list[Spec] = [{"mark": dots}]
    if lines:
        drawn = {"values": [dict(row) for row in lines]}
        layers.append({"data": drawn, "mark": stroke, "encoding": {"color": colour, "strokeDash": dash}})
    encoding = {"x": axis(x, points), "y": axis(y, points)}
    return _chart(title, subtitle, points, {"width": WIDTH, "height": 300, "encoding": encoding, "layer": layers})


def histogram(rows: Rows, *, title: str, x: str, y: str, subtitle: str = "", most: int) -> Spec:
    """Bars from `x` - ½ to `x` + ½, for x from 0 to `most`."""
    shown = [{**row, "from": row[x] - 0.5, "to": row[x] + 0.5} for row in rows if row[x] <= most]
    top = max((row[x] for row in shown), default=0) + 1
    body: Spec = {
        "width": WIDTH,
        "height": HEIGHT,
        "mark": {"type": "bar", "color": BLUE},
        "encoding": {
            "x": {
                "field": "from", "type": "quantitative", "title": x, "scale": {"domain": [-0.5, max(top, 10)]},
                "axis": {**_whole(), "grid": False},
            },
            "x2": {"field": "to"},
            "y": {"field": _field(y), "type": "quantitative", "title": y, "axis": _whole()},
            "y2": {"datum": 0},
        },
    }  # fmt: skip
    return _chart(title, subtitle, shown, body)


def ridges(rows: Rows, *, title: str, x: str, y: str, by: str, subtitle: str = "", domain: tuple[int, int]) -> Spec:
    """The distribution of `x` for each value of `by`, one panel below the other on one axis."""
    shown = [{**row, "from": row[x] - 0.5, "to": row[x] + 0.5} for row in rows]
    panel: Spec = {
        "width": WIDTH,
        "height": 54,
        "mark": {"type": "bar", "color": BLUE},
        "encoding": {
            "x": {
                "field": "from", "type": "quantitative", "title": x, "axis": {**_whole(), "grid": True},
                "scale": {"domain": [domain[0] - 0.5, domain[1] + 0.5], "nice": False},
            },
            "x2": {"field": "to"},
            "y": {"field": _field(y), "type": "quantitative", "title": None, "axis": {**_percent(), "tickCount": 2}},
            "y2": {"datum": 0},
        },
    }  # fmt: skip
    header = {"labelAngle": 0, "labelAlign": "left", "labelOrient": "top", "labelAnchor": "start", "labelPadding": 2}
    header["labelExpr"] = f"'{by} ' + datum.value"
    facet = {"row": {"field": _field(by), "type": "ordinal", "header": header}}
    scales = {"resolve": {"scale": {"y": "independent"}}}
    return _chart(title, subtitle, shown, {"facet": facet, "spacing": 10, "spec": panel, **scales})


def threshold(
    rows: Rows, *, title: str, x: str, y: str, subtitle: str = "", mark: float | None = None, mark_name: str = ""
) -> Spec:
    """The share `y` over `x`, the interval (`y` low, `y` high) as a band, and a vertical line where the choice is."""
    line = {"field": _field(y), "type": "quantitative", "title": y, "scale": {"domain": [0, 1]}, "axis": _percent()}
    across = {"field": _field(x), "type": "quantitative", "title": x, "scale": {"zero": False, "nice": False}}
    band = {"y": {**line, "field": _field(f"{y} low")}, "y2": {"field": _field(f"{y} high")}}
    layers: list[Spec] = [
        {
            "mark": {"type": "area", "color": SKY, "opacity": 0.35, "interpolate": "step-before"},
            "encoding": {"x": across, **band},
        },
        {
            "mark": {"type": "line", "color": BLUE, "strokeWidth": 2, "interpolate": "step-before"},
            "encoding": {"x": across, "y": line},
        },
    ]
    if mark is not None and rows:
        right = mark > (rows[0][x] + rows[-1][x]) / 2
        layers += _upright({x: mark, "name": mark_name}, x, right=right)
    return _chart(title, subtitle, rows, {"width": WIDTH, "height": HEIGHT, "layer": layers})


def trade_off(rows: Rows, *, title: str, x: str, y: str, chosen: str, label: str, subtitle: str = "") -> Spec:
    """`y` against `x`, the points joined in the rows' order; the row that is `chosen` is marked by its `label`."""

    def share(field: str) -> Spec:
        scale = {"domain": [0, 1]}
        return {"field": _field(field), "type": "quantitative", "title": field, "scale": scale, "axis": _percent()}

    picked = {"filter": {"field": _field(chosen), "equal": True}}
    text = {"type": "text", "align": "right", "dx": -10, "dy": 14, "color": ORANGE, "fontSize": 13, "fontWeight": 600}
    layers: list[Spec] = [
        {"mark": {"type": "line", "color": BLUE, "strokeWidth": 1.5, "opacity": 0.6}, "encoding": {"order": _order()}},
        {"mark": {"type": "point", "filled": True, "color": BLUE, "size": 26, "opacity": 0.8}},
        {"transform": [picked], "mark": {"type": "point", "filled": True, "color": ORANGE, "size": 110, "opacity": 1}},
        {"transform": [picked], "mark": text, "encoding": {"text": {"field": _field(label), "type": "nominal"}}},
    ]
    numbered = [{**row, "order": i} for i, row in enumerate(rows)]
    encoding = {"x": share(x), "y": share(y)}
    return _chart(title, subtitle, numbered, {"width": WIDTH, "height": 300, "encoding": encoding, "layer": layers})


def whiskers(rows: Rows, *, title: str, x: str, low: str, middle: str, high: str, y: str, subtitle: str = "") -> Spec:
    """From `low` to `high` a line at each `x`, with a dot at `middle`."""
    share: Spec = {"type": "quantitative", "title": y, "scale": {"domain": [0, 1]}, "axis": _percent()}
    rule = {"y": {"field": _field(low), **share}, "y2": {"field": _field(high)}}
    layers: list[Spec] = [
        {"mark": {"type": "rule", "color": SOFT, "strokeWidth": 1.5}, "encoding": rule},
        {
            "mark": {"type": "point", "filled": True, "color": BLUE, "size": 45, "opacity": 1},
            "encoding": {"y": {"field": _field(middle), **share}},
        },
    ]
    across = {"field": _field(x), "type": "quantitative", "title": x, "axis": _whole()}
    return _chart(title, subtitle, rows, {"width": WIDTH, "height": HEIGHT, "encoding": {"x": across}, "layer": layers})


def curves(
    rows: Rows, *, title: str, x: str, y: str, by: str, subtitle: str = "", points: bool = False, zero: bool = True
) -> Spec:
    """A line per value of `by`, in the rows' order, told apart by colour and dashes."""
    names = list(dict.fromkeys(str(row[by]) for row in rows))
    dashes = [_DASHES[i % len(_DASHES)] for i in range(len(names))]
    body: Spec = {
        "width": WIDTH,
        "height": HEIGHT,
        "mark": {"type": "line", "strokeWidth": 2, **({"point": {"size": 30}} if points else {})},
        "encoding": {
            "x": {
                "field": _field(x), "type": "quantitative", "title": x, "scale": {"nice": False, "zero": zero},
                "axis": _whole(),
            },
            "y": {
                "field": _field(y), "type": "quantitative", "title": y, "scale": {"domain": [0, 1]}, "axis": _percent(),
            },
            "color": {
                "field": _field(by), "type": "nominal", "scale": _palette(names, _SERIES), "legend": _list(names),
            },
            "strokeDash": {"field": _field(by), "type": "nominal", "scale": {"domain": names, "range": dashes}},
        },
    }  # fmt: skip
    return _chart(title, subtitle, rows, body)


def intervals(rows: Rows, *, title: str, name: str, what: str, value: str, subtitle: str = "") -> Spec:
    """For each `name` one line, for each `what` one colour and shape: `value`, and from `low` to `high` a rule."""
    kinds = list(dict.fromkeys(str(row[what]) for row in rows))
    share: Spec = {"type": "quantitative", "title": None, "scale": {"domain": [0, 1]}, "axis": _percent()}
    colour = {"field": _field(what), "type": "nominal", "scale": _palette(kinds, _SERIES)}
    shape = {"field": _field(what), "type": "nominal", "scale": {"domain": kinds, "range": ["circle", "square"]}}
    encoding = {
        "y": _named(name),
        "yOffset": {"field": _field(what), "type": "nominal", "sort": kinds},
        "color": colour,
    }
    layers: list[Spec] = [
        {
            "mark": {"type": "rule", "strokeWidth": 2},
            "encoding": {"x": {"field": "low", **share}, "x2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
            "encoding": {"x": {"field": _field(value), **share}, "shape": shape},
        },
    ]
    size = {"width": WIDTH - 60, "height": {"step": 44, "for": "position"}}
    return _chart(title, subtitle, rows, {**size, "encoding": encoding, "layer": layers})


def _upright(row: Mapping[str, Any], x: str, *, right: bool) -> list[Spec]:
    """A dashed vertical line with its name at the foot, on the side where there is room."""
    data = {"values": [dict(row)]}
    across = {"field": _field(x), "type": "quantitative"}
    align = {"align": "right", "dx": -6} if right else {"align": "left", "dx": 6}
    text = {"type": "text", "color": ORANGE, "fontSize": 13, "fontWeight": 600, "baseline": "bottom", **align}
    named = {"field": "name", "type": "nominal"}
    rule = {"type": "rule", "color": ORANGE, "strokeDash": [5, 4], "strokeWidth": 1.5}
    return [
        {"data": data, "mark": rule, "encoding": {"x": across}},
        {"data": data, "mark": text, "encoding": {"x": across, "y": {"value": HEIGHT - 8}, "text": named}},
    ]


def _field(name: str) -> str:
    """A column's name, where Vega-Lite would read a path."""
    return re.sub(r"([\\.\[\]'\"])", r"\\\1", name)


def _named(name: str) -> Spec:
    return {"field": _field(name), "type": "nominal", "sort": None, "title": None}


def _order() -> Spec:
    return {"field": "order", "type": "quantitative"}


def _list(names: Sequence[str]) -> Spec:
    """A legend in one line where there is room, else one name below the other."""
    line = sum(len(name) + 7 for name in names) <= 60
    return {"columns": len(names) if line else 1, "symbolSize": 400, "symbolType": "stroke"}


def _whole() -> Spec:
    return {**_SHORT, "tickMinStep": 1, "tickCount": 6}


def _percent() -> Spec:
    return {"format": ".0%", "tickCount": 5}


def _colours(colours: Mapping[str, str]) -> Spec:
    return {"domain": list(colours), "range": list(colours.values())}


def _palette(names: Sequence[str], colours: Sequence[str]) -> Spec:
    return {"domain": list(names), "range": [colours[i % len(colours)] for i in range(len(names))]}
