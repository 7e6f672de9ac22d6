"""Response formats: a search engine's answer → ranked results, and results → the same kind of answer.

    page          Fields, Result and Page: what is read into, and the way back
    records       a list of records and the caller's fields → results
    highlights    snippets without what marks the words in them
    elastic       Elasticsearch and OpenSearch
    solr          Solr
    meilisearch   Meilisearch
    searxng       SearXNG
    plain         a list of objects
    verbatim      JSON text in and out, to the digit

The contract of a format. It is a module with two functions, and stands in FORMATS under its name:

    recognises(response) -> bool          whether this parsed JSON is of this format, at a glance: by its shape alone
    read(response, fields) -> Page        its results, best first. `fields` are the names that the caller gave

- `Result.raw` is the object of the response that stands for one result (a hit, a document), not changed. What is shown
  of a result is a shallow copy of it with one field more, `neardup`, at its top level: `{**raw, "neardup": note}`.
- `Page.write(records, counts)` gives the response back with these records in place of its results. Records may be fewer
  than there were, or in another order, and may nest others within their note. It copies each level that it changes
  and nothing else, so unknown fields pass through and the input stays what it was. The engine's counts (`total`,
  `numFound` …) stay; what grouping counted is the response's own `neardup`.
- `Result.snippet` and `title` are plain text: markup of highlighting is taken out by the format. They stand in for the
  text where a result has no signature, text or HTML.
- A response that is not what it says, such as hits that are no list, is an InputError that names the place, and so is
  one of several lists (a multi-search, results that the engine grouped). A field that the caller names and no result
  has is a UsageError (records.results does that).

Formats are asked in the order of FORMATS whether they recognise a response; a list is always plain.
"""

import json
from typing import Any, Protocol

from neardup.errors import InputError, UsageError
from neardup.refine.formats import elastic, meilisearch, plain, searxng, solr
from neardup.refine.formats.page import NOTE_FIELD, SIGNATURE_FIELD, Fields, Page, Result

__all__ = ["FORMATS", "NOTE_FIELD", "SIGNATURE_FIELD", "Fields", "Format", "Page", "Result", "read"]


class Format(Protocol):
    """What a module of a format offers."""

    def recognises(self, response: Any) -> bool:
        """Whether a response is of this format, by its shape."""

    def read(self, response: Any, fields: Fields) -> Page:
        """Its results, best first."""


FORMATS: dict[str, Format] = {
    "elastic": elastic,
    "solr": solr,
    "meilisearch": meilisearch,
    "searxng": searxng,
    "plain": plain,
}
"""By name."""

_USUAL = Fields()


def read(response: Any, *, format: str | None = None, fields: Fields = _USUAL) -> Page:
    """The results of a response, of the format named, or of the first one that recognises it."""
    if format is not None:
        if format not in FORMATS:
            raise UsageError(f"format = {format!r}: choose one of {', '.join(FORMATS)}, or leave it away.")
        return FORMATS[format].read(response, fields)
    for known in FORMATS.values():
        if known.recognises(response):
            return known.read(response, fields)
    if isinstance(response, dict) and "error" in response:
        raise InputError(
            f"this is an error of a search engine, and no results: {json.dumps(response['error'], default=str)[:400]}"
        )
    raise InputError(
        f"no known response format: {_shape(response)}. Give a list of results, or a whole response of one of "
        f"{', '.join(FORMATS)}; name the format where its shape does not tell."
    )


def _shape(response: Any) -> str:
    if not isinstance(response, dict):
        return f"it is {type(response).__name__}"
    if not response:
        return "it is an object without fields"
    names = [str(name) for name in response]
    return f"it is an object with {', '.join(names[:8])}" + (", …" if len(names) > 8 else "")
