"""Solr: the documents of a select, as JSON (wt=json).

    {"responseHeader": {…}, "response": {"numFound": 12, "start": 0, "docs": [{…}, …]}, "highlighting": {"ID": {…}}}

`highlighting` is the snippet, by the document's id. Names of dynamic fields, such as `title_t` and `body_txt_en`, are
understood without their endings. A grouped response (group=true) is refused: its lists are ranked each for itself.
"""

import re
from typing import Any

from neardup.errors import InputError
from neardup.refine.formats.highlights import unmarked
from neardup.refine.formats.page import Counts, Fields, Page, with_counts
from neardup.refine.formats.records import NAMES, listed, results

_DYNAMIC = re.compile(r"_(?:t|s|txt|ts|ss|text)(?:_[a-z]{2,4})?$")
"""Endings of fields of strings and texts in Solr's own schemas."""


def recognises(response: Any) -> bool:
    """Documents within a response, or groups of them."""
    if not isinstance(response, dict):
        return False
    found = response.get("response")
    return (isinstance(found, dict) and "docs" in found) or ("responseHeader" in response and "grouped" in response)


def read(response: Any, fields: Fields) -> Page:
    """A result of every document."""
    if not recognises(response):
        raise InputError("response.docs: is not there; a response of Solr (wt=json) has its documents in it.")
    if "response" not in response:
        raise InputError(
            "grouped: Solr has grouped this response itself (group=true), and its lists are ranked each for itself. "
            "Ask without it; or give the docs of one doclist as a list."
        )
    docs = listed(response["response"]["docs"], "response.docs")
    marked, key = response.get("highlighting"), fields.id or "id"
    apart: dict[str, Any] = marked if isinstance(marked, dict) else {}
    found = results(docs, fields, names=_names(docs), snippet=lambda doc: unmarked(apart.get(str(doc.get(key)))))

    def write(records: list[dict[str, Any]], counts: Counts | None) -> dict[str, Any]:
        return with_counts({**response, "response": {**response["response"], "docs": records}}, counts)

    return Page(found, write)


def _names(docs: list[dict[str, Any]]) -> dict[str, tuple[str, ...]]:
    """The usual names, and after each the dynamic fields that are called so."""
    present: set[str] = set().union(*docs)
    dynamic: dict[str, list[str]] = {}
    for name in sorted(present):
        if _DYNAMIC.search(name):
            dynamic.setdefault(_DYNAMIC.sub("", name), []).append(name)
    return {
        role: tuple(full for name in usual for full in (name, *dynamic.get(name, ()))) for role, usual in NAMES.items()
    }
