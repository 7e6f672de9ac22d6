"""/compare: two documents beside each other. They are typed, pasted, dropped, or of the collection; nothing is stored.

What is marked is what the resemblance counts: as many words in a row as a shingle has, or more, that both have.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neardup.errors import InputError
from neardup.service.pages.asking import Asked, Shown, Site
from neardup.service.pages.layout import page
from neardup.service.pages.passages import panes
from neardup.service.pages.showing import LONGEST_LINK, address, clipped, legible, linkable
from neardup.service.problems import Problem
from neardup.service.shapes import has_more_bytes

if TYPE_CHECKING:
    from neardup.comparing.documents import Source
    from neardup.comparing.report import PairReport
    from neardup.comparing.systems import Score, System
    from neardup.searching import Full

KINDS = ("auto", "text", "html")
SIDES = ("first", "second")

AGAIN = 200_000
"""Characters of both documents up to which the answer holds them once more, to be changed."""

MOST_DIFFERENCES = 100

FEW = 30
"""Words of a text below which one changed word may leave no passage as it was."""

SIMILAR = 0.5
"""Resemblance from which on two documents that are no near-duplicates are called similar: half of either is in both."""

HEADINGS = {
    "identical": "The same words in the same order",
    "near": "Near-duplicates",
    "similar": "Similar",
    "contains": "The first holds the second",
    "contained": "The second holds the first",
    "passage": "Different, with passages in common",
    "different": "Different",
}


@dataclass(frozen=True)
class Written:
    """A document as it was sent."""

    name: str
    text: str
    kind: str

    def source(self, most: int) -> "Source":
        """To be compared. HTML is recognised as browsers do, where nobody says what it is."""
        from neardup.comparing.documents import Source, begins_as_html

        data = self.text.encode("utf-8", "replace")
        if len(data) > most:
            raise Problem("too-large", f"The {self.name} document has {len(data):,} bytes; {most:,} are allowed.")
        if not data.strip():
            raise InputError(f"The {self.name} document is empty. Type, paste or drop something.")
        html = begins_as_html(data) if self.kind == "auto" else self.kind == "html"
        return Source(f"The {self.name} document", data, html, decoded=True)


@dataclass(frozen=True)
class Verdict:
    """A row of the table: one score of a system."""

    system: "System"
    score: "Score | None"
    first: bool
    """The system's first row."""


def show(site: Site, asked: Asked) -> Shown:
    """GET /compare: the form; with a and b, two documents of the collection."""
    a, b = (asked.query.get(name, "") for name in "ab")
    if not (a or b):
        return _form(site, [Written(side, "", "auto") for side in SIDES])
    documents = [_stored(site, id_, asked.place(f"{name}_at")) for name, id_ in (("a", a), ("b", b))]
    from neardup.comparing.documents import Source

    most = site.limits.document
    for document in documents:
        if has_more_bytes(document.text, most):
            raise Problem("too-large", f"A document has more than {most:,} bytes; longer ones are not compared here.")
        if not document.text.strip():
            raise Problem("invalid", "One of the two documents has no text.")
    sources = [
        Source(f"The {side} document", document.text.encode("utf-8", "replace"), False, document.url, decoded=True)
        for side, document in zip(SIDES, documents, strict=True)
    ]
    try:
        report = _compared(*sources)
    except InputError as error:
        raise Problem("invalid", _for_people(error)) from None
    return _answer(site, report, documents=documents)


def prepare() -> None:
    """Compare something, so that the kernels are there."""
    from neardup.comparing.documents import Source

    _compared(*(Source(side, f"a rose is a rose is a {side} rose".encode(), False) for side in SIDES))


def answer(site: Site, asked: Asked) -> Shown:
    """POST /compare: two documents at hand."""
    written = [Written(side, asked.form.get(side, ""), _kind(asked.form.get(f"{side}_kind", ""))) for side in SIDES]
    try:
        report = _compared(*(each.source(site.limits.document) for each in written))
    except InputError as error:
        return _form(site, written, trouble=_for_people(error), status=422)
    return _answer(site, report, written=written)


def _kind(given: str) -> str:
    return given if given in KINDS else KINDS[0]


def _stored(site: Site, id_: str, place: int) -> "Full":
    if site.collection is None:
        raise Problem("no-document", "No collection is served here: start neardup serve with --collection PATH.")
    found = site.collection.get(id_, place)
    if found is None:
        raise Problem("no-document", "The collection has no document with one of these ids.")
    return found


def _compared(first: "Source", second: "Source") -> "PairReport":
    from neardup.comparing.report import compare_sources
    from neardup.recipes import choose_recipe

    recipe = choose_recipe(None)
    return compare_sources(first, second, chosen=recipe, passage=recipe.shingles.width)


def _for_people(error: InputError) -> str:
    """Without the options of the command, which nobody has here."""
    said = str(error)
    if "--no-html" in said:
        return f"{said.partition('. ')[0]}. Choose “as text” to compare its source."
    return said


def _form(site: Site, written: list[Written], *, trouble: str = "", status: int = 200) -> Shown:
    return page(
        "Compare",
        "compare.html",
        at="/compare",
        status=status,
        styles=["compare.css"],
        scripts=["compare.js"],
        written=written,
        longest=_longest(site),
        body=site.limits.body,
        trouble=trouble,
    )


def _longest(site: Site) -> int:
    """Bytes of a document that can be sent: the form that holds it is a body too."""
    return min(site.limits.document, site.limits.body)


def _answer(
    site: Site, report: "PairReport", *, written: list[Written] | None = None, documents: "list[Full] | None" = None
) -> Shown:
    half = report.relation == "passage" and report.resemblance >= SIMILAR
    heading = HEADINGS["similar" if half else report.relation]
    again = written if written and sum(len(each.text) for each in written) <= AGAIN else None
    return page(
        heading,
        "compared.html",
        at="/compare",
        styles=["compare.css"],
        scripts=["compare.js"],
        report=report,
        heading=heading,
        match=_match(report),
        few=FEW if min(report.first.tokens, report.second.tokens) < FEW and report.relation != "identical" else 0,
        names=[_named(side, document) for side, document in zip(SIDES, documents or (None, None), strict=True)],
        panes=panes(report),
        verdicts=[
            Verdict(system, score, not at)
            for system in report.systems
            for at, score in enumerate(system.scores or (None,))
        ],
        similar=sum(system.similar for system in report.systems),
        notes=list(_notes(report)),
        measured=measured,
        expected=expected,
        most_differences=MOST_DIFFERENCES,
        written=again or [],
        longest=_longest(site),
        body=site.limits.body,
        trouble="",
    )


def _match(report: "PairReport") -> float:
    """What search folds results by: the share of passages, estimated from signatures."""
    from neardup.refine import group

    found = group([{"id": 1, "text": report.first.text}, {"id": 2, "text": report.second.text}], threshold=0.0)
    return found.groups[0].members[0].match if len(found) == 1 else 0.0


def _named(side: str, document: "Full | None") -> dict[str, Any]:
    """What a document is called above its pane."""
    if document is None:
        return {"side": side, "title": "", "href": None, "where": "", "outside": None}
    title = clipped(legible(document.title), 120) or clipped(legible(document.url or document.id), 120)
    return {
        "side": side,
        "title": title,
        "href": address("/document", id=document.id, at=document.at),
        "where": clipped(document.url or document.id, 200),
        "outside": document.url if linkable(document.url) and len(document.url or "") <= LONGEST_LINK else None,
    }


def measured(score: "Score") -> str:
    """What a system found: a share, or so many of so many."""
    if score.full == 1.0 and score.measure != "lists":
        return f"{score.value:.3f}"
    return f"{score.value:g} of {score.full:g}"


def expected(score: "Score") -> str:
    """What was to be expected at the exact value, with its standard deviation."""
    if score.expected is None:
        return ""
    if score.deviation == 0.0 and score.value == score.exact_value:
        return "exact"
    digits = 3 if score.full == 1.0 else 1
    said = f"{score.expected:.{digits}f}"
    return said if score.deviation is None else f"{said} ± {score.deviation:.{digits}f}"


def _notes(report: "PairReport") -> "list[tuple[str, str]]":
    notes = []
    for system in report.systems:
        said = [system.note] if system.note else []
        if system.scores and system.similar and not system.candidate:
            said.append("the sketches share no key, so it would not look at this pair in a collection")
        if said:
            notes.append((system.name, "; ".join(said)))
    return notes
