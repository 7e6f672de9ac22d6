"""What requests and answers look like: decoded, checked and described (OpenAPI) from these classes alone.

In:   Document, Query, Similar, Named, Sketching, Comparing, Grouping, Expiring, BackingUp;
      Line and NamedLine, of streams
Out:  VerdictOut, Added, Replaced, Removed, StoredOut, IndexList, Matches, SketchesOut, Comparison, Groups,
      JobOut, JobList, Line problems

Requests refuse fields that they do not know. Lines of streams pass over them, so that a crawler's records can be sent
as they are.
"""

import re
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from neardup.index import answers
from neardup.recipes import recipe_names
from neardup.service.problems import ProblemOut

LONGEST_ID = 8192
"""Bytes in UTF-8. Percent-encoded in an address it has three times as many, which fit into a request's head."""

Id = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=LONGEST_ID,
        description=f"Any string of {LONGEST_ID:,} bytes at the most; URLs are fine.",
        examples=["https://a.example/"],
    ),
]
Text = Annotated[str | None, Meta(description="The document's text. Give this or html.", examples=["a rose is a rose"])]
Html = Annotated[str | None, Meta(description="The document as an HTML page, whose text is extracted by the recipe.")]
Url = Annotated[
    Annotated[str, Meta(max_length=LONGEST_ID)] | None,
    Meta(description="Where it is from. Kept where the recipe judges pages of one site apart, as the recipe web does."),
]
Whole = Annotated[float, Meta(ge=1, le=1000, multiple_of=1, description="Matches at the most.")]
"""JSON has one kind of number: 10.0 is as whole as 10."""
Share = Annotated[float, Meta(ge=0, le=1)]
FieldName = Annotated[
    Annotated[str, Meta(min_length=1, max_length=1024)] | None,
    Meta(description="Left away: guessed by the usual names. A path such as page.body leads into objects."),
]


class _Id:
    """An id that is not too long."""

    id: str

    def __post_init__(self) -> None:
        if has_more_bytes(self.id, LONGEST_ID):
            raise ValueError(f"an id has {LONGEST_ID:,} bytes at the most")


class _Content:
    """Text or HTML, and not both."""

    text: str | None
    html: str | None

    def __post_init__(self) -> None:
        if (self.text is None) == (self.html is None):
            raise ValueError("give text or html, one of them")


class _Titled(_Content, _Id):
    """Both."""

    def __post_init__(self) -> None:
        _Content.__post_init__(self)
        if len(self.id) * 4 > LONGEST_ID:
            _Id.__post_init__(self)


class Document(_Titled, msgspec.Struct, forbid_unknown_fields=True):
    """A document with its id."""

    id: Id
    text: Text = None
    html: Html = None
    url: Url = None


class Query(_Titled, msgspec.Struct, forbid_unknown_fields=True):
    """A document that is asked about; its id may be left away."""

    id: Annotated[str, Meta(max_length=LONGEST_ID, description="Given back in the answer.")] = ""
    text: Text = None
    html: Html = None
    url: Url = None


class Similar(_Content, msgspec.Struct, forbid_unknown_fields=True):
    """A document whose neighbours are asked for."""

    text: Text = None
    html: Html = None
    url: Url = None
    most: Whole = 10


class Named(_Id, msgspec.Struct, forbid_unknown_fields=True):
    """The id of a document."""

    id: Id


class Side(_Content, msgspec.Struct, forbid_unknown_fields=True):
    """A document without a name."""

    text: Text = None
    html: Html = None
    url: Url = None


class Comparing(msgspec.Struct, forbid_unknown_fields=True):
    """Two documents to compare."""

    first: Side
    second: Side
    recipe: Annotated[
        str | None,
        Meta(
            description="Whose tokens and shingles count: a published one's name. Left away: the index's own.",
            extra_json_schema={"enum": [*recipe_names(), None]},
        ),
    ] = None
    systems: Annotated[bool, Meta(description="Also say what every published system says of the pair.")] = False


class Sketching(msgspec.Struct, forbid_unknown_fields=True):
    """Documents to sketch."""

    documents: Annotated[list[Query], Meta(min_length=1)]


class Grouping(msgspec.Struct, forbid_unknown_fields=True):
    """Search results, the best first: as a list, or as the whole response of an engine."""

    results: Annotated[
        list[dict[str, Any]] | None,
        Meta(
            description="Objects in the order of their rank, with an id or url, and text, html, snippet or a "
            "stored signature. Give this or response."
        ),
    ] = None
    response: Annotated[
        dict[str, Any] | None,
        Meta(description="As Elasticsearch, OpenSearch, Solr, Meilisearch or SearXNG gave it."),
    ] = None
    threshold: Annotated[
        Share, Meta(description="Share of passages in common from which on two results are near-duplicates.")
    ] = 0.7
    query: Annotated[
        Annotated[str, Meta(max_length=LONGEST_ID)] | None,
        Meta(description="Compare the passages around these words alone, where all results have a text."),
    ] = None
    contained: Annotated[bool, Meta(description="Also group a result with one that it lies in.")] = True
    show: Annotated[
        Literal["mark", "fold", "collapse", "drop"] | None,
        Meta(
            description="What `shown` is: all results with their groups (mark), the best of each group with the others "
            "within (fold) or with their ids (collapse), the best alone (drop); null: there is none."
        ),
    ] = "mark"
    format: Annotated[
        Literal["elastic", "solr", "meilisearch", "searxng", "plain"] | None,
        Meta(description="Of the response. Left away: recognised by its shape."),
    ] = None
    text_field: FieldName = None
    html_field: FieldName = None
    signature_field: FieldName = None
    id_field: FieldName = None

    def __post_init__(self) -> None:
        if (self.results is None) == (self.response is None):
            raise ValueError("give results or response, one of them")


class Line(_Titled, msgspec.Struct):
    """A line of a stream: a document with its id. Other fields are passed over."""

    id: Id
    text: Text = None
    html: Html = None
    url: Url = None


class QueryLine(_Titled, msgspec.Struct):
    """A line of /v1/stream/check: the id may be left away. Other fields are passed over."""

    id: Annotated[str, Meta(max_length=LONGEST_ID)] = ""
    text: Text = None
    html: Html = None
    url: Url = None


class NamedLine(_Id, msgspec.Struct):
    """A line of /v1/stream/remove. Other fields are passed over."""

    id: Id


Place = Annotated[int, Meta(ge=0, description="In the list of results, counted from 0.")]
ResultId = Annotated[str | int, Meta(description="Its id, else its URL, else its rank, counted from 1.")]


class MatchOut(msgspec.Struct, omit_defaults=True):
    """A stored document that is similar, and how that is known. What is not known is left out."""

    id: str
    relation: Annotated[str, Meta(description="identical, near, contained or contains: of what was asked to this one.")]
    similarity: Annotated[float, Meta(description="In the unit that `measured` names.")]
    measured: Annotated[str, Meta(description="How it was found: identity, exact, estimate, or a sketch's own unit.")]
    resemblance: Annotated[float | None, Meta(description="Exact where texts are kept, else estimated.")] = None
    error: Annotated[float | None, Meta(description="Standard error of an estimate.")] = None
    url: str | None = None


class VerdictOut(msgspec.Struct, omit_defaults=True):
    """What is said of a document: new, or a duplicate of `match`."""

    id: str
    status: Annotated[str, Meta(description="new, duplicate, empty or undecodable; all but duplicate are passed on.")]
    added: Annotated[bool, Meta(description="Whether this request stored it.")]
    match: MatchOut | None = None


class Added(msgspec.Struct):
    """Whether it was added. False: it was there already, with the same content."""

    id: str
    added: bool


class Replaced(msgspec.Struct):
    """It is stored now. replaced: there was another one under this id."""

    id: str
    replaced: bool


class Removed(msgspec.Struct):
    """Whether there was such a document."""

    id: str
    removed: bool


class Expiring(msgspec.Struct, forbid_unknown_fields=True):
    """How long documents are kept."""

    keep_days: Annotated[
        float,
        Meta(ge=1, le=36500, multiple_of=1, description="Keep what was added or met again within so many days."),
    ]


_BACKUP_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


class BackingUp(msgspec.Struct, forbid_unknown_fields=True):
    """What a backup is called."""

    name: Annotated[
        str,
        Meta(
            description="Of the backup, in the folder that the operator named.",
            extra_json_schema={"pattern": "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"},
            examples=["before-the-crawl"],
        ),
    ]

    def __post_init__(self) -> None:
        if not _BACKUP_NAME.fullmatch(self.name):  # here, and not by msgspec, which would quote the expression
            raise ValueError(
                "The name of a backup has 1 to 64 letters, digits, '-' and '_' of ASCII, and begins with a letter or a "
                "digit"
            )


class JobOut(msgspec.Struct, omit_defaults=True):
    """Work of operators that goes on after its request is answered."""

    id: str
    what: Annotated[str, Meta(description="compact, backup, verify, expire or reload.")]
    index: Annotated[str | None, Meta(description="The name of the index; nothing: the collection.")]
    state: Annotated[Literal["running", "done", "failed"], Meta(description="How far it is.")]
    began: Annotated[str, Meta(description="When it began.")]
    seconds: Annotated[float, Meta(description="How long it took, or takes so far.")]
    result: Annotated[dict[str, Any] | None, Meta(description="What came of it, when it is done.")] = None
    failure: Annotated[str | None, Meta(description="Why it failed.")] = None


class JobList(msgspec.Struct):
    """The jobs that run, and the latest that ended."""

    jobs: list[JobOut]


class IndexOut(msgspec.Struct):
    """An index that is served."""

    name: str
    documents: int
    recipe: str
    keep: Annotated[str, Meta(description="What is kept of documents: sketch, text or reference.")]
    default: Annotated[bool, Meta(description="Whether it answers the addresses that name no index.")]


class IndexList(msgspec.Struct):
    """The indexes that are served, as far as the token may use them."""

    indexes: list[IndexOut]


class StoredOut(msgspec.Struct, omit_defaults=True):
    """A stored document."""

    id: str
    tokens: int
    url: str | None = None
    text: Annotated[str | None, Meta(description="Where texts are kept.")] = None


class Matches(msgspec.Struct):
    """Similar stored documents, the most similar first."""

    matches: list[MatchOut]


class SketchOut(msgspec.Struct):
    """What the index would keep of a document."""

    id: str
    status: Annotated[str, Meta(description="fine, short (one shingle of all its tokens), empty or undecodable.")]
    tokens: int
    identity: Annotated[str, Meta(description="32 hexadecimal digits: the same for the same tokens.")]
    features: Annotated[str, Meta(description="base64 of the keys it is found by: 64-bit integers, little-endian.")]


class SketchesOut(msgspec.Struct):
    """Sketches in the order of the documents."""

    recipe: Annotated[str, Meta(description="Id of the recipe; sketches of two recipes do not compare.")]
    sketches: list[SketchOut]


class Comparison(msgspec.Struct, omit_defaults=True):
    """Two documents, measured exactly."""

    identical: Annotated[bool, Meta(description="The same tokens in the same order.")]
    resemblance: Annotated[Share, Meta(description="Shared shingles of all shingles.")]
    first_in_second: Annotated[Share, Meta(description="Share of the first one's shingles that the second has.")]
    second_in_first: Share
    recipe: Annotated[str, Meta(description="Id of the recipe whose tokens and shingles these are.")]
    systems: Annotated[
        list[dict[str, Any]] | None, Meta(description="By system: name, title, similar, candidate, scores, note.")
    ] = None


class Member(msgspec.Struct, omit_defaults=True):
    """A result that is similar to the best-ranked one of its group."""

    place: Place
    id: ResultId
    relation: Annotated[str, Meta(description="identical, near, contained or contains: of this one to the anchor.")]
    match: Annotated[Share, Meta(description="Share of the longer one's passages that the other has too, estimated.")]
    containment: Annotated[
        Share | None, Meta(description="The same of the shorter one's passages, where it can be told.")
    ] = None


class Group(msgspec.Struct):
    """The best-ranked one, and those that are similar to it."""

    anchor: Place
    id: ResultId
    members: list[Member]


class Groups(msgspec.Struct):
    """Every result is in one group; groups stand in the order of their anchors."""

    groups: list[Group]
    folded: Annotated[int, Meta(ge=0, description="Results that stand behind an anchor.")]
    compared: Annotated[
        list[str], Meta(description="By what each result was: signature, text, html, snippet or nothing.")
    ]
    passages: Annotated[bool, Meta(description="Whether the passages around the query were compared.")]
    shown: Annotated[
        list[dict[str, Any]] | dict[str, Any] | msgspec.UnsetType,
        Meta(description="The results or the response as they came, in the way that was asked for."),
    ] = msgspec.UNSET


class LineProblem(msgspec.Struct):
    """The answer to a line that cannot be taken; the stream goes on. Where it ends the stream, `line` is the first one
    that is not answered."""

    line: Annotated[int, Meta(ge=1)]
    error: ProblemOut


def match_out(match: answers.Match) -> MatchOut:
    """As it is sent."""
    return MatchOut(
        match.id, match.relation, match.similarity, match.measured, match.resemblance, match.error, match.url
    )


def verdict_out(verdict: answers.Verdict) -> VerdictOut:
    """As it is sent."""
    match = verdict.match
    return VerdictOut(verdict.id, verdict.status, bool(verdict.added), None if match is None else match_out(match))


def stored_out(stored: answers.Stored) -> StoredOut:
    """As it is sent."""
    return StoredOut(stored.id, stored.tokens, stored.url, stored.text)


def document_of(given: Document | Query | Line | QueryLine) -> answers.Document:
    """As the index takes it."""
    return answers.Document(given.id, given.text, given.html, given.url)


def too_long(given: Any, limit: int) -> bool:
    """Whether the content has more bytes in UTF-8 than allowed."""
    return has_more_bytes(given.text if given.text is not None else given.html, limit)


def has_more_bytes(text: str, limit: int) -> bool:
    """In UTF-8."""
    return len(text) * 4 > limit and (len(text) if text.isascii() else len(text.encode())) > limit
