"""Meilisearch: the hits of a search.

    {"hits": [{"id": 1, …, "_formatted": {…}}, …], "estimatedTotalHits": 12, "processingTimeMs": 1, "query": "…"}

Every version writes `processingTimeMs`, but a program in between may leave it out. Then the number of hits tells: it is
called `estimatedTotalHits`, or `totalHits` beside `totalPages` where pages were asked for. `query`, and `nbHits` of old
versions, tell nothing: they stand beside Algolia's hits too, which are others (and took `processingTimeMS`).

`_formatted` has the same fields cropped and highlighted: its text is the snippet, where a hit has no text itself. The
primary key is not in the response; it is the field with one of the usual names, else the only one whose name ends in
"id", which is how Meilisearch guesses it too. A multi-search of several indexes is refused, unless it is federated.
"""

from typing import Any

from neardup.errors import InputError
from neardup.refine.formats.highlights import unmarked
from neardup.refine.formats.page import Counts, Fields, Page, with_counts
from neardup.refine.formats.records import NAMES, listed, results

_BESIDE = ({"processingTimeMs"}, {"estimatedTotalHits"}, {"totalHits", "totalPages"})
"""Names beside the hits, of which any row tells."""


def recognises(response: Any) -> bool:
    """A list of hits and what stands beside it, or several such responses."""
    if not isinstance(response, dict):
        return False
    return _several(response) or (
        isinstance(response.get("hits"), list) and any(names <= response.keys() for names in _BESIDE)
    )


def _several(response: dict[str, Any]) -> bool:
    found = response.get("results")
    return isinstance(found, list) and bool(found) and isinstance(found[0], dict) and "indexUid" in found[0]


def read(response: Any, fields: Fields) -> Page:
    """A result of every hit."""
    if isinstance(response, dict) and _several(response):
        raise InputError(
            f"results: these are the responses of {len(response['results'])} searches, each a ranked list of its own. "
            "Ask with federation, or group them one by one: response['results'][0], …"
        )
    if not isinstance(response, dict) or "hits" not in response:
        raise InputError("hits: is not there; a response of Meilisearch has its documents in it.")
    hits = listed(response["hits"], "hits")
    found = results(hits, fields, names=_names(hits), snippet=lambda hit: _snippet(hit.get("_formatted")))

    def write(records: list[dict[str, Any]], counts: Counts | None) -> dict[str, Any]:
        return with_counts({**response, "hits": records}, counts)

    return Page(found, write)


def _names(hits: list[dict[str, Any]]) -> dict[str, tuple[str, ...]]:
    present: set[str] = set().union(*hits)
    if not present.intersection(NAMES["id"]):
        keys = [name for name in present if name.lower().endswith("id")]
        if len(keys) == 1:
            return {**NAMES, "id": (keys[0],)}
    return NAMES


def _snippet(formatted: Any) -> str | None:
    if not isinstance(formatted, dict):
        return None
    for name in (*NAMES["text"], *NAMES["snippet"]):
        if found := unmarked(formatted.get(name)):
            return found
    return None
