"""The page: report.html, report.css and report.js of this folder around the data."""

import json
import os
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

from neardup._version import __version__
from neardup.atomic import appearing
from neardup.pages import document
from neardup.report.collect import SEED, in_parallel
from neardup.result import Result


def write_report(result: Result, path: str | Path, *, seed: int = SEED) -> None:
    """Write the report of a run. It appears whole or not at all."""
    data, pictures = in_parallel(result, seed=seed)
    made = page(data, pictures)
    with appearing(Path(os.path.abspath(path))) as draft:
        draft.write_text(made, encoding="utf-8")


def read_data(path: Path) -> dict[str, Any] | None:
    """What a report that was written shows; None where there is none, or where it is of another version of neardup."""
    try:
        found = _DATA.search(path.read_text(encoding="utf-8"))
        data = json.loads(found[1]) if found else None
    except (OSError, ValueError):
        return None
    return data if isinstance(data, dict) and data.get("version") == __version__ else None


def page(data: dict[str, Any], pictures: dict[str, str] | str, *, above: str = "", style: str = "") -> str:
    """The whole page. `pictures` are SVGs by name, or what to install for them; `above`, `style`: what a site has on
    all its pages."""
    body = _part("report.html")
    if isinstance(pictures, str):
        data = {**data, "no_charts": pictures}
        pictures = {}
    for name in ("sizes", "similarity"):
        both = "".join(
            f'<div class="chart {size}" role="img" aria-label="{_LABELS[name]}">{pictures[key]}</div>'
            for size in ("wide", "narrow")
            if (key := f"{name}-{size}") in pictures
        )
        body = body.replace(f"<!-- chart: {name} -->", both)
    counts = data["counts"]
    title = f"{counts['removed']:,} of {counts['documents']:,} documents removed · neardup"
    looks = _part("report.css") + style
    return document(title, above + body, style=looks, scripts=[_part("report.js")], data={"report": data})


_DATA = re.compile('<script type="application/json" id="report">([^<]*)</script>')
"""Where the page carries its data: `embedded` leaves no angle bracket in it."""

_LABELS = {
    "sizes": "Number of groups by their size, both logarithmic",
    "similarity": "Removed documents by their score, with the curve of the filter",
}


def _part(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")
