"""How groups form and which member stays."""

from dataclasses import dataclass
from typing import Literal

from neardup.clusters.keep import parse_keep
from neardup.errors import RecipeError

ClusterMethod = Literal["star", "components"]


@dataclass(frozen=True)
class ClusterSettings:
    """star: every removed document is similar to the kept one; components: chains of similar documents."""

    method: ClusterMethod = "star"
    keep: str = "first"
    crowd: int = 256
    """Of the kept documents under one key, so many are compared with a document: the latest."""

    def __post_init__(self) -> None:
        if self.method not in ("star", "components"):
            raise RecipeError(f"cluster = {self.method!r}: choose star or components.")
        if self.crowd < 1:
            raise RecipeError(f"crowd = {self.crowd}: at least 1.")
        parse_keep(self.keep)
