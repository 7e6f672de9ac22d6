"""The kernels' tests run compiled and, with NUMBA_DISABLE_JIT=1, as plain Python, where integers overflow aloud."""

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def wrapping_integers():
    with np.errstate(over="ignore"):
        yield
