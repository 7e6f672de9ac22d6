"""How a collection becomes searchable: once, whole, from every format, and again where the inputs are others."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.errors import InputError, MissingExtra, OutputError, UsageError
from neardup.gather import Reading
from neardup.refine import signatures
from neardup.searching import Called, Collection, engine, inputs
from tests.sources.warcfile import crawl, members

BUILDS = """
import os, signal, sys
from neardup.searching import Collection, building

if sys.argv[3] == "dies":
    building._Progress.done = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
with Collection.open(sys.argv[1], folder=sys.argv[2], say=lambda s: print(s, flush=True)) as collection:
    print("found", collection.search("words").total)
"""


def build(source: Path, folder: Path, how: str = "lives") -> subprocess.Popen:
    command = [sys.executable, "-c", BUILDS, str(source), str(folder), how]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def written(path: Path, texts: list[str]) -> Path:
    path.write_text("".join(json.dumps({"id": f"d{n}", "text": text}) + "\n" for n, text in enumerate(texts)))
    return path


def visible(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir() if not p.name.endswith(".lock"))


def test_every_format_of_the_sample_is_read(pages, rows, tmp_path):
    """The same pages as text, as HTML files, and as the records of a crawl."""
    with Collection.open(pages / "pages.parquet", folder=tmp_path) as table:
        assert table.documents == len(table) == len(rows)
        for row in rows[:5]:
            full = table.get(row["id"])
            assert (full.text, full.url) == (row["text"], row["url"])
    with Collection.open(pages / "html", folder=tmp_path) as files:
        assert files.documents == len(rows)
        hit = files.search("mariners notice harbour", most=1).hits[0]
        assert hit.url is None
        assert hit.id.endswith(".html")
        source = (pages / "html" / hit.id).read_text("utf-8")
        assert hit.title in source.partition("</title>")[0]
    with Collection.open(pages / "pages.warc.gz", folder=tmp_path) as records:
        assert records.documents == gzip.decompress((pages / "pages.warc.gz").read_bytes()).count(b"HTTP/1.1 200")
        other = records.search("mariners notice harbour", most=1).hits[0]
        assert other.url == next(row["url"] for row in rows if row["id"] == Path(hit.id).stem)
        assert other.title == hit.title
        assert other.signature == hit.signature


def test_texts_and_signatures_are_those_of_the_documents(made):
    texts = ["The first text, with a few words.", "", "Ein zweiter Text\nmit zwei Zeilen.", "三つ目"]
    collection = made(texts)
    assert collection.texts(["2", "missing", "0", "1"]) == [texts[2], None, texts[0], ""]
    assert collection.get("missing") is None
    assert collection.get("\ud800") is None
    hits = [collection.search(word).hits[0] for word in ("first", "zweiter", "三つ")]
    assert [hit.signature for hit in hits] == [row.tobytes() for row in signatures([texts[h.place] for h in hits])]
    long = [{"id": str(n), "text": f"{word} " * 400_000} for n, word in enumerate(["one", "two", "three"])]
    hits = [made(long).search(word).hits[0] for word in ("one", "two", "three")]
    assert [hit.signature for hit in hits] == [row.tobytes() for row in signatures([row["text"] for row in long])]


def test_titles(made, tmp_path):
    collection = made(
        [
            {"id": "a", "text": "word " * 50, "title": "  Given\n title\x07 "},
            {"id": "b", "text": "\n\n  first words of the text " + "and more " * 50, "title": ""},
            {"id": "c", "text": "", "title": None},
            {"id": "d", "text": "日" * 300, "title": " "},
            {"id": "e", "text": "x", "title": "t" * 100_000},
            {"id": "f", "text": "\ufeff\n ---\n\tA heading,  of its own \r\nThen the text.\n"},
            {"id": "g", "text": "…\n---\n"},
        ]
    )
    titles = {id: collection.get(id).title for id in "abcdefg"}
    assert titles["a"] == "Given title"
    assert titles["b"].startswith("first words of the text and more")
    assert titles["b"].endswith("more…")
    assert titles["c"] == "c"
    assert titles["d"] == "日" * 79 + "…"
    assert len(titles["e"]) == 200
    assert titles["f"] == "A heading, of its own"
    assert titles["g"] == "g"
    folder = tmp_path / "html"
    folder.mkdir()
    for name, head in {
        "plain": b"<title>One &amp; <b>two</title>",
        "upper": b"<HEAD><TITLE lang='en'\n>Upper</TITLE></HEAD>",
        "none": b"<p>",
        "script": b"<title><script>alert(1)</script> raw</title>",
        "hidden": b"<!-- <title>no</title> --><script>'<title>no</title>'</script><title>yes</title>",
        "latin": b"<meta charset=iso-8859-1><title>Caf\xe9</title>",
        "open": b"<title>never closed",
        "many": b"<title" * 5000,
    }.items():
        (folder / f"{name}.html").write_bytes(head + b"<body>Some words of the body for everyone.</body>")
    with Collection.open(folder, folder=tmp_path / "built") as pages:
        named = {
            name: pages.get(f"{name}.html").title
            for name in ("plain", "upper", "none", "hidden", "latin", "open", "script")
        }
        assert pages.documents == 8
    assert named["script"] == "<script>alert(1)</script> raw"
    assert named["plain"] == "One & <b>two"
    assert named["upper"] == "Upper"
    assert named["none"].startswith("Some words")
    assert named["hidden"] == "yes"
    assert named["latin"] == "Café"
    assert named["open"].startswith("never closed")


def test_a_crawl_has_addresses(tmp_path):
    (tmp_path / "crawl.warc.gz").write_bytes(members(crawl([f"<p>page number {n} of the crawl" for n in range(3)])))
    with Collection.open(tmp_path / "crawl.warc.gz", folder=tmp_path / "built") as collection:
        assert collection.documents == 3
        assert {hit.url for hit in collection.search("page").hits} == {f"http://a.test/{n}" for n in (1, 2, 3)}


def test_columns_can_be_named(tmp_path):
    table = pa.table({"one": ["left", "right"], "two": ["<p>up</p>", "<p>down</p>"], "where": ["http://a", None]})
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(InputError, match="which column is the text"):
        Collection.open(tmp_path / "t.parquet", folder=tmp_path / "built")
    reading = Reading(text_field="two", id_field="one", url_field="where", html=True)
    with Collection.open(tmp_path / "t.parquet", folder=tmp_path / "built", reading=reading) as collection:
        assert collection.get("left").text.strip() == "up"
        assert [(hit.id, hit.url) for hit in collection.search("up").hits] == [("left", "http://a")]
        assert collection.search("p").total == 0


def test_a_finished_run_is_searched_by_its_numbers(pages, tmp_path):
    out = tmp_path / "out"
    result = neardup.dedup(pages / "html", work=out / "work", threshold=0.7)
    result.write(out, corpus=False)
    with Collection.open(out, folder=tmp_path / "built") as collection:
        assert collection.name == "out"
        assert collection.documents == len(result.keep)
        assert collection.run.counts == result.counts
        hits = collection.search("harbour").hits
        assert {hit.place: collection.get(hit.id).text for hit in hits} == result.texts(hit.place for hit in hits)
        assert hits[0].id in collection.run.explain(hits[0].id).group
        with pytest.raises(UsageError, match=r"out: a finished run is searched as it was read"):
            Collection.open(out, folder=tmp_path / "built", reading=Reading(text_field="text"))
    assert visible(tmp_path / "built")


def test_a_run_needs_the_inputs_that_it_read(tmp_path):
    source = written(tmp_path / "in.jsonl", ["some words here", "other words there"])
    out = tmp_path / "out"
    neardup.dedup(source, work=out / "work").write(out)
    kept = tmp_path / "built"
    with Collection.open(out, folder=kept) as collection:
        assert collection.search("words").total == 2
    written(source, ["nothing of the kind"])
    with Collection.open(source, folder=kept) as collection:
        assert collection.search("words").total == 0
    with Collection.open(out, folder=kept) as collection:
        assert collection.search("words").total == 2, "what the run read is in the index"
    with pytest.raises(InputError, match=rf"{out}: its input {source} is not what the run read.* read from there once"):
        Collection.open(out, folder=tmp_path / "elsewhere")
    assert visible(tmp_path / "elsewhere") == []


def test_it_is_built_once_and_again_where_an_input_changed(tmp_path):
    folder, source = tmp_path / "built", written(tmp_path / "in.jsonl", ["first words"])
    said: list[str] = []
    for _ in range(2):
        with Collection.open(source, folder=folder, say=said.append) as collection:
            assert collection.search("first").total == 1
    assert sum("Building" in sentence for sentence in said) == 1
    earlier = Collection.open(source, folder=folder)
    written(source, ["second words", "third words"])
    with Collection.open(source, folder=folder, say=said.append) as collection:
        assert (collection.search("first").total, collection.search("words").total) == (0, 2)
    assert sum("Building" in sentence for sentence in said) == 2
    assert len(visible(folder)) == 1, "the earlier state is gone"
    assert earlier.search("first").hits[0].snippet == [("first", True), (" words", False)]
    earlier.close()


def test_those_that_nobody_opens_are_deleted_in_the_end(tmp_path):
    """By when they were opened last, however old they are; and nothing that is not ours."""
    folder = tmp_path / "built"
    sources = [written(tmp_path / f"{n}.jsonl", [f"words {n}"]) for n in range(4)]
    names: list[str] = []
    for source in sources[:3]:
        Collection.open(source, folder=folder).close()
        names += [name for name in visible(folder) if name not in names]
    (folder / "mine").mkdir()
    (folder / f".{names[0]}.part").mkdir()
    for path in [*(folder / name / "about.json" for name in names), folder / "mine", folder / f".{names[0]}.part"]:
        os.utime(path, (0, time.time() - 31 * 86_400))
    os.utime(folder / names[2] / "about.json", (0, time.time() - 29 * 86_400))
    said: list[str] = []
    opened = Collection.open(sources[1], folder=folder, say=said.append)
    assert (said, len(visible(folder))) == ([], 5)
    Collection.open(sources[3], folder=folder, say=said.append).close()
    assert {*names[1:], "mine"} < set(visible(folder))
    assert names[0] not in visible(folder)
    assert len(visible(folder)) == 4
    assert any("nobody opened for 30 days: 2, in " in sentence for sentence in said)
    assert opened.search("words").total == 1
    opened.close()


def test_another_version_is_built_anew(tmp_path, monkeypatch):
    folder, source = tmp_path / "built", written(tmp_path / "in.jsonl", ["first words"])
    Collection.open(source, folder=folder).close()
    monkeypatch.setattr(inputs, "FORMAT", inputs.FORMAT + 1)
    said: list[str] = []
    Collection.open(source, folder=folder, say=said.append).close()
    assert any("Building" in sentence for sentence in said)


@pytest.mark.parametrize("part", ["about.json", "documents.arrow", "ids.npy", "terms/meta.json", "terms"])
@pytest.mark.parametrize("how", ["gone", "cut"])
def test_a_damaged_one_is_built_again(tmp_path, part, how):
    folder, source = tmp_path / "built", written(tmp_path / "in.jsonl", ["some words", "more words"])
    Collection.open(source, folder=folder).close()
    victim = folder / visible(folder)[0] / part
    for file in list(victim.iterdir()) if victim.is_dir() else [victim]:
        if how == "gone":
            file.unlink()
        else:
            os.truncate(file, file.stat().st_size // 2)
    said: list[str] = []
    with Collection.open(source, folder=folder, say=said.append) as collection:
        assert collection.search("words").total == 2
    assert any("damaged" in sentence for sentence in said)


def test_a_killed_build_leaves_nothing_that_matters(tmp_path):
    folder, source = tmp_path / "built", written(tmp_path / "in.jsonl", ["some words", "more words"])
    dead = build(source, folder, "dies")
    dead.communicate(timeout=120)
    assert dead.returncode == -signal.SIGKILL
    assert [name.endswith(".part") for name in visible(folder)] == [True]
    with Collection.open(source, folder=folder) as collection:
        assert collection.search("words").total == 2
    assert [name.endswith(".part") for name in visible(folder)] == [False]


def test_two_that_build_the_same_one(tmp_path):
    folder, source = tmp_path / "built", written(tmp_path / "in.jsonl", [f"many words {n}" for n in range(3000)])
    both = [build(source, folder) for _ in range(2)]
    told = [one.communicate(timeout=120)[0] for one in both]
    assert [one.returncode for one in both] == [0, 0], told
    assert all("found 3000" in output for output in told)
    assert sum("Building" in output for output in told) == 1
    assert len(visible(folder)) == 1


def test_an_interrupted_build_leaves_nothing(tmp_path):
    folder, source = tmp_path / "built", written(tmp_path / "in.jsonl", ["some words"])

    def say(sentence: str) -> None:
        if "can be searched" in sentence:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Collection.open(source, folder=folder, say=say)
    assert visible(folder) == []


def test_an_input_that_changes_meanwhile_is_refused(tmp_path):
    folder, source = tmp_path / "built", written(tmp_path / "in.jsonl", ["some words"])

    def say(sentence: str) -> None:
        if "Building" in sentence:
            written(source, ["some words", "and others"])

    with pytest.raises(InputError, match=r"in\.jsonl changed while it was being read"):
        Collection.open(source, folder=folder, say=say)
    assert visible(folder) == []


def test_what_cannot_be_read_is_said_and_the_others_keep_their_numbers(tmp_path):
    source = tmp_path / "in.jsonl"
    lines = [b'{"id": 1, "text": "good words"}', b"not json", b'{"id": 2, "text": "' + b"long words " * 50 + b'"}']
    source.write_bytes(b"\n".join([*lines, b'{"id": 3, "text": "last words"}']))
    said: list[str] = []
    reading = Reading(max_document_bytes=200)
    with Collection.open(source, folder=tmp_path / "built", say=said.append, reading=reading) as collection:
        assert sorted(hit.id for hit in collection.search("words").hits) == ["1", "3"]
    assert any("1 not JSON" in sentence and "1 too long" in sentence for sentence in said), said
    table = pa.table({"id": ["a", "b", "c"], "text": [b"caf\xe9 words", b"w" * 300, b"more words"]})
    pq.write_table(table, tmp_path / "t.parquet")
    with Collection.open(tmp_path / "t.parquet", folder=tmp_path / "built", reading=reading) as collection:
        assert [(h.id, h.place) for h in collection.search("words").hits] == [("a", 0), ("c", 2)]
        assert collection.texts("abc") == ["caf\ufffd words", "", "more words"]


def test_ids_and_addresses_as_they_come(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text('text,id,url\n"words one",x,http://a\n"words two",x,\n"words three",<script>,javascript:alert(1)\n')
    with Collection.open(path, folder=tmp_path / "built") as collection:
        assert collection.get("x").text == "words one"
        assert [collection.get("x", place).text for place in (0, 1, 2, -1, 99)] == [
            "words one",
            "words two",
            *3 * ["words one"],
        ]
        assert [collection.called("x", place).at for place in (0, 1, 2)] == [0, 1, 0]
        assert collection.called("<script>", 2) == Called("words three", None)
        assert collection.called("nobody", 0) is None
        assert {(hit.place, hit.at) for hit in collection.search("words").hits} == {(0, 0), (1, 1), (2, None)}
        assert collection.get("<script>").url == "javascript:alert(1)"
        assert len(collection.search("words").hits) == 3
    (tmp_path / "in.txt").write_text("words of a file")
    (tmp_path / "other.txt").write_text("words of another")
    with Collection.open([tmp_path / "in.txt", tmp_path / "other.txt"], folder=tmp_path / "built") as collection:
        assert collection.name == "in.txt and 1 more"
        assert sorted(hit.id for hit in collection.search("words").hits) == ["in.txt", "other.txt"]


def test_what_there_is_to_search_and_where_to_keep_it(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="no such file"):
        Collection.open(tmp_path / "nowhere")
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(InputError, match="no documents in it to search"):
        Collection.open(tmp_path / "empty.jsonl", folder=tmp_path / "built")
    assert visible(tmp_path / "built") == []
    with pytest.raises(UsageError, match="standard input"):
        Collection.open("-")
    source = written(tmp_path / "in.jsonl", ["words"])
    with pytest.raises(OutputError, match="cannot be written"):
        Collection.open(source, folder=source / "under a file")
    Collection.open(source).close()
    assert visible(tmp_path / "cache" / "neardup" / "search"), "the user's cache folder"
    monkeypatch.setitem(sys.modules, "tantivy", None)
    engine.library.cache_clear()
    with pytest.raises(MissingExtra, match=r"Searching .* pip install 'neardup\[search\]'"):
        Collection.open(source)
    engine.library.cache_clear()


def test_a_long_document(tmp_path):
    long = "lorem ipsum dolor " * 200_000 + "needle"
    source = written(tmp_path / "in.jsonl", [long, "x" * 3_000_000, "a short needle"])
    with Collection.open(source, folder=tmp_path / "built") as collection:
        assert [hit.id for hit in collection.search("needle").hits] == ["d2", "d0"]
        assert [hit.id for hit in collection.search('"dolor needle"').hits] == ["d0"]
        assert collection.search("x" * 3_000_000).total == 0, "a query has an end"
        assert collection.get("d0").text == long
