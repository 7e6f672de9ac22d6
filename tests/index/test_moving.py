"""An index out of its place and into another one."""

import random

import pyarrow.parquet as pq
import pytest

import neardup
from neardup import Document, Index
from neardup.index import moving
from tests.corpus import documents
from tests.index.test_store import everything


@pytest.fixture(scope="module")
def rows():
    return documents(60, seed=4)


def text(seed: int) -> str:
    return " ".join(random.Random(seed).choices([f"word{i}" for i in range(5000)], k=60))


@pytest.mark.parametrize("to", ["text", "reference", "sketch"])
@pytest.mark.parametrize("of", ["text", "reference", "sketch"])
def test_what_is_kept_is_not_taken_for_something_else(tmp_path, rows, of, to):
    page = tmp_path / "page.txt"
    page.write_text(rows[0]["text"])
    with Index.open(tmp_path / "of.ndx", "default", keep=of) as index:
        index.add("page", rows[0]["text"], reference=str(page))
        assert index.export(tmp_path / "of.parquet") == 1
        stored, recipe = index.get("page"), index.recipe
    with Index.open(tmp_path / "to.ndx", recipe, keep=to) as index:
        if to not in ("sketch", of):
            with pytest.raises(
                neardup.InputError, match=r"keeps sketches.*, and this one keeps sketches and .* Add the"
            ):
                index.add_export(tmp_path / "of.parquet")
            assert len(index) == 0
            return
        assert index.add_export(tmp_path / "of.parquet") == 1
        found = index.get("page")
        assert (found.text, found.reference) == ((stored.text, stored.reference) if to == of else (None, None))
        assert index.check(rows[0]["text"]).match.relation == "identical"


@pytest.mark.parametrize("most_blocks", [100, 2])
def test_an_export_in_many_parts_has_all_of_it(tmp_path, rows, monkeypatch, engine, most_blocks):
    """Documents were removed in between; parts, blocks of keys and blocks of documents end at different places."""
    monkeypatch.setattr(moving, "_BLOCK", 7)
    monkeypatch.setattr(moving, "_MOST_BLOCKS", most_blocks)
    monkeypatch.setattr(moving, "_KEYS_AT_ONCE", 11)
    monkeypatch.setattr(moving, "_BYTES_AT_ONCE", 2000)
    with Index.open(engine.place, "default", keep="text") as index:
        index.add_many(rows)
        index.remove_many([row["id"] for row in rows[5:30:3]])
        index.compact()
        number = len(index)
        assert index.export(tmp_path / "out.parquet") == number
        before = everything(index.store)
    assert [left.name for left in tmp_path.iterdir() if left.name != "seen.ndx"] == ["out.parquet"]
    file = pq.ParquetFile(tmp_path / "out.parquet")
    groups = [file.read_row_group(i) for i in range(file.num_row_groups)]
    sizes = [sum(map(len, g["text"].to_pylist() + g["record"].to_pylist())) for g in groups]
    longest = max(len(row["text"]) for row in rows) + 500
    assert len(groups) > number / 7
    assert all(size < 2000 + longest for size in sizes)
    with Index.open(tmp_path / "moved.ndx", "default", keep="text") as moved:
        assert moved.add_export(tmp_path / "out.parquet") == number
        after = everything(moved.store)
    assert [row[1:] for row in after["rows"]] == [row[1:] for row in before["rows"]]
    now = {row.number: i for i, row in enumerate(before["rows"])}
    assert after["keys"] == {key: [now[n] for n in numbers] for key, numbers in before["keys"].items()}


def test_an_id_that_is_no_unicode_moves_too(tmp_path):
    with Index.open(tmp_path / "of.ndx") as index:
        index.add("half \ud800 a pair", text(1))
        index.export(tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet")["id"].to_pylist() == ["half ? a pair"]
    with Index.open(tmp_path / "to.ndx") as index:
        assert index.add_export(tmp_path / "out.parquet") == 1
        assert index.check(text(1)).match.id == "half \ud800 a pair"


def test_ids_that_repeat_from_run_to_run_are_refused_with_a_way_out(tmp_path):
    runs = [neardup.dedup([text(1), text(2)], recipe="stream"), neardup.dedup([text(3)], recipe="stream")]
    with Index.open(tmp_path / "seen.ndx") as index:
        assert index.add_run(runs[0]) == 2
        with pytest.raises(neardup.UsageError, match=r"stored with another text.* ids that do not repeat") as refused:
            index.add_run(runs[1])
        assert "update" not in str(refused.value)
        named = neardup.dedup([{"key": "c", "text": text(3)}], recipe="stream", id_field="key")
        assert index.add_run(named) == 1
        index.update("c", text(4))
        index.export(tmp_path / "out.parquet")
        index.update("c", text(5))
        with pytest.raises(neardup.UsageError, match=r"^'c' is stored with another text\. Remove the stored document"):
            index.add_export(tmp_path / "out.parquet")


def test_counts_of_what_an_index_knows_are_by_relation(tmp_path):
    with Index.open(tmp_path / "seen.ndx", "default", keep="text") as index:
        index.add_many([Document("a", text(1)), Document("b", text(2))])
        rows = [{"id": "1", "text": text(1)}, {"id": "2", "text": text(2) + " more"}, {"id": "3", "text": text(2)}]
        counts = neardup.dedup([*rows, {"id": "4", "text": text(3)}], against=index).counts
    assert counts["removed_against_index"] == 3
    assert {k: n for k, n in counts["removed_by_relation"].items() if n} == {"identical": 2, "contains": 1}
