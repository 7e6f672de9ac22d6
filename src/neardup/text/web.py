"""A web page as the sequence of terms that Henzinger compares, and the links of a page.

    web_text         markup → text whose words are her terms
    plain_text       the same for a document that is not HTML
    links            where a page points to
    text_and_links   both in one pass

Henzinger, "Finding Near-Duplicate Web Pages", section 2: markup becomes white space or, in case of formatting
instructions, is ignored; every maximal alphanumeric sequence is a term; a URL in the text is broken at slashes and
dots; the URL of an image is a term, the whole of it if it points to another host, else the file name alone, so that a
page that is mirrored with its images keeps its terms.

What the paper leaves open, and what is done here:

- Formatting instructions are the elements in FORMATTING: "foo<b>bar</b>" is one term. A link is none of them: menus
  of links often have no white space in between. Comments, and whatever else is markup, become white space.
- The content of script, style, template, iframe, noembed and noframes is no text; a title's and a form's is. A page is
  read as without scripting, so noscript has its content. Style sheets and the attribute `hidden` are not looked at.
- A URL in the text begins with http://, https:// or ftp:// or, not after a letter or digit, with `www.`; it goes on
  with the ASCII characters that a URL may have, brackets excepted, and ends before punctuation that may be the
  sentence's. Scripts without spaces may precede and follow it.
- The tokenizer of words breaks at more than slashes and dots. Where a piece of a URL has further characters, it is
  written as one run: "xurl", then every byte but a-w, y, z and 0-9 as x and two hexadecimal digits. A piece of letters
  and digits alone stays the word that it is, unless it begins with "xurl" itself: so different pieces (but for case)
  have different terms. An image is "ximg" and the same code, with its case; a word of the text that begins with
  "ximg" or "xurl" could be mistaken for one, and nothing else.
- An image that is given as data: has a digest of these as its file name. A page without a known host owns the images
  with relative URLs, wherever its <base> points, and no others.

Tags are read as the WHATWG's tokenizer reads them: a quote opens a value only after an equals sign, and what is left
open at the end of the page is no text. No tree is built. One regular expression matches at every "<" that opens
markup, whatever follows, with possessive quantifiers only: every character is read a constant number of times.
"""

import hashlib
import html
import re
from dataclasses import dataclass, field
from functools import lru_cache
from html.entities import html5

from neardup.text.sites import Parts, normal_host, parts
from neardup.text.sites import host as host_of

# fmt: off
FORMATTING = frozenset([
    "abbr", "acronym", "b", "basefont", "bdi", "bdo", "big", "blink", "cite", "code", "del", "dfn", "em", "font",
    "i", "ins", "kbd", "mark", "nobr", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "tt", "u",
    "var", "wbr",
])
# fmt: on
"""Elements that change how text looks and not where words end."""

_SPACE = r" \t\n\f\r"
_ONE = (
    rf"[^{_SPACE}/>][^{_SPACE}/>=]*+"
    rf"(?:[{_SPACE}]*+=[{_SPACE}]*+(?:\"[^\"]*+\"?+|'[^']*+'?+|[^{_SPACE}>\"'][^{_SPACE}>]*+)?+)?+"
)
"""An attribute. A quote opens a value only after an equals sign."""
_MARKUP = re.compile(
    rf"<(?:(/?[a-zA-Z][^{_SPACE}/>]*+)((?:[{_SPACE}/]++|{_ONE})*+)(>?)"
    r"|!--(?:-?>|[^-]*+(?:-(?!-!?>)[^-]*+)*+(?:--!?>)?)"
    r"|[!?/][^>]*+>?)"
)
"""Name, attributes and closing bracket of a tag, or a comment, or what is taken for one."""
_VALUE = {
    name: re.compile(
        rf"(?:[{_SPACE}/]++|(?!{name}(?:[{_SPACE}/>=]|\Z)){_ONE})*+{name}"
        rf"(?:[{_SPACE}]*+=[{_SPACE}]*+(?:\"([^\"]*+)|'([^']*+)|([^{_SPACE}>]*+)))?",
        re.IGNORECASE | re.ASCII,
    )
    for name in ("src", "href")
}
"""The first attribute of that name, and its value in one of three groups."""

_RAW = {
    **dict.fromkeys(("script", "style", "iframe", "noembed", "noframes"), False),
    **dict.fromkeys(("title", "textarea", "xmp"), True),
}
"""Elements in which tags are no tags, and whether their content is text."""
_RAW_END = {name: re.compile(rf"</{name}(?=[{_SPACE}/>])", re.IGNORECASE | re.ASCII) for name in _RAW}
_TARGETS = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}
_READ = frozenset([*_RAW, *_TARGETS, "img", "base", "template", "/template"])
_IGNORED = FORMATTING | {f"/{name}" for name in FORMATTING}

_REFERENCE = re.compile(r"&(?:#(?:[0-9]++|[xX][0-9a-fA-F]++);?|[a-zA-Z][a-zA-Z0-9]{1,31}+;?)")
_ATTRIBUTE_REFERENCE = re.compile(
    r"&(?:#(?:[0-9]++|[xX][0-9a-fA-F]++);?|[a-zA-Z][a-zA-Z0-9]{1,31}+(?:;|(?![=a-zA-Z0-9])))"
)
_LONGEST_LEGACY = max(len(name) for name in html5 if not name.endswith(";"))

_START = "|".join(
    rf"(?<=(?<![0-9A-Za-z]){start})"
    for start in ("[hH][tT]{2}[pP]://", "[hH][tT]{2}[pP][sS]://", "[fF][tT][pP]://", r"[wW]{3}\.")
)
_URL = re.compile(rf"[:wW](?://|[wW]{{2}}\.)(?:{_START})[!#-;=?-Z_a-z~]++")
"""From the colon after the scheme or from `www.` on. A class of characters comes first, which sre skips to quickly, and
what is behind is looked at last."""
_SENTENCE = ".,:;!?'()*"
"""Not the last character of a URL."""
_CUT = re.compile(r"([./]+)")
_PLAIN = re.compile(r"[0-9A-Za-z./]*+\Z")
_CODE = [chr(b) if chr(b) in "abcdefghijklmnopqrstuvwyz0123456789" else f"x{b:02x}" for b in range(256)]

_INTO_FOLDER = re.compile(r"(?!\.)[0-9A-Za-z_~.\-]++\Z")
"""A relative URL whose resolution is the base's folder and itself."""
_NO_TARGET = re.compile(r"(?:javascript|data):", re.IGNORECASE)
_SHORT = 40
"""Characters. What is longer is not remembered; no named reference is."""
_BREAKS = str.maketrans("", "", "\t\n\r")
_SPARE = 1 << 20
_ROOM = 4
"""Resolving may write this many characters per character of the page, and _SPARE: a long <base> and very many links
would else make a text of quadratic length. The links after that stay as they are written."""


def web_text(markup: str, *, host: str | None, page_url: str | None = None) -> str:
    """The page as text whose words are Henzinger's terms. Without a `host` the page's URL tells it, if there is one."""
    return _scan(markup, follow=False).text(host or host_of(page_url), page_url)


def links(markup: str, page_url: str | None = None) -> list[str]:
    """The targets of a page's links and frames in their order, without fragments, as absolute URLs where known.

    Links within the page (a fragment alone), empty ones, scripts and data are no targets.
    """
    return _scan(markup, follow=True).links(page_url)


def text_and_links(markup: str, *, host: str | None, page_url: str | None = None) -> tuple[str, list[str]]:
    """What `web_text` and `links` tell."""
    page = _scan(markup, follow=True)
    return page.text(host or host_of(page_url), page_url), page.links(page_url)


def plain_text(text: str) -> str:
    """A document that is not HTML, with its URLs broken at slashes and dots: its words are Henzinger's terms."""
    return _URL.sub(_broken, text)


def _broken(found: re.Match[str]) -> str:
    url = found.group()
    if _PLAIN.match(url, 3) and "xurl" not in url.lower():  # "://" or "www" come first
        return url
    at = 3 if url[0] == ":" else 0
    kept = url[at:].rstrip(_SENTENCE)
    return url[:at] + "".join(map(_piece, _CUT.split(kept))) + url[at + len(kept) :]


def _piece(piece: str) -> str:
    return _short_piece(piece) if len(piece) <= _SHORT else _piece_term(piece)


def _piece_term(piece: str) -> str:
    if not piece or piece[0] in "./":
        return piece
    lower = piece.lower()
    return piece if piece.isalnum() and not lower.startswith("xurl") else "xurl" + _coded(lower)


_short_piece = lru_cache(4096)(_piece_term)


def _coded(text: str) -> str:
    return "".join(map(_CODE.__getitem__, text.encode("utf-8", "surrogatepass")))


@dataclass
class _Page:
    """What one pass over a page finds. Images and targets are as written, for the base may come after them."""

    size: int
    pieces: list[str] = field(default_factory=list)
    images: list[tuple[int, str]] = field(default_factory=list)
    """The piece whose place each takes, and its URL."""
    targets: list[str] = field(default_factory=list)
    base: str | None = None

    def text(self, host: str | None, page_url: str | None) -> str:
        if self.images:
            if host is not None:
                host = normal_host(host, None) or host
            # Only a <base> can lead relative URLs to another host.
            base = None if self.base is None else self._resolver(page_url)
            terms: dict[str, str] = {}
            for place, url in self.images:
                term = terms.get(url)
                if term is None:
                    term = terms[url] = f"ximg{_coded(_image(url, host, base))} "
                elif base is not None and base.room >= 0 and not base.spend(len(term)):
                    terms.clear()  # from here on they are as written
                    term = terms[url] = f"ximg{_coded(url)} "
                self.pieces[place] = term
        return plain_text("".join(self.pieces))

    def links(self, page_url: str | None) -> list[str]:
        resolver = self._resolver(page_url)
        known: dict[str, str] = {}
        found = []
        for target in self.targets:
            url = known.get(target)
            if url is None:
                url = resolver.resolve(target).partition("#")[0] if target and target[0] != "#" else ""
                known[target] = url = "" if _NO_TARGET.match(url) else url
            elif not resolver.spend(len(url)):
                url = target
            if url:
                found.append(url)
        return found

    def _resolver(self, page_url: str | None) -> "_Resolver":
        page = None if page_url is None else _tidy(page_url)
        if page is not None and host_of(page) is not None and parts(page).authority is None:
            page = "http://" + page  # "www.example.org/page"
        resolver = _Resolver(page, self.size)
        if self.base is None:
            return resolver
        based = _Resolver(resolver.resolve(self.base), self.size)
        return resolver if based.base is None else based


def _scan(markup: str, *, follow: bool) -> _Page:
    """One pass over the markup. With `follow` the links are noted too."""
    page = _Page(len(markup))
    pieces = page.pieces
    template = 0  # elements that are open; what is in them is not in the page
    at = 0
    going = True
    while going:
        going = False
        for tag in _MARKUP.finditer(markup, at):
            start, end = tag.span()
            if start > at and not template:
                text = markup[at:start]
                pieces.append(_decoded(text) if "&" in text else text)
            at = end
            name = tag[1]
            if name is not None:
                name = name.lower()
                if name in _IGNORED:
                    continue
            if not pieces or pieces[-1] != " ":
                pieces.append(" ")
            if name not in _READ:
                continue
            if not tag[3]:
                break  # left open
            if name == "template":
                template += 1
            elif name == "/template":
                template = max(template - 1, 0)
            elif not template:
                if name == "img":
                    url = _attribute(tag, "src")
                    if url:
                        page.images.append((len(pieces), url))
                        pieces.append("")
                elif name == "base":
                    if page.base is None:
                        page.base = _attribute(tag, "href")
                elif follow and name in _TARGETS:
                    target = _attribute(tag, _TARGETS[name])
                    if target is not None:
                        page.targets.append(target)
            if name in _RAW:
                closed = _RAW_END[name].search(markup, at)
                stop = closed.start() if closed else len(markup)
                if _RAW[name] and not template:
                    text = markup[at:stop]
                    pieces.append(_decoded(text) if "&" in text and name != "xmp" else text)
                at = stop
                going = True
                break
    if not template:
        pieces.append(_decoded(markup[at:]))
    return page


def _attribute(tag: re.Match[str], name: str) -> str | None:
    """The value of the first attribute of that name, decoded, and as a URL is read: trimmed, in one line."""
    found = _VALUE[name].match(tag.string, tag.start(2), tag.end(2))
    if not found:
        return None
    value = found[found.lastindex] if found.lastindex else ""
    if "&" in value:
        value = _ATTRIBUTE_REFERENCE.sub(_character, value)
    return _tidy(value)


def _tidy(url: str) -> str:
    """A URL as browsers read it: without line breaks and surrounding white space (WHATWG URL, section 4.4)."""
    url = url.strip(" \t\n\f\r")
    if "\n" in url or "\r" in url or "\t" in url:
        url = url.translate(_BREAKS)
    return url


def _decoded(text: str) -> str:
    return _REFERENCE.sub(_character, text)


def _character(found: re.Match[str]) -> str:
    reference = found.group()
    return _referenced(reference) if len(reference) <= _SHORT else _numbered(reference)


@lru_cache(4096)
def _referenced(reference: str) -> str:
    """The characters of a reference: numbered, named, or the old names, which need no semicolon."""
    if reference[1] == "#":
        return _numbered(reference)
    name = reference[1:]
    if name in html5:
        return html5[name]
    for length in range(min(len(name) - 1, _LONGEST_LEGACY), 1, -1):
        if name[:length] in html5:
            return html5[name[:length]] + name[length:]
    return reference


def _numbered(reference: str) -> str:
    digits = reference[2:].rstrip(";")
    sign = "x" if digits[0] in "xX" else ""
    digits = digits[len(sign) :].lstrip("0")
    return html.unescape(f"&#{sign}{digits};") if 0 < len(digits) < 8 else "\ufffd"


def _image(url: str, host: str | None, resolver: "_Resolver | None") -> str:
    """The term of an image: its file name if it is on the page's own host, else its whole URL."""
    if url[:5].lower() == "data:":
        return "data:" + hashlib.blake2b(url[5:].encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    if ":" not in url and url[:2] != "//" and "\\" not in url and resolver is None:  # most of them
        return url.partition("#")[0].partition("?")[0].rpartition("/")[2]
    scheme, authority, path, _, _ = split = parts(_slashes(url))
    if scheme is None and authority is None:
        if host is not None and resolver is not None and resolver.host not in (None, host):
            return resolver.resolve(url)
    elif authority is not None:
        its_host = normal_host(authority, scheme)
        if its_host is None or its_host != host:
            return _joined(split._replace(authority=its_host or authority))
    elif scheme is not None:
        return url
    return path.rpartition("/")[2]


class _Resolver:
    """Relative URLs against a base (RFC 3986, section 5.2), as long as there is room for what it writes."""

    def __init__(self, base: str | None, size: int) -> None:
        split = None if base is None else parts(_slashes(base))
        self.base = split if split and split.scheme and split.authority else None
        self.folder = None if self.base is None else self._written(self._absolute(parts("-"), self.base))[:-1]
        self.host = self.base and normal_host(self.base.authority or "", self.base.scheme)
        self.room = _ROOM * size + _SPARE
        self.length = len(base or "")

    def resolve(self, url: str) -> str:
        """The absolute URL, the host in its normal form; as written where there is no base, or no room."""
        if self.base is None:
            return self._written(parts(_slashes(url)))
        if not self.spend(self.length):
            return url
        if self.folder is not None and _INTO_FOLDER.match(url):
            return self.folder + url
        its = parts(_slashes(url))
        return self._written(its if its.scheme is not None else self._absolute(its, self.base))

    def spend(self, length: int) -> bool:
        """Whether there is room for so many characters more."""
        self.room -= length
        return self.room >= 0

    def _written(self, its: Parts) -> str:
        if its.authority is None:
            return _joined(its)
        path = _without_dots(its.path) if "." in its.path else its.path
        authority = normal_host(its.authority, its.scheme) or its.authority
        return _joined(its._replace(authority=authority, path=path or "/"))

    def _absolute(self, its: Parts, base: Parts) -> Parts:
        if its.authority is not None:
            return its._replace(scheme=base.scheme)
        if not its.path:
            query = base.query if its.query is None else its.query
            return base._replace(query=query, fragment=its.fragment)
        path = its.path if its.path[0] == "/" else (base.path.rpartition("/")[0] + "/" + its.path)
        return Parts(base.scheme, base.authority, path, its.query, its.fragment)


def _slashes(url: str) -> str:
    """Backslashes before the query are slashes, as browsers read them."""
    if "\\" not in url:
        return url
    end = min(at for at in (url.find("?"), url.find("#"), len(url)) if at >= 0)
    return url[:end].replace("\\", "/") + url[end:]


def _without_dots(path: str) -> str:
    """RFC 3986, section 5.2.4, for a path that begins with a slash or is empty."""
    out: list[str] = []
    segments = path.split("/")
    for segment in segments:
        if segment == "..":
            if len(out) > 1:
                out.pop()
        elif segment != ".":
            out.append(segment)
    if segments[-1] in (".", ".."):
        out.append("")
    return "/".join(out)


def _joined(url: Parts) -> str:
    return "".join(
        (
            "" if url.scheme is None else url.scheme + ":",
            "" if url.authority is None else "//" + url.authority,
            url.path,
            "" if url.query is None else "?" + url.query,
            "" if url.fragment is None else "#" + url.fragment,
        )
    )
