"""HTML → text: what a reader sees, whatever the encoding, and never more than linear time."""

import subprocess
import sys
import time

import pytest

import neardup
from neardup.text import extract, workers
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
    assert extract.visible_text(page, charset=charset).replace("\x00", "").replace("�", "").strip() == text


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
def test_hostile_pages(page):
    began = time.perf_counter()
    extract.visible_text(page)
    assert time.perf_counter() - began < 10


def test_main_content_that_is_next_to_nothing_is_not_believed():
    article = " ".join(f"word{i}" for i in range(2000))
    page = f"<body><main><h1>Terms</h1></main><div class='footer'>{article}</div></body>".encode()
    assert "word1999" in extract.visible_text(page, main=True)


def test_a_page_of_very_many_tags_keeps_its_words():
    cells = "".join(f"<td>cell{i}</td>" for i in range(15_000))
    page = f"<title>t</title><script>no()</script><p>Fish &amp; chips</p><table>{cells}</table><!-- no --> end"
    text = extract.visible_text(page.encode())
    assert page.count("<") > extract.MOST_TAGS
    assert "Fish & chips" in text
    assert "cell14999" in text
    assert text.split()[-1] == "end"
    assert "no" not in text.split()


def test_workers_give_the_same_texts_and_survive_a_page_that_kills_them(monkeypatch):
    pages = [(f"<p>page {i} <b>é</b>".encode(), None) for i in range(20)]
    here, there = PageExtractor(main=False), PageExtractor(main=False, workers=2)
    assert there(pages) == here(pages)
    assert there(pages) == here(pages)

    def fragile():
        code = (
            "import os, neardup.text.workers as w\n"
            "really = w.visible_text\n"
            "w.visible_text = lambda page, **k: os.abort() if b'poison' in page else really(page, **k)\n"
            "w._work()"
        )
        return subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    monkeypatch.setattr(workers, "_start", fragile)
    poisoned = [*pages[:3], (b"<p>poison", None), *pages[3:]]
    texts = PageExtractor(main=False, workers=1)(poisoned)
    assert texts[3] is None
    assert texts[:3] + texts[4:] == here(pages)


def test_a_page_that_the_parser_gives_up_has_no_text(monkeypatch):
    def refuse(page, **_settings):
        if b"odd" in page:
            raise ValueError("unknown reasons")
        return "text"

    monkeypatch.setattr(workers, "visible_text", refuse)
    assert PageExtractor(main=False)([(b"fine", None), (b"odd", None)]) == ["text", None]


def test_extraction_in_workers_gives_the_same_answer(tmp_path, monkeypatch):
    for i, row in enumerate(documents(60)):
        (tmp_path / f"{i:02d}.html").write_text(f"<title>x</title><p>{row['text']}</p>")
    expected = neardup.dedup(tmp_path).removed
    monkeypatch.setattr("neardup.engines.local._WORTH_WORKERS", 0)
    assert neardup.dedup(tmp_path, threads=2).removed.equals(expected)
