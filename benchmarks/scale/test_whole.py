"""The whole of dedup and its floors at a size at which the figures mean nothing; and what becomes of packages."""

import gzip
import json

import pytest

from benchmarks.quality.manuals import NoPackageError
from benchmarks.scale import manuals, synthetic
from benchmarks.scale.whole import main
from benchmarks.speed.html_pages import page


@pytest.fixture
def pages(tmp_path):
    folder = tmp_path / "pages"
    for number in range(30):
        path = folder / "package" / f"{number}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(" ".join(f"word{number // 2}-{i}" for i in range(80)), number))
    return folder


def test_both_sets_beside_their_floors(pages, tmp_path, capsys):
    work, results = tmp_path / "work", tmp_path / "results"
    given = ["--documents", "2000", "--pages", pages, "--work", work, "--results", results, "--repeats", "1"]
    assert main([str(part) for part in given]) == 0
    written = json.loads((results / "whole.json").read_text())["sets"]
    real, made = written["manuals"]["measured"], written["synthetic, 2,000"]["measured"]
    assert real["neardup dedup"]["counts"]["documents"] == 30
    assert real["neardup dedup"]["counts"]["removed"] == 15
    assert made["neardup dedup"]["counts"]["documents"] == 2000
    assert 100 < made["neardup dedup"]["counts"]["removed"] < 600
    steps = ["sketch", "candidates", "order", "verify", "decide", "write"]
    assert [step["name"] for step in real["neardup dedup"]["steps"]] == steps
    assert [*real][1:] == ["files read", "files copied", "pages parsed", "pages parsed, main text taken out", "wc -w"]
    assert [*made][1:] == ["pyarrow reads", "pyarrow reads and writes", "wc -w"]
    assert all(one["cpu_seconds"] > 0 for one in [*real.values(), *made.values()])
    assert made["wc -w"]["measured_share"] == 1
    assert (results / "whole.md").read_text() == capsys.readouterr().out.replace("\n**synthetic", "\n\n**synthetic")


def test_parts_of_the_collection_are_the_collection(tmp_path, monkeypatch):
    import pyarrow.parquet as pq

    whole, facts = synthetic.build(300, tmp_path / "one")
    monkeypatch.setattr(synthetic, "PER_FILE", 100)
    parts, same = synthetic.build(300, tmp_path / "three")
    assert (facts["files"], same["files"]) == (1, 3)
    assert pq.read_table(whole).equals(pq.read_table(parts))
    assert synthetic.build(300, tmp_path / "three")[1] == same


def test_pages_are_fetched_until_it_is_enough(tmp_path, monkeypatch, capsys):
    def unpacked(work, package):
        if package == "gone":
            raise NoPackageError("apt-get download gone: no such package")
        root = work / package / "usr"
        root.mkdir(parents=True)
        (root / "a.html").write_text("x" * 60)
        (root / "b.html.gz").write_bytes(gzip.compress(b"y" * 60))
        (root / "c.css").write_text("not a page")
        (root / "d.html").symlink_to("a.html")
        return work / package

    monkeypatch.setattr(manuals, "unpacked", unpacked)
    monkeypatch.setattr(manuals, "_update", lambda: None)
    monkeypatch.setattr(manuals, "PACKAGES", ("one", "gone", "two", "three"))
    missing, total, files = manuals.fetch(tmp_path, enough=200)
    assert missing == {"gone": "apt-get download gone: no such package"}
    assert (total, files) == (240, 4)
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()) == [
        *("one/usr/a.html", "one/usr/b.html", "two/usr/a.html", "two/usr/b.html"),
    ]
    assert manuals.main([str(tmp_path), "--bytes", "1000"]) == 1
    told = capsys.readouterr()
    assert "missing: gone: apt-get download gone: no such package" in told.err
    assert "6 pages, 0 MB" in told.out
