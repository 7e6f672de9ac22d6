"""A kill or two of each kind, and some damaged stores; the full numbers are the command's."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("what", ["filter", "serve", "postgres", "compact", "backup", "damage"])
def test_nothing_acknowledged_is_lost(what):
    number = ["--stores", "30"] if what == "damage" else ["--kills", "2"]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.kills", "--what", what, *number],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        timeout=300,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["lost"] == 0
    assert told["stores" if what == "damage" else "kills"] == int(number[1])
