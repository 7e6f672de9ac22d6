"""The pictures, by their specification and data; and that each can be drawn."""

import json
import math
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from neardup.evaluating import figures, henzinger, jain
from neardup.evaluating.exhibit import Exhibit
from neardup.evaluating.study import Matches
from tests.evaluate.studies import random_study
from tests.evaluate.test_jain import some

HOSTILE = "</text><script>alert(1)</script>&\"'.[x]\\"


@pytest.fixture(scope="module")
def exhibits() -> dict[str, Exhibit]:
    made = henzinger.exhibits(random_study(1, clusters=200)) + jain.exhibits(some(2, queries=3))
    return {exhibit.key: exhibit for exhibit in made}


def layers(chart: dict[str, Any]) -> list[dict[str, Any]]:
    return chart.get("layer") or [chart.get("spec", chart)]


def marks(chart: dict[str, Any]) -> list[str]:
    return [layer["mark"]["type"] for layer in layers(chart)]


def test_every_figure_has_a_picture(exhibits: dict[str, Exhibit]) -> None:
    drawn = {key for key, exhibit in exhibits.items() if exhibit.chart}
    assert {f"figure-{i}" for i in range(1, 8)} <= drawn
    assert {"jain-degree", "jain-figure-6", "jain-figure-8", "jain-figure-13"} <= drawn


def test_pictures_can_be_drawn_and_carry_their_data(exhibits: dict[str, Exhibit]) -> None:
    for exhibit in exhibits.values():
        if exhibit.chart is None:
            continue
        json.dumps(exhibit.chart, allow_nan=False)
        assert exhibit.chart["data"]["values"]
        svg = ElementTree.fromstring(exhibit.svg())
        assert svg.tag.endswith("svg")
        words = " ".join(svg.itertext())
        assert exhibit.title in words
        assert exhibit.title not in " ".join(ElementTree.fromstring(exhibit.svg(alone=False)).itertext())
        assert 300 < float(svg.attrib["width"]) < 560


def test_encoded_fields_are_in_the_data(exhibits: dict[str, Exhibit]) -> None:
    for exhibit in exhibits.values():
        chart = exhibit.chart or {"data": {"values": []}}
        for layer in layers(chart) if exhibit.chart else []:
            values = layer.get("data", chart["data"])["values"]
            encoding = {**chart.get("encoding", {}), **layer.get("encoding", {})}
            for channel in encoding.values():
                assert "field" not in channel or channel["field"].replace("\\", "") in values[0], exhibit.key


@pytest.mark.parametrize("key", ["figure-1", "figure-3"])
def test_degrees_are_on_two_logarithmic_scales(exhibits: dict[str, Exhibit], key: str) -> None:
    chart = exhibits[key].chart
    assert chart is not None
    assert marks(chart) == ["point", "line"]
    for channel in ("x", "y"):
        encoding = chart["encoding"][channel]
        assert encoding["scale"]["type"] == "log"
        ticks = encoding["axis"]["values"]
        assert ticks == [10**i for i in range(len(ticks))]
        assert ticks[-1] >= max(row[encoding["field"]] for row in chart["data"]["values"])
    assert chart["data"]["values"] == [dict(row) for row in exhibits[key].rows]
    names = {row["line"].split(":")[0] for row in chart["layer"][1]["data"]["values"]}
    assert "least squares" in names


def test_the_line_has_the_slope_that_it_names(exhibits: dict[str, Exhibit]) -> None:
    chart = exhibits["figure-1"].chart
    assert chart is not None
    ends = [row for row in chart["layer"][1]["data"]["values"] if row["line"].startswith("least squares")]
    rise = math.log(ends[1]["pages"] / ends[0]["pages"]) / math.log(ends[1]["degree"] / ends[0]["degree"])
    assert f"slope {rise:.2f} ±".replace("-", "−") in ends[0]["line"]


@pytest.mark.parametrize("key", ["figure-2", "figure-4"])
def test_term_differences_end_at_200(exhibits: dict[str, Exhibit], key: str) -> None:
    chart = exhibits[key].chart
    assert chart is not None
    assert marks(chart) == ["bar"]
    assert max(row["term difference"] for row in exhibits[key].rows) > 200
    assert max(row["term difference"] for row in chart["data"]["values"]) <= 200
    assert chart["encoding"]["y2"] == {"datum": 0}


def test_c_similarities_have_a_panel_for_each_b_similarity(exhibits: dict[str, Exhibit]) -> None:
    chart = exhibits["figure-5"].chart
    assert chart is not None
    assert chart["facet"]["row"]["field"] == "B-similarity"
    assert {row["B-similarity"] for row in chart["data"]["values"]} == {2, 3, 4, 5, 6}
    assert chart["spec"]["encoding"]["x"]["scale"]["domain"][1] == 384.5


def test_precision_by_cut_off_has_a_band_and_the_choice(exhibits: dict[str, Exhibit]) -> None:
    chart = exhibits["figure-6"].chart
    assert chart is not None
    assert marks(chart)[:2] == ["area", "line"]
    band = chart["layer"][0]["encoding"]
    assert (band["y"]["field"], band["y2"]["field"]) == ("precision low", "precision high")
    chosen = next(row["C-similarity threshold"] for row in exhibits["figure-7"].rows if row["chosen"])
    rules = [layer for layer in chart["layer"] if layer["mark"]["type"] == "rule"]
    assert [layer["data"]["values"][0]["C-similarity threshold"] for layer in rules] == ([chosen] if chosen else [])


def test_precision_against_r_marks_one_point(exhibits: dict[str, Exhibit]) -> None:
    chart = exhibits["figure-7"].chart
    assert chart is not None
    assert (chart["encoding"]["x"]["field"], chart["encoding"]["y"]["field"]) == ("R", "precision")
    assert sum(row["chosen"] for row in chart["data"]["values"]) == 1


@pytest.mark.parametrize("key", ["table-2", "table-5", "table-12"])
def test_verdicts_fill_their_bars(exhibits: dict[str, Exhibit], key: str) -> None:
    chart = exhibits[key].chart
    assert chart is not None
    assert chart["encoding"]["color"]["scale"]["domain"] == ["correct", "undecided", "incorrect"]
    total: dict[str, float] = {}
    for row in chart["data"]["values"]:
        total[row["pairs of"]] = total.get(row["pairs of"], 0) + row["share"]
    assert total == pytest.approx(dict.fromkeys(total, 1.0))


def test_names_of_people_are_text_and_columns_are_not_paths() -> None:
    rows = [{HOSTILE: 1, "y.z[0]": 0.5, "name": HOSTILE}, {HOSTILE: 2, "y.z[0]": 0.25, "name": HOSTILE}]
    chart = figures.curves(rows, title=HOSTILE, x=HOSTILE, y="y.z[0]", by="name")
    svg = Exhibit(key="x", title="", source="", rows=rows, chart=chart).svg()
    assert "<script" not in svg
    root = ElementTree.fromstring(svg)
    assert any("alert(1)" in text for text in root.itertext())
    lines = [e.attrib["d"] for e in root.iter() if e.attrib.get("aria-roledescription") == "line mark"]
    assert len(lines) == 1
    assert "NaN" not in lines[0]
    assert lines[0].count("L") == 1


def test_rows_are_csv_that_no_spreadsheet_runs() -> None:
    rows = [{"kind": '=HYPERLINK("x")', "share": 0.25, "n": -3}, {"kind": 'a,"b"\nc', "share": float("nan"), "n": None}]
    made = Exhibit(key="x", title="", source="", rows=rows).csv()
    assert made == 'kind,share,n\n"\'=HYPERLINK(""x"")",0.25,-3\n"a,""b""\nc",,\n'


def test_a_share_stands_with_its_interval() -> None:
    rows = [{"n": 1234, "p": 0.5, "p low": 0.25, "p high": 0.75}, {"n": 0, "p": None, "p low": None, "p high": None}]
    table = Exhibit(key="x", title="", source="", rows=rows).table()
    assert table == (["n", "p"], [["1,234", "0.500 (0.250–0.750)"], ["0", "–"]])


def test_one_list_and_many(exhibits: dict[str, Exhibit]) -> None:
    chart = exhibits["jain-figure-6"].chart
    assert chart is not None
    assert chart["encoding"]["color"]["scale"]["domain"] == ["50%", "60%", "70%", "80%", "90%"]
    many = [(f"q{i}", np.arange(20)) for i in range(12)]
    pairs = Matches(documents=20, first=np.array([0]), second=np.array([1]), match=np.array([0.9]), lists=many)
    by_list = jain.by_list(pairs)
    assert by_list.chart is not None
    assert len(by_list.chart["encoding"]["color"]["scale"]["domain"]) == 7
    assert len({row["query"] for row in by_list.rows}) == 12
    assert by_list.note == "5 more queries are in the data and not drawn."


def test_intervals_have_a_rule_and_a_dot_for_every_share() -> None:
    rows = [
        {"recipe": recipe, "measure": measure, "share": 0.5, "low": 0.4, "high": 0.7}
        for recipe in ("alg-b", "alg-c")
        for measure in ("precision", "recall")
    ]
    spec = figures.intervals(rows, title="t", name="recipe", what="measure", value="share")
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["rule", "point"]
    assert spec["layer"][0]["encoding"]["x"]["field"] == "low"
    assert spec["layer"][0]["encoding"]["x2"]["field"] == "high"
    assert spec["encoding"]["color"]["scale"]["domain"] == ["precision", "recall"]
    assert spec["data"]["values"] == rows
    drawn = Exhibit(key="recipes", title="t", source="", rows=rows, chart=spec).svg()
    assert drawn.count('aria-roledescription="rule mark"') == drawn.count('aria-roledescription="point"') == 4
