"""Runs to report on: written to a file, deduplicated, with a work folder that can be opened again."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import neardup
from neardup.result import Result
from tests.corpus import WORDS, documents

Runs = Callable[..., Result]


def run_over(folder: Path, rows: list[dict[str, Any]], **settings: Any) -> Result:
    """Deduplicate rows by way of a file, and write everything but the corpus to folder/out."""
    folder.mkdir(exist_ok=True)
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = neardup.dedup(str(path), work=folder / "out" / "work", **settings)
    result.write(folder / "out", corpus=False)
    return result


@pytest.fixture
def run(tmp_path: Path) -> Runs:
    return lambda rows, **settings: run_over(tmp_path, rows, **settings)


def crawl(n: int = 400, *, seed: int = 1) -> list[dict[str, Any]]:
    """Clusters of edited copies on a few hosts, some of which mirror each other; every third has a template."""
    rows = documents(n, seed=seed)
    template = " ".join(WORDS[:30])
    hosts = ("www.one.example.org", "two.example.net", "mirror.example.com:8080", "three.example.org")
    for i, row in enumerate(rows):
        row["url"] = None if i % 17 == 0 else f"https://{hosts[i % 4]}/pages/{i // 4 % 60}.html"
        if i % 3 == 0:
            row["text"] = f"{template} {row['text']} {row['id']}"
    return rows


@pytest.fixture(scope="session")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """One run that many tests look at."""
    return run_over(tmp_path_factory.mktemp("crawl"), crawl())
