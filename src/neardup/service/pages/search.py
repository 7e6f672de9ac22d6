"""/search: what a collection has for some words, the repeats folded behind the best-ranked of them.

All results up to MOST are grouped, and then cut into pages: a repeat stands behind its better-ranked twin, whatever
page that is on.
"""

from base64 import b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup.service.pages.asking import Asked, Shown, Site
from neardup.service.pages.layout import page
from neardup.service.pages.showing import LONGEST_LINK, address, clipped, legible, linkable, percent, plain

if TYPE_CHECKING:
    from neardup.refine import Grouped, Member
    from neardup.searching import Collection, Found, Hit

MOST = 1000
"""Results that are looked at."""

PER_PAGE = 20
MOST_SIMILAR = 50
"""Repeats that are listed behind one result; all of them stand in the plain list."""

THRESHOLD, LEAST, HIGHEST = 70, 50, 100
"""Of the slider, in percent."""

VIEWS = ("grouped", "plain")
_TITLE, _URL = 160, 200
"""Characters of a title and of an address that are shown."""

Snippet = list[tuple[str, bool]]
Numbered = list[tuple[int, int, Snippet]]
"""The number of each result that is shown, its place among the hits, and its snippet."""


@dataclass(frozen=True)
class Entry:
    """A result as it is shown."""

    rank: int
    """In the plain list, from 1."""
    title: str
    href: str | None
    """Where its title leads; nowhere where its id is too long for an address."""
    outside: bool
    """It leads to another site."""
    text: str | None
    """Where our own view of its text is."""
    where: str
    """Its URL, or its id."""


@dataclass(frozen=True)
class Similar:
    """A result that repeats another one."""

    entry: Entry
    relation: str
    why: str | None
    """Where the two are compared."""


@dataclass(frozen=True)
class Shelf:
    """A result, and those that are folded behind it; or, in the plain list, what it repeats."""

    number: int
    """In the list that is shown, from 1."""
    entry: Entry
    snippet: Snippet
    similar: list[Similar]
    left_out: int = 0
    """Repeats that are not listed."""
    repeats: Similar | None = None


@dataclass(frozen=True)
class View:
    """What the address asks for."""

    q: str
    threshold: int
    view: str
    page: int

    def at(self, **changed: object) -> str:
        """The address of the same search, otherwise."""
        given = {"q": self.q, "threshold": self.threshold, "view": self.view, "page": 1, **changed}
        usual = {"threshold": THRESHOLD, "view": VIEWS[0], "page": 1}
        return address("/search", **{name: value for name, value in given.items() if value != usual.get(name)})


def show(site: Site, asked: Asked) -> Shown:
    """GET /search."""
    view = View(
        asked.query.get("q", "").strip(),
        asked.whole("threshold", THRESHOLD, least=LEAST, most=HIGHEST),
        asked.choice("view", VIEWS),
        asked.whole("page", 1, least=1, most=MOST),
    )
    collection = site.collection
    if collection is None:
        return page("Search", "no_collection.html", at="/search")
    found = collection.search(view.q, most=MOST, snippets=False) if view.q else None
    values = _answer(collection, found, view) if found and found.hits else None
    return page(
        f"{clipped(legible(view.q), 60)} · Search" if view.q else "Search",
        "search.html",
        at="/search",
        styles=["search.css"],
        scripts=["search.js"],
        collection=collection,
        view=view,
        found=found,
        answer=values,
        usual=(LEAST, HIGHEST),
    )


@dataclass(frozen=True)
class Answer:
    """A page of results."""

    shelves: list[Shelf]
    results: int
    """That were looked at."""
    folded: int
    pages: int
    page: int


def _answer(collection: "Collection", found: "Found", view: View) -> Answer:
    hits = found.hits
    grouped = _grouped(hits, view.threshold / 100)
    folded = view.view == "grouped"
    listed = [group.anchor for group in grouped.groups] if folded else list(range(len(hits)))
    pages = max(1, -(-len(listed) // PER_PAGE))
    at = min(view.page, pages)
    start = (at - 1) * PER_PAGE
    places = listed[start : start + PER_PAGE]
    snippets = [
        [(legible(words), marked) for words, marked in snippet]
        for snippet in collection.snippets(found, [hits[place] for place in places])
    ]
    numbered = list(zip(range(start + 1, len(listed) + 1), places, snippets, strict=False))
    shelves = _folded(hits, grouped, numbered) if folded else _plain(hits, grouped, numbered)
    return Answer(shelves, len(hits), len(hits) - len(grouped.groups), pages, at)


def prepare() -> None:
    """Group something, so that the kernels are there."""
    from neardup.refine import group, sign

    group([{"id": "a", "neardup_signature": sign("a rose is a rose")}] * 2)


def _grouped(hits: "list[Hit]", threshold: float) -> "Grouped":
    from neardup.refine import group

    results = [
        {"id": str(at), "neardup_signature": b64encode(hit.signature).decode("ascii")} for at, hit in enumerate(hits)
    ]
    return group(results, threshold=threshold)


def _folded(hits: "list[Hit]", grouped: "Grouped", numbered: Numbered) -> list[Shelf]:
    members = {group.anchor: group.members for group in grouped.groups}
    return [
        Shelf(
            number,
            _entry(hits, place),
            snippet,
            [_similar(hits, place, member, member.place) for member in members[place][:MOST_SIMILAR]],
            max(0, len(members[place]) - MOST_SIMILAR),
        )
        for number, place, snippet in numbered
    ]


def _plain(hits: "list[Hit]", grouped: "Grouped", numbered: Numbered) -> list[Shelf]:
    anchors = {member.place: (group.anchor, member) for group in grouped.groups for member in group.members}
    shelves = []
    for number, place, snippet in numbered:
        repeats = None
        if place in anchors:
            anchor, member = anchors[place]
            repeats = _similar(hits, anchor, member, anchor)
        shelves.append(Shelf(number, _entry(hits, place), snippet, [], repeats=repeats))
    return shelves


def _similar(hits: "list[Hit]", anchor: int, member: "Member", shown: int) -> Similar:
    """`shown`: which of the two is to be named."""
    return Similar(_entry(hits, shown), relation_in_words(member), _compare(hits[anchor], hits[member.place]))


def relation_in_words(member: "Member") -> str:
    """What a result is to the better-ranked one that it repeats."""
    if member.relation == "identical":
        return "the same text"
    if member.relation == "near":
        return f"{percent(member.match)} of the passages are the same"
    share = percent(member.match if member.containment is None else member.containment)
    if member.relation == "contained":
        return f"lies in it: {share} of its passages are there"
    return f"holds it: has {share} of its passages, and more"


def _entry(hits: "list[Hit]", place: int) -> Entry:
    hit = hits[place]
    text = _link("/document", id=hit.id, at=hit.at)
    outside = linkable(hit.url) and len(hit.url or "") <= LONGEST_LINK
    named = hit.title.strip() or hit.url or hit.id
    return Entry(
        rank=place + 1,
        title=clipped(legible(named), _TITLE),
        href=hit.url if outside else text,
        outside=outside,
        text=text,
        where=clipped(plain(hit.url or hit.id), _URL),
    )


def _compare(first: "Hit", second: "Hit") -> str | None:
    return _link("/compare", a=first.id, b=second.id, a_at=first.at, b_at=second.at)


def _link(path: str, **given: object) -> str | None:
    made = address(path, **given)
    return made if len(made) <= 2 * LONGEST_LINK else None
