"""Twins: every fast function once more, slowly, from its definition."""
