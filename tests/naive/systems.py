"""Every recipe once more, from its definition, for collections that are small: all pairs, on sets, lists and integers.

    Document    a text or a page, and where it is from
    tokens      what the recipe compares it by
    System      the documents of a collection under one recipe: their keys, the score of a pair, who is identical
    similar     the pairs that the recipe calls similar, and their scores

What a definition leaves free is taken from the sketcher: its seed, its polynomial, the multipliers that were drawn.
Everything after that is done anew, by the other modules of this package. A feature is the tuple of its minima, so two
are equal here without any fingerprint. Shingle sets are sets of tuples of tokens.
"""

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import comb, log, sqrt
from typing import Any
from urllib.parse import urlsplit

from neardup import rabin as polynomials
from neardup.analysis.drops import MARGIN, deviations
from neardup.kernels.groups import odd_error
from neardup.recipe import Recipe
from neardup.recipes import load_recipe
from neardup.sketches.kinds import kind_of
from tests.naive import chunks, lists, rabin, sampling, simhash, text, web

Pair = tuple[int, int]

SUFFIXES = ("com", "org", "net", "uk", "co.uk", "github.io")
"""The public suffixes that the tests' hosts have."""


@dataclass(frozen=True)
class Document:
    text: str
    url: str | None = None
    html: bool = False


def visible(markup: str) -> str:
    """Of a page without a title."""
    return "".join(value if kind == "text" else " " for kind, value in web.Page(markup).parts)


def tokens(recipe: Recipe, document: Document) -> list[Any]:
    if recipe.text.extract == "web":
        if document.html:
            return web.terms(document.text, document.url or "")
        return web.terms_of_text(document.text)
    return text.tokens(visible(document.text) if document.html else document.text, recipe.text.tokens)


# --- fingerprints ---

_token = cache(rabin.token)
_shingle = cache(rabin.shingle)
_window = cache(chunks.remainder)


def token_hashes(sketcher: Any, found: list[Any]) -> list[int]:
    if sketcher.polynomial is None:
        return [text.token_hash(t, int(sketcher.seed)) for t in found]
    return [_token(t, sketcher.polynomial) for t in found]


def shingle_hashes(sketcher: Any, found: list[Any]) -> list[int]:
    """Of all shingles; with repeats the k-th occurrence is an element of its own."""
    width = sketcher.shingles.width
    runs = text.shingles(token_hashes(sketcher, found), width)
    if sketcher.polynomial is None:
        made = [text.shingle_hash(run, width) for run in runs]
    else:
        made = [_shingle(run, polynomials.second_polynomial(sketcher.polynomial)) for run in runs]
    return rabin.numbered(made) if sketcher.shingles.repeats else made


def occurrences(sketcher: Any, found: list[Any]) -> list[int]:
    """Shingles in order; a shingle of one token is the token."""
    return token_hashes(sketcher, found) if sketcher.shingles.width == 1 else shingle_hashes(sketcher, found)


def shingle_set(recipe: Recipe, found: list[Any]) -> set[Any]:
    made = text.shingles(found, recipe.shingles.width)
    if not recipe.shingles.repeats:
        return set(made)
    return {(s, made[:i].count(s)) for i, s in enumerate(made)}


# --- sketches: what is kept of one document; the keys and the score of two follow from it ---


class MinHash:
    minima = staticmethod(text.minima)

    def __init__(self, sketcher: Any) -> None:
        self.sketcher, self.settings = sketcher, sketcher.settings
        self.multiply, self.add = (values.tolist() for values in (sketcher._multiply, sketcher._add))

    def sketch(self, found: list[Any], document: Document) -> list[int]:
        elements = set(shingle_hashes(self.sketcher, found))
        if self.sketcher.polynomial is not None:
            elements = {text.mix(x) for x in elements}
        return self.minima(list(elements), self.multiply, self.add)

    def features(self, minima: list[int]) -> list[tuple[int, ...]]:
        s = self.settings.s
        return [tuple(minima[g * s : (g + 1) * s]) for g in range(self.settings.k)]

    def keys(self, minima: list[int]) -> set[Any]:
        features = self.features(minima)
        return {(g, tuple(features[i] for i in g)) for g in combinations(range(self.settings.k), self.settings.r)}

    def shared(self, a: list[int], b: list[int]) -> int:
        return sum(x == y for x, y in zip(self.features(a), self.features(b), strict=True))

    def agreed(self, a: list[int], b: list[int]) -> int:
        """Of the few bits that are kept of each minimum."""
        kept = (text.samples(minima, self.settings.bits) for minima in (a, b))
        return sum(x == y for x, y in zip(*kept, strict=True))

    def score(self, a: list[int], b: list[int]) -> float:
        if self.settings.samples:
            chance = 1 / 2**self.settings.bits
            return max(0.0, (self.agreed(a, b) / len(a) - chance) / (1 - chance))
        return self.shared(a, b) / (self.settings.k if self.settings.s == 1 else 1)

    @property
    def similar(self) -> float | None:
        return None if self.settings.samples or self.settings.s == 1 else self.settings.r

    def worth_measuring(self, a: list[int], b: list[int], threshold: float) -> bool:
        """Samples: all but 1 in 10,000 pairs at the threshold. Minima: 4 standard errors below it."""
        n = len(a)
        if not self.settings.samples:
            return self.score(a, b) >= threshold - 4 * sqrt(threshold * (1 - threshold) / n)
        below = 0.0
        for c in range(n + 1):
            below += comb(n, c) * threshold**c * (1 - threshold) ** (n - c)
            if below > 1e-4:
                break
        return self.agreed(a, b) >= c


class OnePermutation(MinHash):
    minima = staticmethod(text.minima_in_bins)


class Odd(MinHash):
    """Features, and an odd sketch of the minima of several throws into bins."""

    similar = None

    def __init__(self, sketcher: Any) -> None:
        super().__init__(sketcher)
        self.throws = sketcher.throws.tolist()
        self.bits, self.bins = 64 * self.settings.odd - 16, self.settings.bins

    def sketch(self, found: list[Any], document: Document) -> tuple[list[int], set[int], int]:
        """The minima of permutations; the bits that an odd number of minima in bins flips; how many bins are filled."""
        elements = set(shingle_hashes(self.sketcher, found))
        if self.sketcher.polynomial is not None:
            elements = {text.mix(x) for x in elements}
        flipped: set[int] = set()
        filled = 0
        each, bits = self.bins // len(self.throws), self.bits // len(self.throws)
        for number, multiplier in enumerate(self.throws):
            inside: dict[int, list[int]] = {}
            for x in (element * multiplier % 2**64 for element in elements):
                inside.setdefault((x >> 32) * each >> 32, []).append(x % 2**32)
            filled += len(inside)
            for values in inside.values():
                mixed = min(values) * 0x9E3779B97F4A7C15 % 2**64 >> 32
                flipped ^= {number * bits + (mixed * bits >> 32)}
        return super().sketch(found, document), flipped, filled

    def keys(self, made: Any) -> set[Any]:
        return super().keys(made[0])

    def score(self, a: Any, b: Any) -> float:
        """By bisection: of the bins that are filled in both documents together, the share whose minima agree."""
        (_, first, filled), (_, second, also_filled) = a, b
        share = 1 - 2 * len(first ^ second) / self.bits
        agreed = (filled + also_filled + self.bits / 2 * log(share)) / 2 if share > 0 else 0
        if agreed <= 0:
            return 0.0
        empty = max(1e-9, (1 - filled / self.bins) * (1 - also_filled / self.bins))
        low, high = 0.0, 1.0
        for _ in range(80):
            middle = (low + high) / 2
            more = middle * self.bins * (1 - empty ** (1 / (1 + middle))) < agreed
            low, high = (middle, high) if more else (low, middle)
        return high if agreed > self.bins * (1 - empty**0.5) else middle

    def worth_measuring(self, a: Any, b: Any, threshold: float) -> bool:
        return self.score(a, b) >= threshold - 4 * sqrt(threshold * (1 - threshold) / self.sketcher.estimators)


class SimHash:
    def __init__(self, sketcher: Any) -> None:
        self.sketcher, self.settings = sketcher, sketcher.settings

    def sketch(self, found: list[Any], document: Document) -> int:
        of_tokens = self.settings.of == "tokens"
        values = token_hashes(self.sketcher, found) if of_tokens else occurrences(self.sketcher, found)
        return simhash.project_weighted(values, self.settings.weight, self.settings.bits, int(self.sketcher.seed))

    def keys(self, value: int) -> set[Any]:
        width = self.settings.bits // self.settings.pieces
        return {(n, value >> n * width & (1 << width) - 1) for n in range(self.settings.pieces)}

    def score(self, a: int, b: int) -> float:
        return simhash.agreement(a, b, self.settings.bits)

    @property
    def similar(self) -> float:
        return float(self.settings.similar)


class Combined:
    """B-similar, and then C-similar: the score is the latter."""

    def __init__(self, sketcher: Any) -> None:
        self.b, self.c = MinHash(sketcher), SimHash(sketcher.on_the_fly)

    def sketch(self, found: list[Any], document: Document) -> Any:
        return self.b.sketch(found, document), self.c.sketch(found, document)

    def keys(self, both: Any) -> set[Any]:
        return self.b.keys(both[0])

    def score(self, a: Any, b: Any) -> float:
        return self.c.score(a[1], b[1]) if self.b.shared(a[0], b[0]) >= self.b.settings.r else 0

    @property
    def similar(self) -> float:
        return self.c.similar


class BySite:
    """Henzinger, section 3.5: by C between two sites, by both within one or where a site is not known."""

    similar = 1.0

    def __init__(self, sketcher: Any) -> None:
        self.b, self.c, self.settings = MinHash(sketcher._features), SimHash(sketcher._bits), sketcher.settings

    def sketch(self, found: list[Any], document: Document) -> Any:
        site = site_of(document.url, self.settings.sites)
        return self.b.sketch(found, document), self.c.sketch(found, document), site

    def keys(self, all_three: Any) -> set[Any]:
        return {("b", *k) for k in self.b.keys(all_three[0])} | {("c", *k) for k in self.c.keys(all_three[1])}

    def score(self, a: Any, b: Any) -> float:
        bits = self.c.score(a[1], b[1])
        if a[2] and b[2] and a[2] != b[2]:
            return bits if bits >= self.settings.different else 0
        return bits if bits >= self.settings.same and self.b.shared(a[0], b[0]) >= self.settings.r else 0


def site_of(url: str | None, rule: str) -> str | None:
    name = urlsplit(url or "").hostname
    if not name or rule == "henzinger":
        return web.site(name) if name else None
    labels = name.split(".")
    for begin in range(len(labels)):
        if ".".join(labels[begin:]) in SUFFIXES:
            return ".".join(labels[max(begin - 1, 0) :])
    raise AssertionError(f"{name}: its suffix is not in this module's list")


class Lists:
    def __init__(self, sketcher: Any) -> None:
        self.sketcher, self.settings = sketcher, sketcher.settings

    def sketch(self, found: list[Any], document: Document) -> list[int]:
        settings = self.settings
        return lists.list_fingerprints(
            occurrences(self.sketcher, found),
            settings.lists,
            settings.repetitions,
            ordered=settings.ordered,
            seed=int(self.sketcher.seed),
        )

    def keys(self, made: list[int]) -> set[Any]:
        return {(place, value) for place, value in enumerate(made) if value}

    def score(self, a: list[int], b: list[int]) -> float:
        shared = self.keys(a) & self.keys(b)
        return len({place // self.settings.lists for place, _ in shared})

    @property
    def similar(self) -> float:
        return float(self.settings.needed)


class Bottom:
    similar = None

    def __init__(self, sketcher: Any) -> None:
        self.sketcher, self.m = sketcher, sketcher.settings.m

    def sketch(self, found: list[Any], document: Document) -> list[int]:
        return sampling.bottom(occurrences(self.sketcher, found), self.m, int(self.sketcher.seed))

    def keys(self, smallest: list[int]) -> set[Any]:
        return set(smallest)

    def score(self, a: list[int], b: list[int]) -> float:
        return float(sampling.bottom_resemblance(a, b, self.m))

    def worth_measuring(self, a: list[int], b: list[int], threshold: float) -> bool:
        return self.score(a, b) >= threshold - 4 * sqrt(threshold * (1 - threshold) / self.m)


class Mod:
    similar = None

    def __init__(self, sketcher: Any) -> None:
        self.sketcher, self.settings = sketcher, sketcher.settings

    def sketch(self, found: list[Any], document: Document) -> list[int]:
        return sampling.mod(occurrences(self.sketcher, found), self.settings.n, int(self.sketcher.seed))

    def keys(self, sample: list[int]) -> set[Any]:
        return set(sample)

    def score(self, a: list[int], b: list[int]) -> float:
        if self.settings.measure == "containment":
            return float(max(sampling.mod_containment(a, b), sampling.mod_containment(b, a)))
        return float(sampling.mod_resemblance(a, b))

    def worth_measuring(self, a: list[int], b: list[int], threshold: float) -> bool:
        """The size of the sample is not known before: every candidate is."""
        return True


class Bloom:
    def __init__(self, sketcher: Any) -> None:
        self.sketcher, self.settings = sketcher, sketcher.settings
        self.polynomial = polynomials.choose_polynomial(64, self.settings.seed)

    def sketch(self, found: list[Any], document: Document) -> tuple[list[int], list[int]]:
        seed = int(self.sketcher.seed)
        data = canonical(document).encode()
        linked: list[int] = []
        if self.sketcher.text.links and document.html:
            linked = chunks.line_hashes("\n".join(web.links(document.text, document.url or "")).encode(), seed)
        return chunks.elements(data, self.cuts(data), seed), linked

    def cuts(self, data: bytes) -> list[int]:
        """As chunks.cuts; the fingerprints of windows are remembered, for copies have the same ones."""
        settings = self.settings
        ends = []
        begin = 0
        for end in range(1, len(data) + 1):
            window = data[end - settings.window : end] if end >= settings.window else None
            found = window is not None and _window(self.polynomial, window) % settings.chunk == 0x78 % settings.chunk
            if found or end - begin == settings.longest or end == len(data):
                ends.append(end)
                begin = end
        return ends

    def keys(self, made: tuple[list[int], list[int]]) -> set[Any]:
        return set(made[0])

    def size(self, elements: list[int]) -> int:
        bits: int = self.settings.bits
        while self.settings.grow and bits < 8 * len(elements):
            bits *= 2
        return bits

    def match(self, a: list[int], b: list[int]) -> float | None:
        """Shared bits of the fuller filter's, or of the other's; None where both are empty."""
        m_a, m_b = self.size(a), self.size(b)
        first, second = (chunks.bloom(e, m, self.settings.hashes) for e, m in ((a, m_a), (b, m_b)))
        in_a, in_b, both = chunks.shared(first, second, m_a, m_b)
        of = min if self.settings.measure == "containment" else max
        return both / max(1, of(in_a, in_b)) if in_a or in_b else None

    def score(self, a: tuple[list[int], list[int]], b: tuple[list[int], list[int]]) -> float:
        texts, weight = self.match(a[0], b[0]) or 0.0, self.settings.links
        linked = self.match(a[1], b[1]) if weight else None
        return texts if linked is None else (1 - weight) * texts + weight * linked

    @property
    def similar(self) -> float:
        return float(self.settings.similar)


def canonical(document: Document) -> str:
    return chunks.canonical(visible(document.text) if document.html else document.text)


KINDS: dict[str, Any] = {
    "minhash": MinHash,
    "one-permutation": OnePermutation,
    "odd": Odd,
    "simhash": SimHash,
    "combined": Combined,
    "by-site": BySite,
    "lists": Lists,
    "bottom": Bottom,
    "mod": Mod,
    "bloom": Bloom,
}


class System:
    """A collection under one recipe. Documents are their numbers; those without any token are in no pair."""

    def __init__(self, recipe: Recipe | str, documents: Iterable[Document]) -> None:
        self.recipe = recipe if isinstance(recipe, Recipe) else load_recipe(recipe)
        self.kind = KINDS[kind_of(self.recipe.sketch)](self.recipe.sketcher)
        documents = list(documents)
        self.size = len(documents)
        self.urls = [d.url for d in documents]
        found = [tokens(self.recipe, d) for d in documents]
        self.compared = [i for i, sequence in enumerate(found) if sequence]
        self.sketches = {i: self.kind.sketch(found[i], documents[i]) for i in self.compared}
        self.identity = {i: (*found[i], self.also(self.sketches[i])) for i in self.compared}
        self.keys = {i: self.kind.keys(sketch) for i, sketch in self.sketches.items()}
        self.shingles = {i: shingle_set(self.recipe, found[i]) for i in self.compared}

    def judged_by(self, recipe: Recipe) -> "System":
        """The same sketches; only how pairs are verified may be another."""
        assert (recipe.text, recipe.shingles, recipe.sketch) == (
            self.recipe.text,
            self.recipe.shingles,
            self.recipe.sketch,
        )
        other = copy(self)
        other.recipe = recipe
        return other

    def pairs(self) -> Iterable[Pair]:
        """All pairs of documents that are compared, the earlier one first."""
        return combinations(self.compared, 2)

    def also(self, sketch: Any) -> Any:
        """What copies have in common beside their tokens: the site, or the links, where these matter."""
        if isinstance(self.kind, BySite):
            return sketch[2]
        return tuple(sketch[1]) if isinstance(self.kind, Bloom) else None

    def identical(self, i: int, j: int) -> bool:
        return i in self.identity and self.identity[i] == self.identity.get(j)

    @property
    def full(self) -> float:
        """The score of copies: all features, bits or repetitions, else 1."""
        settings: Any = self.recipe.sketch
        if isinstance(self.kind, SimHash | Combined | BySite):
            return float(settings.bits)
        if isinstance(self.kind, Lists):
            return float(settings.repetitions)
        return float(settings.k) if isinstance(self.kind, MinHash) and self.kind.similar is not None else 1.0

    def share_a_key(self, i: int, j: int) -> bool:
        return not self.keys[i].isdisjoint(self.keys[j])

    def score(self, i: int, j: int) -> float:
        """Of the sketches."""
        return float(self.kind.score(self.sketches[i], self.sketches[j]))

    def bar(self, i: int, j: int, others: int) -> float:
        """The score that is asked for, by how many documents stand under a key that both have."""
        settings, threshold = self.recipe.sketch, self.threshold(i, j)
        if not isinstance(self.kind, Odd) or self.recipe.verify.method != "sketch":
            return 0.0
        filled = [self.sketches[n][2] for n in (i, j)]
        error = odd_error(threshold - MARGIN, *filled, self.kind.bits, self.kind.bins)
        return max(threshold, threshold - MARGIN + deviations(settings.drops, settings.k, others) * error)

    def exact(self, i: int, j: int) -> float:
        a, b = self.shingles[i], self.shingles[j]
        if isinstance(self.kind, Mod | Bloom) and self.kind.settings.measure == "containment":
            return len(a & b) / max(1, min(len(a), len(b)))
        return len(a & b) / max(1, len(a | b))

    def passes(self, i: int, j: int) -> bool:
        """Whether the sketches say yes, or where pairs are measured, do not say no."""
        verify = self.recipe.verify
        if self.kind.similar is not None:
            return self.score(i, j) >= float(self.kind.similar)
        if verify.method == "sketch":
            return self.score(i, j) >= verify.threshold
        return bool(self.kind.worth_measuring(self.sketches[i], self.sketches[j], verify.threshold))

    def similar(self) -> dict[Pair, float]:
        """Pairs that share a key and are similar, and what is told of them. Copies are a pair in any case."""
        verify = self.recipe.verify
        answer = {}
        for i, j in self.pairs():
            if self.identical(i, j):
                answer[i, j] = 1.0 if verify.method == "exact" else self.full
                continue
            if not self.share_a_key(i, j) or (verify.method != "none" and not self.passes(i, j)):
                continue
            value = self.exact(i, j) if verify.method == "exact" else self.score(i, j)
            if verify.method != "exact" or value >= self.threshold(i, j):
                answer[i, j] = value
        return answer

    def threshold(self, i: int, j: int) -> float:
        """Two pages of one host need more, where the recipe says so."""
        verify, (one, other) = self.recipe.verify, (self.urls[i], self.urls[j])
        if one and other and one != other and host(one) == host(other):
            return max(verify.threshold, verify.same_site)
        return verify.threshold


def host(url: str) -> str:
    return urlsplit(url).netloc.lower().removeprefix("www.")


def similar(recipe: Recipe | str, documents: Iterable[Document]) -> dict[Pair, float]:
    """The pairs (i, j), i < j, that the recipe calls similar, with their scores."""
    return System(recipe, documents).similar()
