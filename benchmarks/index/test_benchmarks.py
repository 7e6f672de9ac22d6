"""Every benchmark of the index runs, at a size at which its figures mean nothing and its checks do."""

import json
import sys
from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.index import http, mixed, peers, speed


def test_speed(tmp_path):
    out = tmp_path / "speed.json"
    assert speed.main(["--sizes", "2000", "--folder", str(tmp_path), "--json", str(out)]) == 0
    (row,) = json.loads(out.read_text())["rows"]
    assert set(speed.COLUMNS) <= set(row)
    assert 1_800 <= row["documents"] <= 1_820
    assert row["missed, share of copies"] < 0.02
    assert row["copies"] == 199 + 2 * 200 + 2 * 20  # the first ten have nothing to copy


def test_peers_on_the_course_and_after_a_kill(tmp_path):
    python = Path(sys.executable)
    row = peers.race("neardup", python, 1_000, tmp_path)
    assert set(peers.COLUMNS) - {"acknowledged", "lost by a kill", "bytes/document elsewhere"} - set(row) == {
        "CPU of Redis, whole run, s"
    }
    assert row["recall"] > 0.95
    assert (row["false"], row["not removed"]) == (0, 0)
    told = peers.survive("neardup", python, 1_000, tmp_path)
    assert told["acknowledged"] >= 250
    assert told["lost by a kill"] == 0


def test_datasketch_answers_as_a_filter():
    from benchmarks.index.corpus import Answers, Corpus
    from benchmarks.index.run_datasketch import Datasketch

    corpus = Corpus()
    filter, answers = Datasketch(None), Answers(corpus)
    batch = corpus.batch(0, 300)
    answers.take(batch, filter.check_and_add(batch.documents))
    assert answers.missed < 10
    assert answers.false == 0
    first = [batch.documents[0]]
    assert filter.check(first) == [first[0]["id"]]
    filter.remove([first[0]["id"]])
    assert filter.contains([first[0]["id"], batch.documents[1]["id"]]) == [False, True]
    assert filter.check(first) == [None]


def test_http(tmp_path):
    options = Namespace(documents=1_000, connections=[4], seconds=1.0, streamed=1_000)
    rows, whole = http.measured(tmp_path, options)
    assert len(rows) == 6
    assert all(row["documents/s"] > 0 for row in rows)
    assert sum(row.get("refused or broken", 0) + row.get("false", 0) for row in rows) == 0
    assert all(abs(row["duplicates, share"] - 0.1) < 0.05 for row in rows)
    assert whole["documents at the end"] > 2_600


def test_a_mixed_load_leaves_nothing_behind(tmp_path):
    load = mixed.Load(seconds=3.0, window=5)
    with ThreadPoolExecutor(1) as pool:  # the browser's tests have an event loop in this thread that runs all the time
        report = pool.submit(mixed.run, tmp_path, load).result()
    assert report.failures() == []
    assert report.present
    assert report.gone
    kinds = {status.rpartition(" ")[0] for status in report.statuses}
    assert {"check", "check-and-add", "remove", "bad", "stream/check-and-add", "stream/remove"} <= kinds
    assert any(status.endswith("503") for status in report.statuses)


def test_a_mixed_load_fails_where_it_should():
    steady = [(float(second), 300 << 20, 50 << 20) for second in range(100)]
    filling = [(float(second), (300 + second) << 20, (50 + second) << 20) for second in range(100)]
    leaking = [(float(second), (300 + second) << 20, 50 << 20) for second in range(100)]
    load = mixed.Load(seconds=100)
    assert mixed.Report(load, samples=steady).failures() == []
    assert mixed.Report(load, samples=filling).failures() == []
    assert "memory grew" in mixed.Report(load, samples=leaking).failures()[0]
    assert "missing" in mixed.Report(load, samples=steady, missing=1).failures()[0]
    assert "are there" in mixed.Report(load, samples=steady, back=1).failures()[0]
    broken = mixed.Report(load, samples=steady)
    assert not broken.saw("check", 500, lambda status: status == 200)
    assert not broken.saw("check", 503, lambda status: status == 200)
    assert broken.failures() == ["check: status 500"]
