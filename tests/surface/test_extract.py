"""HTML → text: what a reader sees, whatever the encoding, and never more than linear time."""

import itertools
import json
import os
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import neardup
from neardup import nesting
from neardup.errors import RecipeError
from neardup.sources.base import Documents
from neardup.text import extract, reader, workers
from neardup.text.batches import readable
from neardup.text.settings import TextSettings
from neardup.text.workers import PageExtractor
from tests.corpus import documents


@pytest.mark.parametrize(
    ("page", "charset", "text"),
    [
        ("<p>Straße".encode("latin-1"), "latin-1", "Straße"),
        (b'<meta charset="windows-1251"><p>' + "Привет".encode("cp1251"), None, "Привет"),
        ("<p>naïve café".encode(), None, "naïve café"),
        ("<p>日本語".encode("utf-16"), None, "日本語"),
        (b"<p>plain", "no-such-encoding", "plain"),
        (b"<p>plain", "zlib", "plain"),
        (b"<script>var x = 1</script><style>p {}</style><p>seen<!-- not seen -->", None, "seen"),
        (b"", None, ""),
        (b"\x00\x00", None, ""),
    ],
)
def test_visible_text(page, charset, text):
    read, links = extract.read_page(page, charset=charset)
    assert links is None
    assert read.replace("\x00", "").replace("�", "").strip() == text


@pytest.mark.parametrize(
    "page",
    [
        b"<ul><li>" * 50_000,
        b"<ul></b><li></b>" * 40_000,
        "<ul><li>".encode("utf-16") * 40_000,
        b"<!--" + b"<script>" * 50_000,
        b"<script>" * 50_000,
        b"<" * 200_000,
        b"<p>&#" + b"9" * 5000 + b";" + b"<b>" * 21_000,
        b"<div " * 100_000,
        b'<a href="' * 30_000,
    ],
)
@pytest.mark.parametrize("form", ["all", "web"])
def test_hostile_pages(page, form):
    began = time.perf_counter()
    extract.read_page(page, extract=form, links=True)
    assert time.perf_counter() - began < 10


def test_main_content_that_is_next_to_nothing_is_not_believed():
    article = " ".join(f"word{i}" for i in range(2000))
    page = f"<body><main><h1>Terms</h1></main><div class='footer'>{article}</div></body>".encode()
    assert "word1999" in extract.read_page(page, extract="main")[0]


def test_a_page_of_very_many_tags_keeps_its_words():
    cells = "".join(f"<td>cell{i}</td>" for i in range(15_000))
    page = f"<title>t</title><script>no()</script><p>Fish &amp; chips</p><table>{cells}</table><!-- no --> end"
    text, _ = extract.read_page(page.encode())
    assert page.count("<") > nesting.MOST_TAGS
    assert "Fish & chips" in text
    assert "cell14999" in text
    assert text.split()[-1] == "end"
    assert "no" not in text.split()


FORMS = [TextSettings(extract=form, links=links) for form in ("all", "main", "web") for links in (False, True)]


@pytest.mark.parametrize("settings", FORMS, ids=lambda s: f"{s.extract}-{s.links}")
def test_the_form_asked_for(settings):
    page = "<title>T</title><p>see http://a-b.example/ <img src='/i/é.png'><a href='c#d'>é</a>".encode()
    text, links = PageExtractor(settings)([(page, "utf-8", "http://www.example.org/x/y")])[0]
    assert links == (["http://www.example.org/x/c"] if settings.links else None)
    assert ("ximgxc3xa9x2epng" in text) == (settings.extract == "web")
    assert ("xurlax2db.example" in text) == (settings.extract == "web")
    assert text.split()[-1] == "é"


@pytest.mark.parametrize("settings", FORMS[::3], ids=lambda s: s.extract)
def test_workers_give_the_same_texts_and_survive_a_page_that_kills_them(monkeypatch, settings):
    pages = [(f"<p>page {i} <b>é</b> <a href='{i}'>x</a>".encode(), None, f"http://h.example/{i}/") for i in range(20)]
    here, there = reader.read_pages(pages, settings.extract, settings.links), PageExtractor(settings, workers=2)
    assert there(pages) == here
    assert there(pages) == here

    program = (
        "import sys, os; sys.path += sys.argv[1:]; from neardup.text import reader\n"
        "really = reader.read_page\n"
        "reader.read_page = lambda page, **k: os.abort() if b'poison' in page else really(page, **k)\n"
        "reader.main()"
    )
    monkeypatch.setattr(workers, "_PROGRAM", program)
    poisoned = [*pages[:3], (b"<p>poison", None, None), *pages[3:]]
    read = PageExtractor(settings, workers=1)(poisoned)
    assert read[3] is None
    assert read[:3] + read[4:] == here


def test_a_page_that_the_parser_gives_up_has_no_text(monkeypatch):
    def refuse(page, **_settings):
        if b"odd" in page:
            raise ValueError("unknown reasons")
        return "text", None

    monkeypatch.setattr(reader, "read_page", refuse)
    read = reader.read_pages([(b"fine", None, None), (b"odd", None, None)], "all", False)
    assert read == [("text", None), None]


def test_a_fork_has_workers_of_its_own():
    """Two processes that ask one worker would get each other's texts."""
    extract = PageExtractor(TextSettings())
    assert extract([(b"<p>before", None, None)]) == [("before", None)]
    child = os.fork()
    if child == 0:
        try:
            pages = [(b"<p>child %d" % n, None, None) for n in range(200)]
            os._exit(0 if all(extract([page]) == [(page[0][3:].decode(), None)] for page in pages) else 1)
        finally:
            os._exit(2)
    for n in range(200):
        assert extract([(b"<p>parent %d" % n, None, None)]) == [(f"parent {n}", None)]
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


_PARENT = """
import sys
{code}
from neardup.text import workers
assert workers.confinement(), "no worker"
"""

WAYS = {
    "dedup": "import neardup; neardup.dedup([{'id': '1', 'text': '<p>a rose'}], html=True)",
    "one thread": "import neardup; neardup.dedup([{'id': '1', 'text': '<p>a'}], html=True, threads=1)",
    "group": "import neardup; neardup.group([{'id': '1', 'html': '<p>a rose is'}, {'id': '2', 'html': '<p>a rose'}])",
}


@pytest.mark.parametrize("way", WAYS)
def test_pages_are_always_read_by_a_worker(way):
    """However few they are: the parser never sees a page in the process of the user."""
    refuse = "from neardup.text import reader, extract\ndef no(*a, **k): raise AssertionError('read here')\n"
    refuse += "reader.read_page = extract.read_page = no\n"
    run = subprocess.run(
        [sys.executable, "-c", _PARENT.format(code=refuse + WAYS[way])], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr


def batch_of(batch):
    return [bytes(batch.data[a:b]) for a, b in itertools.pairwise(batch.offsets)]


TEXTS = [
    b"see www.a-b.org",
    "é http://x.org/c-d!".encode(),
    None,
    b"\xff HTTP://a-b.org",
    b"<p>www.a-b.org <img src=i.png>",
]
WEB = [b"see www.xurlax2db.org", "é http://x.org/xurlcx2dd!".encode(), b"", b"\xff HTTP://xurlax2db.org"]


@pytest.mark.parametrize("kind", [pa.large_binary(), pa.binary()])
def test_the_web_form_of_documents_that_are_not_html(kind):
    documents = Documents(pa.array(TEXTS, kind), np.arange(5), html=np.arange(5) == 4)
    text, failed = readable(documents, False, PageExtractor(TextSettings(extract="web", links=True)))
    *plain, page = batch_of(text)
    assert plain == WEB
    assert page.split() == b"www.xurlax2db.org ximgix2epng".split()
    assert not failed.any()
    assert text.links is not None
    assert batch_of(text.links) == [b""] * 5
    none, _ = readable(replace(documents, html=None), False, PageExtractor(TextSettings(extract="web")))
    assert batch_of(none)[:4] == WEB
    assert none.links is None
    other, _ = readable(replace(documents, html=None), False, PageExtractor(TextSettings()))
    assert batch_of(other) == [text or b"" for text in TEXTS]


def test_a_slice_of_strings_without_urls_stays_as_it_is():
    texts = pa.array(["www.a-b.org", "fine", "awww. so://"]).slice(1)
    text, _ = readable(Documents(texts, np.arange(2)), False, PageExtractor(TextSettings(extract="web")))
    assert batch_of(text) == [b"fine", b"awww. so://"]


def test_urls_reach_the_pages_that_are_html():
    page = b"<img src=http://h.example/i.png><a href=a></a><a href=/b></a>"
    documents = Documents(pa.array([b"plain", page, page]), np.arange(3), html=np.array([False, True, True]))
    urls = pa.array(["http://h.example/", None, "http://h.example/x/y"])
    text, _ = readable(documents, False, PageExtractor(TextSettings(extract="web", links=True)), urls)
    assert text.links is not None
    assert batch_of(text.links) == [b"", b"a\n/b", b"http://h.example/x/a\nhttp://h.example/b"]
    assert batch_of(text)[2].split() == [b"ximgix2epng"]
    assert batch_of(text)[1].split()[0].startswith(b"ximghttpx3ax2fx2fh")


def test_the_web_form_is_of_words():
    with pytest.raises(RecipeError, match="choose tokens"):
        TextSettings(tokens="lines", extract="web")
    with pytest.raises(RecipeError, match="choose all, main or web"):
        TextSettings(extract="some")  # type: ignore[arg-type]


def test_extraction_in_workers_gives_the_same_answer(tmp_path, monkeypatch):
    for i, row in enumerate(documents(60)):
        (tmp_path / f"{i:02d}.html").write_text(f"<title>x</title><p>{row['text']}</p>")
    expected = neardup.dedup(tmp_path).removed
    monkeypatch.setattr("neardup.engines.local._WORTH_WORKERS", 0)
    assert neardup.dedup(tmp_path, threads=2).removed.equals(expected)


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet", "memory"])
def test_a_page_in_a_string_is_decoded_already(tmp_path, form):
    """Whatever encoding it names: that was the one of the bytes that it came as."""
    page = "<meta charset='{}'><p>Größe und Übermut sind schöne Wörter für müde Löwen in der Wüste am Äquator</p>"
    table = pa.table({"id": ["one", "other"], "html": [page.format("iso-8859-1"), page.format("utf-8")]})
    source = table if form == "memory" else tmp_path / f"pages.{form}"
    if form == "jsonl":
        source.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    elif form == "csv":
        csv.write_csv(table, source)
    elif form == "parquet":
        pq.write_table(table, source)
    found = neardup.dedup(source, recipe="default", text_field="html", html=True)
    assert found.removed.column("relation").to_pylist() == ["identical"]


@pytest.mark.parametrize("said", [True, False])
def test_pages_that_are_taken_for_texts_are_noticed(said):
    pages = [f"\n<!DOCTYPE html><title>{i}</title><p>words of page {i}" for i in range(3)]
    found = neardup.dedup([{"id": str(i), "text": page} for i, page in enumerate(pages)], html=None if said else True)
    assert any("look like HTML" in sentence for sentence in found.said) == said
