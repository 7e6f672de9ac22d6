"""A ranked list of results → groups: near-duplicates stand behind the best-ranked one of them.

Results are taken in the order of their rank. One that is similar to the anchor of an earlier group (its first member)
joins the anchor that it matches most; another one begins a group. So whoever is shown is not similar to another that is
shown, nobody stands behind a worse one, and every member has its evidence to the anchor itself: groups are stars, and
similar to a similar one is not enough.

Two results are similar where the share of passages that the longer one has in common with the other is at least the
threshold, or where the shorter one lies in the longer one. All of it is told from signatures, whether they are stored
or made of the text on the spot; so the answer is the same.
"""

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import UsageError
from neardup.kernels import results as kernel
from neardup.model import RELATIONS
from neardup.refine import formats
from neardup.refine.answers import Basis, Group, Grouped, Member
from neardup.refine.formats import Fields, Page, Result
from neardup.refine.fragments import has_words, passages
from neardup.refine.signature import (
    HASHES,
    MOST,
    SIGNATURE_BYTES,
    Extract,
    Signed,
    as_bytes,
    decoded,
    read_pages,
    signatures_of,
    sizes,
)

CONTAINED = 0.9
"""The share of its passages from which on a result lies in a longer one; the threshold, where that is higher."""

_NEVER = 2.0


def group(
    results: Any,
    *,
    threshold: float = 0.7,
    query: str | None = None,
    contained: bool = True,
    format: str | None = None,
    text_field: str | None = None,
    html_field: str | None = None,
    signature_field: str | None = None,
    id_field: str | None = None,
    extract: Extract | None = None,
) -> Grouped:
    """Group the near-duplicates of a ranked list under the best-ranked one.

    results     a list of dicts, the best first, or a whole response of a known engine; or a Page of them that
                `formats.read` made, and then format and fields are not looked at. What is compared is a stored
                signature (field `neardup_signature`, made by `sign`), else the text, else the HTML, else the snippet; a
                result without any of them stands alone. HTML without text is none. A title is no document: it is
                compared where it is named, text_field="title"
    threshold   the share of passages from which on two results are near-duplicates. 0: all that can be compared are in
                one group; 1: those with all passages in common
    query       compare the passages around its words alone. It takes the text or HTML of all results: where some have
                a signature alone, whole documents are compared (`passages` of the answer tells)
    contained   also group a result with one that it lies in, or that lies in it
    extract     reads HTML; in the calling thread where it is not given

    >>> found = group([{"id": "a", "text": "one and the same text"}, {"id": "b", "text": "One and the same text!"}])
    >>> found.groups[0].members[0].relation
    'identical'
    """
    if not isinstance(threshold, Real) or not 0.0 <= threshold <= 1.0:
        raise UsageError(f"threshold = {threshold!r}: a share of the passages, a number from 0 to 1; 0.7 is usual.")
    named = {
        "text_field": text_field,
        "html_field": html_field,
        "signature_field": signature_field,
        "id_field": id_field,
    }
    for name, value in {**named, "query": query}.items():
        if not isinstance(value, str | None):
            raise UsageError(f"{name} = {value!r}: a string, or None.")
    names = Fields(text_field, html_field, signature_field, id_field)
    page = results if isinstance(results, Page) else formats.read(results, format=format, fields=names)
    rows, bases, by_passages = _signed(page.results, query, extract)
    signed = Signed.of(rows)
    for place in np.flatnonzero(signed.elements == 0).tolist():
        bases[place] = "nothing"
    groups = _groups(signed, threshold, max(CONTAINED, threshold) if contained else _NEVER)
    return Grouped(groups, bases, by_passages, page)


def _groups(signed: Signed, threshold: float, contained: float) -> list[Group]:
    n = len(signed)
    anchors, relations = np.empty(n, np.int64), np.empty(n, np.int64)
    matches, containments = np.empty(n, np.float64), np.empty(n, np.float64)
    kernel.group(
        signed.filters, signed.ones, signed.elements, signed.identities, sizes(), MOST, HASHES,
        threshold, contained, anchors, relations, matches, containments,
    )  # fmt: skip
    found: dict[int, Group] = {}
    rows = zip(anchors.tolist(), relations.tolist(), matches.tolist(), containments.tolist(), strict=True)
    for place, (anchor, relation, match, containment) in enumerate(rows):
        if anchor == place:
            found[place] = Group(place, [])
        else:
            known = containment if containment >= 0.0 else None
            found[anchor].members.append(Member(place, RELATIONS[relation], match, known))
    return list(found.values())


def _signed(
    results: Sequence[Result], query: str | None, extract: Extract | None
) -> tuple[NDArray[np.uint8], list[Basis], bool]:
    """A signature of every result, by what it was compared, and whether that is passages."""
    by_passages = has_words(query) and all(
        r.signature is None or r.text is not None or r.html is not None for r in results
    )
    bases = [_basis(result, stored=not by_passages) for result in results]
    if results and set(bases) == {"signature"}:
        return decoded([result.signature or "" for result in results]), bases, False
    contents = _contents(results, bases, extract)
    rows = np.zeros((len(results), SIGNATURE_BYTES), np.uint8)
    stored = [place for place, basis in enumerate(bases) if basis == "signature"]
    rows[stored] = decoded([results[place].signature or "" for place in stored], stored)
    others = [place for place, basis in enumerate(bases) if basis not in ("signature", "nothing")]
    if others:
        texts = [as_bytes(contents[place]) for place in others]
        if by_passages and query:
            texts = passages(texts, query)
        rows[others] = signatures_of(texts)
    return rows, bases, by_passages


def _basis(result: Result, *, stored: bool) -> Basis:
    if stored and result.signature is not None:
        return "signature"
    if result.text is not None:
        return "text"
    if result.html is not None:
        return "html"
    return "nothing" if result.snippet is None else "snippet"


def _contents(results: Sequence[Result], bases: list[Basis], extract: Extract | None) -> list[Any]:
    """What is compared of each result. Where HTML turns out to have no text, its basis becomes what comes next."""
    pages = [place for place, basis in enumerate(bases) if basis == "html"]
    read = read_pages([results[place].html or "" for place in pages], extract) if pages else []
    texts = dict(zip(pages, read, strict=True))
    for place, text in texts.items():
        if not text or text.isspace():
            bases[place] = _basis(results[place]._replace(html=None), stored=False)
    return [
        texts[place] if basis == "html" else getattr(result, basis, None)
        for place, (result, basis) in enumerate(zip(results, bases, strict=True))
    ]
