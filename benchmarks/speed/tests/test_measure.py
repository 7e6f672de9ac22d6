"""Costs of commands whose cost is known."""

import sys

import pytest

from benchmarks.speed import measure


def test_memory_and_time_of_a_known_command(tmp_path):
    code = "import time; block = b'x' * 200_000_000; time.sleep(0.5)"
    cost = measure.run([sys.executable, "-c", code], log=tmp_path / "log")
    assert 0.5 <= cost.wall < 5.0
    assert 200e6 < cost.peak_rss < 300e6


def test_own_memory_is_not_charged_to_the_command(tmp_path):
    block = bytearray(300_000_000)
    block[::4096] = b"x" * len(block[::4096])
    assert measure.run([sys.executable, "-c", "pass"], log=tmp_path / "log").peak_rss < 100e6


def test_cpu_of_children_counts(tmp_path):
    burn = "import time\nend = time.process_time() + 0.5\nwhile time.process_time() < end: pass"
    code = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {burn!r}])"
    assert measure.run([sys.executable, "-c", code], log=tmp_path / "log").cpu >= 0.5


def test_failures_say_why(tmp_path):
    with pytest.raises(measure.CommandFailedError, match="exit code 3: no luck"):
        measure.run([sys.executable, "-c", "print('no luck'); raise SystemExit(3)"], log=tmp_path / "log")
    with pytest.raises(measure.CommandFailedError, match="No such file"):
        measure.run(["/does/not/exist"], log=tmp_path / "log")
    with pytest.raises(measure.CommandFailedError, match="stopped after"):
        measure.run([sys.executable, "-c", "import time; time.sleep(60)"], log=tmp_path / "log", timeout=0.5)
