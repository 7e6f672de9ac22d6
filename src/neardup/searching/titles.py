"""What a document is called: its title column, its page's <title>, else its first line.

Only the first two are titles that somebody gave; the engine counts words in them for more.
"""

import html
import re

from neardup.sources import format_of
from neardup.sources.base import InputFile
from neardup.text.extract import decoded

LONGEST = 200
"""Characters of a title that are kept."""

FIRST_LINE = 80
"""Characters of the text's first line that stand for a title."""

LOOKED_AT = 4096
"""Bytes of the text in which that line begins."""

TITLE_NAMES = ("title", "headline", "page_title", "heading", "subject")
"""Names of columns with titles, the likelier first."""

_HEAD = 32 << 10
"""Bytes of a page in which its title is looked for."""
_TITLE = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1|\Z)"
    r"|<title(?=[\s/>])[^>]{0,500}>(?P<title>[^<]*(?:<(?!/title\b)[^<]*)*)",
    re.IGNORECASE | re.DOTALL,
)
"""Comments, scripts, styles, and titles: what comes first has the rest within it."""
_LONG_REFERENCE = re.compile(r"&#[xX]?[0-9a-fA-F]{8,};?")
_WORD = re.compile(r"[^\W_]")
_GAPS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ufeff]+")


def title_column(file: InputFile) -> str | None:
    """The column with titles, if there is one."""
    if not format_of(file).tabular:
        return None
    fields = file.fields
    kinds = format_of(file).columns(file)
    lower = {name.lower(): name for name in reversed(kinds) if kinds[name] == "text" and name != fields.text}
    return next((lower[name] for name in TITLE_NAMES if name in lower), None)


def page_title(page: bytes, charset: str | None) -> str:
    """The content of a page's first <title>; empty where there is none."""
    head = page[:_HEAD]
    if b"<title" not in head.lower() and b"\0" not in head[:64]:  # UTF-16 has zeros between its letters
        return ""
    met = (found["title"] for found in _TITLE.finditer(decoded(head, charset=charset)))
    title = next((title for title in met if title is not None), "")
    return one_line(html.unescape(_LONG_REFERENCE.sub("\ufffd", title)))


def one_line(text: str) -> str:
    """Without line breaks and control characters, and not too long."""
    return shortened(without_gaps(text[: 8 * LONGEST]), LONGEST)


def first_line(text: bytes) -> str:
    """The first line with a word in it, of the beginning of a text (UTF-8); empty where there is none."""
    lines = text.decode("utf-8", "ignore").splitlines()
    return shortened(without_gaps(next((line for line in lines if _WORD.search(line)), "")), FIRST_LINE)


def without_gaps(text: str) -> str:
    """A space for every run of white space and control characters."""
    joined = " ".join(text.split())
    return joined if joined.isprintable() else _GAPS.sub(" ", joined).strip()


def shortened(text: str, longest: int) -> str:
    """At most so many characters, cut between words where there are any."""
    if len(text) <= longest:
        return text
    cut = text.rfind(" ", longest // 2, longest)
    return text[: cut if cut > 0 else longest - 1].rstrip() + "…"
