"""What "the same passage" means: w consecutive tokens, as a set or as a multiset (Broder, section 2)."""

from dataclasses import dataclass

from neardup.errors import RecipeError


@dataclass(frozen=True)
class ShingleSettings:
    """A document shorter than `width` tokens is one shingle of its own."""

    width: int = 5
    repeats: bool = False
    """Count a shingle that occurs k times as k elements (occurrence numbers) rather than as one."""

    def __post_init__(self) -> None:
        if not 1 <= self.width <= 1000:
            raise RecipeError(f"width = {self.width}: a shingle has 1 to 1000 tokens; 5 is the default.")
