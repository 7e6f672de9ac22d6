"""Truth from every format and every way to name its columns; and what is said of files that are none."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup import sample
from neardup.errors import InputError, UsageError
from neardup.evaluating.collection import MOST_LISTED, place
from neardup.evaluating.truth import PAIRS, VERDICTS, read_truth

ROWS = [("x", "y", "correct"), ("x", "z", "incorrect"), ("y", "z", "undecided")]
NAMES = ("first", "second", "verdict")
MEANING = {1: "correct", -1: "incorrect", 0: "undecided"}


def listed(truth):
    return [
        (a, b, MEANING[v])
        for a, b, v in zip(truth.first.to_pylist(), truth.second.to_pylist(), truth.verdict.tolist(), strict=True)
    ]


def separated(names, rows, by):
    return "".join(by.join(map(str, row)) + "\n" for row in (names, *rows))


def lines(names, rows):
    return "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows)


def file(folder, content, name="truth.tsv"):
    path = folder / name
    path.write_text(content)
    return path


def test_every_format_says_the_same(tmp_path):
    file(tmp_path, separated(NAMES, ROWS, "\t"), "t.tsv")
    file(tmp_path, "\ufeff" + separated(NAMES, ROWS, ",").replace("\n", "\r\n"), "t.csv")
    file(tmp_path, lines(NAMES, ROWS) + "\n", "t.jsonl")
    (tmp_path / "t.jsonl.gz").write_bytes(gzip.compress(lines(NAMES, ROWS).encode()))
    (tmp_path / "t.TSV.gz").write_bytes(gzip.compress(separated(NAMES, ROWS, "\t").encode()))
    table = pa.table([list(c) for c in zip(*ROWS, strict=True)], names=NAMES)
    pq.write_table(table, tmp_path / "t.parquet")
    for source in (*tmp_path.iterdir(), table, table.to_pandas(), [dict(zip(NAMES, r, strict=True)) for r in ROWS]):
        assert listed(read_truth(source)) == ROWS


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_names_of_pairs(first, second):
    truth = read_truth([{first: "x", second: "y", "Label": "yes", "text": "…"}])
    assert listed(truth) == [("x", "y", "correct")]
    assert f"'{first}', '{second}' and 'Label'" in truth.said[0]


@pytest.mark.parametrize("word", [*VERDICTS, "Correct", " NO ", "true", True, False])
def test_words_of_verdicts(word):
    [(_, _, found)] = listed(read_truth([{"a": 1, "b": 2, "verdict": word}]))
    plain = str(word).strip().lower()
    assert found == MEANING[VERDICTS[plain]]


def test_numbers_are_grades():
    rows = [{"a": f"x{i}", "b": "y", "label": g} for i, g in enumerate([1, 0, 0.9, 0.89, 0.5, 0.49])]
    assert read_truth(rows).verdict.tolist() == [1, -1, 1, 0, 0, -1]
    assert read_truth(rows, correct_from=0.5, incorrect_below=0.5).verdict.tolist() == [1, -1, 1, 1, 1, -1]


def test_grades_beyond_1_need_a_word():
    rows = [{"a": f"x{i}", "b": "y", "label": i} for i in range(4)]
    with pytest.raises(UsageError, match=r"go from 0 to 3.*--correct-from"):
        read_truth(rows)
    assert read_truth(rows, correct_from=2, incorrect_below=1).verdict.tolist() == [-1, 0, 1, 1]
    with pytest.raises(UsageError, match="would be both"):
        read_truth(rows, correct_from=1, incorrect_below=2)


def test_a_verdict_goes_before_a_grade():
    row = {"first": "x", "second": "y", "resemblance": 0.1, "verdict": "correct", "reason": "same text", "weight": 2.5}
    truth = read_truth([row])
    assert truth.verdict.tolist() == [1]
    assert truth.reason.to_pylist() == ["same text"]
    assert truth.weight.tolist() == [2.5]
    assert any("weighted" in s for s in truth.said)
    assert read_truth([row], columns={"grade": "resemblance"}).verdict.tolist() == [-1]


def test_columns_can_be_chosen():
    rows = [{"a": "x", "b": "y", "p": "v", "q": "w", "label": "no", "mine": "yes", "sort": "k"}]
    chosen = {"first": "p", "second": "q", "verdict": "mine", "kind": "sort"}
    truth = read_truth(rows, columns=chosen)
    assert listed(truth) == [("v", "w", "correct")]
    assert truth.kind.to_pylist() == ["k"]
    with pytest.raises(InputError, match=r"no column 'none' for verdict; there are 'a', 'b'"):
        read_truth(rows, columns={"verdict": "none"})
    with pytest.raises(UsageError, match="no role 'judgement'"):
        read_truth(rows, columns={"judgement": "mine"})


def test_clusters():
    truth = read_truth([{"id": i, "group": g, "text": ""} for i, g in zip("abcde", "xxyyx", strict=True)])
    placed = place(truth, pa.array(list("abcdef")), unlisted=None)
    pairs = {tuple(divmod(int(c), 6)) for c in placed.pairs}
    assert pairs == {(0, 1), (0, 4), (1, 4), (2, 3)}
    assert placed.exhaustive.tolist() == [True] * 5 + [False]
    assert place(truth, pa.array(list("abcdef")), unlisted="incorrect").exhaustive.all()
    with pytest.raises(InputError, match="'a' is listed twice"):
        read_truth([{"id": "a", "cluster": 1}, {"id": "a", "cluster": 2}])


def test_clusters_of_too_many_pairs_are_refused():
    n = int((2 * MOST_LISTED) ** 0.5) + 2
    truth = read_truth(pa.table({"id": [str(i) for i in range(n)], "cluster": ["one"] * n}))
    with pytest.raises(InputError, match="sample"):
        place(truth, truth.first, unlisted=None)


@pytest.mark.parametrize("columns", [("a", "b", "verdict"), ("b", "a", "verdict")])
def test_pairs_twice(columns):
    one, other = ("x", "y", "correct"), ("y", "x", "correct")
    rows = [dict(zip(columns, r, strict=True)) for r in (one, other)]
    truth = read_truth(rows)
    assert len(truth) == 1
    assert any("1 rows repeat" in s for s in truth.said)
    rows[1]["verdict"] = "incorrect"
    with pytest.raises(InputError, match=r"labelled twice and differently, such as .* correct in row 1, incorrect in"):
        read_truth(rows)


def test_rows_without_a_verdict_and_pairs_with_themselves_are_told():
    rows = [{"a": "x", "b": b, "label": v} for b, v in (("y", "yes"), ("z", None), ("x", "no"))]
    truth = read_truth(rows)
    assert len(truth) == 1
    assert any("1 of 3 rows have no verdict" in s for s in truth.said)
    assert any("1 rows pair a document with itself" in s for s in truth.said)


def test_large_numbers_are_ids():
    truth = read_truth([{"a": 2**60 + 1, "b": 2**60, "label": "yes"}])
    assert truth.first.to_pylist() == [str(2**60 + 1)]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("t.tsv", "", "is empty"),
        ("t.tsv", "first\tsecond\tverdict\n", "holds no pairs"),
        ("t.tsv", "x\ty\tz\n1\t2\t3\n", "neither pairs nor clusters: the columns are 'x', 'y', 'z'"),
        ("t.tsv", "first\tsecond\n1\t2\n", "pairs without a verdict"),
        ("t.tsv", "a\ta\tlabel\n1\t2\tno\n", "two columns named 'a'"),
        ("t.tsv", "a\tb\tlabel\n1\t2\tperhaps\n", "'perhaps' in the column 'label' is no verdict"),
        ("t.tsv", "a\tb\tgrade\n1\t2\tgood\n", "holds 'good', which is no grade"),
        ("t.tsv", "a\tb\tlabel\n1\t2\n", "line 2 has 2 values, and there are 3 columns"),
        ("t.tsv", "a\tb\tlabel\n1\t2\t\n", "no pair with a verdict; 1 rows"),
        ("t.tsv", "a\tb\tlabel\tweight\n1\t2\tno\t0\n", "a positive number in every row"),
        ("t.jsonl", '{"a": 1\n', "t.jsonl:1: is not a JSON object"),
        ("t.jsonl", "[1]\n", "t.jsonl:1: is not a JSON object"),
        ("t.parquet", "PAR1", "cannot be read as Parquet"),
        ("t.docx", "x", "truth is read from .tsv"),
    ],
)
def test_what_is_no_truth_is_refused(tmp_path, name, content, said):
    with pytest.raises(InputError) as refused:
        read_truth(file(tmp_path, content, name))
    assert said in str(refused.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(InputError, match="nothing"):
        read_truth(tmp_path / "nothing.tsv")
    with pytest.raises(InputError, match="is int"):
        read_truth(5)


def test_ids_that_the_collection_has_not():
    truth = read_truth([{"a": a, "b": b, "label": v} for a, b, v in (*ROWS, ("x", "gone", "no"))])
    placed = place(truth, pa.array(["x", "y", "z"]), unlisted=None)
    assert len(placed.pairs) == 3
    assert "1 ids are not in the collection, such as 'gone'; 1 of 4 pairs were left out." in placed.said[-1]
    with pytest.raises(InputError, match="look like 'gone', 'x', 'y'; those of the collection like '1'"):
        place(truth, pa.array(["1"]), unlisted=None)


def test_verdicts_stay_with_their_pairs():
    random = np.random.default_rng(1)
    ids = pa.array([f"n{i}" for i in random.permutation(50)])
    rows, seen = [], set()
    for a, b in random.integers(0, 50, (200, 2)).tolist():
        if a != b and frozenset((a, b)) not in seen:
            seen.add(frozenset((a, b)))
            rows.append({"a": f"n{a}", "b": f"n{b}", "label": ("yes", "no", "maybe")[(a + b) % 3], "kind": f"{a + b}"})
    placed = place(read_truth(rows), ids, unlisted=None)
    assert (np.diff(placed.pairs) > 0).all()
    numbers = [int(x.removeprefix("n")) for x in ids.to_pylist()]
    for code, verdict, kind in zip(placed.pairs.tolist(), placed.verdict.tolist(), placed.kind, strict=True):
        total = sum(numbers[i] for i in divmod(code, 50))
        assert verdict == (1, -1, 0)[total % 3]
        assert kind == str(total)


def test_the_sample_is_readable(tmp_path):
    sample.write(tmp_path, scale=0.1)
    truth = read_truth(tmp_path / "truth.tsv")
    assert set(truth.verdict.tolist()) == {1, -1}
    assert truth.kind is not None


def written(folder, content, name):
    path = folder / name
    path.write_bytes(content)
    return path


def test_a_tsv_has_no_quotes(tmp_path):
    rows = '"a\tb\tcorrect\t"good\nc\td\tno\tx\n"e"\tf\tno\t"y\n5" disk\th\tyes\tz\n'
    truth = read_truth(file(tmp_path, "first\tsecond\tverdict\treason\n" + rows))
    assert truth.first.to_pylist() == ['"a', "c", '"e"', '5" disk']
    assert truth.reason.to_pylist() == ['"good', "x", '"y', "z"]


def test_a_csv_has_quotes_and_no_open_ones(tmp_path):
    content = '"first","second","the\nverdict",verdict\n"a,1","b ""x""",z,yes\n"two\nlines",d,z,no\n'
    truth = read_truth(file(tmp_path, content, "t.csv"))
    assert listed(truth) == [("a,1", 'b "x"', "correct"), ("two\nlines", "d", "incorrect")]
    with pytest.raises(InputError, match="from line 3 on"):
        read_truth(file(tmp_path, 'a,b,label\nx,y,yes\nx,"z,yes\nv,w,no\n', "t.csv"))


def test_values_of_a_csv_may_be_long(tmp_path):
    truth = read_truth(file(tmp_path, f"a,b,label,text\nx,y,yes,{'z' * 200_000}\n", "t.csv"))
    assert listed(truth) == [("x", "y", "correct")]


@pytest.mark.parametrize("name", ["t.csv", "t.tsv"])
def test_old_line_ends(tmp_path, name):
    by = "," if name.endswith("csv") else "\t"
    content = separated(NAMES, ROWS, by).replace("\n", "\r").encode()
    assert listed(read_truth(written(tmp_path, content, name))) == ROWS


def test_other_separators_of_lines_are_text(tmp_path):
    truth = read_truth(file(tmp_path, "a\tb\tlabel\nx\u2028y\tz\x0bw\tyes\n"))
    assert listed(truth) == [("x\u2028y", "z\x0bw", "correct")]


def test_jsonl_with_a_mark_at_its_beginning(tmp_path):
    assert listed(read_truth(file(tmp_path, "\ufeff" + lines(NAMES, ROWS), "t.jsonl"))) == ROWS


def test_names_that_come_late_in_jsonl(tmp_path):
    early = "".join(f'{{"first": "a{i}", "second": "b"}}\n' for i in range(300))
    truth = read_truth(
        file(tmp_path, early + '{"first": "z", "second": "b", "verdict": "no", "kind": "k"}\n', "t.jsonl")
    )
    assert listed(truth) == [("z", "b", "incorrect")]
    assert truth.kind.to_pylist() == ["k"]


@pytest.mark.parametrize(("value", "said"), [('["a"]', "is a list"), ('{"x": 1}', "is an object")])
def test_lists_and_objects_are_no_ids(tmp_path, value, said):
    content = (
        f'{{"first": "a", "second": "b", "verdict": "no"}}\n\n{{"first": {value}, "second": "b", "verdict": "no"}}'
    )
    with pytest.raises(InputError, match=f"'first' in line 3 {said}"):
        read_truth(file(tmp_path, content, "t.jsonl"))
    assert len(read_truth([{"first": "a", "second": "b", "verdict": "no", "spans": [1, 2]}])) == 1


def test_numbers_as_ids(tmp_path):
    content = '{"a": 2, "b": 4.0, "label": 1}\n{"a": 4.5, "b": 12345678901234567890123, "label": 0}\n'
    truth = read_truth(file(tmp_path, content, "t.jsonl"))
    assert truth.first.to_pylist() == ["2", "4.5"]
    assert truth.second.to_pylist() == ["4", "12345678901234567890123"]
    table = pa.table({"a": [1.0, None, 3.5], "b": [7, 8, 9], "grade": pa.array([0.9, 0.1, 0.3], pa.float32())})
    truth = read_truth(table)
    assert truth.first.to_pylist() == ["1", "3.5"]
    assert truth.verdict.tolist() == [1, -1]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (pa.table([["x"], ["v"], ["y"], ["no"]], names=["a", "a", "b", "label"]), "two columns named 'a'"),
        (pa.table({"a": pa.array([b"\xff"]), "b": ["y"], "label": ["no"]}), "bytes that are not UTF-8"),
    ],
)
def test_tables_that_are_no_text(tmp_path, table, said):
    with pytest.raises(InputError, match=said):
        read_truth(table)
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(InputError, match=said):
        read_truth(tmp_path / "t.parquet")


def test_text_that_is_not_utf8(tmp_path):
    with pytest.raises(InputError, match="line 2 is not UTF-8"):
        read_truth(written(tmp_path, b"a\tb\tlabel\n\xe9\tb\tyes\n", "t.tsv"))


def test_one_column_of_a_pair_never_makes_clusters():
    row = {"x": "a", "second": "b", "id": "i", "label": "yes"}
    assert listed(read_truth([row], columns={"first": "x"})) == [("a", "b", "correct")]
    assert listed(read_truth([{"a": "v", "b": "w", "label": "no"}], columns={"second": "a"})) == [
        ("w", "v", "incorrect")
    ]
    with pytest.raises(InputError, match=r"no column looks like the second one.*--column second=NAME"):
        read_truth([{"x": "a", "id": "i", "label": "yes"}], columns={"first": "x"})
    with pytest.raises(InputError, match="neither pairs nor clusters"):
        read_truth([{"x": "a", "id": "i", "label": "1"}], columns={"verdict": "x"})
    with pytest.raises(UsageError, match="cluster is of clusters and first of pairs"):
        read_truth([row], columns={"first": "x", "cluster": "label"})


def test_contradictions_are_counted_by_pairs_and_told_by_lines(tmp_path):
    rows = [("a", "b", "yes"), ("b", "a", "no"), ("a", "b", "no"), ("a", "b", "no")]
    content = separated(("a", "b", "label"), rows, "\t").replace("\n", "\n\n", 1)
    with pytest.raises(InputError, match=r": 1 pair is labelled twice .* correct in line 3, incorrect in line 4"):
        read_truth(file(tmp_path, content))


def test_ids_are_as_written_then_trimmed():
    rows = [{"a": " x", "b": "y ", "label": "yes"}, {"a": "z", "b": " x", "label": "no"}]
    ids = pa.array([" x", "x", "y", "z"])
    placed = place(read_truth(rows), ids, unlisted=None)
    assert [tuple(divmod(int(c), 4)) for c in placed.pairs] == [(0, 2), (0, 3)]
    assert place(read_truth([{"id": " y", "cluster": 1}]), ids, unlisted=None).listed.tolist() == [0, 0, 1, 0]


def test_ids_that_are_one_document_but_for_white_space():
    rows = [{"a": "x", "b": "y", "label": "yes"}, {"a": " x", "b": "y", "label": "no"}]
    with pytest.raises(InputError, match="but for white space"):
        place(read_truth(rows), pa.array(["x", "y"]), unlisted=None)
    with pytest.raises(InputError, match="but for white space"):
        place(read_truth([{"id": "x", "cluster": 1}, {"id": "x ", "cluster": 2}]), pa.array(["x"]), unlisted=None)


def test_ids_that_two_documents_have_are_told():
    placed = place(
        read_truth([{"a": "x", "b": "y", "label": "yes"}]), pa.array(["y", "x", "x", "z", "z"]), unlisted=None
    )
    assert placed.pairs.tolist() == [1]
    assert placed.said[-1] == "Truth: 1 ids name more than one document each; the first of them is meant."


@pytest.mark.parametrize("store_schema", [True, False])
@pytest.mark.parametrize(
    ("dictionary", "said"), [(True, "has more than 268,435,456 bytes"), (False, "a page of the column 'first' has")]
)
def test_a_small_parquet_file_does_not_unpack_to_gigabytes(dictionary, said, store_schema, tmp_path):
    rows = 400 if dictionary else 100
    values = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(["a" * (1 << 20)]))
    values = values if dictionary else values.dictionary_decode()
    path = tmp_path / "truth.parquet"
    how = {"use_dictionary": dictionary, "data_page_size": 1 << 30, "write_batch_size": 1 << 20}
    table = pa.table({"first": values, "second": ["b"] * rows, "verdict": ["correct"] * rows})
    pq.write_table(table, path, compression="zstd", store_schema=store_schema, **how)
    assert path.stat().st_size < 100_000
    with pytest.raises(InputError, match=said):
        read_truth(path)
