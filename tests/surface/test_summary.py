"""What the summary says is true of every document that it counts."""

import json

import neardup
from neardup.index import Index

TEXT = "the ferry to the island leaves at nine and at noon and at six in the evening"


def test_documents_that_were_compared_are_not_called_skipped(command_line, tmp_path):
    rows = [{"id": "same", "text": f"{TEXT} {n}"} for n in range(3)]
    lines = [json.dumps(row) for row in rows] + ["{"]
    (tmp_path / "in.jsonl").write_text("\n".join(lines) + "\n")
    done = command_line("dedup", tmp_path / "in.jsonl", "-o", tmp_path / "out", "--on-error", "skip")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stderr.split())
    assert "skipped 3" not in said
    assert "problems 3 listed in skipped.parquet duplicate id 2 compared like others not JSON 1 not compared" in said
    assert json.loads((tmp_path / "out/run.json").read_text())["counts"]["skipped"] == 1


def test_what_rests_on_an_estimate_is_not_called_exact(command_line, tmp_path):
    with Index.open(tmp_path / "i.ndx", recipe="default") as index:
        index.add("known", f"{TEXT} today")
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"id": str(n), "text": TEXT}) + "\n" for n in range(2)))
    done = command_line("dedup", tmp_path / "in.jsonl", "-o", tmp_path / "out", "--against", tmp_path / "i.ndx")
    assert done.returncode == 0, done.stderr
    found = neardup.Result.open(tmp_path / "out")
    assert found.known_by == ["estimate", "estimate"]
    assert "every pair measured exactly" not in done.stderr
    assert "pairs of the inputs measured exactly, 2 with the index estimated" in done.stderr
