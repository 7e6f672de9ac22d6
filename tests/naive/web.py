"""Henzinger's terms, the links of a page and its site from their definitions, on Python's own HTML and URL parsers."""

import hashlib
import string
from html.parser import HTMLParser
from posixpath import basename
from urllib.parse import urldefrag, urljoin, urlsplit

from tests.naive.text import words

FORMATTING = [
    "b",
    "i",
    "u",
    "s",
    "em",
    "strong",
    "font",
    "span",
    "small",
    "big",
    "sub",
    "sup",
    "tt",
    "code",
    "var",
    "kbd",
    "samp",
    "cite",
    "dfn",
    "abbr",
    "acronym",
    "mark",
    "ins",
    "del",
    "strike",
    "bdo",
    "bdi",
    "nobr",
    "wbr",
    "blink",
    "basefont",
]
WITHOUT_TEXT = ["script", "style", "template", "iframe", "noembed", "noframes"]

ALPHANUMERIC = string.ascii_letters + string.digits
OF_URLS = ALPHANUMERIC + "-_~:/?#@!$&'()*+,;=.%"
OWN_PORT = {"http": 80, "https": 443, "ftp": 21}


def one_run(text: str) -> str:
    """One alphanumeric sequence for any text."""
    plain = set(string.ascii_lowercase + string.digits) - {"x"}
    return "".join(chr(b) if chr(b) in plain else "x" + f"{b:02x}" for b in text.encode())


def url_terms(url: str) -> list[str]:
    """A URL broken at slashes and dots."""
    found = []
    for piece in url.lower().replace("/", ".").split("."):
        alphanumeric = all(c in ALPHANUMERIC for c in piece)
        if piece:
            found.append(piece if alphanumeric and not piece.startswith("xurl") else "xurl" + one_run(piece))
    return found


def terms_of_text(text: str) -> list[str]:
    """Maximal alphanumeric sequences, but for URLs, one character at a time."""
    out = ""
    at = 0
    while at < len(text):
        starts = [s for s in ("http://", "https://", "ftp://", "www.") if text[at : at + len(s)].lower() == s]
        if starts and (at == 0 or text[at - 1] not in ALPHANUMERIC):
            rest = at + len(starts[0])
            end = rest
            while end < len(text) and text[end] in OF_URLS:
                end += 1
            if end > rest:
                while text[end - 1] in ".,:;!?'()*" and end > rest:
                    end -= 1
                out += "/".join([starts[0].removesuffix("://").removesuffix("."), *url_terms(text[rest:end])])
                out += "/" if text[end - 1] in "./" else ""
                at = end
                continue
        out += text[at]
        at += 1
    return words(out)


def host_and_port(url: str) -> tuple[str | None, int | None]:
    split = urlsplit(url)
    return split.hostname, split.port or OWN_PORT.get(split.scheme)


def image_term(src: str, page_url: str, base: str | None) -> str:
    """The file name of an image on the page's host, the whole URL of another."""
    if src.startswith("data:"):
        return "ximg" + one_run("data:" + hashlib.blake2b(src[5:].encode(), digest_size=8).hexdigest())
    absolute = urljoin(urljoin(page_url, base or ""), src)
    if host_and_port(absolute) == host_and_port(page_url):
        return "ximg" + one_run(basename(urlsplit(absolute).path))
    return "ximg" + one_run(src if src.startswith("//") else absolute)


class Page(HTMLParser):
    """A well-formed page: text with marks where images are, its base, its links."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[tuple[str, str]] = []
        self.hrefs: list[str] = []
        self.base: str | None = None
        self.without_text = 0
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag, attrs):
        given = dict(reversed(attrs))
        if tag not in FORMATTING:
            self.parts.append(("text", " "))
        if tag == "img" and given.get("src") and not self.without_text:
            self.parts.append(("image", given["src"].strip()))
        if tag == "base" and self.base is None:
            self.base = given.get("href")
        name = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}.get(tag)
        if name in given and not self.without_text:
            self.hrefs.append(given[name].strip())
        if tag in WITHOUT_TEXT:
            self.without_text += 1

    def handle_endtag(self, tag):
        if tag not in FORMATTING:
            self.parts.append(("text", " "))
        if tag in WITHOUT_TEXT:
            self.without_text -= 1

    def handle_data(self, data):
        if not self.without_text:
            self.parts.append(("text", data))

    def handle_comment(self, data):
        self.parts.append(("text", " "))

    handle_decl = handle_pi = handle_comment


def terms(markup: str, page_url: str) -> list[str]:
    page = Page(markup)
    found: list[str] = []
    text = ""
    for kind, value in [*page.parts, ("image", "")]:
        if kind == "text":
            text += value
            continue
        found += terms_of_text(text)
        text = ""
        if value:
            found.append(image_term(value, page_url, page.base))
    return found


def links(markup: str, page_url: str) -> list[str]:
    page = Page(markup)
    base = urljoin(page_url, page.base or "")
    targets = [href for href in page.hrefs if href and href[0] != "#" and not href.lower().startswith("javascript:")]
    return [urldefrag(urljoin(base, href)).url for href in targets]


def site(domain: str) -> str:
    """Henzinger, section 1: of a domain name."""
    return domain if domain.count(".") <= 1 else domain[domain.index(".") + 1 :]
