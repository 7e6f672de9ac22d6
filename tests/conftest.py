"""Hypothesis: no deadline (the first call compiles), the same examples every time on CI. Seeds: the same every time."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "neardup", deadline=None, derandomize=bool(os.environ.get("CI")), suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("plain", parent=settings.get_profile("neardup"), max_examples=25)
settings.load_profile("plain" if os.environ.get("NUMBA_DISABLE_JIT") else "neardup")


@pytest.fixture(scope="session", autouse=True)
def _known_seeds() -> Iterator[None]:
    """Let new indexes have the public seed, so that their answers are the same every time, and those of runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("neardup.recipes.randbits", lambda bits: 1)
        yield
