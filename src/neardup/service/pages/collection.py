"""/collection: a finished run. What it did, its groups, and the members of each with the one that was kept and why.

Where no run is served, the page says how to make one.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.model import MEASURED, RELATIONS
from neardup.recipes import name_of
from neardup.report.facts import why_kept
from neardup.service.pages.asking import Asked, Shown, Site
from neardup.service.pages.collection_run import KINDS, ORDERS, Clusters, clusters_of, run_of
from neardup.service.pages.collection_run import Asked as Wanted
from neardup.service.pages.layout import page
from neardup.service.pages.showing import LONGEST_LINK, address, clipped, legible, linkable, many, plain
from neardup.service.problems import Problem

if TYPE_CHECKING:
    from neardup.result import Result
    from neardup.searching import Collection

PER_PAGE = 25
MEMBERS = 50
"""Of a group on one page."""
INPUTS = 10
"""Files that are named."""

_TITLE, _NAME = 140, 200
"""Characters of a title and of a name that are shown."""

ORDER_WORDS = {"largest": "largest first", "weakest": "nearest to the threshold first", "input": "as in the input"}
KIND_WORDS = {
    "any": "any relation",
    "identical": "the same words",
    "near": "near-duplicates",
    "contained": "parts of the kept one",
    "contains": "the kept one is a part",
}
RELATION_WORDS = {
    "identical": "same words",
    "near": "near-duplicate",
    "contained": "lies in the kept one",
    "contains": "holds the kept one",
}
COUNTED_WORDS = {
    "identical": ("with the same words", "with the same words"),
    "near": ("near-duplicate", "near-duplicates"),
    "contained": ("that lies in it", "that lie in it"),
    "contains": ("that holds it", "that hold it"),
}
MEASURED_WORDS = {
    "identity": "",
    "exact": "measured",
    "estimate": "estimated by its sketch",
    "containment": "containment, estimated",
    "b-similarity": "equal features",
    "c-similarity": "equal bits",
    "lists": "equal lists",
    "bloom": "equal bits of filters",
}


@dataclass(frozen=True)
class Named:
    """A document as it is called."""

    number: int
    id: str
    at: int | None
    """Its number again, where another document has the same id."""
    title: str
    where: str
    """Its URL, or its id."""
    outside: str | None
    """Its address on the web."""
    text: str | None
    """Where its text is shown; nowhere where its id is too long for an address."""


@dataclass(frozen=True)
class Listed:
    """A group in the list."""

    kept: Named
    size: int
    kinds: list[str]
    href: str
    nearest: str
    """How near its weakest member is to the threshold, where the list is in that order."""


@dataclass(frozen=True)
class Member:
    """A removed document, and why."""

    document: Named
    relation: str
    measured: str
    score: str
    in_kept: float | None
    kept_in: float | None
    words: int
    compare: str | None


@dataclass(frozen=True)
class Pages:
    """Where in a long list this is."""

    page: int
    pages: int
    previous: str
    next: str


def show(site: Site, asked: Asked) -> Shown:
    """GET /collection."""
    collection = site.collection
    if collection is None or collection.run is None:
        return page("Collection", "collection_none.html", at="/collection", collection=collection)
    run = collection.run
    clusters = clusters_of(run)
    wanted = Wanted(asked.query.get("q", "").strip()[:400], asked.choice("kind", KINDS), asked.choice("order", ORDERS))
    found = clusters.find(wanted)
    pages = -(-len(found) // PER_PAGE)
    at = asked.whole("page", 1, least=1, most=max(1, pages))
    given = {"q": wanted.words, "kind": _unusual(wanted.kind, KINDS), "order": _unusual(wanted.order, ORDERS)}
    return page(
        "Collection",
        "collection.html",
        at="/collection",
        styles=["collection.css"],
        within="groups",
        collection=collection,
        counts=run.counts,
        facts=_facts(run, clusters),
        inputs=[plain(clipped(file["path"], 300)) for file in run.run()["inputs"][:INPUTS]],
        more_inputs=max(0, len(run.run()["inputs"]) - INPUTS),
        wanted=wanted,
        kinds=[(kind, KIND_WORDS[kind]) for kind in KINDS if kind in ("any", *_present(clusters), wanted.kind)],
        orders=ORDER_WORDS,
        found=len(found),
        listed=_listed(clusters, collection, found[(at - 1) * PER_PAGE : at * PER_PAGE].tolist(), wanted.order),
        pager=Pages(at, pages, _at("/collection", at - 1, **given), _at("/collection", at + 1, **given)),
    )


def show_group(site: Site, asked: Asked) -> Shown:
    """GET /collection/group?kept=NUMBER."""
    run, collection = run_of(site), site.collection
    assert collection is not None
    clusters = clusters_of(run)
    facts = clusters.facts
    group = clusters.numbered(asked.whole("kept", -1, least=-1, most=1 << 60))
    if group < 0:
        raise Problem("no-group", "The run has no group with this number; see /collection for those that it has.")
    kept = int(facts.centres[group])
    rows = facts.rows_of(group)
    rows = rows[np.lexsort((rows, -facts.decision.score[rows], ~facts.by_identity[rows]))]
    pages = -(-len(rows) // MEMBERS)
    at = asked.whole("page", 1, least=1, most=pages)
    shown = rows[(at - 1) * MEMBERS : at * MEMBERS]
    names = _names(clusters, collection, [kept, *facts.decision.removed[shown].tolist()])
    title = f"{len(rows) + 1:,} documents, one kept"
    return page(
        f"{title} · Collection",
        "collection_group.html",
        at="/collection",
        styles=["collection.css"],
        within="groups",
        heading=title,
        kept=names[0],
        kept_words=int(facts.tokens[kept]),
        why=why_kept(run.recipe.clusters.keep),
        unit=facts.unit,
        members=[_member(clusters, names[0], name, row) for name, row in zip(names[1:], shown.tolist(), strict=True)],
        pager=Pages(at, pages, *(_at("/collection/group", at + by, kept=kept) for by in (-1, 1))),
    )


def _facts(run: "Result", clusters: Clusters) -> list[tuple[str, str]]:
    recipe, counts, facts = run.recipe, run.counts, clusters.facts
    threshold = f"{facts.unit} from {facts.threshold:g}" if facts.threshold else "every pair that shares a feature"
    if facts.stricter:
        threshold += f", {recipe.verify.same_site:g} on one host"
    told = [
        ("Recipe", f"{name_of(recipe) or 'own'} {recipe.id}"),
        ("Similar", threshold),
        ("Kept", f"of each group {why_kept(recipe.clusters.keep)}"),
        ("Time", f"{clusters.seconds:,.1f} s without the report, {counts['pairs_measured']:,} pairs measured"),
    ]
    if counts["removed_against_index"]:
        told.append(("Index", f"{counts['removed_against_index']:,} removed for documents that an index knew"))
    if counts["skipped"]:
        told.append(("Skipped", f"{counts['skipped']:,} that could not be read or compared"))
    return told


def _present(clusters: Clusters) -> list[str]:
    """Relations that occur."""
    return [kind for kind, n in zip(RELATIONS, clusters.kinds.sum(axis=0).tolist(), strict=True) if n]


def _listed(clusters: Clusters, collection: "Collection", groups: list[int], order: str) -> list[Listed]:
    facts = clusters.facts
    names = _names(clusters, collection, facts.centres[groups].tolist())
    made = []
    for group, name in zip(groups, names, strict=True):
        counts = zip(clusters.kinds[group].tolist(), RELATIONS, strict=True)
        kinds = [many(n, *COUNTED_WORDS[kind]) for n, kind in counts if n]
        nearest = _nearest(clusters, group) if order == "weakest" else ""
        made.append(
            Listed(name, int(facts.sizes[group]), kinds, address("/collection/group", kept=name.number), nearest)
        )
    return made


def _nearest(clusters: Clusters, group: int) -> str:
    """What the order by the threshold goes by."""
    above, facts = float(clusters.weakest[group]), clusters.facts
    if not np.isfinite(above):
        return "all have the same words"
    shown = f"{above:g}" if facts.counted else f"{above:.3f}"
    return f"the least similar one is {shown} above what it needs ({facts.unit})"


def _names(clusters: Clusters, collection: "Collection", numbers: list[int]) -> list[Named]:
    """What documents are called; titles are asked of the collection."""
    documents = np.array(numbers, np.int64)
    facts = clusters.facts
    ids, urls = (facts.collection.any_order(column, documents).to_pylist() for column in ("id", "url"))
    made = []
    for number, id_, url in zip(numbers, ids, urls, strict=True):
        called = collection.called(id_, number)
        at = None if called is None else called.at
        text = address("/document", id=id_, at=at)
        made.append(
            Named(
                number,
                id_,
                at,
                clipped(legible(called.title if called is not None else id_), _TITLE) or "Without a title",
                clipped(plain(url or id_), _NAME),
                url if linkable(url) and len(url or "") <= LONGEST_LINK else None,
                text if len(text) <= LONGEST_LINK and called is not None else None,
            )
        )
    return made


def _member(clusters: Clusters, kept: Named, name: Named, row: int) -> Member:
    facts = clusters.facts
    decision = facts.decision
    compare = address("/compare", a=kept.id, b=name.id, a_at=kept.at, b_at=name.at)
    same = bool(facts.by_identity[row])
    score = float(decision.score[row])
    relation = RELATIONS[decision.relation[row]]
    measured = MEASURED[decision.measured[row]]
    return Member(
        name,
        RELATION_WORDS.get(relation, relation),
        MEASURED_WORDS.get(measured, measured),
        "same" if same else f"{score:g}" if facts.counted else f"{score:.3f}",
        1.0 if same else _known(decision.removed_in_kept[row]),
        1.0 if same else _known(decision.kept_in_removed[row]),
        int(facts.tokens[name.number]),
        compare if len(compare) <= 2 * LONGEST_LINK else None,
    )


def _known(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)


def _unusual(value: str, among: tuple[str, ...]) -> str:
    return "" if value == among[0] else value


def _at(path: str, number: int, **given: object) -> str:
    return address(path, **given, page=number if number > 1 else "")
