"""Bad input through the command: a clear error with file and line, or a counted and reported skip."""

import gzip
import json
import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from tests.corpus import documents
from tests.sources.warcfile import response
from tests.surface.conftest import run

GOOD = "".join(json.dumps(r) + "\n" for r in documents(20))


def check(tmp_path, name: str, data: bytes, message: str, *, skips: bool, options: tuple = ()) -> dict | None:
    """Stop by default with the message; with skip, count it and go on, if that is possible."""
    (tmp_path / name).write_bytes(data)
    stopped = run("dedup", tmp_path / name, "-o", tmp_path / "stop", *options)
    assert stopped.returncode in (1, 2), stopped.stderr
    assert message in stopped.stderr.replace("\n", " "), stopped.stderr
    assert name in stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert not (tmp_path / "stop/run.json").exists()
    assert not (tmp_path / "stop/kept").exists()
    skipped = run("dedup", tmp_path / name, "-o", tmp_path / "skip", "--on-error", "skip", "--json", *options)
    if not skips:
        assert skipped.returncode in (1, 2)
        assert not (tmp_path / "skip/run.json").exists()
        return None
    assert skipped.returncode == 0, skipped.stderr
    assert "skipped" in skipped.stderr
    return json.loads(skipped.stdout)


@pytest.mark.parametrize(
    ("line", "kind", "number"),
    [
        (b'{"id": "x", "text": "broken', "not JSON", 21),
        (b'{"id": "x"}', "no text field", 21),
        (b'{"id": "x", "text": 5}', "", 21),
        (b"[1, 2]", "", 21),
        (b'{"id": "x", "text": "\xff\xfe"}', "not UTF-8", 21),
        (b'{"text": "no id"}', "no id", 21),
    ],
)
def test_broken_lines(tmp_path, line, kind, number):
    facts = check(
        tmp_path, "in.jsonl", GOOD.encode() + line + b"\n" + b'{"id": "z", "text": "good"}\n', f":{number}", skips=True
    )
    assert facts["counts"]["documents"] == 21
    assert facts["counts"]["skipped"] == 1
    if kind:
        assert facts["counts"]["skipped_by_kind"] == {kind: 1}
    row = pq.read_table(tmp_path / "skip/skipped.parquet").to_pylist()[0]
    assert (row["source"], row["position"]) == ("in.jsonl", number)


def test_truncated_gzip(tmp_path):
    data = gzip.compress(GOOD.encode())
    check(tmp_path, "in.jsonl.gz", data[: len(data) // 2], "in.jsonl.gz", skips=False)


def test_truncated_parquet(tmp_path):
    pq.write_table(pa.Table.from_pylist(documents(50)), tmp_path / "whole.parquet")
    data = (tmp_path / "whole.parquet").read_bytes()
    check(tmp_path, "in.parquet", data[: len(data) // 2], "not a whole Parquet file", skips=False)


def test_damaged_parquet(tmp_path):
    pq.write_table(pa.Table.from_pylist(documents(500)), tmp_path / "whole.parquet", compression="zstd")
    data = bytearray((tmp_path / "whole.parquet").read_bytes())
    data[1000:3000] = os.urandom(2000)
    check(tmp_path, "in.parquet", bytes(data), "damaged", skips=False)


@pytest.mark.parametrize("recipe", ["default", "web"])
def test_urls_that_are_not_utf8(tmp_path, recipe):
    """Parquet files may hold strings that are none; with such a URL a run ended with a traceback."""
    held = pa.array([b"http://a.example/\xff\xfe", b"http://b.example/a", b"http://\xff.example/b"])
    urls = pa.Array.from_buffers(pa.string(), 3, held.buffers())
    rows = documents(3, clusters=0)
    table = pa.table({"id": [row["id"] for row in rows], "text": [row["text"] for row in rows], "url": urls})
    pq.write_table(table, tmp_path / "in.parquet")
    neardup.dedup(tmp_path / "in.parquet", recipe=recipe).write(tmp_path / "out")
    kept = pq.read_table(tmp_path / "out/kept/in.parquet").column("url").combine_chunks()
    assert kept.cast(pa.binary()).equals(held), "as they were"


def test_duplicate_ids(tmp_path):
    data = GOOD + json.dumps({"id": "d0003", "text": "a different text altogether, longer than five words"}) + "\n"
    facts = check(tmp_path, "in.jsonl", data.encode(), "duplicate id", skips=True)
    assert facts["counts"]["skipped_by_kind"] == {"duplicate id": 1}
    kept = [json.loads(x)["id"] for x in (tmp_path / "skip/kept/in.jsonl").read_text().splitlines()]
    assert kept[-1] == "d0003"
    row = pq.read_table(tmp_path / "skip/skipped.parquet").to_pylist()[0]
    assert (row["source"], row["position"]) == ("in.jsonl", 21)
    same = GOOD + json.dumps(json.loads(GOOD.splitlines()[3])) + "\n"
    (tmp_path / "same.jsonl").write_text(same)
    result = neardup.dedup(tmp_path / "same.jsonl", on_error="skip")
    assert result.removed.to_pylist()[-1]["relation"] == "identical"


def test_a_line_that_is_too_long_is_passed_over_in_bounded_memory(tmp_path):
    long = json.dumps({"id": "long", "text": "word " * 400_000})
    facts = check(
        tmp_path, "in.jsonl", (GOOD + long + "\n" + '{"id": "z", "text": "good"}\n').encode(), ":21", skips=True,
        options=("--max-document-bytes", "1000000"),
    )  # fmt: skip
    assert facts["counts"]["documents"] == 21


def test_a_line_of_a_gigabyte(tmp_path):
    """Most of the file is a hole: a gigabyte of zero bytes, inside one line."""
    with open(tmp_path / "in.jsonl", "wb") as file:
        file.write(GOOD.encode() + b'{"id": "huge", "text": "')
        file.seek(1 << 30, os.SEEK_CUR)
        file.write(b'"}\n{"id": "z", "text": "good"}\n')
    stopped = run("dedup", tmp_path / "in.jsonl", "-o", tmp_path / "stop")
    assert stopped.returncode == 1
    assert "in.jsonl:21" in stopped.stderr
    assert "--max-document-bytes" in stopped.stderr
    code = (  # what getrusage tells a process begins with the size of the one that started it
        "import re, sys; from pathlib import Path; from neardup.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "finally: print(int(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1]) // 1024)"
    )
    arguments = ["dedup", str(tmp_path / "in.jsonl"), "-o", str(tmp_path / "skip"), "--on-error", "skip", "-q"]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 700  # megabytes: ten times 64 MB, and not the gigabyte
    kept = sorted((tmp_path / "skip/kept").rglob("*.jsonl"))
    assert sum(path.stat().st_size for path in kept) > 1 << 30  # it stays
    assert kept[-1].read_bytes().endswith(b'{"id": "z", "text": "good"}\n')
    for path in kept:
        path.unlink()


GOOD_TEXTS = [row["text"] for row in documents(6, clusters=0)]
SAME, LONG = GOOD_TEXTS[2], "word " * 3000


def _left(folder) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def _bad_collections(folder) -> dict[str, tuple[str, bytes, bytes]]:
    """Of every format: a name, a file with documents that cannot be read or compared, and all but the last, a copy."""
    texts = [*GOOD_TEXTS, LONG]
    lines = [json.dumps({"id": f"d{n}", "text": text}).encode() + b"\n" for n, text in enumerate(texts)]
    bad = [b"{broken\n", b'{"id": "b", "text": "\xff"}\n', b'{"text": "no id"}\n', b'{"id": "t", "text": 5}\n', b"\n"]
    copy = json.dumps({"id": "copy", "text": SAME}).encode() + b"\n"
    jsonl = b"".join(lines + bad)
    rows = b"id,text\n" + b"".join(f'd{n},"{text}"\n'.encode() for n, text in enumerate(texts)) + b"narrow\nb,\xff\n\n"
    plain = b"".join(text.encode() + b"\n" for text in texts) + b"\xff\n\n"
    undecodable = response(50, gzip.compress(b"words " * 99)[:40] + bytes(50), "Content-Encoding: gzip")
    records = b"".join(response(n, text.encode(), content_type="text/plain") for n, text in enumerate(texts, 1))
    return {
        "jsonl": ("in.jsonl", jsonl + copy, jsonl),
        "csv": ("in.csv", rows + f"copy,{SAME}\n".encode(), rows),
        "lines": ("in.txt", plain + SAME.encode() + b"\n", plain),
        "warc": (
            "in.warc",
            records + undecodable + response(99, SAME.encode(), content_type="text/plain"),
            records + undecodable,
        ),
    }


@pytest.mark.parametrize("format", ["jsonl", "csv", "lines", "warc"])
def test_what_cannot_be_compared_stays_in_every_format(tmp_path, format):
    """Exactly the removed document is gone: what is broken, too long, or without text or id is where it was."""
    name, data, expected = _bad_collections(tmp_path)[format]
    (tmp_path / name).write_bytes(data)
    result = neardup.dedup(
        tmp_path / name,
        on_error="skip",
        format=format,
        max_document_bytes=9000,
        recipe="default",
        work=tmp_path / "work",
    )
    result.write(tmp_path / "out")
    assert result.removed.num_rows == 1
    assert result.counts["skipped_by_kind"]["too long"] == 1
    assert (tmp_path / "out/kept" / name).read_bytes() == expected


def test_what_cannot_be_compared_stays_in_folders_and_tables(tmp_path):
    (tmp_path / "in").mkdir()
    for n, text in enumerate([*GOOD_TEXTS, LONG]):
        (tmp_path / f"in/{n}.txt").write_text(text)
    (tmp_path / "in/bad.txt").write_bytes(b"\xff")
    (tmp_path / "in/cut.txt.gz").write_bytes(gzip.compress(b"words " * 99)[:20])
    before = _left(tmp_path / "in")
    (tmp_path / "in/copy.txt").write_text(SAME)
    settings = {"on_error": "skip", "max_document_bytes": 9000, "keep": "shortest"}
    result = neardup.dedup(tmp_path / "in", **settings)
    result.write(tmp_path / "out")
    assert result.counts["skipped_by_kind"] == {"not UTF-8": 1, "too long": 1, "unreadable": 1}
    [gone] = result.removed.column("id").to_pylist()
    assert _left(tmp_path / "out/kept/in") == {
        name: data for name, data in (before | {"copy.txt": SAME.encode()}).items() if name != gone
    }
    texts = [text.encode() for text in [*GOOD_TEXTS, LONG]] + [b"\xff", None, SAME.encode()]
    pq.write_table(pa.table({"text": pa.array(texts, pa.binary())}), tmp_path / "in.parquet")
    result = neardup.dedup(tmp_path / "in.parquet", **settings)
    result.write(tmp_path / "table")
    assert pq.read_table(tmp_path / "table/kept/in.parquet").num_rows == len(texts) - 1


def test_nothing_removed_is_nothing_changed(tmp_path):
    data = b"\xef\xbb\xbf\n" + GOOD.encode().replace(b"\n", b"\r\n\n").rstrip()
    unlike = [line for line in data.split(b"\n") if b"d0007" not in line]
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(unlike))
    done = run("dedup", tmp_path / "in.jsonl", "-o", tmp_path / "out", "--threshold", "1.0", "--json")
    assert done.returncode == 0, done.stderr
    removed = {row["id"] for row in pq.read_table(tmp_path / "out/removed.parquet").to_pylist()}
    expected = b"".join(
        line
        for line in b"\n".join(unlike).splitlines(keepends=True)
        if not any(f'"{id}"'.encode() in line for id in removed)
    )
    assert (tmp_path / "out/kept/in.jsonl").read_bytes() == expected


def test_nul_bytes_are_separators(tmp_path):
    (tmp_path / "in.jsonl").write_text(json.dumps({"id": "a", "text": "one\0two three"}) + "\n")
    assert run("dedup", tmp_path / "in.jsonl", "-o", tmp_path / "out", "-q").returncode == 0
    assert neardup.resemblance("one\0two three", "one two three").identical


@pytest.mark.parametrize("name", ["in.jsonl", "in.csv", "in.txt", "in.html", "in.jsonl.gz"])
def test_an_empty_file(tmp_path, name):
    (tmp_path / name).write_bytes(gzip.compress(b"") if name.endswith(".gz") else b"")
    done = run("dedup", tmp_path / name, "-o", tmp_path / "out", "--json")
    assert "Traceback" not in done.stderr
    if done.returncode == 0:
        assert json.loads(done.stdout)["counts"]["removed"] == 0
    else:
        assert "empty" in done.stderr


def test_an_unwritable_output(tmp_path):
    (tmp_path / "in.jsonl").write_text(GOOD)
    done = run("dedup", tmp_path / "in.jsonl", "-o", "/proc/neardup-out")
    assert done.returncode == 1
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("kilobytes", [8, 64, 256, 700])
def test_a_full_disk(tmp_path, kilobytes):
    """A file system of its own, too small at one step or another; with room, the same command goes on."""
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(r) + "\n" for r in documents(2000, length=30)))
    (tmp_path / "disk").mkdir()
    script = f"""
set -e
mount -t tmpfs -o size={kilobytes}k neardup {tmp_path}/disk
trap 'cd /; umount {tmp_path}/disk' EXIT
set +e
cd {tmp_path}
dedup="{sys.executable} -m neardup dedup in.jsonl -o disk/out -q --threshold 0.7"
$dedup 2> first; echo $? > code1
ls {tmp_path}/disk/out/run.json > {tmp_path}/taken 2>/dev/null
mount -o remount,size=64m {tmp_path}/disk
$dedup 2> second; echo $? > code2
cp {tmp_path}/disk/out/removed.parquet {tmp_path}/removed.parquet
"""
    inside = ["bash", "-c", script] if os.geteuid() == 0 else ["unshare", "-rm", "bash", "-c", script]
    done = subprocess.run(inside, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    first = (tmp_path / "first").read_text()
    assert (tmp_path / "code1").read_text().strip() == "1", first
    assert "the disk is full" in first
    assert "Traceback" not in first
    assert (tmp_path / "taken").read_text() == ""
    assert (tmp_path / "code2").read_text().strip() == "0", (tmp_path / "second").read_text()
    expected = neardup.dedup(tmp_path / "in.jsonl", threshold=0.7)
    assert pq.read_table(tmp_path / "removed.parquet").equals(expected.removed)


def test_hostile_html_costs_linear_time(tmp_path):
    pages = {
        "deep.html": b"<ul><li>" * 100_000 + b"the bottom of the page",
        "unclosed.html": b"<!--" + b"<script>" * 50_000,
        "angle.html": b"<" * 200_000,
        "attributes.html": b"<p " + b"a=b " * 100_000 + b">text of the page",
    }
    for name, page in pages.items():
        (tmp_path / name).write_bytes(page)
    done = run("dedup", *(tmp_path / n for n in pages), "-o", tmp_path / "out", "--json", "-q")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["counts"]["documents"] == 4
    assert sum(s["seconds"] for s in facts["steps"]) < 30


def test_interrupting_is_not_a_crash(tmp_path):
    import signal
    import time

    process = subprocess.Popen(
        [sys.executable, "-m", "neardup", "dedup", "-", "-o", str(tmp_path / "out")],
        stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    time.sleep(5)  # it has started then, also beside other tests
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "goes on where it stopped" in stderr
    assert "Traceback" not in stderr
