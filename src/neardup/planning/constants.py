"""The measured constants of `neardup plan`: constants.toml, which benchmarks.scale.engines --constants writes.

measured     when, on which machine, of which commit and collection
collection   what the documents of that collection were like: nobody knows it of yours before it is read
sketching    CPU nanoseconds per byte of text, by kind of sketch; those of min-hashes by their permutations
spark        CPU nanoseconds per unit and step, and measured bytes per byte of the formulas
local        the same of the local engine, and its memory
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Constants:
    """As the file has them."""

    measured: dict[str, Any]
    collection: dict[str, float]
    sketching: dict[str, float]
    spark: dict[str, dict[str, float]]
    local: dict[str, float]


@cache
def constants() -> Constants:
    """Those of this package."""
    text = files("neardup.planning").joinpath("constants.toml").read_text(encoding="utf-8")
    return Constants(**tomllib.loads(text))
