"""How much was removed: by source, by site, by length, by relation. All of it is counted, nothing is sampled.

by_source, by_site, by_length, by_relation   rows of {name, documents, removed}, the largest removal first
mirrors                                      pairs of hosts whose documents are each other's copies under the same path
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.report.facts import Facts
from neardup.text.addresses import SLICE, paths, places

TOP = 20
"""Rows that are named; the others are added up."""

LENGTHS = (0, 1, 10, 30, 100, 300, 1_000, 3_000, 10_000)
"""Tokens at which ranges of length begin."""

LEAST_PAIRS = 2
"""Pairs of documents with the same path that make two hosts worth naming."""


def by_source(facts: Facts) -> dict[str, Any]:
    """By input file."""
    engine = facts.result.gathered.engine
    names = list(dict.fromkeys(split.file.name for split in engine.splits))
    places_of = {name: number for number, name in enumerate(names)}
    edges = facts.collection.starts
    removed = np.diff(np.concatenate([[0], np.cumsum(facts.gone)])[edges])
    counts = np.zeros((len(names), 2), np.int64)
    np.add.at(counts, [places_of[s.file.name] for s in engine.splits], np.stack([np.diff(edges), removed], axis=1))
    return _top(pa.array(names, pa.string()), counts[:, 0], counts[:, 1])


def by_length(facts: Facts) -> dict[str, Any]:
    """By number of tokens."""
    which = np.searchsorted(LENGTHS, facts.tokens, side="right") - 1
    documents = np.bincount(which, minlength=len(LENGTHS))
    removed = np.bincount(which[facts.gone], minlength=len(LENGTHS))
    names = [
        "none",
        *(f"{a:,}–{b - 1:,}" for a, b in pairwise(LENGTHS[1:])),
        f"{LENGTHS[-1]:,}+",
    ]
    rows = [
        {"name": name, "documents": int(n), "removed": int(gone)}
        for name, n, gone in zip(names, documents, removed, strict=True)
        if n
    ]
    return {"rows": rows, "others": None}


def by_relation(facts: Facts) -> dict[str, Any]:
    """By what the removed document is to the kept one."""
    counts = facts.result.counts["removed_by_relation"]
    return {
        "rows": [{"name": name, "documents": n, "removed": n} for name, n in counts.items() if n],
        "others": None,
    }


class Hosts(NamedTuple):
    """What URLs tell, of the whole collection."""

    sites: dict[str, Any] | None
    """As the other breakdowns; None where no document has a URL with a host."""
    documents: pa.Table
    """host, documents, removed."""


def by_site(facts: Facts) -> Hosts:
    """By site (Henzinger, end of section 1); documents without one are counted as such."""
    per_host = []
    per_site = []
    for start in range(0, len(facts), SLICE):
        rows = np.arange(start, min(len(facts), start + SLICE))
        urls = facts.collection.values("url", rows).combine_chunks()
        found = places(urls.chunk(0) if isinstance(urls, pa.ChunkedArray) and urls.num_chunks else urls)
        gone = pa.array(facts.gone[rows].astype(np.int64))
        per_host.append(_counted(found.hosts, gone))
        per_site.append(_counted(found.sites, gone))
    hosts, sites = _added(per_host), _added(per_site)
    known = sites.filter(pc.is_valid(sites["name"]))
    if not known.num_rows:
        return Hosts(None, hosts)
    made = _top(known["name"], known["documents"].to_numpy(), known["removed"].to_numpy())
    unknown = sites.filter(pc.is_null(sites["name"])).to_pylist()
    made["unknown"] = {k: unknown[0][k] for k in ("documents", "removed")} if unknown else None
    return Hosts(made, hosts)


def _counted(names: pa.Array, removed: pa.Array) -> pa.Table:
    one = pa.array(np.ones(len(names), np.int64))
    return _added([pa.table({"name": names, "documents": one, "removed": removed})])


def _added(tables: list[pa.Table]) -> pa.Table:
    """Counts of the same name added up."""
    if not tables:
        return pa.table({"name": pa.array([], pa.string()), "documents": pa.array([], pa.int64()), "removed": []})
    sums = pa.concat_tables(tables).group_by("name").aggregate([("documents", "sum"), ("removed", "sum")])
    return sums.select(["name", "documents_sum", "removed_sum"]).rename_columns(["name", "documents", "removed"])


def _top(names: Any, documents: Any, removed: Any) -> dict[str, Any]:
    """The rows with the most removed documents, ties by documents and name; the others added up."""
    table = pa.table({"name": names, "documents": documents, "removed": removed})
    order = [("removed", "descending"), ("documents", "descending"), ("name", "ascending")]
    table = table.sort_by(order)
    rest = table.slice(TOP)
    others = None
    if rest.num_rows:
        sums = {name: int(pc.sum(rest[name]).as_py()) for name in ("documents", "removed")}
        others = {"name": f"{rest.num_rows:,} others", **sums}
    return {"rows": table.slice(0, TOP).to_pylist(), "others": others}


def mirrors(facts: Facts, hosts: pa.Table) -> list[dict[str, Any]]:
    """Pairs of hosts, of which removed documents were found on the other under the same path.

    Pugh names "mirrors or replicated web sites" as the first use of near-duplicates. Only pairs of a removed document
    and the kept one are looked at: of three mirrors, two pairs with the one that was kept are seen.
    """
    decision = facts.decision
    parts = []
    for start in range(0, len(decision.removed), SLICE):
        rows = slice(start, start + SLICE)
        urls = [facts.collection.any_order("url", which[rows]) for which in (decision.removed, decision.kept_for)]
        removed, kept = map(places, urls)
        across = pc.fill_null(pc.not_equal(removed.hosts, kept.hosts), False)
        numbers = pa.array(np.arange(start, start + len(across)))
        ascending = pc.less(removed.hosts, kept.hosts)
        table = pa.table(
            {
                "one": pc.if_else(ascending, removed.hosts, kept.hosts),
                "other": pc.if_else(ascending, kept.hosts, removed.hosts),
                "same": pc.cast(pc.equal(*map(paths, urls)), pa.int64()),
                "from_one": pc.cast(ascending, pa.int64()),
                "row": numbers,
            }
        ).filter(across)
        parts.append(_pairs_of_hosts(table, fresh=True))
    if not parts:
        return []
    found = _pairs_of_hosts(pa.concat_tables(parts), fresh=False)
    found = found.filter(pc.greater_equal(found["same"], LEAST_PAIRS))
    order = [("same", "descending"), ("pairs", "descending"), ("one", "ascending"), ("other", "ascending")]
    best = found.sort_by(order).slice(0, TOP).to_pylist()
    of_host = hosts.filter(
        pc.is_in(hosts["name"], pa.array([p[k] for p in best for k in ("one", "other")], pa.string()))
    )
    documents = dict(zip(of_host["name"].to_pylist(), of_host["documents"].to_pylist(), strict=True))
    return [_mirror(facts, pair, documents) for pair in best]


def _pairs_of_hosts(table: pa.Table, *, fresh: bool) -> pa.Table:
    """Per pair of hosts: pairs of documents, those with the same path, the first rows that are examples."""
    if fresh:
        table = table.append_column("pairs", pa.array(np.ones(table.num_rows, np.int64)))
        example = pc.if_else(pc.equal(table["same"], 1), table["row"], None)
        table = table.drop_columns(["row"]).append_column("row", example)
    keys = ["one", "other"]
    sums = table.group_by(keys).aggregate([("pairs", "sum"), ("same", "sum"), ("from_one", "sum"), ("row", "min")])
    return sums.select([*keys, "pairs_sum", "same_sum", "from_one_sum", "row_min"]).rename_columns(
        [*keys, "pairs", "same", "from_one", "row"]
    )


def _mirror(facts: Facts, pair: dict[str, Any], documents: dict[str, int]) -> dict[str, Any]:
    """The host that lost more documents is called the copy."""
    one_is_copy = 2 * pair["from_one"] >= pair["pairs"]
    copy, origin = (pair["one"], pair["other"]) if one_is_copy else (pair["other"], pair["one"])
    row = pair["row"]
    urls = facts.collection.any_order(
        "url", np.array([facts.decision.removed[row], facts.decision.kept_for[row]], np.int64)
    ).to_pylist()
    return {
        "copy": copy,
        "origin": origin,
        "pairs": pair["pairs"],
        "same_path": pair["same"],
        "copy_documents": documents.get(copy, 0),
        "origin_documents": documents.get(origin, 0),
        "example": {"removed": urls[0], "kept": urls[1]},
    }
