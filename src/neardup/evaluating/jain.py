"""How many results are near-duplicates: Jain, Dahlin, Tewari, section 3, figures 6 to 15, for any collection.

exhibits      all of them
by_degree     section 3.2, figure 6, its right end: by the degree of similarity, 50 to 100 %
by_results    section 3.2, figures 6 and 7: by the number of results, one curve per degree
by_list       sections 3.3 and 3.4, figures 8 to 12: by the number of results, one curve per query, at one degree
over_lists    section 3.4, figures 13 to 15: least, average and largest share over the queries

The degree of similarity is the share of Bloom filter bits that match. Documents that match are put into one cluster,
and so are those that match one of these (union-find). The fraction of near-duplicates is what could be left out if
one document of each cluster stayed: (documents - clusters) / documents. Their query "emacs manual" has 493 documents
and 56, 220, 317, 328, 340 clusters at 50, 60, 70, 80, 90 %: 88 % down to 31 % are duplicates.

A collection without queries is one list, in its own order. These are counts of whole lists and not estimates, so
they have no interval.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.comparing.documents import inert
from neardup.evaluating import figures
from neardup.evaluating.exhibit import Exhibit, Row, empty
from neardup.evaluating.forest import spanning_forest
from neardup.evaluating.study import Matches

DEGREES = (0.5, 0.6, 0.7, 0.8, 0.9)
"""Those of their figures 6 and 7."""

_POINTS = 100
"""Numbers of results for which a curve has a point, at the most."""

_MOST_LISTS = 7
"""Curves that can be told apart."""

WHOLE = "the collection, in its own order"
NOTHING = "No two documents match: nothing is a near-duplicate at any degree."


def exhibits(matches: Matches) -> list[Exhibit]:
    """In the order of the paper."""
    return [by_degree(matches), by_results(matches), by_list(matches), over_lists(matches)]


def by_degree(matches: Matches) -> Exhibit:
    """Near-duplicates in the whole collection for every degree of similarity, in steps of 5 %."""
    title, source = "Near-duplicates by degree of similarity", "Jain, Dahlin, Tewari, section 3.2"
    if not len(matches) or not matches.documents:
        return empty("jain-degree", title, source, NOTHING)
    order = np.argsort(-matches.match, kind="stable")
    first, second, match = matches.first[order], matches.second[order], matches.match[order]
    joining = match[spanning_forest(matches.documents, first, second)]
    rows: list[Row] = []
    for percent in range(50, 101, 5):
        degree = percent / 100
        if degree < matches.lowest:
            continue
        near = match >= degree
        company = len(np.unique(np.concatenate([first[near], second[near]])))
        redundant = int((joining >= degree).sum())
        rows.append(
            {
                "degree of similarity": percent,
                "clusters": matches.documents - redundant,
                "near-duplicates": redundant,
                "fraction": redundant / matches.documents,
                "documents with a near-duplicate": company,
                "fraction with one": company / matches.documents,
            }
        )
    names = {
        "fraction": "could be left out: documents − clusters",
        "fraction with one": "have a near-duplicate",
    }
    long = [
        {"degree of similarity (%)": row["degree of similarity"], "fraction of documents": row[column], "what": name}
        for column, name in names.items()
        for row in rows
    ]
    chart = figures.curves(
        long, title=title, x="degree of similarity (%)", y="fraction of documents", by="what", points=True, zero=False
    )
    caption = f"{matches.documents:,} documents. Those that match are one cluster, directly or by way of others."
    return Exhibit(key="jain-degree", title=title, source=source, caption=caption, rows=rows, chart=chart)


def by_results(matches: Matches) -> Exhibit:
    """The first list: near-duplicates among its first N, for each degree."""
    title, source = "Near-duplicates by number of results", "Jain, Dahlin, Tewari, figures 6 and 7"
    name, ranked = _lists(matches)[0]
    if not len(matches) or len(ranked) < 2:
        return empty("jain-figure-6", title, source, NOTHING)
    sizes = _sizes(len(ranked))
    rows: list[Row] = []
    for degree in DEGREES:
        if degree >= matches.lowest:
            rows += _curve(matches, ranked, degree, sizes, {"degree of similarity": f"{degree:.0%}"})
    chart = figures.curves(
        rows, title=title, x="results", y="fraction", by="degree of similarity", subtitle=_short(name)
    )
    caption = f"Among the first N documents of the list ({_short(name)}), the fraction that could be left out."
    return Exhibit(key="jain-figure-6", title=title, source=source, caption=caption, rows=rows, chart=chart)


def by_list(matches: Matches) -> Exhibit:
    """Every list at the degree from which on the recipe calls documents similar."""
    title, source = "Near-duplicates by number of results, for each query", "Jain, Dahlin, Tewari, figures 8 to 12"
    if not matches.lists:
        return empty("jain-figure-8", title, source, "The collection has no queries with ranked results.")
    rows: list[Row] = []
    for name, ranked in matches.lists:
        rows += _curve(matches, ranked, matches.similar, _sizes(len(ranked)), {"query": inert(name)})
    chosen = {inert(name) for name, _ in matches.lists[:_MOST_LISTS]}
    shown = [{**row, "query": _short(str(row["query"]))} for row in rows if row["query"] in chosen]
    chart = figures.curves(shown, title=title, x="results", y="fraction", by="query")
    more = len(matches.lists) - len(chosen)
    caption = f"Documents that match in {matches.similar:.0%} of the bits or more are near-duplicates."
    note = f"{more:,} more queries are in the data and not drawn." if more > 0 else ""
    return Exhibit(key="jain-figure-8", title=title, source=source, caption=caption, rows=rows, chart=chart, note=note)


def over_lists(matches: Matches) -> Exhibit:
    """Least, average and largest fraction over the lists that are long enough."""
    title, source = "Near-duplicates over all queries", "Jain, Dahlin, Tewari, figures 13 to 15"
    if len(matches.lists) < 2:
        return empty("jain-figure-13", title, source, "This takes the ranked results of two queries at least.")
    sizes = _sizes(max(len(ranked) for _, ranked in matches.lists))
    found: dict[int, list[float]] = {size: [] for size in sizes}
    for _, ranked in matches.lists:
        reached = [size for size in sizes if size <= len(ranked)]
        for size, redundant in zip(reached, _redundant(matches, ranked, matches.similar, reached), strict=True):
            found[size].append(redundant / size)
    rows: list[Row] = [
        {
            "results": size,
            "queries": len(shares),
            "least": min(shares),
            "average": sum(shares) / len(shares),
            "largest": max(shares),
        }
        for size, shares in found.items()
        if shares
    ]
    if not rows:
        return empty("jain-figure-13", title, source, "No query has results.")
    chart = figures.whiskers(
        rows, title=title, x="results", low="least", middle="average", high="largest", y="fraction"
    )
    caption = f"At {matches.similar:.0%}; queries with fewer results are left out of a row."
    return Exhibit(key="jain-figure-13", title=title, source=source, caption=caption, rows=rows, chart=chart)


def _lists(matches: Matches) -> Sequence[tuple[str, NDArray[Any]]]:
    return matches.lists or [(WHOLE, np.arange(matches.documents, dtype=np.int64))]


def _sizes(results: int) -> list[int]:
    """10, 20, … up to the number of results, in wider steps where these would be more than a hundred points."""
    step = 10
    for factor in (2, 5, 10) * 18:
        if results <= step * _POINTS:
            break
        step = 10 ** (len(str(step)) - 1) * factor
    return [*range(step, results, step), *([results] if results else [])]


def _curve(
    matches: Matches, ranked: NDArray[Any], degree: float, sizes: Sequence[int], name: dict[str, str]
) -> list[Row]:
    redundant = _redundant(matches, ranked, degree, sizes)
    return [
        {**name, "results": size, "near-duplicates": left, "fraction": left / size}
        for size, left in zip(sizes, redundant, strict=True)
    ]


def _redundant(matches: Matches, ranked: NDArray[Any], degree: float, sizes: Sequence[int]) -> list[int]:
    """Documents less clusters among the first N of a list, for each N.

    Pairs are taken in the order of their later document, so the forest's pairs up to rank N are those of the first N.
    """
    rank = np.full(matches.documents, -1, np.int64)
    rank[ranked] = np.arange(len(ranked))
    near = matches.match >= degree
    first, second = rank[matches.first[near]], rank[matches.second[near]]
    listed = (first >= 0) & (second >= 0)
    first, second = first[listed], second[listed]
    order = np.argsort(np.maximum(first, second), kind="stable")
    first, second = first[order], second[order]
    later = np.maximum(first, second)[spanning_forest(len(ranked), first, second)]
    return [int((later < size).sum()) for size in sizes]


def _short(name: str) -> str:
    shown = inert(name)
    return shown if len(shown) <= 40 else shown[:39] + "…"
