"""Ids keep the type that they have in the input, so that what is written joins with it."""

import json

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.index import Index
from neardup.pairing import pairs

TEXTS = 2 * [
    "the ferry to the island leaves at nine and at noon and at six in the evening",
    "nobody has seen the keeper of the lighthouse since the storm of last november",
]
TYPES = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.string()]


def table(ids: pa.Array) -> pa.Table:
    return pa.table({"id": ids, "text": TEXTS})


def of_ids(found: pa.Schema) -> list[pa.DataType]:
    names = ("id", "kept_id", "group_id", "group", "first", "second", "neardup_group", "neardup_kept_id")
    return [field.type for field in found if field.name in names]


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_tables_and_files_keep_the_type_of_ids(tmp_path, kind):
    ids = pa.array([7, 3, 9, 100], pa.int64()).cast(kind)
    pq.write_table(table(ids), tmp_path / "in.parquet")
    for source in (table(ids), tmp_path / "in.parquet"):
        result = neardup.dedup(source)
        for found in (result.removed, result.groups, pairs(source).table()):
            assert set(of_ids(found.schema)) == {kind}
        assert result.removed["id"].to_pylist() == ids[2:].to_pylist()
        assert result.removed["kept_id"].to_pylist() == ids[:2].to_pylist()
        assert str(result.explain(9)).startswith("9 was removed: identical to 7")
    result.write(tmp_path / "out", annotate=True)
    out = tmp_path / "out"
    assert set(of_ids(pq.read_schema(out / "kept/in.parquet"))) == {kind}
    assert set(of_ids(pq.read_schema(out / "removed.parquet"))) == {kind}
    asked = f"select count(*) from '{out}/groups.parquet' g join '{tmp_path}/in.parquet' i on i.id = g.group_id"
    assert duckdb.sql(asked).fetchall() == [(4,)]
    assert neardup.Result.open(out).removed.equals(result.removed)


def test_ids_that_are_encoded_keep_their_type():
    ids = pa.array([7, 3, 9, 100]).dictionary_encode()
    assert set(of_ids(neardup.dedup(table(ids)).removed.schema)) == {pa.int64()}


def write(path, ids: list) -> None:
    lines = ({"id": id, "text": text} for id, text in zip(ids, TEXTS, strict=True) if id is not ...)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.parametrize(
    ("ids", "kind"),
    [([1, 2, 3, 4], pa.int64()), ([1, 2, 3, "4"], pa.string()), ([1, 2, 3, 2**63], pa.string())],
    ids=["integers", "one text", "one too large"],
)
def test_json_lines(tmp_path, ids, kind):
    write(tmp_path / "in.jsonl", ids)
    assert set(of_ids(neardup.dedup(tmp_path / "in.jsonl").removed.schema)) == {kind}


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        (pa.int32(), pa.int64(), pa.int64()),
        (pa.uint32(), pa.int8(), pa.int64()),
        (pa.int64(), pa.uint64(), pa.string()),
        (pa.int64(), pa.string(), pa.string()),
    ],
)
def test_inputs_of_several_types(tmp_path, first, second, kind):
    pq.write_table(table(pa.array(["1", "2", "3", "4"]).cast(first)), tmp_path / "a.parquet")
    pq.write_table(table(pa.array(["5", "6", "7", "8"]).cast(second)), tmp_path / "b.parquet")
    assert set(of_ids(neardup.dedup(tmp_path).removed.schema)) == {kind}


def test_an_id_that_is_missing_makes_all_of_them_text():
    found = neardup.dedup(table(pa.array([1, 2, None, 4])), on_error="skip").removed
    assert found["id"].to_pylist() == ["table:3", "4"]
    assert found["kept_id"].to_pylist() == ["1", "2"]


def test_the_group_has_both_names_for_a_release():
    groups = neardup.dedup(table(pa.array([1, 2, 3, 4]))).groups
    assert groups.column_names == ["id", "group_id", "size", "kept", "group"]
    assert groups["group_id"].to_pylist() == groups["group"].to_pylist() == [1, 2, 1, 2]


@pytest.mark.parametrize(("known", "kind"), [("17", pa.int64()), ("seventeen", pa.string()), ("007", pa.string())])
def test_where_the_kept_document_is(tmp_path, known, kind):
    with Index.open(tmp_path / "i.ndx", recipe="default", keep="text") as index:
        index.add(known, TEXTS[0])
    result = neardup.dedup(table(pa.array([1, 2, 3, 4])), against=tmp_path / "i.ndx")
    found = result.removed
    assert found["id"].to_pylist() == [1, 3, 4]
    assert found["kept_source"].to_pylist() == ["index", "index", "input"]
    assert found.schema.field("kept_id").type == kind
    assert [str(each) for each in found["kept_id"].to_pylist()] == [known, known, "2"]


def test_explain_finds_numbers(command_line, tmp_path):
    neardup.dedup(table(pa.array([1, 2, 3, 4]))).write(tmp_path / "out")
    told = command_line("explain", tmp_path / "out", "3", "1")
    assert told.stdout.startswith("3: removed, identical to 1: resemblance 1.0000")
    assert "1: kept, stands for 1: 3" in told.stdout
    assert command_line("explain", tmp_path / "out", "03").returncode == 1


def test_explain_says_what_contains_what(command_line, tmp_path):
    whole = " ".join(f"word{n}" for n in range(100))
    rows = [{"id": "part", "text": whole.rpartition(" word90")[0]}, {"id": "whole", "text": whole}]
    neardup.dedup(rows).write(tmp_path / "out")
    assert "whole: removed, contains part: " in command_line("explain", tmp_path / "out", "whole").stdout


def test_a_repeated_id_can_be_removed_and_kept(tmp_path):
    """As docs/guide.md says: where ids repeat, removed.parquet does not tell which document of an id is gone."""
    one, other = (" ".join(f"{word}{i}" for i in range(50)) for word in ("alpha", "beta"))
    rows = [{"id": "a", "text": one}, {"id": "b", "text": other}, {"id": "a", "text": other}]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = neardup.dedup(tmp_path / "in.jsonl", on_error="skip")
    assert result.removed.column("id").to_pylist() == ["a"]
    assert result.kept.column("id").to_pylist() == ["a", "b"]
    assert result.skipped.column("kind").to_pylist() == ["duplicate id"]
    numbered = neardup.dedup(tmp_path / "in.jsonl", on_error="skip", id_field="none")
    assert numbered.removed.column("id").to_pylist() == ["in.jsonl:3"]
