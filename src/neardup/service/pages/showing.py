"""Values as a page shows them: text of strangers, names, shares, numbers.

plain      ids, URLs, file names: whatever cannot be seen, or turns the direction of others, by its number
legible    text to read: joiners and marks, which scripts need, stay as they are
clipped    not more than so many characters
percent    a share, to a tenth where that matters; never 0% or 100% for what is not
many       a number with its word
linkable   whether an address is one that a browser may be sent to
"""

import re
from urllib.parse import urlencode

_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
_TURNING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_WEB = re.compile(r"https?://[^\s/]", re.IGNORECASE)

LONGEST_LINK = 8192
"""Bytes of an address of ours; browsers and the service take more, but two of them must fit into one."""


def plain(text: object) -> str:
    """A name in which nothing is hidden."""
    return _UNSEEN.sub(_by_number, str(text))


def legible(text: object) -> str:
    """Text that keeps to its own place: control characters and what turns directions are shown by number."""
    return _TURNING.sub(_by_number, str(text))


def clipped(text: str, most: int) -> str:
    """On one line, and not more than `most` characters; what is left out is told by dots."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else f"{line[:most].rstrip()}…"


def percent(share: float, digits: int = 0) -> str:
    """To so many digits behind the point."""
    x = 100 * share
    edge = 0.5 * 10.0**-digits
    if 0.0 < x < edge:
        return f"< {10.0**-digits:.{digits}f}%"
    if 100.0 - edge <= x < 100.0:
        return f"> {100 - 10.0**-digits:.{digits}f}%"
    return f"{x:.{digits}f}%" if 0.0 < x < 100.0 else f"{x:.0f}%"


def many(number: int, one: str, more: str = "") -> str:
    """1 result, 2 results."""
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def linkable(url: str | None) -> bool:
    """Nothing but http and https: what else a document calls its URL may be a script."""
    return url is not None and _WEB.match(url) is not None


def address(path: str, **given: object) -> str:
    """An address of ours, with the fields that have a value."""
    named = {name: value for name, value in given.items() if value is not None and value != ""}
    return f"{path}?{urlencode(named, errors='replace')}" if named else path


def _by_number(found: re.Match[str]) -> str:
    return f"⟨U+{ord(found.group()):04X}⟩"
