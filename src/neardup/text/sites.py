"""The host and the site of a URL.

    parts       a URL in its five components (RFC 3986, appendix B); every string has them
    host        the host's name, with a port that is not the scheme's own
    site        whose page it is: by Henzinger's rule, or by the public suffix list
    place       the host without `www`
    neighbours  whether two URLs are two pages of one place

Henzinger, "Finding Near-Duplicate Web Pages", end of section 1: the site of a page is its domain name if that has at
most one dot, else the domain name minus what is before the first dot. The rule needs no list and takes `amazon.co.uk`
for a page of the site `co.uk`; the public suffix list knows better, and changes over time.

Nothing here raises for a string that is no URL, and all of it takes linear time.
"""

import ipaddress
import re
from contextlib import suppress
from functools import cache
from typing import Any, Literal, NamedTuple

from neardup.errors import MissingExtra, UsageError

SiteRule = Literal["henzinger", "public-suffix"]

_PARTS = re.compile(r"(?:([a-zA-Z][a-zA-Z0-9+.\-]*+):)?(?://([^/?#]*+))?([^?#]*+)(?:\?([^#]*+))?(?:#(.*))?", re.DOTALL)
_PORT_FOLLOWS = re.compile(r"[^:/?#]++:[0-9]*+(?:[/?#]|\Z)")
_NAME = re.compile(r"[^\s!-,/:-@\[-^`{-~\x00-\x1f\x7f]+")
_OWN_PORTS = {"http": "80", "https": "443", "ftp": "21"}
_LONGEST_NAME = 253  # characters of a domain name (RFC 1035); longer ones are not converted to ASCII


class Parts(NamedTuple):
    """A component that is missing is None; one that is there and empty is "". The path is always there."""

    scheme: str | None
    authority: str | None
    path: str
    query: str | None
    fragment: str | None


def parts(url: str) -> Parts:
    """The five components as written, but for the scheme, which is in lower case."""
    found = _PARTS.fullmatch(url)
    assert found, "every string matches"
    scheme, authority, path, query, fragment = found.groups()
    return Parts(scheme.lower() if scheme else None, authority, path, query, fragment)


def host(url: str | None) -> str | None:
    """The host that a URL names, in lower case, with a port only where it is not the scheme's own; None without one.

    The scheme may be missing ("www.example.org/page", "example.org:8080"): then both 80 and 443 are own ports.
    """
    if not url:
        return None
    url = url.strip()
    if "://" not in url[:40] and not url.startswith("//"):
        if re.match(r"[a-zA-Z][a-zA-Z0-9+.\-]*+:", url) and not _PORT_FOLLOWS.match(url):
            return None  # mailto:, data:, urn: and others that name no host
        url = "//" + url
    scheme, authority, *_ = parts(url)
    return normal_host(authority, scheme) if authority else None


def normal_host(authority: str, scheme: str | None) -> str | None:
    """An authority without user information, own port, upper case and final dot; None where that is no host."""
    name, port = authority.rpartition("@")[2], ""
    if name.startswith("["):
        name, _, port = name.partition("]")
        name, port = name + "]", port.removeprefix(":")
        if _address(name) is None:
            return None
    else:
        name, _, port = name.partition(":")
    name = name.rstrip(".").lower()
    if not name.isascii() and len(name) <= _LONGEST_NAME:
        with suppress(UnicodeError):  # where it is no domain name, it still is the name of this host
            name = name.encode("idna").decode("ascii").lower()
    if not name.startswith("[") and not _NAME.fullmatch(name):
        return None
    port = port.lstrip("0")
    own = port in ("80", "443") if scheme is None else port == _OWN_PORTS.get(scheme)
    return f"{name}:{port}" if port.isdecimal() and not own else name


def site(url: str | None, rule: SiteRule = "henzinger") -> str | None:
    """The site that a page belongs to; None where there is no URL, or none with a host. Addresses stay whole."""
    if rule not in ("henzinger", "public-suffix"):
        raise UsageError(f"rule = {rule!r}: choose henzinger or public-suffix.")
    name = host(url)
    if name is None:
        return None
    if name.startswith("["):
        return name[: name.index("]") + 1]
    name = name.partition(":")[0]
    if name.count(".") < 2 and rule == "henzinger":
        return name
    if _address(name) is not None:
        return name
    if rule == "henzinger":
        return name.partition(".")[2]
    registrable: str | None = _public_suffixes().privatesuffix(name)
    return registrable or name


PLACE_AND_PATH = r"^(?P<host>\s*(?:[A-Za-z][A-Za-z0-9+.-]*:)?(?://)?[^/?#]*)(?P<path>[^#]*)"
"""What tells the host, and what follows; fragments do not count. For re and for RE2."""


def neighbours(first: str | None, second: str | None) -> bool:
    """Whether they are two pages of one place: two addresses, whatever their schemes."""
    if place(first) is None or place(first) != place(second):
        return False
    one, other = (re.match(PLACE_AND_PATH, url or "") for url in (first, second))
    return one is None or other is None or one["path"] != other["path"]


def place(url: str | None) -> str | None:
    """The host without a first part `www`; None without one."""
    name = host(url)
    return name.removeprefix("www.") if name else None


def _address(name: str) -> str | None:
    """The name, if it is an address and not a name."""
    if not name or not (name[-1].isdigit() or name[0] == "["):
        return None
    try:
        ipaddress.ip_address(name.strip("[]").partition("%")[0])
    except ValueError:
        return None
    return name


@cache
def _public_suffixes() -> Any:
    try:
        from publicsuffixlist import PublicSuffixList
    except ImportError as error:
        raise MissingExtra("telling sites by the public suffix list", "web") from error
    return PublicSuffixList()
