"""The benchmark runs, at a size at which its times mean nothing and its other checks do."""

from benchmarks.hostile.__main__ import BESIDE, HELD, KINDS, Load, Report, run
from benchmarks.hostile.attackers import MANY


def test_honest_clients_beside_hostile_ones(tmp_path):
    report = run(tmp_path, Load(seconds=5.0, rate=20.0, scale=0.2))
    assert [each for each in report.failures() if "p99" not in each] == []
    assert report.acknowledged >= 20
    assert report.missing == 0
    assert report.peak < HELD + BESIDE
    assert {kind.split()[0].rstrip(",") for kind in report.attackers} == set(MANY)
    assert not [kind for kind in report.attackers if kind.endswith((" 500", " 502"))]
    assert set(report.summary()) >= {"ratio of p99", "peak of both, MB", "hostile, by status"}


def _seen(latency: float, *wrong: str) -> dict[str, object]:
    return {"latencies": dict.fromkeys(KINDS, [latency] * 10), "statuses": {}, "wrong": list(wrong), "added": []}


def test_it_fails_where_it_should():
    quiet = {"before": _seen(0.01), "beside": _seen(0.02), "after": _seen(0.01)}
    memory = {"service": [400 << 20, 500 << 20], "workers": [0, 100 << 20]}
    fine = Report(Load(), quiet, **memory)
    assert fine.failures() == []
    assert fine.peak == 600 << 20
    assert "2.0" in f"{fine.ratio():.1f}"
    slow = Report(Load(), {**quiet, "beside": _seen(0.04)}, **memory)
    assert "p99 beside attackers is 4.0 times" in slow.failures()[0]
    large = Report(Load(), quiet, service=[700 << 20], workers=[100 << 20])
    assert "memory reached 839 MB" in large.failures()[0]
    assert "1 of 5" in Report(Load(), quiet, acknowledged=5, missing=1, **memory).failures()[0]
    assert "exit code 1" in Report(Load(), quiet, ended=1, **memory).failures()[0]
    assert Report(Load(), {**quiet, "after": _seen(0.01, "text: new")}, **memory).failures() == ["text: new"]
