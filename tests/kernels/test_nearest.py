"""Agreements of samples: fast = place by place."""

import numpy as np
import pytest

from neardup.kernels import nearest


@pytest.mark.parametrize("places", [1, 2, 140, 254, 255, 256, 511, 600])
@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (1, 1), (3, 7)])
def test_agreements_are_counted_place_by_place(places, shape):
    q, n = shape
    rng = np.random.default_rng(places)
    queries = rng.integers(0, 2, (q, places), dtype=np.uint8)
    rows = rng.integers(0, 2, (n, places), dtype=np.uint8)
    rows[: min(q, n)] = queries[: min(q, n)]  # some agree everywhere, which is where a byte would overflow
    out = np.zeros((q, n), np.uint16)
    nearest.agreements(queries, np.ascontiguousarray(rows.T), out)
    assert out.tolist() == [[sum(a == b for a, b in zip(x, y, strict=True)) for y in rows] for x in queries]


def test_blocks_join():
    n = nearest._BLOCK + 3
    rows = (np.arange(n) % 7).astype(np.uint8)[:, None]
    out = np.zeros((2, n), np.uint16)
    nearest.agreements(np.array([[0], [5]], np.uint8), np.ascontiguousarray(rows.T), out)
    assert (out == (np.array([[0], [5]]) == rows.T)).all()
