"""The benchmark runs at a size at which its figures mean nothing and its checks do."""

import json

import numpy as np
import pytest

from benchmarks.scale.__main__ import main
from benchmarks.scale.features import K, Plant, R
from tests.naive import groups as naive


def test_cases_in_memory_and_from_disk(tmp_path, capsys):
    assert main(["--documents", "20000", "--results", str(tmp_path), "--folder", str(tmp_path)]) == 0
    written = json.loads((tmp_path / "scale.json").read_text())
    assert [(row["from"], row["wrong"]) for row in written["rows"]] == [("memory", 0), ("disk", 0)]
    assert {row["linked"] for row in written["rows"]} == {written["rows"][0]["linked"]}
    assert 0.2 < written["rows"][0]["linked"] / 20_000 < 0.41
    assert (tmp_path / "scale.svg").read_text().count(">asked for") == 2
    assert "from disk, 4 MB allowed" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scale.json", "scale.md", "scale.svg"]


@pytest.mark.parametrize("n", [1, 2, 3, 700])
def test_what_is_planted_is_there_and_nothing_else(n):
    plant = Plant(n, seed=3)
    features = np.empty((n, K), np.uint64)
    plant.fill(features, chunk=100)
    shared = (features[:, None] == features[None]).sum(axis=2)
    truth = np.array(naive.components(n, lambda i, j: bool(shared[i, j] >= R)), np.int32)
    assert plant.wrong(truth) == 0
    if n == 700:
        assert {0, 1, 2, 3, 4, 5, 6} == set(shared[np.triu_indices(n, 1)].tolist())
        assert plant.wrong(np.arange(n, dtype=np.int32)) == (truth != np.arange(n)).sum() > 150
        removed = np.flatnonzero(truth != np.arange(n))[7]
        truth[removed] = removed
        assert plant.wrong(truth) == 1
