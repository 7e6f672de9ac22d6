"""The page of an evaluation in a real browser, at both widths."""

from pathlib import Path

from neardup.evaluating import figures, henzinger, jain
from neardup.evaluating.exhibit import Exhibit
from neardup.evaluating.page import Table, write_page
from tests.browser.conftest import Watched
from tests.evaluate.studies import random_study
from tests.evaluate.test_jain import some
from tests.evaluate.test_page import HOSTILE


def test_it_fits_and_runs_nothing(any_page: Watched, tmp_path: Path) -> None:
    measured = [
        {"recipe": name, "measure": measure, "share": share, "low": share - 0.06, "high": share + 0.03}
        for name, shares in (("alg-b", (0.95, 0.89)), ("alg-c", (0.96, 0.93)), ("a recipe of my own", (0.7, 0.97)))
        for measure, share in zip(("precision", "recall"), shares, strict=True)
    ]
    title = "Precision and recall of the recipes"
    chart = figures.intervals(measured, title=title, name="recipe", what="measure", value="share")
    exhibits = [
        Exhibit(key="recipes", title=title, source="", rows=measured, chart=chart),
        *henzinger.exhibits(random_study(1, clusters=300)),
        *jain.exhibits(some(1, queries=3)),
    ]
    recipes = [[name, "1,234", "0.951 (0.930–0.970)", "0.890 (0.860–0.910)"] for name in ("alg-b", "alg-c", HOSTILE)]
    summary = [Table("Recipes side by side", ["recipe", "pairs", "precision", "recall"], recipes)]
    path = tmp_path / "evaluation.html"
    write_page(path, title="How right are recipes?", summary=summary, exhibits=exhibits, notes=[HOSTILE])
    page = any_page.page
    page.goto(path.as_uri())
    assert any_page.overflow == 0
    titles = page.locator("h2").all_inner_texts()
    assert titles == ["Side by side", "Recipes side by side", "After Henzinger", "After Jain, Dahlin, Tewari"]
    pictures = page.locator("svg")
    assert pictures.count() == sum(exhibit.chart is not None for exhibit in exhibits)
    room = page.evaluate("document.documentElement.clientWidth")
    for i in range(pictures.count()):
        box = pictures.nth(i).bounding_box()
        assert box is not None
        assert box["width"] > 200
        assert box["x"] + box["width"] <= room
    page.locator("#figure-1 summary").click()
    assert page.locator("#figure-1 td").first.is_visible()
    any_page.screenshot(f"evaluation-{room}")
    page.emulate_media(media="print")
    any_page.screenshot(f"evaluation-{room}-print")
    page.emulate_media(media="screen", color_scheme="dark")
    label = page.locator("#table-1 svg text").first
    ink = label.evaluate("e => getComputedStyle(e).fill")
    assert ink == page.evaluate("getComputedStyle(document.body).color")
    assert any_page.errors == any_page.dialogs == []
    assert any_page.requests == [path.as_uri()]


def test_tables_fit_and_the_first_measures_are_seen_on_a_phone(any_page: Watched, tmp_path: Path) -> None:
    measure = "0.931 [0.829–0.994]"
    names = ["part", "recipe", "precision", "recall", "F1", "R", "pairs", "correct", "incorrect", "undecided", "missed"]
    parts = ("time stamp in the footer", "different sites", "-1.5 [0–")
    rows = [[part, "default", *[measure] * 4, *["12,345"] * 5] for part in parts]
    columns = [
        "recipe",
        "precision",
        "recall",
        "F1",
        "adjusted Rand",
        "exact sets",
        "B-cubed F1",
        "groups",
        "true groups",
    ]
    groups = [[name, *[measure] * 6, "1,400", "1,340"] for name in ("default", "web")]
    summary = [Table("Kind of pair", names, rows), Table("Groups", columns, groups)]
    path = tmp_path / "evaluation.html"
    write_page(path, title="How right?", summary=summary, exhibits=jain.exhibits(some(1, queries=3)))
    page = any_page.page
    page.goto(path.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(box => box.open = true)")
    boxes = page.locator(".scroll").evaluate_all("all => all.map(e => [e.scrollWidth, e.clientWidth])")
    assert len(boxes) > 3
    room = page.evaluate("document.documentElement.clientWidth")
    if room > 1000:
        assert [box for box in boxes if box[0] > box[1]] == []
    f1 = page.locator("th", has_text="F1")
    for i in (0, 1):
        box = f1.nth(i).bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= room
    assert page.locator("td.number").first.inner_text().split() == measure.split()
    assert page.locator("td small").first.inner_text() == "[0.829–0.994]"
    any_page.screenshot(f"evaluation-tables-{room}")
