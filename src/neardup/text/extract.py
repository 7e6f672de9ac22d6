"""HTML → the text that a reader sees, by resiliparse (lexbor's parser, WHATWG encoding rules).

Building the tree takes quadratic time in the depth of nesting (100,000 nested lists cost minutes), so a page that
may be nested deeper than any real one is stripped of its markup without a tree: linear for every input.
"""

import html
import re
from collections.abc import Callable
from functools import cache

from neardup.errors import MissingExtra

DEEPEST = 4000
"""Pages that may be nested deeper are not parsed into a tree."""

_TAG = re.compile(rb"<(/?)[a-zA-Z]")
_HIDDEN = re.compile(r"<(script|style|template|noscript|!--)", re.IGNORECASE)


@cache
def _library() -> tuple[Callable[..., str], Callable[..., str], Callable[..., object], Callable[..., str]]:
    try:
        from resiliparse.extract.html2text import extract_plain_text
        from resiliparse.parse.encoding import bytes_to_str, detect_encoding
        from resiliparse.parse.html import HTMLTree
    except ImportError as error:
        raise MissingExtra("reading HTML", "web") from error
    return detect_encoding, bytes_to_str, HTMLTree.parse, extract_plain_text


def visible_text(page: bytes, *, charset: str | None = None, main: bool = False) -> str:
    """The visible text of a page. `charset` is what the protocol said; the bytes are asked if it said nothing."""
    detect_encoding, bytes_to_str, parse, extract_plain_text = _library()
    markup = bytes_to_str(page, encoding=charset or detect_encoding(page, from_html_meta=True), errors="replace")
    if deepest_nesting(page) > DEEPEST:
        return strip_markup(markup)
    return extract_plain_text(parse(markup), main_content=main, alt_texts=False, links=False, list_bullets=False)


def deepest_nesting(page: bytes) -> int:
    """An upper bound for the depth of the tree: elements opened and not closed so far. Unclosed ones count."""
    if page.count(b"<") <= DEEPEST:
        return 0
    depth = deepest = 0
    for tag in _TAG.finditer(page):
        if tag.group(1):
            depth = max(0, depth - 1)
        else:
            depth += 1
            deepest = max(deepest, depth)
    return deepest


def strip_markup(markup: str) -> str:
    """Markup to white space, hidden elements and comments gone, character references decoded. One pass."""
    lowered = markup.lower() if markup.isascii() else re.sub("[A-Z]", lambda m: m.group().lower(), markup)
    pieces: list[str] = []
    at = 0
    while True:
        opened = markup.find("<", at)
        if opened < 0:
            pieces.append(markup[at:])
            break
        pieces.append(markup[at:opened])
        hidden = _HIDDEN.match(markup, opened)
        if hidden:
            name = hidden.group(1).lower()
            ending = "-->" if name == "!--" else f"</{name}"
            closed = lowered.find(ending, hidden.end())
            if closed < 0:
                break
            at = closed + len(ending) if name == "!--" else closed
        elif markup[opened + 1 : opened + 2].isalpha() or markup[opened + 1 : opened + 2] in ("/", "!", "?"):
            closed = markup.find(">", opened)
            if closed < 0:
                break
            at = closed + 1
        else:
            pieces.append("<")
            at = opened + 1
    return html.unescape(" ".join(pieces))
