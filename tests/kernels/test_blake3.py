"""BLAKE3, eight chunks side by side: the values of its authors, and of the twin."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from neardup.kernels import blake3 as kernel
from tests.naive.blake3 import blake3

PUBLISHED = {
    0: "af1349b9f5f9a1a6a0404dea36dcc949",
    1: "2d3adedff11b61f14c886e35afa03673",
    1024: "42214739f095a406f3fc83deb889744a",
    1025: "d00278ae47eb27b34faecf67b4fe263f",
    2048: "e776b6028c7cd22a4d0ba182a8bf6220",
}
"""The first 128 bits for so many bytes 0, 1, …, 250, 0, 1, …: from test_vectors.json of the BLAKE3 repository."""


def counted(size: int) -> bytes:
    return bytes(i % 251 for i in range(size))


def digests(strings: list[bytes]) -> list[bytes]:
    """Laid out as the kernel wants them, with noise behind the last."""
    data, spans = b"", []
    for string in strings:
        spans.append((len(data), len(data) + len(string)))
        data += string.ljust(-(-len(string) // 64) * 64, b"\0")
    words = np.frombuffer(data + b"\xab" * kernel.AFTER, np.uint32)
    out = np.zeros((len(strings), 2), np.uint64)
    kernel.digests(words, np.array(spans, np.int64).reshape(-1, 2), out)
    return [row.tobytes() for row in out]


@pytest.mark.parametrize("size", PUBLISHED)
def test_published_values(size):
    assert blake3(counted(size))[:16].hex() == PUBLISHED[size]
    if size:
        assert digests([counted(size)])[0].hex() == PUBLISHED[size]


@given(st.lists(st.integers(0, 3000), max_size=12))
@example([0, 1, 63, 64, 65, 1023, 1024, 1025, 2047, 2048, 2049, 3072, 3073, 0])
@example([5 * 1024, 7 * 1024 + 1, 9 * 1024])
@example([17 * 1024 + 5])
@example([])
@settings(max_examples=20, deadline=None)
def test_batches(sizes):
    """Of any sizes: lanes end at different blocks, trees have different heights; nothing has no digest."""
    random = np.random.default_rng(len(sizes))
    strings = [random.bytes(size) for size in sizes]
    assert digests(strings) == [blake3(s)[:16] if s else bytes(16) for s in strings]
