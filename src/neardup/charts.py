"""Curves as pictures: a specification by Altair, drawn to SVG or PNG without a network or a browser.

curve_chart   the specification: linear and logarithmic panels side by side, as figures 1 and 2 of Broder's paper
save          to a file, by its name
draw_svg      a specification as SVG text
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from neardup.atomic import appearing
from neardup.errors import MissingExtra, UsageError

if TYPE_CHECKING:
    import altair

Scale = Literal["linear", "log", "both"]

FORMATS = (".svg", ".png")

_BLUE, _INK, _FAINT = "#2563a8", "#333333", "#8a8a8a"
_COLOURS = ("#c2410c", "#15803d", "#7e22ce")
"""Of the marks, in their order."""

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Line(NamedTuple):
    """A vertical mark with a name."""

    at: float
    name: str


def curve_chart(
    points: Sequence[tuple[float, float]],
    *,
    title: str,
    subtitle: str = "",
    x_title: str = "resemblance",
    y_title: str = "probability that a pair is found",
    marks: Sequence[Line] = (),
    scale: Scale = "both",
    decades: int = 8,
    counted: bool = False,
) -> "altair.HConcatChart":
    """The curve through the points; `decades` powers of ten are shown on the logarithmic scale. Where x is `counted`,
    the points themselves are drawn too."""
    alt = _altair()
    low = 10.0**-decades
    xs = [x for x, _ in points]
    look = _Look(alt, (min(xs), max(xs)), x_title, tuple(marks), counted)
    panels = []
    if scale != "log":
        panels.append(look.panel(points, alt.Y("p:Q", title=y_title, scale=alt.Scale(domain=[0, 1]))))
    if scale != "linear":
        powers = range(0, decades + 1, max(1, decades // 4))
        axis = alt.Axis(values=[10.0**-i for i in powers], labelExpr=_labels(powers))
        log = alt.Scale(type="log", domain=[low, 1])
        shown = [(x, y) for x, y in points if y >= low]
        panels.append(look.panel(shown, alt.Y("p:Q", title=f"{y_title}, log scale", scale=log, axis=axis)))
    chart: altair.HConcatChart = (
        alt.hconcat(*panels, spacing=40, title=alt.Title(title, subtitle=subtitle or alt.Undefined))
        .configure(font="DejaVu Sans, Helvetica, Arial, sans-serif", background="white", padding=16)
        .configure_view(stroke=None)
        .configure_title(
            anchor="start", fontSize=16, subtitleFontSize=12, subtitleColor=_FAINT, color=_INK, offset=18,
            subtitlePadding=6,
        )
        .configure_axis(
            labelFontSize=11, titleFontSize=12, titleFontWeight="normal", labelColor=_INK, titleColor=_INK,
            gridColor="#e8e8e8", domainColor=_FAINT, tickColor=_FAINT, titlePadding=10, labelFlush=False,
        )
    )  # fmt: skip
    return chart


class _Look(NamedTuple):
    """What the panels of a chart have in common."""

    alt: Any
    x_range: tuple[float, float]
    x_title: str
    marks: tuple[Line, ...]
    counted: bool

    def panel(self, points: Sequence[tuple[float, float]], y: Any) -> Any:
        """One set of axes: the curve, and for every mark a dashed line with its name above."""
        alt = self.alt
        x = alt.X("x:Q", title=self.x_title, scale=alt.Scale(domain=list(self.x_range), nice=False))
        rows = alt.Data(values=[{"x": a, "p": b} for a, b in points])
        dots = alt.OverlayMarkDef(color=_BLUE, size=24) if self.counted else alt.Undefined
        layers = [alt.Chart(rows).mark_line(color=_BLUE, strokeWidth=2.5, clip=True, point=dots).encode(x=x, y=y)]
        colours = {mark: _COLOURS[i % len(_COLOURS)] for i, mark in enumerate(self.marks)}
        # In the right half names stand left of their lines, and the leftmost is lowest; in the left half the other way
        # round. So no name is crossed by its neighbour's line.
        middle = sum(self.x_range) / 2
        for i, mark in enumerate(sorted(self.marks, key=lambda m: (m.at <= middle, m.at if m.at > middle else -m.at))):
            layers += self._mark(mark, colours[mark], top=-8 - 17 * i)
        return alt.layer(*layers).properties(width=380, height=300)

    def _mark(self, mark: Line, colour: str, top: int) -> list[Any]:
        alt = self.alt
        chart = alt.Chart(alt.Data(values=[{"x": mark.at, "name": mark.name}]))
        left = mark.at > sum(self.x_range) / 2
        rule = chart.mark_rule(color=colour, strokeDash=[5, 4], strokeWidth=1.3)
        name = chart.mark_text(
            align="right" if left else "left", dx=-5 if left else 5, baseline="middle", fontSize=11, color=colour
        )
        x = alt.X("x:Q")
        return [
            rule.encode(x=x, y=alt.value(top - 6), y2=alt.value(300)),
            name.encode(x=x, y=alt.value(top), text="name:N"),
        ]


def _labels(powers: range) -> str:
    """A Vega expression that writes 10⁻² for 0.01."""
    # The smallest is asked for first.
    parts = [f"datum.value < {10.0**-p * 3} ? '10{f'-{p}'.translate(_SUPERSCRIPT)}' : " for p in reversed(powers) if p]
    return "".join(parts) + "'1'"


def save(chart: Any, path: Path) -> None:
    """A chart, or a specification as a plain dict, as SVG or PNG by the file's name; it appears whole or not at all."""
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"{path}: a picture ends in .svg or .png; try {path.with_suffix('.svg')}.")
    convert = _vl_convert()
    specification = chart if isinstance(chart, dict) else chart.to_json()
    with appearing(path) as draft:
        if path.suffix.lower() == ".svg":
            draft.write_text(convert.vegalite_to_svg(specification))
        else:
            draft.write_bytes(convert.vegalite_to_png(specification, scale=2))


def draw_svg(specification: dict[str, Any]) -> str:
    """A Vega-Lite specification, as a plain dict, drawn to SVG."""
    return str(_vl_convert().vegalite_to_svg(specification, allowed_base_urls=[]))  # nothing is fetched


def _vl_convert() -> Any:
    try:
        import vl_convert
    except ImportError as error:
        raise MissingExtra("drawing charts", "charts") from error
    return vl_convert


def _altair() -> Any:
    try:
        import altair
    except ImportError as error:
        raise MissingExtra("drawing curves", "charts") from error
    return altair
