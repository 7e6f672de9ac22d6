"""Files, folders, globs, URLs; what is refused, what is passed over."""

import gzip
import os
from pathlib import Path

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.errors import InputError, UsageError
from neardup.sources import Problems, choose, discover, format_of
from neardup.sources.discover import EARLIER, HIDDEN
from neardup.sources.files import printable
from tests.sources.reading import documents


def _make(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    return folder


def _names(*inputs: str | Path) -> list[str]:
    return [file.name for file in discover(inputs).files]


def test_a_folder(tmp_path: Path) -> None:
    _make(
        tmp_path,
        "b.jsonl",
        "a.parquet",
        "sub/c.csv.gz",
        "sub/d.warc.gz",
        ".hidden.jsonl",
        ".git/e.jsonl",
        "x.exe",
        "README",
    )
    found = discover([tmp_path])
    assert [(f.name, f.format, f.compression) for f in found.files] == [
        ("a.parquet", "parquet", None),
        ("b.jsonl", "jsonl", None),
        ("sub/c.csv.gz", "csv", "gz"),
        ("sub/d.warc.gz", "warc", "gz"),
    ]
    assert found.passed_over == {"": 1, ".exe": 1, HIDDEN: 2}
    assert all(f.size == 1 and f.stamp.startswith("1-") for f in found.files)


def test_pages_and_texts_of_a_folder_are_taken_together(tmp_path: Path) -> None:
    _make(tmp_path / "site", "b.html", "a/x.htm", "a/y.html.gz", "n.txt", "t.jsonl")
    files = discover([tmp_path / "site"]).files
    assert [(f.name, f.format, f.members) for f in files] == [
        ("site-html", "html", ("a/x.htm", "a/y.html.gz", "b.html")),
        ("site-text", "text", ("n.txt",)),
        ("t.jsonl", "jsonl", ()),
    ]
    assert files[0].size == 3


def test_loose_pages_are_taken_together_by_folder(tmp_path: Path) -> None:
    _make(tmp_path, "p/a.html", "p/b.html", "q/c.html")
    files = discover([tmp_path / "p/a.html", tmp_path / "p/b.html", tmp_path / "q/c.html"]).files
    assert [(f.name, f.members) for f in files] == [("p", ("a.html", "b.html")), ("q", ("c.html",))]


def test_folders_with_the_same_paths_in_them(tmp_path: Path) -> None:
    for site in ("p", "q"):
        (tmp_path / site).mkdir()
        (tmp_path / site / "index.html").write_text(site)
    files = discover([tmp_path / "p", tmp_path / "q"]).files
    found = [d for file in files for d in documents(file)]
    assert [(d["id"], d["text"]) for d in found] == [("p/index.html", "p"), ("q/index.html", "q")]


def test_globs(tmp_path: Path) -> None:
    _make(tmp_path, "a1.jsonl", "a2.jsonl", "b.jsonl", "s/t/c.jsonl", "s/d.jsonl")
    assert _names(f"{tmp_path}/a*.jsonl") == ["a1.jsonl", "a2.jsonl"]
    assert _names(f"{tmp_path}/**/*.jsonl") == ["a1.jsonl", "a2.jsonl", "b.jsonl", "s/d.jsonl", "s/t/c.jsonl"]
    assert _names(f"{tmp_path}/s*") == ["s/d.jsonl", "s/t/c.jsonl"]
    with pytest.raises(InputError, match="no file fits"):
        discover([f"{tmp_path}/z*.jsonl"])


def test_a_name_with_brackets_is_a_name(tmp_path: Path) -> None:
    _make(tmp_path, "a[1].jsonl")
    assert _names(tmp_path / "a[1].jsonl") == ["a[1].jsonl"]


def test_names_that_clash_get_their_folder(tmp_path: Path) -> None:
    _make(tmp_path, "p/a.jsonl", "q/a.jsonl", "q/b.jsonl", "r/p/a.jsonl")
    assert _names(tmp_path / "p", tmp_path / "q") == ["p/a.jsonl", "q/a.jsonl", "b.jsonl"]
    three = _names(tmp_path / "p", tmp_path / "q/a.jsonl", tmp_path / "r/p")
    assert len(set(three)) == 3


def test_links_to_files_that_are_passed_over(tmp_path: Path) -> None:
    """As in the cache of Hugging Face: blobs without a suffix, and links to them with one."""
    _make(tmp_path, "blobs/0af3")
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "blobs/0af3")
    assert _names(tmp_path) == ["a.jsonl"]


def test_nothing_found_says_what_was_seen(tmp_path: Path) -> None:
    _make(tmp_path, "a.exe", "b.exe", "c.doc")
    with pytest.raises(InputError, match=r"among 3 files \(2 \.exe, 1 \.doc\)\. Known are \.parquet"):
        discover([tmp_path])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no files in it"):
        discover([tmp_path / "empty"])


def test_no_such_file(tmp_path: Path) -> None:
    _make(tmp_path, "pages.jsonl")
    with pytest.raises(InputError, match=r"no such file or folder\. In .* there are pages\.jsonl"):
        discover([tmp_path / "page.jsonl"])
    with pytest.raises(InputError, match="There is no folder"):
        discover([tmp_path / "x" / "page.jsonl"])


def test_unknown_suffix_and_format(tmp_path: Path) -> None:
    _make(tmp_path, "a.data", "b.arc.gz", "c.parquet.gz")
    for name in ("a.data", "c.parquet.gz"):
        with pytest.raises(InputError, match=r"does not tell its format.*\.jsonl.*--format"):
            discover([tmp_path / name])
    with pytest.raises(InputError, match="ARC files are not read"):
        discover([tmp_path / "b.arc.gz"])
    assert discover([tmp_path / "a.data"], format="lines").files[0].format == "lines"
    with pytest.raises(UsageError, match="there is no format 'xml'"):
        discover([tmp_path / "a.data"], format="xml")
    with pytest.raises(UsageError, match="no input given"):
        discover([])


def test_a_format_asked_for_reads_compressed_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"one\ntwo\n"))
    [file] = discover([tmp_path / "a.txt.gz"], format="lines").files
    assert [d["text"] for d in documents(file)] == ["one", "two"]


def _oddly_named(folder: Path, *names: bytes, content: bytes = b"x") -> Path:
    folder.mkdir()
    try:
        for name in names:
            with open(os.path.join(os.fsencode(folder), name), "wb") as out:
                out.write(content)
    except OSError:
        pytest.skip("this file system has no such names")
    return folder


ODD = (b"\xe9.txt", b"\xe8.txt", b"\\xe9.txt", b"\\x5cxe9.txt", b"a\\b.txt", "é.txt".encode(), b"\\x41.txt")


def test_printable_names_are_utf8_and_different() -> None:
    shown = [printable(os.fsdecode(name)) for name in ODD]
    assert len(set(shown)) == len(ODD)
    assert "".join(shown).encode()
    assert shown[0] == r"\xe9.txt"
    assert shown[4:] == [r"a\b.txt", "é.txt", r"\x41.txt"]


def test_members_whose_names_are_not_utf8(tmp_path: Path) -> None:
    [file] = discover([_oddly_named(tmp_path / "in", *ODD)]).files
    found = documents(file)
    assert {d["id"] for d in found} == {printable(os.fsdecode(name)) for name in ODD}
    [split] = format_of(file).splits(file)
    [table] = format_of(file).table(split, Problems())
    assert len(set(table.column("id").to_pylist())) == len(ODD)
    format_of(file).write(split, np.ones(len(ODD), bool), tmp_path / "out", None, Problems())
    assert set(os.listdir(os.fsencode(tmp_path / "out"))) == set(ODD)
    problems = Problems("skip", max_document_bytes=0)
    assert documents(file, problems=problems) == []
    for member in ODD:
        os.unlink(os.path.join(os.fsencode(tmp_path / "in"), member))
    assert documents(file, problems=problems) == []
    assert len(problems.found) == 2 * len(ODD)
    assert "".join(map(str, problems.found)).encode()


def test_tables_whose_names_are_not_utf8(tmp_path: Path) -> None:
    odd = _oddly_named(tmp_path / "in", b"\xe9.jsonl", b"\xe8.jsonl", b"x.\xe8", content=b'{"text": "x"}\n')
    pq.write_table(pa.table({"text": ["x"]}), tmp_path / "p.parquet")
    os.rename(tmp_path / "p.parquet", os.path.join(os.fsencode(odd), b"\xe8.parquet"))
    found = discover([odd])
    assert [f.name for f in found.files] == [r"\xe8.jsonl", r"\xe8.parquet", r"\xe9.jsonl"]
    assert found.passed_over == {r".\xe8": 1}
    for file in found.files:
        file = file.with_fields(choose(file)[0])
        [read] = documents(file)
        assert (read["id"], read["text"]) == (f"{file.name}:1", "x")
        assert pa.array([read["id"]], pa.string())
        [split] = format_of(file).splits(file)
        format_of(file).write(split, np.array([True]), tmp_path / "in" / os.fsdecode(b"\xe7"), None, Problems())


def test_folders_whose_names_are_not_utf8(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"\xe9")
    try:
        _make(folder, "p/a.jsonl", "q/a.jsonl", "n.txt")
    except OSError:
        pytest.skip("this file system has no such names")
    _make(tmp_path / "b", "p/a.jsonl")
    files = discover([folder, tmp_path / "b"]).files
    assert [f.name for f in files] == [r"\xe9", r"\xe9/p/a.jsonl", "q/a.jsonl", "b/p/a.jsonl"]


RESULTS = ("run.json", "removed.parquet", "groups.parquet", "kept/a.jsonl", "work/plan.json")


def test_results_of_earlier_runs_are_no_input(tmp_path: Path) -> None:
    _make(tmp_path, "a.jsonl", "sub/b.jsonl", *(f"{run}/{name}" for run in ("out", "sub/out2") for name in RESULTS))
    _make(tmp_path, "out3/work/plan.json", "out3/kept/c.jsonl", "mine/work/plan.json", "mine/run.json")
    (tmp_path / "out4/work").mkdir(parents=True)
    (tmp_path / "out4/work/plan.json").write_text('{\n "recipe": {}}')
    inside = ["a.jsonl", "mine/run.json", "mine/work/plan.json", "sub/b.jsonl"]
    found = discover([tmp_path])
    assert [f.name for f in found.files] == inside
    assert found.passed_over == {EARLIER: 4}
    everything = discover([f"{tmp_path}/**"])
    assert [f.name for f in everything.files] == inside
    assert everything.passed_over == {EARLIER: 4}
    assert _names(f"{tmp_path}/**/*.jsonl") == ["a.jsonl", "sub/b.jsonl"]
    assert discover([tmp_path / "sub", f"{tmp_path}/sub*/out*/kept/*.jsonl"]).passed_over == {EARLIER: 1}


def test_what_was_kept_can_be_asked_for(tmp_path: Path) -> None:
    _make(tmp_path, *(f"{run}/{name}" for run in ("o1", "o2") for name in RESULTS))
    assert _names(tmp_path / "o1/kept") == ["a.jsonl"]
    assert (
        _names(f"{tmp_path}/o*/kept") == _names(f"{tmp_path}/*/kept/*.jsonl") == ["o1/kept/a.jsonl", "o2/kept/a.jsonl"]
    )
    assert _names(tmp_path / "o1/removed.parquet") == ["removed.parquet"]
    for folder in (f"{tmp_path}/o1", f"{tmp_path}/o1/"):
        with pytest.raises(
            InputError, match=f"{folder}: holds the results of an earlier run; .* \\({tmp_path}/o1/kept\\)"
        ):
            discover([folder])
    for place in (str(tmp_path), f"{tmp_path}/o1/*.parquet"):
        with pytest.raises(InputError, match=r"nothing but results of an earlier run .*o1"):
            discover([place])


def test_results_of_earlier_runs_far_away() -> None:
    far = fsspec.filesystem("memory")
    far.store.clear()
    for name in ("a.jsonl", *(f"out/{name}" for name in RESULTS)):
        far.pipe(f"/in/{name}", b"x")
    found = discover(["memory://in"])
    assert ([f.name for f in found.files], found.passed_over) == (["a.jsonl"], {EARLIER: 1})
    with pytest.raises(InputError, match="holds the results of an earlier run"):
        discover(["memory://in/out"])
    far.store.clear()


def test_file_urls_are_paths(tmp_path: Path) -> None:
    _make(tmp_path, "in/a.jsonl", "there/b.jsonl")
    (tmp_path / "in/link").symlink_to(tmp_path / "there")
    assert discover([f"file://{tmp_path}/in"]) == discover([f"{tmp_path}/in"])
    assert _names(f"file://{tmp_path}/in") == ["a.jsonl", "link/b.jsonl"]
