"""A finished run to audit."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

import neardup
from neardup.cli import app
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


class Said(NamedTuple):
    """How a command ended."""

    code: int
    stdout: str
    stderr: str


@pytest.fixture
def command(capsys, monkeypatch) -> Callable[..., Said]:
    """The command line in this process, which need not start and compile again."""
    for name in ("audit", "dedup", "sample"):  # what it keeps from being imported, other tests need
        monkeypatch.setattr(f"neardup.cli.{name}.without_unneeded", lambda: None, raising=False)

    def run(*arguments: object) -> Said:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            app.main([str(a) for a in arguments])
        return Said(int(ended.value.code or 0), *capsys.readouterr())

    return run
