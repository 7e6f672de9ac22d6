"""Which differences between two documents do not count."""

from dataclasses import dataclass
from typing import Literal

from neardup.errors import RecipeError

TokenKind = Literal["words", "chars", "lines"]
Extract = Literal["all", "main", "web"]


@dataclass(frozen=True)
class TextSettings:
    """How a document becomes a canonical sequence of tokens (Broder, section 2)."""

    tokens: TokenKind = "words"
    """words: runs of letters and digits, single characters in scripts without spaces; chars; lines."""
    extract: Extract = "all"
    """all: of an HTML page all visible text; main: what looks like its main content; web: the terms of Henzinger,
    section 2, with its images and with URLs broken at slashes and dots, which also applies to other documents."""
    links: bool = False
    """Also read the page's links, for a second filter."""

    def __post_init__(self) -> None:
        if self.tokens not in ("words", "chars", "lines"):
            raise RecipeError(f"tokens = {self.tokens!r}: choose words, chars or lines.")
        if self.extract not in ("all", "main", "web"):
            raise RecipeError(f"extract = {self.extract!r}: choose all, main or web.")
        if self.extract == "web" and self.tokens != "words":
            raise RecipeError(
                f'extract = "web" with tokens = {self.tokens!r}: its terms are words; choose tokens = "words", '
                "or extract all or main."
            )

    @property
    def kind(self) -> int:
        """As the kernels number it."""
        return ("words", "chars", "lines").index(self.tokens)
