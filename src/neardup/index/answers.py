"""What an index is asked with and what it answers.

Document   what goes in: an id, and text or HTML, and where it is from
Verdict    what `check` and `check_and_add` say of a document
Match      the stored document that it is similar to, and how that is known
Stored     what `get` tells of a stored document
"""

from typing import Any, Literal

import msgspec

from neardup.model import Measured, Relation

Status = Literal["new", "duplicate", "empty", "undecodable"]
"""new: nothing similar is stored. empty, undecodable: there are no words to compare; such a document is similar to
nothing, is passed on like a new one, and is stored where asked."""

Keep = Literal["sketch", "text", "reference"]
"""What is kept of a document, beside its id: the sketch alone, its text too, or where its text can be read again."""


class Document(msgspec.Struct, frozen=True):
    """A document on its way in. `text` and `html` are strings or UTF-8 bytes; give one of them."""

    id: str
    text: str | bytes | None = None
    html: str | bytes | None = None
    url: str | None = None
    reference: str | None = None
    """Where the text can be read again, for an index that keeps that: a path, or PATH#START-STOP for bytes of it."""


class Match(msgspec.Struct, frozen=True):
    """The stored document that one belongs to: an identical one, else the most similar of those that it was compared
    with. Where more than sketches decides, candidates are measured until one is similar enough, and no further."""

    id: str
    relation: Relation
    """Of the document that was asked about to the stored one."""
    similarity: float
    """In the unit that `measured` names; a share from 0 to 1 where that is identity, exact or estimate."""
    measured: Measured
    resemblance: float | None = None
    """Exact where the text is kept, estimated where the sketch tells it, None where it does not."""
    error: float | None = None
    """Standard error of an estimate."""
    url: str | None = None


class Verdict(msgspec.Struct, frozen=True):
    """About one document."""

    id: str
    status: Status
    match: Match | None = None
    added: bool = False
    """Whether it was stored by this call."""

    @property
    def new(self) -> bool:
        """Whether it is to be passed on: nothing similar is stored."""
        return self.match is None

    def to_dict(self) -> dict[str, Any]:
        """Plain values; what is not known is left out."""
        found: dict[str, Any] = {"id": self.id, "status": self.status, "added": self.added}
        if self.match is not None:
            told = msgspec.structs.asdict(self.match)
            found["match"] = {name: value for name, value in told.items() if value is not None}
        return found


class Stored(msgspec.Struct, frozen=True):
    """A stored document."""

    id: str
    tokens: int
    url: str | None = None
    text: str | None = None
    """Where it is kept."""
    reference: str | None = None
    """Where that is kept."""
