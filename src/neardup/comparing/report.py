"""compare(a, b): one document beside another, with every number that says something about the pair.

PairReport   the relation, exact resemblance and containment, the diff, passages, and what every system says
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from neardup.abandoning import carried, checkpoint
from neardup.comparing.difference import Alignment, Hashes, align, passages
from neardup.comparing.documents import LARGEST, Readings, Source, open_source
from neardup.comparing.systems import System, exact_overlap, judge
from neardup.comparing.tokens import Tokens, tokens_of
from neardup.errors import InputError, UsageError
from neardup.kernels import lists as list_kernel
from neardup.recipe import Recipe
from neardup.recipes import choose_recipe, published, recipe_names
from neardup.text.settings import Extract, TokenKind

Relation = Literal["identical", "near", "contains", "contained", "passage", "different"]
"""Of the first document to the second."""

MOST = 10_000
"""Passages, and differing places, that a report holds."""

LONGEST = 2000
"""Characters of a piece of text in a report; longer ones lose their middle."""

_CONTEXT = 4
"""Tokens shown before and after what differs."""


@dataclass(frozen=True)
class Side:
    """One of the two documents."""

    name: str
    url: str | None
    html: bool
    bytes: int
    """As given; of compressed files, unpacked."""
    characters: int
    """Of the text that was compared; offsets count in it."""
    tokens: int
    shingles: int
    """Different ones; with repeats, all."""
    text: str
    """What was compared: of a page, what was extracted."""


@dataclass(frozen=True)
class Place:
    """A stretch of a document's text: from start to before end, in tokens and in characters."""

    token_start: int
    token_end: int
    start: int
    end: int

    @property
    def tokens(self) -> int:
        """How many."""
        return self.token_end - self.token_start


@dataclass(frozen=True)
class Passage:
    """A run of tokens that both documents have."""

    tokens: int
    moved: bool
    """It stands out of order: the diff counts it as deleted in one place and inserted in another."""
    first: Place
    second: Place
    text: str
    """As the first document has it."""


@dataclass(frozen=True)
class Difference:
    """A place where the documents differ: what the first has there, what the second has, and what stands around."""

    first: Place
    second: Place
    before: str
    gone: str
    new: str
    after: str


@dataclass(frozen=True)
class PairReport:
    """Two documents side by side. Everything is measured, but for what `systems` calls expected."""

    first: Side
    second: Side
    relation: Relation
    resemblance: float
    first_in_second: float
    second_in_first: float
    shared_shingles: int
    tokens: TokenKind
    width: int
    extract: Extract
    recipe: str
    """Id of the recipe whose text and shingles the exact numbers are made with."""
    threshold: float
    contained_from: float
    passage_from: int
    term_difference: int
    """Tokens deleted and inserted by a diff (Henzinger, section 3.2)."""
    deleted: int
    inserted: int
    minimal: bool
    """Whether the diff is proven to be a shortest one."""
    edits: int
    """Different words whose counts differ (Pugh)."""
    passages: tuple[Passage, ...]
    """Longest first."""
    passages_found: int
    differences: tuple[Difference, ...]
    """In order."""
    differences_found: int
    systems: tuple[System, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without the texts themselves."""
        values = asdict(self)
        for side in ("first", "second"):
            del values[side]["text"]
        for system, row in zip(self.systems, values["systems"], strict=True):
            for score, plain in zip(system.scores, row["scores"], strict=True):
                plain["similar"] = score.similar
        return values


def compare(
    a: str | bytes | os.PathLike[str],
    b: str | bytes | os.PathLike[str],
    *,
    recipe: Recipe | str | os.PathLike[str] | None = None,
    width: int | None = None,
    tokens: TokenKind | None = None,
    extract: Extract | None = None,
    threshold: float = 0.8,
    contained: float = 0.9,
    passage: int = 20,
    url_a: str | None = None,
    url_b: str | None = None,
    html: bool | None = None,
    max_document_bytes: int = LARGEST,
    most: int = MOST,
) -> PairReport:
    """Compare two documents exactly and by every published system, and find what they share and where they differ.

    A string is a text, bytes are a text in UTF-8 or an HTML page, a path is a file (or, as PathLike, a URL that fsspec
    reads; "-" is standard input). `recipe`, `width`, `tokens` and `extract` say what tokens and shingles the exact
    numbers are made with. The URLs say which images are a page's own, and whether both are of one site. `html` forces
    both documents to be read as pages, or as texts. At most `most` passages and as many differences are returned.
    """
    _check(threshold, contained, passage, most)
    chosen = choose_recipe(
        os.fspath(recipe) if isinstance(recipe, os.PathLike) else recipe, width=width, tokens=tokens, extract=extract
    )
    if all(isinstance(x, os.PathLike) and os.fspath(x) == "-" for x in (a, b)):
        raise UsageError("- and -: standard input holds one document; name a file for the other.")
    sources = [
        open_source(given, name, url=url, html=html, max_document_bytes=max_document_bytes)
        for given, name, url in ((a, "A", url_a), (b, "B", url_b))
    ]
    return compare_sources(
        *sources,
        recipe=recipe,
        chosen=chosen,
        threshold=threshold,
        contained=contained,
        passage=passage,
        most=most,
    )


def compare_sources(
    first: Source,
    second: Source,
    *,
    recipe: Recipe | str | os.PathLike[str] | None = None,
    chosen: Recipe | None = None,
    threshold: float = 0.8,
    contained: float = 0.9,
    passage: int = 20,
    most: int = MOST,
) -> PairReport:
    """Compare two documents that are open. `chosen`: the recipe as it was changed."""
    chosen = chosen or choose_recipe(os.fspath(recipe) if isinstance(recipe, os.PathLike) else recipe)
    sources = (first, second)
    documents = Readings(first, second)
    exact = Recipe(text=chosen.text, shingles=chosen.shingles)
    both = [tokens_of(text, chosen.text.tokens) for text in documents.texts(chosen.text)]
    for source, sequence in zip(sources, both, strict=True):
        _check_tokens(source, sequence, chosen)
    overlap = exact_overlap(exact.sketcher, documents)
    one, other = both[0].hashes, both[1].hashes
    edits = documents.edits[chosen.text, 1] = int(list_kernel.edits(one, other))
    with ThreadPoolExecutor(1, "neardup-systems") as beside:  # kernels let other threads run
        systems = beside.submit(carried(_systems), recipe, chosen, documents)
        alignment = align(one, other)
        runs = passages(alignment, one, other, passage)
    resemblance, first_in_second, second_in_first = (
        float(x[0]) for x in (overlap.resemblance, overlap.first_in_second, overlap.second_in_first)
    )
    gaps = alignment.gaps
    return PairReport(
        first=_side(sources[0], both[0], int(overlap.first[0])),
        second=_side(sources[1], both[1], int(overlap.second[0])),
        relation=_relation(
            one, other, resemblance >= threshold, first_in_second, second_in_first, contained, len(runs) > 0
        ),
        resemblance=resemblance,
        first_in_second=first_in_second,
        second_in_first=second_in_first,
        shared_shingles=int(overlap.shared[0]),
        tokens=chosen.text.tokens,
        width=chosen.shingles.width,
        extract=chosen.text.extract,
        recipe=chosen.id,
        threshold=threshold,
        contained_from=contained,
        passage_from=passage,
        term_difference=alignment.term_difference,
        deleted=alignment.deleted,
        inserted=alignment.inserted,
        minimal=alignment.minimal,
        edits=edits,
        passages=tuple(_passage(row, alignment, *both) for row in runs[:most].tolist()),
        passages_found=len(runs),
        differences=tuple(_differences(gaps[: most + 1].tolist(), *both))[:most],
        differences_found=len(gaps),
        systems=tuple(systems.result()),
    )


def _systems(given: Recipe | str | os.PathLike[str] | None, chosen: Recipe, documents: Readings) -> list[System]:
    """All published ones, and the user's own where it is none of them."""
    known = [published(name) for name in recipe_names()]
    judged = []
    for p in known:
        checkpoint()
        judged.append(judge(p.name, p.title, p.recipe, documents))
    if given is not None and all(p.recipe.id != chosen.id for p in known):
        name = "this recipe" if isinstance(given, Recipe) else os.path.basename(os.fspath(given))
        judged.append(judge(name, f"recipe {chosen.id}", chosen, documents))
    return judged


def _relation(
    one: Hashes,
    other: Hashes,
    near: bool,
    first_in_second: float,
    second_in_first: float,
    contained: float,
    passage: bool,
) -> Relation:
    """The first that is true."""
    if np.array_equal(one, other):
        return "identical"
    if near:
        return "near"
    if max(first_in_second, second_in_first) >= contained:
        return "contains" if second_in_first >= first_in_second else "contained"
    return "passage" if passage else "different"


def _check(threshold: float, contained: float, passage: int, most: int) -> None:
    for name, value in (("threshold", threshold), ("contained", contained)):
        if not 0.0 < value <= 1.0:
            raise UsageError(f"{name} = {value}: it lies above 0 and is at most 1.")
    if not 2 <= passage <= 100_000:
        raise UsageError(f"passage = {passage}: a passage has 2 to 100000 tokens; 20 is the default.")
    if most < 0:
        raise UsageError(f"most = {most}: 0 or more.")


def _check_tokens(source: Source, sequence: Tokens, recipe: Recipe) -> None:
    if len(sequence):
        return
    if source.html:
        other = "all" if recipe.text.extract != "all" else "web"
        raise InputError(
            f"{source.name}: there are no {recipe.text.tokens} in what is extracted of this page. Try --extract "
            f"{other}, or compare its source with --no-html (html=False)."
        )
    raise InputError(f"{source.name}: has no {recipe.text.tokens}: no letters and digits at all.")


def _side(source: Source, sequence: Tokens, shingles: int) -> Side:
    text = sequence.text
    return Side(source.name, source.url, source.html, len(source.data), len(text), len(sequence), shingles, text)


def _place(sequence: Tokens, start: int, stop: int) -> Place:
    return Place(start, stop, *sequence.characters(start, stop))


def _text(sequence: Tokens, place: Place) -> str:
    return shortened(sequence.text, place.start, place.end, LONGEST)


def shortened(text: str, start: int, end: int, most: int) -> str:
    """A stretch of text; the middle of a long one is left out, at white space if there is some."""
    if end - start <= most:
        return text[start:end]
    half = most // 2
    head, tail = text[start : start + half], text[end - half : end]
    return f"{head.rsplit(None, 1)[0] or head} … {tail.split(None, 1)[-1]}"


def _passage(row: list[int], alignment: Alignment, first: Tokens, second: Tokens) -> Passage:
    start, other, length = row
    at = int(np.searchsorted(alignment.matches[:, 0], start, side="right")) - 1
    aligned = at >= 0 and alignment.matches[at].tolist() == row
    place = _place(first, start, start + length)
    return Passage(length, not aligned, place, _place(second, other, other + length), _text(first, place))


def _differences(gaps: list[list[int]], first: Tokens, second: Tokens) -> Iterator[Difference]:
    """The places that differ; what stands around them is what both have."""
    ends = [0, *(gap[1] for gap in gaps)]
    begins = [*(gap[0] for gap in gaps[1:]), len(first)]
    for (a0, a1, b0, b1), earlier, later in zip(gaps, ends, begins, strict=False):
        one, other = _place(first, a0, a1), _place(second, b0, b1)
        before = _place(first, max(earlier, a0 - _CONTEXT), a0)
        after = _place(first, a1, min(later, a1 + _CONTEXT))
        yield Difference(one, other, _text(first, before), _text(first, one), _text(second, other), _text(first, after))
