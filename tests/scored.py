"""Two rows of samples or list fingerprints, scored by the kernel that clusters and pairs use."""

import numpy as np

from neardup.kernels import groups

NO_SAMPLES = np.empty((0, 0), np.uint8)
PAIR = np.array([[0, 1]])


def _rows(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate([a, b, np.zeros(1, np.uint64)]), np.array([0, len(a), len(a) + len(b)])


def _score(kind: int, a: np.ndarray, b: np.ndarray, *parameters: float) -> float:
    return groups.score(kind, NO_SAMPLES, *_rows(a, b), np.array(parameters, np.float64), 0, 1)


def bottom_resemblance(a: np.ndarray, b: np.ndarray, m: int) -> float:
    return _score(groups.BOTTOM, a, b, float(m))


def mod_resemblance(a: np.ndarray, b: np.ndarray) -> float:
    return _score(groups.MOD, a, b)


def mod_containment(a: np.ndarray, b: np.ndarray) -> float:
    """Of the first in the second."""
    out = np.empty((1, 2))
    groups.containments(groups.MOD, *_rows(a, b), PAIR, out)
    return float(out[0, 0])


def shared_lists(a: np.ndarray, b: np.ndarray) -> int:
    """Lists of one each: every list is a repetition."""
    return int(_score(groups.LISTS, a, b, 1.0))
