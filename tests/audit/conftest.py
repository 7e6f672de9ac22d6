"""A finished run to audit."""

import json
from pathlib import Path

import pytest

import neardup
from tests.corpus import documents


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Path:
    """The folder of a run with many clusters, on four sites, some pages without a URL."""
    folder = tmp_path_factory.mktemp("finished")
    rows = []
    for i, row in enumerate(documents(400, seed=11, length=120)):
        url = None if i % 7 == 0 else f"https://www.s{i % 4}.example.org/{row['id']}"
        rows.append({**row, "url": url})
    (folder / "pages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = neardup.dedup(str(folder / "pages.jsonl"), threshold=0.6, work=folder / "out" / "work", threads=2)
    result.write(folder / "out")
    return folder / "out"
