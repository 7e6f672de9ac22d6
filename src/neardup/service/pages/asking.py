"""What a page is asked, what it knows, and what it answers.

Site    what is served: a collection, an index, limits
Asked   one question: the address's fields and the form's, read without fear
Shown   one answer
Page    a row of the table: which address is shown by which function
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl

from neardup.service.access import Level
from neardup.service.problems import Problem
from neardup.service.settings import Limits

if TYPE_CHECKING:
    from neardup.index import Index
    from neardup.searching import Collection

HTML = "text/html; charset=utf-8"
FORM = "application/x-www-form-urlencoded"

MOST_FIELDS = 64
"""In an address, or in a form."""


@dataclass(frozen=True)
class Site:
    """What the pages are about."""

    collection: "Collection | None" = None
    index: "Index | None" = None
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class Asked:
    """What a browser asks for. Of a field that is there twice, the last one counts."""

    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)
    rest: str = ""
    """What stands in the address where the page's path has {rest}."""
    body: bytes = b""
    """What was sent, as it came."""
    user: str = ""
    """The name that the browser's user gave beside the token."""
    token: str = ""
    """The token's name."""

    def whole(self, name: str, otherwise: int, *, least: int, most: int) -> int:
        """A whole number in the address: the nearest that is allowed; `otherwise` where there is none."""
        text = self.query.get(name, "").strip()
        sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
        if not (digits.isascii() and digits.isdecimal()):
            return otherwise
        return max(least, min(most, sign * int(digits[:18])))

    def place(self, name: str) -> int:
        """A document's place in the collection; -1 where none is given."""
        return self.whole(name, -1, least=-1, most=1 << 60)

    def choice(self, name: str, among: tuple[str, ...]) -> str:
        """One of some words; the first of them where it is none."""
        given = self.query.get(name, "")
        return given if given in among else among[0]


class Shown(NamedTuple):
    """What is sent."""

    content: bytes
    status: int = 200
    type: str = HTML
    location: str = ""
    """Where to go on, with status 303."""


class Page(NamedTuple):
    """A row. `show` runs in a thread; what it raises is shown as a page too."""

    method: str
    path: str
    """With {rest} at its end, all addresses that begin so."""
    show: Callable[[Site, Asked], Shown]
    level: Level = "read"
    takes: str = FORM
    """The type of what is sent to it."""
    gives: str = HTML
    """The type of what it answers; problems are told in the same way."""
    needs: str = ""
    """The step of preparing that it takes, where anything is asked of it."""
    long: bool = False
    """Whether it may take seconds."""


def fields(encoded: bytes) -> dict[str, str]:
    """The fields of an address or a form. Bytes that are not UTF-8 are replaced; too many fields are refused."""
    try:
        pairs = parse_qsl(
            encoded.decode("utf-8", "replace"), keep_blank_values=True, errors="replace", max_num_fields=MOST_FIELDS
        )
    except ValueError:
        raise Problem("bad-path", f"There are more than {MOST_FIELDS} fields.") from None
    return dict(pairs)
