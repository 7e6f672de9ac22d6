"""Large numbers as people write them: 1.6e9, 1_600_000_000; of bytes also 20TB, 20 TiB."""

import re

import click

_UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5, "e": 6}
_AMOUNT = re.compile(
    r"(?ix) \s* (?P<number> [+-]? \d[\d_,]* (?:\.\d*)? (?:e[+-]?\d+)?)"
    r" \s* (?:(?P<unit>[kmgtpe]?) (?P<binary>i?) b)? \s*"
)


def number_in(text: str) -> float:
    """A number, as the type of an option."""
    return _amount(text, "1.6e9 or 1_600_000_000", of_bytes=False)


def bytes_in(text: str) -> float:
    """A number of bytes, as the type of an option. Units are powers of 1,000, or of 1,024 as in TiB."""
    return _amount(text, "20e12, 20TB or 20TiB", of_bytes=True)


def _amount(text: str, ways: str, *, of_bytes: bool) -> float:
    found = _AMOUNT.fullmatch(text)
    if found is None or (found["unit"] is not None and not of_bytes):
        raise click.BadParameter(f"{text!r} is no number; write it as {ways}.")
    step = 1024 if found["binary"] else 1000
    return float(re.sub("[_,]", "", found["number"])) * float(step ** _UNITS[(found["unit"] or "").lower()])
