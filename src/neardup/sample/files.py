"""The sample on disk.

    pages.jsonl, pages.parquet   id, url, site, language, fetched, title, text
    html/<site>/<path>.html      the pages as files
    pages.warc.gz                the pages as HTTP responses, one gzip member a record
    truth.tsv                    the labelled pairs: a, b, kind, label, why
    README.md                    what it is and what to expect; written last

Every file is written beside its place and renamed into it, the folder of pages too, so a reader finds
the old sample or the new one but never half a file. The same seed and scale give the same bytes
(pages.parquet: with the same pyarrow).
"""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from neardup.atomic import appearing
from neardup.errors import OutputError
from neardup.sample.corpus import documents
from neardup.sample.model import LabelledPair, SampleDocument
from neardup.sample.truth import pairs

__all__ = ["COLUMNS", "html_path", "write"]

#: The columns of pages.jsonl and pages.parquet, in order.
COLUMNS = ("id", "url", "site", "language", "fetched", "title", "text")


def write(folder: Path, *, seed: int = 1, scale: float = 1.0) -> dict[str, int]:
    """Write the sample into a folder, which is made if need be; return how many there are of what.

    The files named above are replaced, and so is the folder `html` of an older sample. A folder `html`
    without a truth.tsv beside it is someone else's: OutputError.
    """
    folder = Path(folder)
    if (folder / "html").exists() and not (folder / "truth.tsv").exists():
        raise OutputError(f"{folder / 'html'} is not part of a sample; choose an empty folder")
    pages = list(documents(seed=seed, scale=scale))
    truth = list(pairs(pages))
    folder.mkdir(parents=True, exist_ok=True)
    _write_jsonl(folder / "pages.jsonl", pages)
    _write_parquet(folder / "pages.parquet", pages)
    _write_warc(folder / "pages.warc.gz", pages)
    _write_truth(folder / "truth.tsv", truth)
    _write_html(folder / "html", pages)
    _write_text(folder / "README.md", _readme(pages, truth, seed=seed, scale=scale))
    return _counts(pages, truth)


def _counts(pages: Sequence[SampleDocument], truth: Sequence[LabelledPair]) -> dict[str, int]:
    labels = Counter(pair.label for pair in truth)
    return {
        "documents": len(pages),
        "originals": sum(page.original == page.id for page in pages),
        "sites": len({page.site for page in pages}),
        "languages": len({page.language for page in pages}),
        "characters": sum(len(page.text) for page in pages),
        "duplicate_pairs": labels["duplicate"],
        "different_pairs": labels["different"],
    }


def _write_text(path: Path, text: str) -> None:
    with appearing(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")


def _row(page: SampleDocument) -> dict[str, str]:
    return {column: getattr(page, column) for column in COLUMNS}


def _write_jsonl(path: Path, pages: Sequence[SampleDocument]) -> None:
    _write_text(path, "".join(json.dumps(_row(page), ensure_ascii=False) + "\n" for page in pages))


def _write_parquet(path: Path, pages: Sequence[SampleDocument]) -> None:
    pyarrow: Any = import_module("pyarrow")
    parquet: Any = import_module("pyarrow.parquet")
    schema = pyarrow.schema([(column, pyarrow.string()) for column in COLUMNS])
    table = pyarrow.Table.from_pylist([_row(page) for page in pages], schema=schema)
    with appearing(path) as draft:
        parquet.write_table(table, draft, compression="zstd")


def _write_truth(path: Path, truth: Sequence[LabelledPair]) -> None:
    rows = (f"{pair.a}\t{pair.b}\t{pair.kind}\t{pair.label}\t{pair.why}\n" for pair in truth)
    _write_text(path, "a\tb\tkind\tlabel\twhy\n" + "".join(rows))


def _write_html(folder: Path, pages: Sequence[SampleDocument]) -> None:
    with appearing(folder) as draft:
        for page in pages:
            path = draft / html_path(page)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(page.html, encoding="utf-8", newline="\n")


def html_path(page: SampleDocument) -> Path:
    """Where a page lies under html/: its site and path, the query folded into the file name."""
    address = urlsplit(page.url)
    path = Path(page.site, *address.path.strip("/").split("/"))
    query = address.query.partition("=")[2][:8]
    return path.with_stem(f"{path.stem}-{query}") if query else path


def _write_warc(path: Path, pages: Sequence[SampleDocument]) -> None:
    with warnings.catch_warnings():
        # fastwarc 1.1 warns about its own legacy names when it is imported
        warnings.simplefilter("ignore", DeprecationWarning)
        from fastwarc.stream_io import GzipWriter

    # A new writer for each record starts a new gzip member, so that a reader can seek to a record.
    with appearing(path) as draft, draft.open("wb") as file:
        for page in pages:
            with GzipWriter(file) as stream:
                _write_response(stream, page)


def _write_response(stream: Any, page: SampleDocument) -> None:
    from fastwarc.warc import WarcRecord, WarcRecordType

    body = page.html.encode()
    status = "404 Not Found" if page.text.startswith("404") else "200 OK"
    lines = (
        f"HTTP/1.1 {status}",
        "Content-Type: text/html; charset=utf-8",
        f"Content-Length: {len(body)}",
        "",
        "",
    )
    record = WarcRecord()
    record.init_headers(WarcRecordType.response, f"uuid:{_record_uuid(page.id)}".encode())
    record.record_date = datetime.fromisoformat(page.fetched)
    record.headers["WARC-Target-URI"] = page.url
    record.is_http = True
    record.set_bytes_content("\r\n".join(lines).encode() + body)
    record.write(stream, checksum_data=True)


def _record_uuid(name: str) -> UUID:
    return UUID(bytes=sha256(name.encode()).digest()[:16], version=4)


def _readme(pages: Sequence[SampleDocument], truth: Sequence[LabelledPair], *, seed: int, scale: float) -> str:
    counts = _counts(pages, truth)
    kinds = Counter(page.kind for page in pages)
    rows = "".join(f"| {kind} | {number} | {_meaning(kind)} |\n" for kind, number in sorted(kinds.items()))
    classes = sorted(Counter((pair.label, pair.kind) for pair in truth).items())
    pair_rows = "".join(f"| {label} | {kind} | {number} |\n" for (label, kind), number in classes)
    return _README.format(**counts, seed=seed, scale=scale, rows=rows, pair_rows=pair_rows)


def _meaning(kind: str) -> str:
    return _MEANING.get(kind) or _MEANING[kind.partition("/")[0]]


_MEANING = {
    "original": "a page that was not derived from another",
    "long": "a chapter of a book, about 100 kB",
    "exact": "the same text under another address",
    "mirror": "the same page on another host, whose name is in header and footer",
    "session-id": "a session id in the links and in a visible line",
    "time-stamp": "a printed date and time and a visitor counter",
    "edited/light": "about one sentence in twenty changed",
    "edited/medium": "about one sentence in five changed",
    "edited/heavy": "about two sentences in three changed; in no labelled pair",
    "reformatted": "the same words in other characters",
    "excerpt/most": "the page without its last tenth",
    "excerpt/passage": "six sentences quoted on another site; in no labelled pair",
    "template": "filled in by a program: its neighbours differ in the item only",
    "boilerplate": "long navigation and legal lines around a short article",
    "short": "a few words, such as an error message",
    "empty": "no visible text; in no labelled pair",
}

_README = """\
# A small corpus of web pages with labelled near-duplicates

{documents} documents in {languages} languages on {sites} invented sites, made by `neardup.sample` with seed
{seed} at scale {scale}. All text was put together from sentence frames: nothing in it was copied, and
the names are invented. The same seed and scale give the same files.

| file | content |
|---|---|
| pages.jsonl, pages.parquet | id, url, site, language, fetched, title, text (what a reader sees) |
| html/ | the pages as files, by site |
| pages.warc.gz | the pages as HTTP responses |
| truth.tsv | the labelled pairs: a, b, kind, label, why |

## Documents

| kind | documents | what it is |
|---|---:|---|
{rows}
## Labelled pairs

{duplicate_pairs} pairs are duplicates: two documents that a reader would call the same page.
{different_pairs} pairs are different, though most of them look alike. The duplicates are complete, except for
the kinds that are in no labelled pair: about those, readers disagree.

| label | kind | pairs |
|---|---|---:|
{pair_rows}
## What to expect

- `exact`, and most of `mirror`, `session-id`, `time-stamp` and `edited/light`, lie above a resemblance of 0.8
  (sets of five consecutive words; five characters where words are not parted by spaces).
- `reformatted` lies there too, but only after Unicode normalisation, case folding and the removal of soft
  hyphens; without them capitals, full-width letters or combining accents hide the likeness.
- `edited/medium` lies lower: to find them the threshold must come down, and then `template` pages come in.
  No threshold on the whole text parts the two.
- `empty` and `short` pages must not be merged with everything else, nor stop the run.
"""
