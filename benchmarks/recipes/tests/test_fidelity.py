"""The paper's side of the comparisons is what the papers say."""

import json

import numpy as np

from benchmarks.recipes import fidelity
from neardup.analysis.filters import probability


def test_terms_to_the_letter():
    text = "Ab c-d_e 12 日本語です。次"
    assert fidelity.as_written(text) == ["Ab", "c", "d", "e", "12", "日本語です", "次"]
    assert fidelity.runs(text)[0] == "ab"
    rows = [{"id": "1", "text": "Ab ab"}]
    assert fidelity.as_terms(rows, fidelity.as_written) == [{"id": "1", "text": "t4162 t6162"}]


def test_both_widths_of_permutations_agree_as_often_as_documents_resemble():
    told = fidelity.permutations(100, 0.9, 300)
    error = (0.9 * 0.1 / 84 / 300) ** 0.5
    for bits in (32, 64):
        assert abs(told[f"{bits} bits"]["agree"] - told["resemblance"]) < 4 * error
        assert abs(told[f"{bits} bits"]["found"] - probability(told["resemblance"], 6, 14, 2)) < 0.12


def test_minima_are_those_of_64_bit_permutations():
    values = np.array([1, 2, 3], np.uint64)
    made = fidelity.wide_minima(values, np.array([3, 2**64 - 1], np.uint64), np.array([5, 0], np.uint64))
    assert made.tolist() == [8, 2**64 - 3]


def test_a_part_of_a_recipe(tmp_path, capsys):
    words = [f"word{i}" for i in range(300)]
    texts = [words, [*words[:-1], "new"], [*words[:-1], "other"]]
    documents = tmp_path / "documents.jsonl"
    documents.write_text("".join(json.dumps({"id": f"{i}", "text": " ".join(t)}) + "\n" for i, t in enumerate(texts)))
    given = [str(documents), "--part", "stars", "--recipe", "alg-b", "--json", str(tmp_path / "told.json")]
    assert fidelity.main(given) == 0
    [told] = json.loads((tmp_path / "told.json").read_text())["stars"]
    assert told == {"recipe": "alg-b", "pairs": 3, "removed": 2, "cut short": 0, "most pairs of a document": 2}
    assert "alg-b" in capsys.readouterr().out
