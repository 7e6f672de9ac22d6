"""HTML → text in the form asked for, by resiliparse (lexbor's parser, WHATWG encoding rules).

    read_page      a page's bytes → its text in one of three forms, and its links
    decoded        a page's bytes → its markup
    visible_text   what a reader sees: all of it, or the main content
    strip_markup   the same without a tree, in linear time

The third form, Henzinger's terms, is made in `web` without the library, which then only tells the encoding.

Building the tree takes quadratic time in the depth of nesting: 40,000 nested lists cost 13 seconds. How deep a page is
nested cannot be told without building the tree, but no page is nested deeper than it has tags; so a page of very many
tags is stripped of its markup without a tree, which is linear for every input.
"""

import codecs
import html
import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from neardup.errors import MissingExtra
from neardup.text.settings import Extract
from neardup.text.web import links as links_of
from neardup.text.web import text_and_links, web_text

MOST_TAGS = 20_000
"""Pages with more are not parsed into a tree. A page of so many nested lists takes half a second."""

LEAST_MAIN = 25
"""Characters. What is shorter is no main content: an element that a script fills, or a guess that found nothing."""

# fmt: off
COMMON = frozenset([
    "ascii", "big5", "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp866",
    "cp932", "cp949", "euc_jp", "euc_kr", "gb18030", "gb2312", "gbk", "iso2022_jp", "iso8859-1", "iso8859-10",
    "iso8859-11", "iso8859-13", "iso8859-14", "iso8859-15", "iso8859-16", "iso8859-2", "iso8859-3", "iso8859-4",
    "iso8859-5", "iso8859-6", "iso8859-7", "iso8859-8", "iso8859-9", "koi8-r", "koi8-u", "mac-roman", "shift_jis",
    "utf-16", "utf-16-be", "utf-16-le", "utf-8",
])
# fmt: on
"""Encodings, by Python's names, of which a page may be where Python's own files cannot be read any more: those that the
WHATWG names, and their relatives. The others are rare, and cost 60 ms to load."""

_NO_CHARSETS = frozenset(["idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"])
"""What Python decodes by that name, and no page is written in."""

_LONG_REFERENCE = re.compile(r"&#[xX]?[0-9a-fA-F]{8,};?")
_AFTER_OPENING = re.compile(r"<([^\x00-\x7f])")
_END = "\0"


@cache
def _library() -> tuple[Callable[..., str], Callable[..., str], Callable[..., object], Callable[..., str]]:
    try:
        from resiliparse.extract.html2text import extract_plain_text
        from resiliparse.parse.encoding import bytes_to_str, detect_encoding
        from resiliparse.parse.html import HTMLTree
    except ImportError as error:
        raise MissingExtra("reading HTML", "web") from error
    return detect_encoding, bytes_to_str, HTMLTree.parse, extract_plain_text


def require_extractor() -> None:
    """Say at once, and not after reading for an hour, that the library is missing."""
    _library()


def extractor() -> str | None:
    """Name and version of the library that tells a page's text; None where it is not installed."""
    from importlib.metadata import PackageNotFoundError, version  # 45 ms that an extracting process does not need

    try:
        return f"resiliparse {version('resiliparse')}"
    except PackageNotFoundError:
        return None


def read_page(
    page: bytes,
    *,
    charset: str | None = None,
    url: str | None = None,
    extract: Extract = "all",
    links: bool = False,
) -> tuple[str, list[str] | None]:
    """A page's text in the form asked for, and its links where they are asked for. `url` is where it was found."""
    markup = decoded(page, charset=charset)
    if extract == "web":
        if links:
            return text_and_links(markup, host=None, page_url=url)
        return web_text(markup, host=None, page_url=url), None
    text = visible_text(markup, main=extract == "main")
    return text, links_of(markup, url) if links else None


def decoded(page: bytes, *, charset: str | None = None) -> str:
    """The markup of a page. `charset` is what the protocol said; the bytes are asked if it said nothing."""
    detect_encoding, bytes_to_str, *_ = _library()
    if charset and python_name(charset) in _NO_CHARSETS:
        charset = None
    try:
        return bytes_to_str(page, encoding=charset or detect_encoding(page, from_html_meta=True), errors="replace")
    except (LookupError, ValueError):  # a name that is no encoding of text
        return bytes_to_str(page, encoding=detect_encoding(page), errors="replace")


def python_name(charset: str) -> str | None:
    """Return the name under which Python knows an encoding; None where it does not."""
    try:
        return codecs.lookup(charset).name
    except (LookupError, ValueError):  # ValueError: a NUL
        return None


def visible_text(markup: str, *, main: bool = False) -> str:
    """The visible text of a page, or of its main content.

    Main content is the one element that the page names so (main, role="main"); else what the library takes for it;
    else all of it. Guesses alone differ between versions of one page; all text is mostly menus on some sites
    (benchmarks/quality has the numbers).
    """
    _, _, parse, _ = _library()
    if markup.count("<") > MOST_TAGS:
        return strip_markup(markup)
    tree = parse(markup)
    if not main:
        return _text(tree)
    named = _named(tree)
    for content, guess in ((parse(named), False), (tree, True)) if named else ((tree, True),):
        text = _text(content, main=guess)
        if len(text.strip()) >= LEAST_MAIN:
            return text
    return _text(tree)


def _text(tree: Any, *, main: bool = False) -> str:
    *_, extract_plain_text = _library()
    return extract_plain_text(tree, main_content=main, alt_texts=False, links=False, list_bullets=False)


def _named(tree: Any) -> str | None:
    """The markup of the one element that the page itself calls its main content, among those that are shown."""
    for selector in ('[role="main"]', "main"):
        found = [e for e in (tree.body.query_selector_all(selector) if tree.body else []) if _shown(e)]
        if len(found) == 1:
            return str(found[0].html)
    return None


def _shown(element: Any) -> bool:
    """Whether neither it nor what it is in is hidden, as far as the markup says."""
    while element is not None and element.tag != "body":
        style = (element.getattr("style") or "").replace(" ", "").lower()
        if element.tag in ("noscript", "template") or element.getattr("hidden") is not None or "display:none" in style:
            return False
        element = element.parent
    return True


def strip_markup(markup: str) -> str:
    """Markup to white space, hidden elements and comments gone, character references decoded. One pass.

    What opens and is never closed takes the rest of the page with it, and so takes the end's mark.
    """
    odd = {letter for letter in _AFTER_OPENING.findall(markup) if letter.isalpha()}
    pieces = _markup("".join(sorted(odd))).split(markup + _END)
    last = pieces.pop()
    if last.endswith(_END):
        pieces.append(last.removesuffix(_END))
    text = " ".join(pieces).replace("<", " < ")
    return html.unescape(_LONG_REFERENCE.sub("\ufffd", text))


@lru_cache(maxsize=64)
def _markup(letters: str) -> re.Pattern[str]:
    """Whole tags, comments and hidden elements, the latter without the tag that ends them. Every alternative goes on to
    the end of the page where it is not closed, so that nothing is looked at twice.

    letters: those beyond ASCII that begin a tag's name; `re` has no class of letters.
    """
    hidden = [f"{name}.*?(?:(?=</{name})|\\Z)" for name in ("script", "style", "template", "noscript")]
    tag = f"[a-z/!?{letters}][^>]*(?:>|\\Z)"
    alternatives = "|".join(["!--.*?(?:-->|\\Z)", *hidden, tag])
    return re.compile(f"<(?:{alternatives})", re.IGNORECASE | re.ASCII | re.DOTALL)
