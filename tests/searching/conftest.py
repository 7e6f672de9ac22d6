"""Collections to search. Nothing is kept outside the tests' own folders."""

import json
from pathlib import Path

import pytest

from neardup import sample
from neardup.searching import Collection


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def pages(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    sample.write(folder, scale=0.1)
    return folder


@pytest.fixture(scope="session")
def rows(pages) -> list[dict]:
    return [json.loads(line) for line in (pages / "pages.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture(scope="session")
def collection(pages, tmp_path_factory):
    with Collection.open(pages / "pages.jsonl", folder=tmp_path_factory.mktemp("built")) as opened:
        yield opened


@pytest.fixture
def made(tmp_path):
    """Documents → a collection of them."""
    opened = []

    def make(documents: list[dict | str], **options) -> Collection:
        lines = [{"id": str(n), "text": d} if isinstance(d, str) else d for n, d in enumerate(documents)]
        path = tmp_path / "documents.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        opened.append(Collection.open(path, folder=tmp_path / "built", **options))
        return opened[-1]

    yield make
    for one in opened:
        one.close()
