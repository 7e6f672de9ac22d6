"""A small manual is deduplicated and audited; collections that are not at hand are named."""

import json
import lzma

import pytest

from benchmarks.crowds import audits, corpus
from benchmarks.crowds.corpus import Parameters


@pytest.fixture
def manual(tmp_path, monkeypatch):
    folder = tmp_path / "data" / "rust-doc"
    folder.mkdir(parents=True)
    made = corpus.crowd(Parameters(60, 0.6, 0.9))
    with lzma.open(folder / "docs.jsonl.xz", "wt") as file:
        for row in made.documents.to_pylist():
            page = {
                "id": row["id"],
                "page": f"{row['id']}.html",
                "html": f"<html><body><p>{row['text']}</p></body></html>",
            }
            file.write(json.dumps(page) + "\n")
    (folder / "pairs.tsv").write_text("id_a\tid_b\tresemblance\n")
    monkeypatch.setenv("NEARDUP_DATA", str(folder.parent))
    return tmp_path


def test_stated_and_audited_recall_stand_side_by_side(manual, capsys):
    results = manual / "audits.json"
    asked = ["--variants", "default", "web, all text, with addresses", "--results", str(results)]
    assert audits.main(asked) == 0
    rows = json.loads(results.read_text())["rows"]
    assert [row["variant"] for row in rows] == ["default", "web, all text, with addresses"]
    assert [row["removed"] for row in rows] == [60, 60]
    assert [row["audited"]["value"] for row in rows] == [1.0, 1.0]
    assert all(row["stated"] > 0.98 for row in rows)
    told = capsys.readouterr()
    assert "debian-llvm-html: skipped" in told.err
    assert "| rust-doc | default | 120 | 60 | 0.9910 | 1.0000" in told.out


def test_whole_packages_are_read_from_their_folder(tmp_path, capsys):
    pages = tmp_path / "manuals" / "rust-doc" / "usr"
    pages.mkdir(parents=True)
    for row in corpus.crowd(Parameters(20, 0.6, 0.9)).documents.to_pylist():
        (pages / f"{row['id']}.html").write_text(f"<html><body><p>{row['text']}</p></body></html>")
    asked = ["--whole", "--collections", "rust-doc", "--variants", "default", "--manuals", str(tmp_path / "manuals")]
    assert audits.main([*asked, "--results", str(tmp_path / "audits.json")]) == 0
    assert "| rust-doc, whole | default | 40 | 20 | 0.9910 | 1.0000" in capsys.readouterr().out


def test_an_audit_below_what_was_stated_is_marked():
    row = {
        "collection": "rust-doc",
        "variant": "default",
        "documents": 100,
        "removed": 10,
        "stated": 0.991,
        "audited": {"value": 0.7, "low": 0.6, "high": 0.8, "of": 50},
        "missed_removals": [4.0, 2.0, 7.0],
        "crowded": 5,
        "pairs_measured": 1000,
    }
    assert "0.7000 [0.600, 0.800] < | 4 [2, 7] | 5 |" in audits.table([row])
    assert " < " not in audits.table([{**row, "audited": {"value": 0.97, "low": 0.9, "high": 0.995, "of": 50}}])
