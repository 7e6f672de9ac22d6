"""Elasticsearch and OpenSearch: the hits of a search.

    {"took": 5, "_shards": {…}, "hits": {"total": {…}, "hits": [{"_id": …, "_source": {…}, "highlight": {…}}, …]}}

A hit's fields are those of its `_source`, and of `fields` where they were asked for in that way; nested ones are named
by a path, such as `page.body`. `highlight` is the snippet. What the engine has collapsed (`inner_hits`) stays within
its hit. An asynchronous search has such a response in its `response`. One of several searches (`_msearch`) is refused:
results are compared within one ranked list.
"""

from typing import Any

from neardup.errors import InputError
from neardup.refine.formats.highlights import unmarked
from neardup.refine.formats.page import Counts, Fields, Page, with_counts
from neardup.refine.formats.records import NAMES, listed, results

_NAMES = {**NAMES, "id": ("_id",)}


def recognises(response: Any) -> bool:
    """Hits within hits, such a response within another one, or several of them."""
    return isinstance(response, dict) and (
        isinstance(response.get("hits"), dict) or isinstance(response.get("responses"), list) or _asynchronous(response)
    )


def _asynchronous(response: dict[str, Any]) -> bool:
    within = response.get("response")
    return isinstance(within, dict) and isinstance(within.get("hits"), dict)


def read(response: Any, fields: Fields) -> Page:
    """A result of every hit."""
    if not recognises(response):
        raise InputError("hits.hits: is not there; a response of Elasticsearch or OpenSearch has its hits in it.")
    if "hits" not in response and _asynchronous(response):
        found = read(response["response"], fields)
        return Page(
            found.results,
            lambda records, counts: with_counts({**response, "response": found.write(records, None)}, counts),
        )
    if "hits" not in response:
        raise InputError(
            f"responses: these are {len(response['responses'])} responses of one _msearch, each a ranked list of its "
            "own. Group them one by one: response['responses'][0], …"
        )
    hits = listed(response["hits"].get("hits"), "hits.hits")
    made = results(
        [_record(hit) for hit in hits],
        fields,
        raws=hits,
        names=_NAMES,
        snippet=lambda hit: unmarked(hit.get("highlight")),
    )

    def write(records: list[dict[str, Any]], counts: Counts | None) -> dict[str, Any]:
        return with_counts({**response, "hits": {**response["hits"], "hits": records}}, counts)

    return Page(made, write)


def _record(hit: dict[str, Any]) -> dict[str, Any]:
    """A hit with its document's fields beside its own; its id is always the engine's."""
    record = dict(hit)
    for part in (hit.get("fields"), hit.get("_source")):
        if isinstance(part, dict):
            record.update(part)
    record["_id"] = hit.get("_id")
    return record
