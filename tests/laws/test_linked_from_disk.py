"""Linking with less memory than it would like: the same answer, within the limit, and nothing left behind."""

import json
import re
import subprocess
import sys
from textwrap import dedent

import numpy as np
import pytest

from neardup.clusters.linked import link_features
from neardup.errors import UsageError

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
