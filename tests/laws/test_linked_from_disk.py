"""Linking with less memory than it would like: the same answer, within the limit, and nothing left behind."""

import json
import re
import subprocess
import sys
from textwrap import dedent

import numpy as np
import pytest

import neardup
from neardup.clusters.linked import link_features
from neardup.engines import machine
from neardup.errors import UsageError
from neardup.sketches.artefact import Collection

DOCUMENTS = 400_000
MEMORY = 8_000_000
"""In memory it would be 20 million bytes and more."""


@pytest.fixture(scope="module")
def features(tmp_path_factory):
    """A mapped file. Documents in threes: the second shares two features with the first, and two others with the third.

    All have one value in common, which is no reason to link them; and some a second one, which is.
    """
    rng = np.random.default_rng(11)
    made = rng.integers(0, 2**64 - 1, (DOCUMENTS, 6), np.uint64)
    order = rng.permutation(DOCUMENTS)[: DOCUMENTS // 2 // 3 * 3].reshape(-1, 3).T
    first, second, third = order
    made[second, :2] = made[first, :2]
    made[third, 2:4] = made[second, 2:4]
    made[:, 5] = 5
    made[::1000, 4] = 4
    path = tmp_path_factory.mktemp("linked") / "features"
    made.tofile(path)
    return path


def mapped(path):
    return np.memmap(path, np.uint64, "r", shape=(DOCUMENTS, 6))


def limited(path, memory, scratch, prelude=""):
    """link_features in a process that may have `memory` bytes of private memory more than before, and 4 MB."""
    code = f"""
        import json, resource, threading
        from pathlib import Path
        import numpy as np
        from neardup.clusters.linked import link_features

        threading.stack_size(1 << 20)
        features = np.memmap({str(path)!r}, np.uint64, "r", shape=({DOCUMENTS}, 6))
        link_features(features[:20_000], 2, memory=4_200_000, scratch=Path({str(scratch)!r}))
        status = Path("/proc/self/status").read_text()
        data = int(status.partition("VmData:")[2].split()[0]) * 1024
        limit = data + {MEMORY} + (4 << 20) + (2 << 20)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        {prelude}
        try:
            found = link_features(features, 2, memory={memory}, scratch=Path({str(scratch)!r}))
        except Exception as error:
            print(json.dumps(f"{{type(error).__name__}}: {{error}}"))
        else:
            found.tofile({str(scratch / "found")!r})
            print(json.dumps("linked"))
    """
    done = subprocess.run([sys.executable, "-c", dedent(code)], capture_output=True, text=True, check=True)
    assert not done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="limits private memory by Linux's RLIMIT_DATA")
def test_less_memory_gives_the_same_answer(features, tmp_path):
    assert limited(features, MEMORY, tmp_path) == "linked"
    answer = np.fromfile(tmp_path / "found", np.int32)
    assert [path.name for path in tmp_path.iterdir()] == ["found"]
    assert (answer == link_features(mapped(features), 2)).all()
    assert 100_000 < (answer != np.arange(DOCUMENTS)).sum() < 140_000


@pytest.mark.skipif(sys.platform != "linux", reason="limits private memory by Linux's RLIMIT_DATA")
def test_the_limit_of_that_test_is_one(features, tmp_path):
    """Without `memory` the same call asks for more than there is."""
    assert "MemoryError" in limited(features, None, tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="limits private memory by Linux's RLIMIT_DATA")
def test_a_disk_that_takes_no_more_is_told(features, tmp_path):
    full = "resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))"
    said = limited(features, MEMORY, tmp_path, prelude=full)
    assert said.startswith("OutputError")
    assert str(tmp_path) in said
    assert not list(tmp_path.iterdir())


def test_a_little_is_needed_and_said(features, tmp_path):
    with pytest.raises(UsageError, match=r"memory = 1,000,000 bytes .* 400,000 documents on 2 threads; give") as caught:
        link_features(mapped(features), 2, memory=1_000_000)
    least = int(re.search(r"give ([\d,]+) or more", str(caught.value))[1].replace(",", ""))
    with pytest.raises(UsageError, match=f"give {least:,} or more"):
        link_features(mapped(features), 2, memory=least - 1)
    some = np.zeros(DOCUMENTS, bool)
    some[:1000] = True
    found = link_features(mapped(features), 2, memory=least, members=some, scratch=tmp_path)
    assert (found == link_features(mapped(features), 2, members=some)).all()


def edited_pages(n):
    """Every third page is the one before with a word changed, and every ninth a copy."""
    rng = np.random.default_rng(5)
    texts = [" ".join(f"w{word}" for word in rng.integers(0, 5000, 60)) for _ in range(n)]
    for i in range(0, n - 1, 3):
        texts[i + 1] = f"{texts[i]} end" if i % 9 else texts[i]
    return [{"id": str(i), "text": text} for i, text in enumerate(texts)]


def test_dedup_links_from_disk_where_memory_does_not_suffice(tmp_path, monkeypatch):
    pages = tmp_path / "pages.jsonl"
    pages.write_text("".join(json.dumps(page) + "\n" for page in edited_pages(60_000)))
    plenty = neardup.dedup(pages, recipe="altavista", memory=1 << 40)
    little = neardup.dedup(pages, recipe="altavista", memory=6_000_000)
    assert plenty.counts["removed"] > 18_000
    assert little.removed.equals(plenty.removed)
    assert little.groups.equals(plenty.groups)
    with monkeypatch.context() as changed:
        changed.setattr("neardup.decide.free_memory", lambda: 7_500_000)
        ways = []
        changed.setattr(Collection, "mapped_words", lambda *a, made=Collection.mapped_words: ways.append(1) or made(*a))
        assert neardup.dedup(pages, recipe="altavista").removed.equals(plenty.removed)
        assert ways
    with pytest.raises(UsageError, match=r"memory = 1,000,000 bytes do not suffice to link [0-9,]+ documents"):
        neardup.dedup(pages, recipe="altavista", memory=1_000_000)


def test_what_a_container_leaves(tmp_path, monkeypatch):
    """Its bound less what is used, but for the files that are remembered; the machine's where there is no bound."""
    assert 1 << 20 < machine.free_memory() < 1 << 45
    monkeypatch.setattr(machine, "_CONTAINER", tmp_path)
    (tmp_path / "memory.max").write_text("3000000\n")
    (tmp_path / "memory.current").write_text("2500000\n")
    (tmp_path / "memory.stat").write_text("anon 1000000\ninactive_file 200000\n")
    assert machine.free_memory() == 700_000
    (tmp_path / "memory.max").write_text("max\n")
    assert machine.free_memory() > 1 << 20
    monkeypatch.setattr(machine, "_MEMINFO", tmp_path / "none")
    assert machine.free_memory() is None
