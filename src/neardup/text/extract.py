"""HTML → text in the form asked for, by resiliparse (lexbor's parser, WHATWG encoding rules).

    read_page      a page's bytes → its text in one of three forms, and its links
    decoded        a page's bytes → its markup
    visible_text   what a reader sees: all of it, or the main content
    strip_markup   the same without a tree, in linear time

The third form, Henzinger's terms, is made in `web` without the library, which then only tells the encoding.

A tree takes quadratic time in depth, attributes and more: 10,000 nested <main> cost 40 seconds. `nesting` tells in one
pass over the bytes whether that is bounded; other pages, and those of very many tags, are stripped of their markup
without a tree, which is linear for every input.
"""

import codecs
import html
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from neardup import nesting
from neardup.errors import MissingExtra
from neardup.text.settings import Extract
from neardup.text.web import links as links_of
from neardup.text.web import text_and_links, web_text

LEAST_MAIN = 25
"""Characters. What is shorter is no main content: an element that a script fills, or a guess that found nothing."""

MOST_NAMED = 16
"""Elements that a page calls its main content. Of more, none is asked whether it is shown."""

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

_NOT_ASCII = frozenset(["iso2022_jp", "utf-16", "utf-16-be", "utf-16-le"])
"""Of these: in which bytes of ASCII are not always its characters."""

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
    tree: bool | None = None,
) -> tuple[str, list[str] | None]:
    """Return a page's text in the form asked for, and its links where they are asked for.

    Args:
        page: As it was sent.
        charset: The encoding that the protocol named.
        url: Where the page was found.
        extract: The form of the text.
        links: Whether links are read, too.
        tree: What `affordable` says of the bytes, where it was asked already.
    """
    markup, encoding = _decoded(page, charset)
    if extract == "web":
        if links:
            return text_and_links(markup, host=None, page_url=url)
        return web_text(markup, host=None, page_url=url), None
    if (python_name(encoding) or "") not in COMMON - _NOT_ASCII:
        tree = None
    elif tree is None:
        tree = affordable(page)
    text = visible_text(markup, main=extract == "main", tree=tree)
    return text, links_of(markup, url) if links else None


def affordable(page: bytes) -> bool:
    """Return whether a page, in an encoding of which ASCII is a part, may be parsed into a tree (see `nesting`)."""
    if _uncompiled:
        return nesting.affordable(page)
    from neardup.kernels.nesting import affordable as compiled  # a third of a second

    return compiled(page)


_uncompiled = False


def stay_uncompiled() -> None:
    """Use no compiler from now on, in a process that cannot load one."""
    global _uncompiled
    _uncompiled = True


def decoded(page: bytes, *, charset: str | None = None) -> str:
    """Return the markup of a page. `charset` is what the protocol said; the bytes are asked if it said nothing."""
    return _decoded(page, charset)[0]


def _decoded(page: bytes, charset: str | None) -> tuple[str, str]:
    """Return the markup, and the encoding that it was in."""
    detect_encoding, bytes_to_str, *_ = _library()
    if charset and python_name(charset) in _NO_CHARSETS:
        charset = None
    encoding = charset or detect_encoding(page, from_html_meta=True)
    try:
        return bytes_to_str(page, encoding=encoding, errors="replace"), encoding
    except (LookupError, ValueError):  # a name that is no encoding of text
        encoding = detect_encoding(page)
        return bytes_to_str(page, encoding=encoding, errors="replace"), encoding


def python_name(charset: str) -> str | None:
    """Return the name under which Python knows an encoding; None where it does not."""
    try:
        return codecs.lookup(charset).name
    except (LookupError, ValueError):  # ValueError: a NUL
        return None


def visible_text(markup: str, *, main: bool = False, tree: bool | None = None) -> str:
    """Return the visible text of a page, or of its main content. `tree`: what `affordable` said of the page.

    Main content is the one element that the page names so (main, role="main"); else what the library takes for it;
    else all of it. Guesses alone differ between versions of one page; all text is mostly menus on some sites
    (benchmarks/quality has the numbers).
    """
    _, _, parse, _ = _library()
    if not (affordable(markup.encode("utf-8", "replace")) if tree is None else tree):
        return strip_markup(markup)
    page = parse(markup)
    if not main:
        return _text(page)
    named = _named(page)
    for content, guess in ((parse(named), False), (page, True)) if named else ((page, True),):
        text = _text(content, main=guess)
        if len(text.strip()) >= LEAST_MAIN:
            return text
    return _text(page)


def _text(tree: Any, *, main: bool = False) -> str:
    *_, extract_plain_text = _library()
    return extract_plain_text(tree, main_content=main, alt_texts=False, links=False, list_bullets=False)


def _named(tree: Any) -> str | None:
    """The markup of the one element that the page itself calls its main content, among those that are shown."""
    for selector in ('[role="main"]', "main"):
        found = tree.body.query_selector_all(selector) if tree.body else []
        found = [e for e in found if _shown(e)] if len(found) <= MOST_NAMED else []
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

    What opens and is never closed takes the rest of the page with it, and so takes the end's mark. `re` has no class of
    letters, and looks through a list of them one by one: letters beyond ASCII that begin a tag's name become an `a`.
    """
    markup = _AFTER_OPENING.sub(lambda opening: "<a" if opening[1].isalpha() else opening[0], markup)
    pieces = _markup().split(markup + _END)
    last = pieces.pop()
    if last.endswith(_END):
        pieces.append(last.removesuffix(_END))
    text = " ".join(pieces).replace("<", " < ")
    return html.unescape(_LONG_REFERENCE.sub("\ufffd", text))


@cache
def _markup() -> re.Pattern[str]:
    """Whole tags, comments and hidden elements, the latter without the tag that ends them. Every alternative goes on to
    the end of the page where it is not closed, so that nothing is looked at twice."""
    hidden = [f"{name}.*?(?:(?=</{name})|\\Z)" for name in ("script", "style", "template", "noscript")]
    tag = "[a-z/!?][^>]*(?:>|\\Z)"
    alternatives = "|".join(["!--.*?(?:-->|\\Z)", *hidden, tag])
    return re.compile(f"<(?:{alternatives})", re.IGNORECASE | re.ASCII | re.DOTALL)
