"""Search results that a client sends, grouped: those that are near-duplicates stand behind the best-ranked one.

All of it is neardup.refine; here are the bounds of a service. The index, if there is one, is not looked at.
"""

from collections.abc import Callable

from msgspec import UNSET

from neardup.abandoning import checkpoint
from neardup.refine import group as group_results
from neardup.refine.answers import Grouped
from neardup.refine.formats import Fields, read
from neardup.refine.signature import PAGES
from neardup.service import shapes
from neardup.service.problems import Problem
from neardup.service.settings import Limits
from neardup.text.workers import Pages, Read, shared


def group(asked: shapes.Grouping, limits: Limits, count: Callable[[int], None] = lambda number: None) -> shapes.Groups:
    """Return the groups of a ranked list, and the list as it is to be shown.

    count: called with the number of results as soon as they are read, before they are compared.
    """
    given = asked.response if asked.results is None else asked.results
    names = (asked.text_field, asked.html_field, asked.signature_field, asked.id_field)
    page = read(given, format=asked.format, fields=Fields(*names))
    number = len(page.results)
    if number > limits.documents:
        raise Problem("too-large", f"The response has {number:,} results; {limits.documents:,} are allowed.")
    count(number)
    grouped = group_results(
        page,
        threshold=asked.threshold,
        query=asked.query,
        contained=asked.contained,
        extract=_one_by_one,
    )
    shown = UNSET if asked.show is None else grouped.shown(asked.show)
    return shapes.Groups(_groups(grouped), grouped.folded, list(grouped.bases), grouped.passages, shown)


def _groups(grouped: Grouped) -> list[shapes.Group]:
    return [
        shapes.Group(
            found.anchor,
            grouped.id(found.anchor),
            [shapes.Member(m.place, grouped.id(m.place), m.relation, m.match, m.containment) for m in found.members],
        )
        for found in grouped.groups
    ]


def _one_by_one(pages: Pages) -> list[Read | None]:
    """Read pages, and no further when nobody waits for the rest."""
    found: list[Read | None] = []
    for page in pages:
        checkpoint()
        found += shared(PAGES)([page])
    return found
