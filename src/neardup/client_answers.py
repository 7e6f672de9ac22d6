"""What the client understands of a service's answers: classes that they are decoded into.

Fields that are not named here are passed over and not built, so an answer takes little more memory than its bytes.

decoded        bytes of JSON as one of the classes
check_result   what came of a job
printable      a text of the service, as it may be shown
"""

from typing import Annotated, Any, Literal, NotRequired, TypedDict, TypeVar

import msgspec
from msgspec import Meta

from neardup.http_answer import Unexpected
from neardup.index.answers import Match
from neardup.model import Relation

Found = TypeVar("Found")
Basis = Literal["signature", "text", "html", "snippet", "nothing"]
"""That of `neardup.refine`, whose import takes a second."""
Count = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]

NOT_DECODED = (msgspec.MsgspecError, ValueError, RecursionError)
"""What msgspec raises for bytes that are no JSON, no UTF-8, or of another kind than expected."""


class Problem(msgspec.Struct, rename={"kind": "type"}):
    """Why the service refuses."""

    status: Annotated[int, Meta(ge=300, le=599)]
    kind: str = ""
    title: str = "the service refuses"
    detail: str | None = ""
    instance: str = ""


class LineProblem(msgspec.Struct):
    """Why the service refuses a line of a stream."""

    line: Count
    error: Problem


class Added(msgspec.Struct):
    """Whether a document was added."""

    id: str
    added: bool


class Replaced(msgspec.Struct):
    """Whether a document replaced another."""

    id: str
    replaced: bool


class Removed(msgspec.Struct):
    """Whether there was a document to remove."""

    id: str
    removed: bool


class Matches(msgspec.Struct):
    """Stored documents, the most similar first."""

    matches: list[Match]


class Comparison(TypedDict):
    """Two documents, measured exactly."""

    identical: bool
    resemblance: float
    first_in_second: float
    second_in_first: float
    recipe: str
    systems: NotRequired[list[dict[str, Any]] | None]


class Member(msgspec.Struct):
    """A result that is similar to the best-ranked one of its group."""

    place: Count
    relation: Relation
    match: float
    containment: float | None = None


class Group(msgspec.Struct):
    """The best-ranked result, and those that are similar to it."""

    anchor: Count
    members: list[Member]


class Groups(msgspec.Struct):
    """Search results in groups."""

    groups: list[Group]
    compared: list[Basis]
    passages: bool

    def are_of(self, results: int) -> bool:
        """Return whether each of so many results is in one group."""
        places = [group.anchor for group in self.groups]
        places += [member.place for group in self.groups for member in group.members]
        return len(self.compared) == results and sorted(places) == list(range(results))


class Sketch(TypedDict):
    """What the index would keep of a document."""

    id: str
    status: str
    tokens: int
    identity: str
    features: str


class SketchList(TypedDict):
    """Sketches in the order of the documents."""

    recipe: str
    sketches: list[Sketch]


class IndexList(msgspec.Struct):
    """The indexes that are served."""

    indexes: list[dict[str, Any]]


class Job(TypedDict):
    """Work of an operator."""

    id: str
    state: Literal["running", "done", "failed"]
    index: NotRequired[str | None]
    result: NotRequired[dict[str, Any] | None]
    failure: NotRequired[str | None]


class Documents(TypedDict):
    """What is said of the collection, and of an index."""

    documents: Count


class Compacted(TypedDict):
    """What came of a compaction."""

    bytes_before: Count
    bytes: Count


class Verified(TypedDict):
    """What came of a verification."""

    sound: bool
    documents: Count
    keys: Count
    texts: Count
    problems: list[str]


class BackedUp(TypedDict):
    """What came of a backup."""

    documents: Count
    bytes: Count


class Expired(TypedDict):
    """What came of an expiry."""

    expired: Count
    documents: Count


RESULTS: dict[str, Any] = {
    "compact": Compacted,
    "verify": Verified,
    "backup": BackedUp,
    "expire": Expired,
    "collection/reload": Documents,
}
"""What the result of a job has at the least."""


def decoded(content: bytes | bytearray, kind: type[Found]) -> Found:
    """Return JSON as a value of a class.

    Raises:
        Unexpected: It is something else.
    """
    try:
        return msgspec.json.decode(content, type=kind)
    except NOT_DECODED as error:
        raise not_decoded(error) from error


def check_result(what: str, result: dict[str, Any] | None) -> dict[str, Any]:
    """Return the result of a job if it has the fields that such jobs have.

    Raises:
        Unexpected: A field is missing, or is of another type.
    """
    return converted(result, RESULTS[what])


def converted(value: dict[str, Any] | None, kind: Any) -> dict[str, Any]:
    """Return a value that has at least the fields of a class.

    Raises:
        Unexpected: It has not.
    """
    try:
        msgspec.convert(value, kind)
    except NOT_DECODED as error:
        raise not_decoded(error) from error
    assert value is not None
    return value


def not_decoded(error: Exception) -> Unexpected:
    """Return what is said of bytes that could not be decoded."""
    if isinstance(error, msgspec.ValidationError):
        return Unexpected(printable(str(error), 80))
    return Unexpected("no JSON")


def printable(text: str, most: int) -> str:
    """Return a text of the service as it may be shown: so many characters, and those that cannot be seen by number."""
    shown = text if len(text) <= most else text[:most] + "…"
    if shown.isprintable():
        return shown
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown)
