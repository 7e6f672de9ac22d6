"""SearXNG: the results of a metasearch, as JSON (format=json).

    {"query": "…", "number_of_results": 0, "results": [{"url": …, "title": …, "content": …, "engines": […]}, …], …}

A result is named by its URL. `content` is what an engine shows of the page, a sentence or two: a snippet. There is no
text, so unless a field with one was added on the way (`text`, `html`, `raw_content` …), snippets are what is compared.
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

    def write(records: list[dict[str, Any]], counts: Counts | None) -> dict[str, Any]:
        return with_counts({**response, "results": records}, counts)

    return Page(results(found, fields, names=_NAMES, snippet=lambda result: unmarked(result.get("content"))), write)
