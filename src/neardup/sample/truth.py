"""The labelled truth: which pairs a careful reader would call the same page, and which not.

    duplicate   two documents of one original, both within the changes that leave a page the same page
    different   two filled-in pages of one template site; two articles within one site's navigation;
                two originals of one site; two short pages that say different things

Heavy edits, quoted passages and empty pages are in neither class: readers disagree about the first
two (their `original` says where they come from), and the last say nothing that could be compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations, pairwise

from neardup.sample.model import LabelledPair, SampleDocument

__all__ = ["UNLABELLED", "pairs"]

#: Kinds of documents that take part in no pair.
UNLABELLED = frozenset({"edited/heavy", "excerpt/passage", "empty"})

_WHY = {
    "exact": "the same text under another address",
    "mirror": "the same page on another host",
    "session-id": "only the session id differs",
    "time-stamp": "only the printed time and the visitor counter differ",
    "edited": "a few sentences were changed",
    "reformatted": "the same words in other characters",
    "excerpt": "the same page without its end",
}


def pairs(documents: Iterable[SampleDocument]) -> Iterator[LabelledPair]:
    """The labelled pairs of these documents, each once, in the order of the documents."""
    known = [document for document in documents if document.kind not in UNLABELLED]
    yield from _duplicates(known)
    yield from _same_template(known)
    yield from _neighbours(known)
    yield from _short_pages(known)


def _groups(documents: Iterable[SampleDocument], key: str) -> Iterator[list[SampleDocument]]:
    groups: dict[str, list[SampleDocument]] = defaultdict(list)
    for document in documents:
        groups[getattr(document, key)].append(document)
    yield from groups.values()


def _duplicates(documents: list[SampleDocument]) -> Iterator[LabelledPair]:
    for family in _groups(documents, "original"):
        for a, b in combinations(family, 2):
            if a.id == b.original:
                yield LabelledPair(a.id, b.id, b.kind, "duplicate", _WHY[b.kind.partition("/")[0]])
            else:
                why = f"both are the same page: {a.kind} and {b.kind}"
                yield LabelledPair(a.id, b.id, "siblings", "duplicate", why)


def _same_template(documents: list[SampleDocument]) -> Iterator[LabelledPair]:
    for kind, why in (
        ("template", "one template, another item"),
        ("boilerplate", "one navigation, another article"),
    ):
        pages = [document for document in documents if document.kind.partition("/")[0] == kind]
        for site in _groups(pages, "site"):
            for a, b in combinations(site, 2):
                yield LabelledPair(a.id, b.id, a.kind, "different", why)


def _neighbours(documents: list[SampleDocument]) -> Iterator[LabelledPair]:
    originals = [document for document in documents if document.kind == "original"]
    for site in _groups(originals, "site"):
        for a, b in pairwise(site):
            yield LabelledPair(a.id, b.id, "same-site", "different", "one site and subject, another page")


def _short_pages(documents: list[SampleDocument]) -> Iterator[LabelledPair]:
    for a, b in combinations([document for document in documents if document.kind == "short"], 2):
        if a.text == b.text:
            yield LabelledPair(a.id, b.id, "short", "duplicate", "the same few words")
        else:
            yield LabelledPair(a.id, b.id, "short", "different", "short, but other words")
