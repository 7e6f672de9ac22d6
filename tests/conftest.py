"""Hypothesis: no deadline (the first call compiles), the same examples every time on CI."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "neardup", deadline=None, derandomize=bool(os.environ.get("CI")), suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("plain", parent=settings.get_profile("neardup"), max_examples=25)
settings.load_profile("plain" if os.environ.get("NUMBA_DISABLE_JIT") else "neardup")
