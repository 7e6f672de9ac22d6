"""The page of an evaluation: everything on it, and nothing that it should not have."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from neardup.errors import MissingExtra
from neardup.evaluating import exhibit as module
from neardup.evaluating import henzinger, jain
from neardup.evaluating.exhibit import Exhibit
from neardup.evaluating.page import MOST_ROWS, Table, write_page
from tests.evaluate.studies import plain, random_study
from tests.evaluate.test_jain import some

HOSTILE = "</h1><script>alert(1)</script><img src=x onerror=alert(2)>\"' &amp; \x00\u202e\ud800 javascript:alert(3)"


class Seen(HTMLParser):
    """Elements, attributes and text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.words: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def written(
    path: Path, exhibits: list[Exhibit], *, title: str = "Evaluation", summary: list[Table] | None = None
) -> str:
    write_page(path / "evaluation.html", title=title, summary=summary or [], exhibits=exhibits, notes=["A remark."])
    return (path / "evaluation.html").read_text("utf-8")


def test_everything_is_on_it(tmp_path: Path) -> None:
    exhibits = henzinger.exhibits(random_study(1, clusters=150)) + jain.exhibits(some(1, queries=2))
    table = Table("Recipes", ["recipe", "pairs"], [["alg-b", "1,234"]], "Intervals are at 95 %.")
    page = written(tmp_path, exhibits, summary=[table])
    words = "".join(Seen(page).words)
    for exhibit in exhibits:
        assert exhibit.title in words
        assert exhibit.caption in words
    for word in ("Recipes", "alg-b", "1,234", "Intervals are at 95 %.", "A remark.", "After Henzinger"):
        assert word in words
    assert words.count("After Henzinger") == words.count("After Jain, Dahlin, Tewari") == 1
    assert page.count("<svg ") == sum(exhibit.chart is not None for exhibit in exhibits)


def test_ids_are_unique_and_references_lead_to_them(tmp_path: Path) -> None:
    page = written(tmp_path, henzinger.exhibits(random_study(1, clusters=150)))
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    references = re.findall(r"url\(#([^)]+)\)", page)
    assert references
    assert set(references) <= set(ids)


def test_nothing_is_fetched(tmp_path: Path) -> None:
    seen = Seen(written(tmp_path, henzinger.exhibits(random_study(2))))
    for name, value in seen.attributes:
        assert name not in ("src", "srcset", "xlink:href", "action")
        assert name != "href" or value.startswith("data:")


def test_hostile_words_are_text(tmp_path: Path) -> None:
    rows = [{HOSTILE: HOSTILE, "pairs": 3}, {HOSTILE: "other", "pairs": 1}]
    study = random_study(3).take(random_study(3).in_b)
    assert study.kind is not None
    strange = plain(len(study), b=study.b, verdict=study.verdict, kind=[HOSTILE] * len(study))
    exhibits = [
        Exhibit(key="x" + HOSTILE, title=HOSTILE, source=HOSTILE, caption=HOSTILE, rows=rows, note=HOSTILE),
        *henzinger.exhibits(strange),
    ]
    honest = Seen(written(tmp_path, henzinger.exhibits(plain(5)), title="x"))
    page = written(tmp_path, exhibits, title=HOSTILE, summary=[Table(HOSTILE, [HOSTILE], [[HOSTILE]], HOSTILE)])
    seen = Seen(page)
    assert seen.tags.count("script") == honest.tags.count("script")
    assert "img" not in seen.tags
    assert not [name for name, _ in seen.attributes if name.startswith("on")]
    assert "\x00" not in page
    assert "\u202e" not in page
    assert "<script>alert(1)</script>" in "".join(seen.words)
    assert "javascript:alert(3)" in "".join(exhibit.csv() for exhibit in henzinger.exhibits(strange))


def test_long_data_is_cut_and_says_so(tmp_path: Path) -> None:
    rows = [{"n": i} for i in range(MOST_ROWS + 5)]
    page = written(tmp_path, [Exhibit(key="x", title="t", source="Henzinger, table 1", rows=rows)])
    assert page.count("<tr>") == MOST_ROWS + 1
    assert f"The first {MOST_ROWS} of {MOST_ROWS + 5} rows." in page


def test_exhibits_without_data_are_listed_with_the_reason(tmp_path: Path) -> None:
    page = written(tmp_path, henzinger.exhibits(plain(0)))
    assert "Not in this collection" in page
    assert "The algorithm returned no pair." in page


def test_without_charts_there_is_the_data_and_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: object) -> str:
        raise MissingExtra("drawing curves", "charts")

    monkeypatch.setattr(module, "draw_svg", missing)
    page = written(tmp_path, henzinger.exhibits(random_study(1)))
    assert "<svg" not in page
    assert "pip install &#x27;neardup[charts]&#x27;" in page
    assert "<table>" in page
