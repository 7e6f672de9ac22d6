"""Files, folders, globs, URLs; what is refused, what is passed over."""

import gzip
from pathlib import Path

import pytest

from neardup.errors import InputError, UsageError
from neardup.sources import discover
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
    assert found.passed_over == {"": 1, ".exe": 1}
    assert all(f.size == 1 and f.changed > 0 for f in found.files)


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


def test_the_same_file_twice(tmp_path: Path) -> None:
    _make(tmp_path, "a.jsonl")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "a.jsonl")
    for inputs in ([tmp_path / "a.jsonl"] * 2, [tmp_path / "a.jsonl", f"{tmp_path}/a*"], [tmp_path]):
        with pytest.raises(UsageError, match="given twice"):
            discover(inputs)


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
