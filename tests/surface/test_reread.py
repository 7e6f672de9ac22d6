"""Pages whose text is kept between the two readings give the same answer as pages that are parsed twice."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.engines import local, reread
from neardup.text import extract, workers
from neardup.text.batches import TextBatch
from tests.corpus import documents
from tests.naive import markup as naive

PIECES = [
    *("<", ">", "/", "!", "?", "-", "--", "-->", "<!--", "<!-->", " ", "a", "B", "²", "é", "ſ", "İ", "Ⅷ", "\0"),
    *("<script", "<SCRIPT>", "</script>", "</Script", "<style>", "</style>", "<noscript>", "</noscript>", "<template"),
    *("</template>", "<ſcript>", "<é>", "<²>", "<p>", "</p>", "<br/>", "&amp;", "&#1234567890;", "&lt;p>", "text"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_markup_is_stripped_as_from_the_definition(page):
    assert extract.strip_markup(page) == naive.strip_markup(page)


@given(st.lists(st.lists(st.binary(max_size=8), min_size=1, max_size=6), max_size=5), st.data())
def test_texts_come_back_as_they_were(tmp_path_factory, batches, data):
    path = tmp_path_factory.mktemp("texts") / "00000.arrow"
    with reread.keeping(path) as file:
        for batch in batches:
            before = b"what another batch left in the buffer"
            ends = len(before) + np.cumsum([0, *map(len, batch)])
            file.add(TextBatch(np.frombuffer(before + b"".join(batch) + b"more", np.uint8), ends))
    everything = [text for batch in batches for text in batch]
    some = sorted(data.draw(st.sets(st.integers(0, len(everything) - 1)))) if everything else []
    found = [text for part in reread.kept(path, np.array(some, np.int64)) for text in part.to_pylist()]
    assert found == [everything[i] for i in some]


@pytest.fixture
def pages(tmp_path):
    folder = tmp_path / "pages"
    folder.mkdir()
    for number, document in enumerate(documents(60)):
        text = document["text"]
        (folder / f"{number:03}.html").write_text(f"<html><body><main><p>{text}</p></main></body></html>")
        (folder / f"{number:03}-copy.html").write_text(f"<body><main><h1>Once more</h1>{text}</main>")
    return folder


def test_the_answer_is_that_of_reading_twice(pages, tmp_path, monkeypatch):
    parsed = []
    apart = workers.PageExtractor._apart
    monkeypatch.setattr(workers.PageExtractor, "_apart", lambda self, given: parsed.extend(given) or apart(self, given))
    once = neardup.dedup(pages, work=tmp_path / "once")
    assert len(parsed) == len(once.keep) == 120
    assert once.removed.num_rows >= 30
    assert not (tmp_path / "once" / "texts").exists()

    monkeypatch.setattr(local.LocalEngine, "keeps_texts", False)
    twice = neardup.dedup(pages, work=tmp_path / "twice")
    assert len(parsed) > 240
    assert once.removed.equals(twice.removed)


def test_a_run_that_lost_its_texts_reads_the_pages_again(pages, tmp_path, monkeypatch):
    whole = neardup.dedup(pages)

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(local.LocalEngine, "shelve", killed)
        with pytest.raises(KeyboardInterrupt):
            neardup.dedup(pages, work=tmp_path / "work")
    texts = list((tmp_path / "work" / "texts").iterdir())
    assert [path.name for path in texts] == ["00000.arrow"]
    texts[0].unlink()
    assert neardup.dedup(pages, work=tmp_path / "work").removed.equals(whole.removed)


def test_texts_are_kept_for_pages_that_are_read_again_and_for_no_others(pages, tmp_path, monkeypatch):
    kept = []
    monkeypatch.setattr(local, "keeping", lambda path: kept.append(path) or reread.keeping(path))
    neardup.dedup(pages, verify="sketch")
    lines = tmp_path / "lines.jsonl"
    lines.write_text("".join(json.dumps(document) + "\n" for document in documents(20)))
    neardup.dedup(lines)
    assert kept == []
    neardup.dedup(pages)
    assert len(kept) == 1
