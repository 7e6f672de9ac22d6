"""SearXNG: the results of a metasearch, as JSON (format=json).

    {"query": "…", "number_of_results": 0, "results": [{"url": …, "title": …, "content": …, "engines": […]}, …], …}

A result is named by its URL. `content` is what an engine shows of the page, a sentence or two: a snippet. There is no
text, so unless a field with one was added on the way (`text`, `html`, `raw_content` …), snippets are what is compared.

Engines for one's own documents (Elasticsearch, Solr, Meilisearch, databases) give all fields of a document in `kvmap`,
as strings, and leave the result's own URL, title and content empty. Such a result is read as if its document's fields
were its own.
"""

from typing import Any

from neardup.errors import InputError
from neardup.refine.formats.highlights import unmarked
from neardup.refine.formats.page import Counts, Fields, Page, with_counts
from neardup.refine.formats.records import NAMES, listed, results

_NAMES = {**NAMES, "text": tuple(name for name in NAMES["text"] if name != "content")}

_BESIDE = ("number_of_results", "unresponsive_engines", "infoboxes", "suggestions")


def recognises(response: Any) -> bool:
    """A query, results, and what else stands beside them."""
    return (
        isinstance(response, dict)
        and "query" in response
        and isinstance(response.get("results"), list)
        and any(name in response for name in _BESIDE)
    )


def read(response: Any, fields: Fields) -> Page:
    """A result of every result."""
    if not isinstance(response, dict) or "results" not in response:
        raise InputError("results: is not there; a response of SearXNG (format=json) has its results in it.")
    found = listed(response["results"], "results")
    records = [_record(result) for result in found]
    made = results(
        records, fields, raws=found, names=_NAMES, snippet=lambda result: unmarked(_record(result).get("content"))
    )

    def write(records: list[dict[str, Any]], counts: Counts | None) -> dict[str, Any]:
        return with_counts({**response, "results": records}, counts)

    return Page(made, write)


def _record(result: dict[str, Any]) -> dict[str, Any]:
    """A result with the fields of its document in place of its own empty ones, where it has a document."""
    document = result.get("kvmap")
    if not isinstance(document, dict):
        return result
    return {**document, **{name: value for name, value in result.items() if value not in (None, "")}}
