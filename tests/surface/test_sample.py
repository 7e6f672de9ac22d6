"""The sample corpus: deterministic, well formed, and labelled the way its texts really are.

Resemblance is measured here with an implementation of its own, written from the definition: the
Jaccard coefficient of the sets of five consecutive tokens, where a token is a word, or a character in
scripts that do not part words by spaces.
"""

from __future__ import annotations

import hashlib
import json
import re
import statistics
import subprocess
import sys
import unicodedata
from collections import Counter
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest

from neardup import sample
from neardup.errors import OutputError, UsageError
from neardup.sample.corpus import TOPICS
from neardup.sample.truth import UNLABELLED

BY_CHARACTER = {"zh", "ja", "th", "my"}
SURROUNDINGS_ONLY = ("exact", "mirror", "session-id", "time-stamp")


@pytest.fixture(scope="module")
def corpus() -> list[sample.SampleDocument]:
    return list(sample.documents())


@pytest.fixture(scope="module")
def truth(corpus: list[sample.SampleDocument]) -> list[sample.LabelledPair]:
    return list(sample.pairs(corpus))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sample") / "out"
    sample.write(path)
    return path


def naive_tokens(text: str, language: str) -> list[str]:
    text = unicodedata.normalize("NFKC", text.replace("\u00ad", "")).casefold()
    is_word = [unicodedata.category(c)[0] in "LMN" for c in text]
    if language in BY_CHARACTER:
        return [c for c, word in zip(text, is_word, strict=True) if word]
    return "".join(c if word else " " for c, word in zip(text, is_word, strict=True)).split()


def naive_shingles(text: str, language: str) -> frozenset[tuple[str, ...]]:
    tokens = naive_tokens(text, language)
    return frozenset(tuple(tokens[i : i + 5]) for i in range(max(1, len(tokens) - 4)))


@pytest.fixture(scope="module")
def resemblances(
    corpus: list[sample.SampleDocument], truth: list[sample.LabelledPair]
) -> list[tuple[sample.LabelledPair, float]]:
    """Every labelled pair with its exact resemblance."""
    by_id = {document.id: document for document in corpus}

    @cache
    def shingles(name: str) -> frozenset[tuple[str, ...]]:
        return naive_shingles(by_id[name].text, by_id[name].language)

    return [(pair, _jaccard(shingles(pair.a), shingles(pair.b))) for pair in truth]


def _jaccard(a: frozenset[tuple[str, ...]], b: frozenset[tuple[str, ...]]) -> float:
    return len(a & b) / len(a | b)


class VisibleText(HTMLParser):
    """The text of the body, the way a browser would show it."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.in_body = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.in_body |= tag == "body"
        self.parts.append(" " if tag in {"p", "td", "li", "h1", "h2", "br", "nav", "footer"} else "")

    def handle_data(self, data: str) -> None:
        if self.in_body:
            self.parts.append(data)


# -- the documents -------------------------------------------------------------------------------


def test_size_and_ids(corpus: list[sample.SampleDocument]) -> None:
    assert 600 <= len(corpus) <= 800
    assert len({document.id for document in corpus}) == len(corpus)
    assert len({document.url for document in corpus}) == len(corpus)
    assert all(re.fullmatch(r"[a-z0-9-]+", document.id) for document in corpus)


def test_every_original_comes_first_and_exists(corpus: list[sample.SampleDocument]) -> None:
    seen: set[str] = set()
    for document in corpus:
        seen.add(document.id)
        assert document.original in seen


def test_all_kinds_and_languages_are_there(corpus: list[sample.SampleDocument]) -> None:
    kinds = Counter(document.kind for document in corpus)
    expected = {
        *("original", "long", "exact", "mirror", "session-id", "time-stamp", "boilerplate", "short", "empty"),
        *("edited/light", "edited/medium", "edited/heavy", "excerpt/most", "excerpt/passage"),
        *("reformatted/case", "reformatted/punctuation", "reformatted/quotes", "reformatted/whitespace"),
        *("reformatted/nfd", "reformatted/soft-hyphens", "reformatted/full-width"),
        *("template/product", "template/weather", "template/card", "template/job"),
    }
    assert expected <= set(kinds)
    assert all(kinds[kind] >= 3 for kind in expected - {"long"}), kinds
    languages = {"en", "de", "fr", "ru", "el", "ar", "he", "hi", "zh", "ja", "th", "ko", "my"}
    assert {document.language for document in corpus} == languages
    assert {topic.language for topic in TOPICS} == languages


def test_only_reserved_hosts(corpus: list[sample.SampleDocument]) -> None:
    assert all(re.search(r"(^|\.)(example\.org|example\.net|example)$", document.site) for document in corpus)


def test_originals_are_nfc_and_have_no_empty_hole(corpus: list[sample.SampleDocument]) -> None:
    for document in corpus:
        assert not set("{}") & set(document.text), document.id
        if document.kind == "original":
            assert unicodedata.is_normalized("NFC", document.text), document.id


def test_changes_change_something(corpus: list[sample.SampleDocument]) -> None:
    text = {document.id: document.text for document in corpus}
    for document in corpus:
        if document.original != document.id:
            assert (document.text == text[document.original]) == (document.kind == "exact"), document.id


def test_html_shows_the_text_and_nothing_else(corpus: list[sample.SampleDocument]) -> None:
    for document in corpus:
        parser = VisibleText()
        parser.feed(document.html)
        assert "".join(parser.parts).split() == document.text.split(), document.id


def test_the_long_document(corpus: list[sample.SampleDocument]) -> None:
    (chapter,) = (document for document in corpus if document.kind == "long")
    assert 80_000 <= len(chapter.text.encode()) <= 120_000


def test_the_same_seed_gives_the_same_documents(corpus: list[sample.SampleDocument]) -> None:
    assert list(sample.documents(seed=1)) == corpus
    other = {document.id: document.text for document in sample.documents(seed=2)}
    assert sum(other[document.id] != document.text for document in corpus) > 0.9 * len(corpus)


def test_a_larger_scale_keeps_the_documents(corpus: list[sample.SampleDocument]) -> None:
    small = {document.id: document.text for document in sample.documents(scale=0.5)}
    large = {document.id: document.text for document in corpus}
    assert len(small) < 0.75 * len(large)
    assert all(large[name] == text for name, text in small.items())


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), float("inf")])
def test_a_scale_must_be_a_positive_number(scale: float) -> None:
    with pytest.raises(UsageError, match="scale"):
        next(sample.documents(scale=scale))


def test_import_is_cheap() -> None:
    """It loads neither pyarrow nor fastwarc, beyond what `import neardup` itself loads."""
    code = "import sys, {}; print(*{{'pyarrow', 'fastwarc', 'numpy'}} & set(sys.modules))"

    def loaded(module: str) -> set[str]:
        command = [sys.executable, "-c", code.format(module)]
        return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())

    assert loaded("neardup.sample") <= loaded("neardup")


# -- the labels ----------------------------------------------------------------------------------


def test_pairs_are_proper(corpus: list[sample.SampleDocument], truth: list[sample.LabelledPair]) -> None:
    kind = {document.id: document.kind for document in corpus}
    assert len({frozenset((pair.a, pair.b)) for pair in truth}) == len(truth)
    for pair in truth:
        assert pair.a != pair.b
        assert pair.why
        assert not {kind[pair.a], kind[pair.b]} & UNLABELLED


def test_light_duplicates_resemble(resemblances: list[tuple[sample.LabelledPair, float]]) -> None:
    kinds = (*SURROUNDINGS_ONLY, "edited/light")
    light = [value for pair, value in resemblances if pair.label == "duplicate" and pair.kind in kinds]
    assert len(light) > 100
    assert sum(value >= 0.8 for value in light) >= 0.9 * len(light)
    assert min(light) > 0.6


def test_reformatted_pages_are_the_same_words(resemblances: list[tuple[sample.LabelledPair, float]]) -> None:
    values = {pair.b: value for pair, value in resemblances if pair.kind.startswith("reformatted/")}
    assert len(values) > 40
    assert min(values.values()) >= 0.95, min(values, key=lambda name: values[name])


def test_every_duplicate_shares_a_good_part(resemblances: list[tuple[sample.LabelledPair, float]]) -> None:
    values = [value for pair, value in resemblances if pair.label == "duplicate"]
    assert min(values) > 0.3
    assert statistics.median(values) > 0.8


def test_different_pages_do_not_resemble(resemblances: list[tuple[sample.LabelledPair, float]]) -> None:
    for pair, value in resemblances:
        if pair.label == "different" and not pair.kind.startswith("template/"):
            assert value < 0.8, pair


def test_originals_share_few_shingles(resemblances: list[tuple[sample.LabelledPair, float]]) -> None:
    values = [value for pair, value in resemblances if pair.kind == "same-site"]
    assert len(values) > 80
    assert statistics.mean(values) < 0.1
    assert max(values) < 0.3  # Burmese, by single characters; by words none reaches 0.15


def test_template_pages_are_hard(resemblances: list[tuple[sample.LabelledPair, float]]) -> None:
    """Some lie above some duplicates, so no threshold on the whole text parts the two."""
    templates = [value for pair, value in resemblances if pair.kind.startswith("template/")]
    medium = [value for pair, value in resemblances if pair.kind == "edited/medium"]
    assert min(templates) > 0.5
    assert max(templates) < 0.9
    assert statistics.median(templates) > min(medium)


# -- the files -----------------------------------------------------------------------------------


def _digests(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_same_bytes_twice(folder: Path, tmp_path: Path) -> None:
    sample.write(tmp_path)
    assert _digests(tmp_path) == _digests(folder)


def test_writing_again_replaces_and_leaves_nothing_behind(tmp_path: Path) -> None:
    sample.write(tmp_path, scale=0.5)
    sample.write(tmp_path, scale=0.2)
    pages = {document.id: document for document in sample.documents(scale=0.2)}
    names = {"README.md", "html", "pages.jsonl", "pages.parquet", "pages.warc.gz", "truth.tsv"}
    assert {path.name for path in tmp_path.iterdir()} == names
    assert len(list((tmp_path / "html").rglob("*.html"))) == len(pages)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample.write(tmp_path, scale=0.2)
    before = _digests(tmp_path)

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("neardup.sample.files._write_response", fail)
    with pytest.raises(OutputError, match="disk full"):
        sample.write(tmp_path, scale=0.2)
    assert _digests(tmp_path) == before


def test_a_strange_html_folder_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "html").mkdir()
    with pytest.raises(OutputError, match="choose an empty folder"):
        sample.write(tmp_path, scale=0.2)
    assert [path.name for path in tmp_path.iterdir()] == ["html"]


def test_jsonl_and_parquet_agree(folder: Path, corpus: list[sample.SampleDocument]) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    raw = (folder / "pages.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in raw.split("\n")[:-1]]
    assert not re.search(r"\\u[0-9a-f]{4}", raw)
    assert [row["text"] for row in rows] == [document.text for document in corpus]
    assert list(rows[0]) == ["id", "url", "site", "language", "fetched", "title", "text"]
    assert parquet.read_table(folder / "pages.parquet").to_pylist() == rows


def test_html_files_are_the_pages(folder: Path, corpus: list[sample.SampleDocument]) -> None:
    files = [path.read_bytes() for path in (folder / "html").rglob("*.html")]
    assert Counter(files) == Counter(document.html.encode() for document in corpus)


def test_warc_is_readable(folder: Path, corpus: list[sample.SampleDocument]) -> None:
    warc = pytest.importorskip("fastwarc.warc")
    with (folder / "pages.warc.gz").open("rb") as file:
        archive = warc.ArchiveIterator(file, record_types=warc.WarcRecordType.response, verify_digests=True)
        records = [(record.headers.to_dict(), record.reader.read()) for record in archive]
    assert len(records) == len(corpus)
    for (headers, body), document in zip(records, corpus, strict=True):
        assert headers["WARC-Target-URI"] == document.url
        assert headers["WARC-Date"] == document.fetched
        assert body == document.html.encode()
    assert len({headers["WARC-Record-ID"] for headers, _ in records}) == len(corpus)


def test_truth_table(folder: Path, truth: list[sample.LabelledPair]) -> None:
    lines = (folder / "truth.tsv").read_text(encoding="utf-8").splitlines()
    assert lines[0].split("\t") == ["a", "b", "kind", "label", "why"]
    assert lines[1:] == ["\t".join((pair.a, pair.b, pair.kind, pair.label, pair.why)) for pair in truth]


def test_readme_counts_every_kind(folder: Path, corpus: list[sample.SampleDocument]) -> None:
    readme = (folder / "README.md").read_text(encoding="utf-8")
    for kind, number in Counter(document.kind for document in corpus).items():
        assert f"| {kind} | {number} |" in readme


def test_counts_and_size(tmp_path: Path, corpus: list[sample.SampleDocument]) -> None:
    counts = sample.write(tmp_path)
    assert counts["documents"] == len(corpus)
    assert counts["languages"] == 13
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) < 4_200_000
