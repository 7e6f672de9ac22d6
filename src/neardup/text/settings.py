"""Which differences between two documents do not count."""

from dataclasses import dataclass
from typing import Literal

from neardup.errors import RecipeError

TokenKind = Literal["words", "chars", "lines"]


@dataclass(frozen=True)
class TextSettings:
    """How a document becomes a canonical sequence of tokens (Broder, section 2)."""

    tokens: TokenKind = "words"
    """words: runs of letters and digits, single characters in scripts without spaces; chars; lines."""
    extract: Literal["all", "main"] = "all"
    """Of an HTML page: all visible text, or what looks like the main content."""

    def __post_init__(self) -> None:
        if self.tokens not in ("words", "chars", "lines"):
            raise RecipeError(f"tokens = {self.tokens!r}: choose words, chars or lines.")
        if self.extract not in ("all", "main"):
            raise RecipeError(f"extract = {self.extract!r}: choose all or main.")

    @property
    def kind(self) -> int:
        """As the kernels number it."""
        return ("words", "chars", "lines").index(self.tokens)
