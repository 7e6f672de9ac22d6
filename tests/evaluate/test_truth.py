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
        ("t.tsv", "a\tb\tlabel\n1\t2\n", "cannot be read as a table"),
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
