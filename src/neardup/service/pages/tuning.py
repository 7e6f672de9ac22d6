"""What /tune says, form by form: from numbers in the address to a curve, a table, costs and a recipe.

filter_answer   k features of s min-hashes of which r are shared (Broder, sections 3 and 4)
wish_answer     the same, chosen for a threshold and a recall
bloom_answer    Bloom filters of chunks (Jain, Dahlin and Tewari, sections 2 and 3)

The mathematics is that of neardup.analysis, and the recipe is one that `neardup dedup --recipe` takes.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from math import ceil

from neardup.analysis import bloom
from neardup.analysis.filters import LONGEST, Filter, choose
from neardup.errors import RecipeError
from neardup.recipe import Recipe
from neardup.service.pages.curves import Curve, Mark, small
from neardup.service.pages.showing import many
from neardup.tuning import bloom_recipe, filter_recipe

USUAL = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""Resemblances that are told for every filter."""

COLLECTIONS = ((1, "a document"), (1_000_000, "1 million"), (100_000_000, "100 million"))
IDENTITY = 16
"""Bytes that are kept of every document, whatever its sketch: documents with the same words are one."""


@dataclass(frozen=True)
class Fact:
    """A number, and what it is."""

    name: str
    value: str
    about: str


@dataclass(frozen=True)
class Cost:
    """Bytes of a document, by what they are for."""

    about: str
    bytes: int


@dataclass(frozen=True)
class Answer:
    """What is shown beside the form."""

    title: str
    said: str
    """In a sentence."""
    curve: Curve
    heads: tuple[str, ...]
    """Of the table: x, and what is told of it."""
    values: Callable[[float], tuple[str, ...]]
    """What the table has at x."""
    told: tuple[float, ...]
    marked: float | None
    """The row that the user asked about."""
    facts: list[Fact]
    costs: list[Cost]
    recipe: str = ""
    no_recipe: str = ""
    """Why there is none."""
    command: str = ""
    also: dict[str, str] = field(default_factory=dict)
    """Where the found parameters can be moved by hand: fields of another form."""

    @property
    def bytes(self) -> int:
        """Of a document."""
        return sum(cost.bytes for cost in self.costs)


def filter_answer(chosen: Filter, threshold: float, base: str, *, logarithmic: bool = False) -> Answer:
    """What a filter does. `base`: the published recipe whose other settings the new one has."""
    if chosen.permutations > LONGEST:
        raise RecipeError(
            f"k × s = {chosen.k} × {chosen.s} = {chosen.permutations:,} min-hashes: a sketch has at most {LONGEST:,}. "
            f"Choose fewer, such as k = {max(1, LONGEST // chosen.s)}."
        )
    recipe = _Wanted(chosen, threshold, base)
    command = f"neardup tune -k {chosen.k} -s {chosen.s} -r {chosen.r} -t {threshold:g}"
    command += "" if base == "default" else f" --from {base}"
    return _described(recipe, command, logarithmic, {})


def wish_answer(threshold: float, recall: float, permutations: int, r: int, *, logarithmic: bool = False) -> Answer:
    """The sharpest filter that finds what is wanted."""
    chosen = _chosen(threshold, recall, permutations, r)
    recipe = _Wanted(chosen, threshold, "default", recall)
    command = f"neardup tune -t {threshold:g} --recall {recall:g} --permutations {permutations} -r {r}"
    by_hand = {name: f"{getattr(chosen, name)}" for name in "ksr"}
    return _described(recipe, command, logarithmic, {**by_hand, "threshold": f"{threshold:g}"})


@lru_cache(256)
def _chosen(threshold: float, recall: float, permutations: int, r: int) -> Filter:
    try:
        return choose(threshold, recall, permutations=permutations, r=(r,))
    except RecipeError as error:
        raise RecipeError(str(error).replace(" with --permutations", "")) from None


class _Wanted:
    """A filter as a recipe, as far as there can be one."""

    def __init__(self, chosen: Filter, threshold: float, base: str, recall: float | None = None) -> None:
        self.filter, self.threshold, self.recall = chosen, threshold, recall
        self.made: Recipe | None = None
        self.refused = ""
        try:
            self.made = filter_recipe(chosen, threshold, recall=recall, base=base)
        except RecipeError as error:
            self.refused = str(error)

    def costs(self) -> list[Cost]:
        """As `dedup` keeps them."""
        costs = [Cost("of features, 8 bytes each", self.filter.bytes_per_document())]
        if self.made is not None:
            sketcher = self.made.sketcher
            costs += [Cost("of random projections", 8 * (sketcher.words - self.filter.k))]
            costs += [Cost("of samples, to estimate the resemblance", sketcher.samples)]
        return [cost for cost in (*costs, Cost("of identity: same words, same document", IDENTITY)) if cost.bytes]


def _described(recipe: _Wanted, command: str, logarithmic: bool, also: dict[str, str]) -> Answer:
    chosen, threshold = recipe.filter, recipe.threshold
    name, half = f"P[{chosen.k},{chosen.s},{chosen.r}]", chosen.half_point
    keys = chosen.super_features
    at_threshold = small(chosen.probability(threshold))
    return Answer(
        title=f"{many(chosen.k, 'feature')} of {many(chosen.s, 'min-hash', 'min-hashes')}, {chosen.r} shared",
        said=f"{name} finds {at_threshold} of the pairs at {threshold:g}, and half of those at {half:.3f}.",
        curve=Curve(
            chosen.probability,
            "resemblance",
            "probability that a pair is found",
            [Mark(threshold, f"threshold {threshold:g}", "wanted"), Mark(half, f"half {half:.3f}", "half")],
            logarithmic,
        ),
        heads=("resemblance", "found", "missed"),
        values=lambda x: (small(chosen.probability(x)), small(chosen.missed(x))),
        told=tuple(sorted({*USUAL, threshold})),
        marked=threshold,
        facts=[
            Fact("min-hashes", f"{chosen.permutations:,}", "k × s: what a document is sketched with"),
            Fact(
                "half point", f"{half:.4f}", "found with probability 1/2; as a threshold it has the least total error"
            ),
            Fact("steepest", f"{chosen.steepest:.4f}", f"the resemblance at which s = {chosen.s} is sharpest"),
            Fact("total error", small(chosen.total_error(threshold)), "at the threshold, were resemblances uniform"),
            Fact(
                "keys",
                f"{keys:,}",
                "of a document: " + ("its features" if chosen.r == 1 else f"all sets of {chosen.r}"),
            ),
            Fact(
                "collisions",
                small(chosen.collision_bound(COLLECTIONS[-1][0]).pairs),
                "pairs that share so many features by accident, of 100 million documents",
            ),
        ],
        costs=recipe.costs(),
        recipe=recipe.made.to_toml() if recipe.made else "",
        no_recipe=recipe.refused,
        command=command,
        also=also,
    )


def bloom_answer(
    *, document: int, chunk: int, per_chunk: int, hashes: int, similar: float, logarithmic: bool = False
) -> Answer:
    """Two filters of documents of this size, by the share of their chunks that is common."""
    size = bloom.size_for(document, chunk_bytes=chunk, bits_per_chunk=per_chunk)
    fill = bloom.fill_ratio(size.chunks, size.bits, hashes)

    def both(common: float) -> float:
        shared = bloom.shared_bits(common * size.chunks, size.chunks, size.chunks, size.bits, hashes)
        return min(1.0, shared / (size.bits * fill))

    def inferred(common: float) -> float:
        return bloom.matched_ratio(common * size.chunks, size.chunks, size.bits / size.chunks, hashes)

    needed = _where(both, similar)
    recipe, refused, command = "", "", ""
    try:
        made = bloom_recipe(size, chunk=chunk, per_chunk=per_chunk, hashes=hashes, similar=similar)
        recipe = made.to_toml()
        if made == bloom_recipe(size, chunk=chunk, per_chunk=per_chunk):  # what the command would choose
            command = _bloom_command(document, chunk, per_chunk)
    except RecipeError as error:
        refused = str(error)
    best = bloom.whole_hashes(size.bits / size.chunks)
    marks = [Mark(similar, f"similar from {similar:g}", "wanted", across=True)]
    if 0.0 < needed < 1.0:
        marks.append(Mark(needed, f"reached at {needed:.3f}", "half"))
    return Answer(
        title=f"Bloom filter of {size.bits:,} bits, {many(hashes, 'hash', 'hashes')}",
        said=_bloom_said(similar, needed, fill),
        curve=Curve(both, "share of chunks that are common", "share of set bits in both", marks, logarithmic),
        heads=("common chunks", "bits set in both", "inferred matches"),
        values=lambda x: (small(both(x)), small(inferred(x))),
        told=(0.0, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0),
        marked=None,
        facts=[
            Fact("chunks", f"{size.chunks:,}", f"of {chunk:,} bytes expected in {document:,}"),
            Fact("bits", f"{size.bits:,}", f"the next power of two; {many(best, 'hash', 'hashes')} would fill it best"),
            Fact("filled", small(fill), "of the bits are set; so many match though nothing is common"),
            Fact(
                "false matches",
                small(bloom.false_match_rate(size.bits / size.chunks, hashes)),
                "of chunks seem to be in a filter and are not",
            ),
            Fact("size", f"{size.bits / 8 / document:.2%}", "of the document is its filter"),
            Fact(
                "hashes kept", f"{8 * size.chunks:,} bytes", "by dedup, which fills filters from them when it compares"
            ),
        ],
        costs=[Cost("of filter", size.bits // 8), Cost("of identity: same words, same document", IDENTITY)],
        recipe=recipe,
        no_recipe=refused,
        command=command,
    )


def _bloom_command(document: int, chunk: int, per_chunk: int) -> str:
    """Return the command that chooses these bits for an error; none where it would choose others."""
    error = ceil(bloom.false_ratio(per_chunk) * 1e6) / 1e6
    if not 0 < error < 1 or bloom.bits_per_element_for(error)[0] != per_chunk:
        return ""
    return f"neardup tune --bloom-error {error:g} --document-bytes {document} --chunk {chunk}"


def _bloom_said(similar: float, needed: float, fill: float) -> str:
    if needed <= 0.0:
        return f"{small(fill)} of the bits are set, so any two full filters match by {similar:g} or more: too full."
    return f"Filters match by {similar:g} from {needed:.3f} common chunks on; {small(fill)} of the bits are set."


def _where(rising: Callable[[float], float], value: float) -> float:
    """The least x from 0 to 1 at which a rising function reaches a value."""
    low, high = 0.0, 1.0
    if rising(low) >= value:
        return low
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < value else (low, middle)
    return high
