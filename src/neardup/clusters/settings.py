"""How groups form and which member stays."""

from dataclasses import dataclass
from typing import Literal

from neardup.clusters.keep import parse_keep
from neardup.errors import RecipeError

MOST = 1 << 20
"""The largest number of candidates: kernels make room for all of them, and count them in 32 bits."""

ClusterMethod = Literal["star", "components"]


@dataclass(frozen=True)
class ClusterSettings:
    """star: every removed document is similar to the kept one; components: chains of similar documents."""

    method: ClusterMethod = "star"
    keep: str = "first"
    crowd: int = 256
    """With how many kept documents under one key a document is compared: the latest."""
    measured: int = 256
    """With how many of its candidates a document is measured at most: those whose sketches are nearest."""

    def __post_init__(self) -> None:
        if self.method not in ("star", "components"):
            raise RecipeError(f"cluster = {self.method!r}: choose star or components.")
        for name, value in (("crowd", self.crowd), ("measured", self.measured)):
            if not 1 <= value <= MOST:
                raise RecipeError(f"{name} = {value}: from 1 to {MOST:,}; 256 is the default.")
        parse_keep(self.keep)
