"""Linters for security: bandit on our code, pip-audit on what we are built of."""

import json
import re
import subprocess
import sys
from pathlib import Path

from scripts import audit

ROOT = Path(__file__).parents[2]


def test_bandit_finds_nothing_above_low():
    """What it finds and we mean has `# nosec BXXX  # the reason` beside it."""
    command = [sys.executable, "-m", "bandit", "-q", "-r", "src", "scripts", "-f", "json", "--severity-level", "medium"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    report = json.loads(told)
    found = [f"{each['filename']}:{each['line_number']}: {each['issue_text']}" for each in report["results"]]
    assert found == []
    assert report["errors"] == []
    assert report["metrics"]["_totals"]["loc"] > 10_000


def test_what_bandit_passes_over_has_a_reason():
    passed_over = [
        (path.name, line.strip())
        for folder in ("src", "scripts")
        for path in (ROOT / folder).rglob("*.py")
        for line in path.read_text().splitlines()
        if re.search(r"#\s*nosec", line)
    ]
    reasoned = re.compile(r"# nosec B\d{3}(, B\d{3})*  # \w+.*\w")
    assert [each for each in passed_over if not reasoned.search(each[1])] == []


def test_an_audit_fails_on_what_it_finds_alone():
    fine = {"name": "numpy", "version": "2.4.6", "vulns": []}
    unknown = {"name": "ours", "skip_reason": "Dependency not found on PyPI"}
    flaw = {"id": "PYSEC-2026-1", "fix_versions": ["3.1.7"], "aliases": [], "description": ""}
    flawed = {"name": "jinja2", "version": "3.1.1", "vulns": [flaw, {**flaw, "id": "PYSEC-2026-2", "fix_versions": []}]}
    assert audit.judge({"dependencies": [fine, unknown]}) == (1, 1, [])
    assert audit.judge({"dependencies": [unknown]}) == (0, 1, [])
    assert audit.judge({"dependencies": [fine, flawed]}) == (
        2,
        0,
        ["jinja2 3.1.1: PYSEC-2026-1, mended in 3.1.7", "jinja2 3.1.1: PYSEC-2026-2, not mended yet"],
    )
