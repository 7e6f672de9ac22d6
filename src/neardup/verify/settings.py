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
    same_site: float = 0.0
    """The resemblance from which on pages of one host under two addresses are near-duplicates: a template that is
    filled in twice makes pages alike (Henzinger, sections 3.2 and 4). 0: the threshold, wherever pages are from."""

    def __post_init__(self) -> None:
        if self.method not in ("exact", "sketch", "none"):
            raise RecipeError(f"verify = {self.method!r}: choose exact, sketch or none.")
        if not 0.0 < self.threshold <= 1.0:
            raise RecipeError(f"threshold = {self.threshold}: a resemblance lies above 0 and is at most 1.")
        if not 0.0 <= self.same_site <= 1.0:
            raise RecipeError(f"same_site = {self.same_site}: a resemblance, or 0 for the threshold.")
        if self.same_site and self.method != "exact":
            raise RecipeError(
                f"same_site = {self.same_site} with method = {self.method!r}: it takes effect when pairs are measured; "
                'give method = "exact", or same_site = 0.'
            )

    @property
    def by_place(self) -> bool:
        """Whether it matters where documents are from."""
        return self.same_site > self.threshold
