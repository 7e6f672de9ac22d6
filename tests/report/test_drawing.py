"""Charts by their specifications, and what is drawn of them."""

import re
import sys

import pytest

from neardup.charts import draw_svg
from neardup.errors import MissingExtra
from neardup.report import drawing
from neardup.report.collect import charts, drawn, report_data
from neardup.report.page import _part, page


@pytest.fixture(scope="session")
def data(crawled):
    return report_data(crawled)


def test_sizes_are_drawn_on_logarithmic_scales(data):
    chart = drawing.sizes_chart(data["group_sizes"])
    assert chart["data"]["values"] == [{"size": size, "groups": n} for size, n in data["group_sizes"]]
    for axis in ("x", "y"):
        assert chart["encoding"][axis]["scale"]["type"] == "log"
        low, high = chart["encoding"][axis]["scale"]["domain"]
        values = [row[chart["encoding"][axis]["field"]] for row in chart["data"]["values"]]
        assert 0 < low <= min(values)
        assert max(values) <= high


def test_similarity_has_bars_threshold_and_curve(data):
    curve = data["run"]["curve"]
    chart = drawing.similarity_chart(data["histogram"], curve=curve, below=data["thresholds"]["nearest"])
    (bars, mark), line = chart["layer"][0]["layer"], chart["layer"][1]
    rows = bars["data"]["values"]
    removed = sum(row["documents"] for row in rows if row["what"] == "removed")
    assert removed + data["histogram"]["same_tokens"] == data["counts"]["removed"]
    assert all(row["from"] < 0.8 for row in rows if row["what"] == drawing.ESTIMATED)
    assert mark["data"]["values"] == [{"at": 0.8}]
    points = {row["x"]: row["p"] for row in line["data"]["values"]}
    assert points[0.8] == pytest.approx(1 - (1 - 0.8**7) ** 20, abs=1e-6)  # Broder: P[20,7,1](0.8)
    assert chart["resolve"]["scale"]["y"] == "independent"


def test_a_drawing_carries_nothing_active_and_only_colours_that_the_page_knows(data):
    styles = _part("report.css")
    for name, picture in drawn(data).items():
        assert not re.search(r"<script|<style|foreignObject|href|style=|\son\w+=|url\(", picture), name
        colours = set(re.findall(r'(?:fill|stroke)="(#[0-9a-fA-F]+|\w+)"', picture)) - {"none", "transparent"}
        for colour in colours:
            assert f'="{colour}"]' in styles, (name, colour)


def test_every_chart_is_drawn_for_both_widths(data):
    assert set(charts(data)) == {"sizes-wide", "sizes-narrow", "similarity-wide", "similarity-narrow"}


def test_without_the_extra_there_are_tables_and_a_word(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingExtra, match=r"neardup\[charts\]"):
        draw_svg({})
    made = page(data, drawn(data))
    assert "<svg" not in made
    assert "pip install 'neardup[charts]'" in made
