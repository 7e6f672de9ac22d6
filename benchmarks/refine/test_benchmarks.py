"""Every benchmark of grouping runs, at a size at which its figures mean nothing and its checks do."""

import json

from benchmarks.refine import corpora, paper, quality, speed


def test_speed(tmp_path):
    out = tmp_path / "speed.json"
    assert speed.main(["--seconds", "0", "--scale", "0.2", "--json", str(out)]) == 0
    rows = json.loads(out.read_text())["rows"]
    assert all(set(speed.COLUMNS) <= set(row) for row in rows)
    groups = {row["what"]: row["groups"] for row in rows}
    assert groups["signatures"] == groups["texts of 10 KB"] == groups["pages of 30 KB"] < 20


def test_quality(tmp_path):
    out = tmp_path / "quality.json"
    assert quality.main(["--trials", "5", "--only", "sample, 200 characters", "--json", str(out)]) == 0
    found = json.loads(out.read_text())
    (row,) = found["signatures"]
    assert row["error to chunks"] < 0.05
    assert row["recall 0.8"] > 0.95
    best = max(found["chunks"], key=lambda row: row["best F1 at 0.6"])
    assert best["chunk, window"].startswith("16")


def test_paper():
    pages = paper.lists()["sample"][:60]
    assert paper.clusters(pages) == sorted(paper.clusters(pages))
    assert paper.stars(pages, contained=True)[2] <= paper.stars(pages, contained=False)[2] < 60


def test_long_texts():
    made = list(corpora.long_texts(bases=2, versions=2, size=20_000))
    assert len(made) == 4
    assert all(15_000 < len(text) < 30_000 for text in made)
    shared = set(made[0].splitlines()) & set(made[1].splitlines())
    assert 0.3 < len(shared) / len(made[0].splitlines()) < 1.0
