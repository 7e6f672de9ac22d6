"""A service under hostile load, beside honest clients: `python -m benchmarks.hostile`."""
