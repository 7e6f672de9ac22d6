"""What makes a candidate pair a pair."""

from dataclasses import dataclass
from typing import Literal

from neardup.errors import RecipeError

Method = Literal["exact", "sketch", "none"]


@dataclass(frozen=True)
class VerifySettings:
    """exact: the resemblance of the shingle sets; sketch: its estimate; none: sharing a feature is enough."""

    method: Method = "exact"
    threshold: float = 0.8
    recall: float = 0.99
    """That a pair at the threshold is found; the sketch was chosen for it."""

    def __post_init__(self) -> None:
        if self.method not in ("exact", "sketch", "none"):
            raise RecipeError(f"verify = {self.method!r}: choose exact, sketch or none.")
        if not 0.0 < self.threshold <= 1.0:
            raise RecipeError(f"threshold = {self.threshold}: a resemblance lies above 0 and is at most 1.")
