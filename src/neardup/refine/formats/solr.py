"""Solr: the documents of a select, as JSON (wt=json).

    {"responseHeader": {…}, "response": {"numFound": 12, "start": 0, "docs": [{…}, …]}, "highlighting": {"ID": {…}}}

`highlighting` is the snippet, by the document's unique key: `id`, or the field whose values stand there. Names of
dynamic fields, such as `title_t` and `body_txt_en`, are understood without their endings. What the engine has collapsed
(`expanded`) stays as it is. Of a grouped response (group=true) the one flat list is read that group.format=simple or
one group.query gives; others are refused: their lists are ranked each for itself.
"""

import re
from typing import Any

from neardup.errors import InputError
from neardup.refine.formats.highlights import unmarked
from neardup.refine.formats.page import Counts, Fields, Page, with_counts
from neardup.refine.formats.records import NAMES, listed, results

_DYNAMIC = re.compile(r"_(?:t|s|txt|ts|ss|text)(?:_[a-z]{2,4})?(?:_split(?:_tight)?)?$")
"""Endings of fields of strings and texts in Solr's own schemas."""


def recognises(response: Any) -> bool:
    """Documents within a response, or groups of them."""
    if not isinstance(response, dict):
        return False
    return _has_docs(response.get("response")) or ("responseHeader" in response and "grouped" in response)


def _has_docs(found: Any) -> bool:
    return isinstance(found, dict) and "docs" in found


def read(response: Any, fields: Fields) -> Page:
    """A result of every document."""
    if not recognises(response):
        raise InputError("response.docs: is not there; a response of Solr (wt=json) has its documents in it.")
    path = ("response",) if _has_docs(response.get("response")) else _flat(response["grouped"])
    place: Any = response
    for step in path:
        place = place[step]
    docs = listed(place["docs"], ".".join((*path, "docs")))
    marked = response.get("highlighting")
    apart: dict[str, Any] = marked if isinstance(marked, dict) else {}
    key = fields.id or _key(docs, apart)
    found = results(docs, fields, names=_names(docs), snippet=lambda doc: unmarked(apart.get(str(doc.get(key)))))

    def write(records: list[dict[str, Any]], counts: Counts | None) -> dict[str, Any]:
        return with_counts(_replaced(response, path, records), counts)

    return Page(found, write)


def _flat(grouped: Any) -> tuple[str, ...]:
    """Where the one list of a response of group.format=simple is."""
    if isinstance(grouped, dict) and len(grouped) == 1:
        [(name, found)] = grouped.items()
        if isinstance(found, dict) and _has_docs(found.get("doclist")):
            return "grouped", name, "doclist"
    raise InputError(
        "grouped: Solr has grouped this response itself (group=true), and its lists are ranked each for itself. "
        "Ask without it, or with group.format=simple; or give the docs of one doclist as a list."
    )


def _replaced(within: dict[str, Any], path: tuple[str, ...], docs: list[dict[str, Any]]) -> dict[str, Any]:
    if not path:
        return {**within, "docs": docs}
    return {**within, path[0]: _replaced(within[path[0]], path[1:], docs)}


def _key(docs: list[dict[str, Any]], apart: dict[str, Any]) -> str:
    """The field by which highlighting names documents: the one whose values are there, else id."""
    keys = (name for name in (docs[0] if docs and "id" not in docs[0] else ()) if str(docs[0][name]) in apart)
    return next(keys, "id")


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
