"""Recall is measured: a random sample of documents is compared with the whole collection.

1. Documents with the same tokens are one text; they are found for certain. The one that the keep policy prefers stands
   for the text, as in the run: copies may be on other hosts. `sample` texts are drawn: a third of them from those that
   the run found company for, the rest from the others. The first have most of the pairs, and what was missed may be
   anywhere.
2. Each is compared with all other texts by the sketches, with a margin below the threshold (audit.neighbours).
3. What passes is judged by the recipe's own rule, exactly where the recipe measures (audit.judging). Those are the
   true pairs.

Two questions are answered, each with an interval:

features   of the true pairs, how many share a key: what the run had a chance to see
removals   of the texts that should go, because a kept one that the keep policy prefers is similar: how many are gone

A star promises that no two kept documents are similar, and so do components; a kept text with a similar kept one
before it is a miss, whatever the reason (no key in common, or a crowd).

Proven: what is called a pair is one. Estimated: the shares, from the sample. The margin hides a pair at the threshold
with a probability that is told (`miss`), where more than the sketches decide.

Sketches that keep nothing but features show only pairs that share one. Where a recipe measures resemblance behind such
sketches, what it misses cannot be seen by them, and neither question has an answer (Truth.by_features).
"""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.audit.intervals import NOTHING, Share, ratio, stratified
from neardup.audit.judging import Judge, Truth, check_inputs, digest_of, range_of, score_ranges, share_a_key
from neardup.audit.measured import MeasuredPrecision, draw_removed, measured_precision
from neardup.audit.neighbours import Neighbours, margin, neighbours, told_apart
from neardup.clusters.keep import keep_columns, keep_order, needs_ids
from neardup.decide import identity_sets
from neardup.errors import UsageError
from neardup.gather import Gathered
from neardup.kernels.groups import SAMPLES
from neardup.model import MEASURED
from neardup.result import Result

SAMPLE = 1000
QUICK_SAMPLE = 5000
"""Where sketches are 8-bit samples, which are compared ten times as fast as others."""
MOST = 1024
"""Of a sampled document's neighbours, how many are drawn to be judged; each stands for its part of all."""
_NEAREST = 1024
"""Of the kept ones among them, how many of the nearest are judged besides: for what should have been removed."""
_SHOWN = 50
_ENDLESS = 1e6


@dataclass(frozen=True)
class RangeRecall:
    """True pairs in a range of what decides."""

    low: float
    high: float
    judged: int
    """True pairs of the sample that lie in it."""
    share: Share
    """Of all true pairs in it, how many share a key."""
    predicted: float | None
    """By the filter's curve."""


@dataclass(frozen=True)
class MissedPair:
    """A true pair that was not found."""

    first: str
    second: str
    value: float
    chance: float | None
    """That the features find such a pair, by the filter's curve."""
    why: str
    both_kept: bool


@dataclass(frozen=True)
class RecallAudit:
    """What the sample says of a run."""

    truth: Truth
    run: str
    """Which one: what `judging.digest_of` says of the result."""
    recipe: str
    documents: int
    texts: int
    """Documents that can be sampled, copies counted once."""
    in_company: int
    """Those of them that were removed for another text, or stand for one."""
    sampled: int
    sampled_in_company: int
    seed: int
    confidence: float
    margin: float
    """The least score of the sketches that was looked at closer."""
    miss: float
    """That this hides a pair that lies exactly at the threshold."""
    compared: int
    """Pairs of sketches that were looked at."""
    judged: int
    """Pairs that were judged."""
    features: Share
    """Of the true pairs, how many share a key; nothing where the sketches see no other pairs (truth.by_features)."""
    predicted: float | None
    """The same by the filter's curve, for the resemblances that were found."""
    ranges: list[RangeRecall]
    removals: Share
    """Of the texts that should go, how many are gone; nothing where the sketches see no other pairs."""
    missed_removals: tuple[float, float, float] | None
    """How many texts of the collection should have gone and did not, and the ends of the interval; None like them."""
    missed: list[MissedPair]
    precision: MeasuredPrecision
    blind: int
    """Texts whose sketches are too small to find their neighbours by; none of them is sampled."""
    partly: int = 0
    """Sampled texts with so many neighbours that only some were judged: the audit may report too few misses."""
    against_index: int = 0
    """Documents that were removed for one of an index; nothing is said of them."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as recall.json holds them."""
        return asdict(self)


def measure_recall(
    result: Result, *, sample: int | None = None, removed: int = SAMPLE, seed: int = 1, confidence: float = 0.95
) -> RecallAudit:
    """Measure what a run found and missed, from a random sample.

    sample: how many texts are compared with all others; by default 5,000 where sketches are 8-bit samples, as those
    of the default recipe are, and 1,000 otherwise. removed: how many removed documents are measured again.
    """
    if sample is None:
        quick = result.recipe.sketcher.comparison.kind == SAMPLES
        sample = QUICK_SAMPLE if quick else SAMPLE
    for name, value in (("sample", sample), ("removed", removed)):
        if value < 1:
            raise UsageError(f"{name} = {value}: at least 1 document; 1,000 are usual.")
    if not 0.0 < confidence < 1.0:
        raise UsageError(f"confidence = {confidence}: it lies between 0 and 1, both excluded; 0.95 is usual.")
    if seed < 0:
        raise UsageError(f"seed = {seed}: choose 0 or a larger one.")
    check_inputs(result)
    gathered = result.gathered
    steps = gathered.engine.steps
    rng = np.random.Generator(np.random.PCG64(seed))
    holders, _ = identity_sets(gathered)
    kept = result.keep & gathered.compared
    every = np.flatnonzero(gathered.compared & (holders == np.arange(len(kept))))
    texts = every[told_apart(gathered)[every]]
    drawn = _draw(result, texts, kept, sample, rng)
    sampled = drawn.texts
    others = np.zeros(len(kept), np.bool_)
    others[every] = True
    again = draw_removed(result.decision, holders, removed, rng)
    with steps.step("compare", len(kept)):
        near = neighbours(gathered, sampled, others, kept, most=MOST, nearest=_NEAREST, seed=seed)
    pairs = np.stack([sampled[near.query], near.document], axis=1)
    with steps.step("measure", sum(s.size for s in gathered.engine.splits)):
        documents = np.unique(np.concatenate([pairs.reshape(-1), again.documents]))
        judge = Judge(gathered, documents)
        values, true = judge.judge(pairs, near.score)
        precision = measured_precision(result, judge, again, confidence=confidence)
    gathered.engine.work.pairs_are_measured()
    return _sum_up(
        result,
        judge.truth,
        drawn,
        near,
        pairs,
        values,
        true,
        kept,
        len(every) - len(texts),
        precision,
        seed,
        confidence,
    )


@dataclass(frozen=True)
class _Drawn:
    """Sampled texts, ascending; the stratum of each (0 in company, 1 alone); how many texts the strata have."""

    texts: NDArray[np.int64]
    stratum: NDArray[np.int64]
    sizes: NDArray[np.float64]
    gone: int
    """Of all texts, not only of those drawn: how many were removed."""


def _draw(
    result: Result, texts: NDArray[np.int64], kept: NDArray[np.bool_], sample: int, rng: np.random.Generator
) -> _Drawn:
    """A third of the sample in company, the rest alone; where one has too few, more of the other."""
    decision = result.decision
    with_others = ~kept
    with_others[decision.kept_for[decision.measured != MEASURED.index("identity")]] = True
    company = with_others[texts]
    strata = [texts[company], texts[~company]]
    first = min(len(strata[0]), max(sample - len(strata[1]), -(-sample // 3)))
    chosen = [
        rng.choice(members, size, replace=False)
        for members, size in zip(strata, (first, min(len(strata[1]), sample - first)), strict=True)
    ]
    numbers = np.concatenate(chosen)
    order = np.argsort(numbers)
    stratum = np.repeat([0, 1], [len(c) for c in chosen])
    sizes = np.array([len(s) for s in strata], np.float64)
    return _Drawn(numbers[order], stratum[order], sizes, int((~kept[texts]).sum()))


def _sum_up(
    result: Result,
    truth: Truth,
    drawn: _Drawn,
    near: Neighbours,
    pairs: NDArray[np.int64],
    values: NDArray[np.float64],
    true: NDArray[np.bool_],
    kept: NDArray[np.bool_],
    blind: int,
    precision: MeasuredPrecision,
    seed: int,
    confidence: float,
) -> RecallAudit:
    gathered = result.gathered
    recipe, sampled = gathered.recipe, drawn.texts
    seen = np.zeros(len(pairs), np.bool_)
    seen[true] = share_a_key(gathered, pairs[true])
    weight = np.where(true, near.stands_for, 0.0)
    chance = _chances(result, truth, values)
    each = np.bincount(drawn.stratum, minlength=2)
    partly = int(near.partly.sum())
    larger = _ENDLESS if partly else 1.0  # a draw of neighbours is a draw, also where all texts are taken
    sizes = drawn.sizes * larger
    standing = weight * (drawn.sizes / np.maximum(1, each))[drawn.stratum[near.query]]

    def share(which: NDArray[np.bool_]) -> Share:
        if truth.by_features:
            return NOTHING
        found = np.bincount(near.query, weight * seen * which, len(sampled)).astype(np.float64)
        of = np.bincount(near.query, weight * which, len(sampled)).astype(np.float64)
        told = ratio(found, of, drawn.stratum, sizes, confidence=confidence, seed=seed)
        return replace(told, of=told.of / larger)

    def predicted(which: NDArray[np.bool_]) -> float | None:
        total = float(standing[which].sum())
        return float((standing * chance)[which].sum() / total) if chance is not None and total else None

    ranges = score_ranges(truth)
    place = range_of(values, ranges)
    stays = _should_have_gone(gathered, pairs, true, kept)
    missed = np.bincount(near.query, stays, len(sampled)) > 0
    left = stratified(
        np.bincount(drawn.stratum, missed, 2).astype(np.float64),
        each.astype(np.float64),
        sizes,
        confidence=confidence,
    )
    removals, numbers = (NOTHING, None) if truth.by_features else _removals(left, drawn)
    return RecallAudit(
        truth=truth,
        run=digest_of(result),
        recipe=recipe.id,
        documents=len(kept),
        texts=int(drawn.sizes.sum()),
        in_company=int(drawn.sizes[0]),
        sampled=len(sampled),
        sampled_in_company=int(each[0]),
        seed=seed,
        confidence=confidence,
        margin=margin(recipe).least,
        miss=margin(recipe).miss,
        compared=near.compared,
        judged=len(pairs),
        features=share(true),
        predicted=predicted(true),
        ranges=[
            RangeRecall(
                low, high, int((true & (place == i)).sum()), share(true & (place == i)), predicted(true & (place == i))
            )
            for i, (low, high) in enumerate(ranges)
        ],
        removals=removals,
        missed_removals=numbers,
        missed=_named(gathered, pairs, values, true, seen, stays, kept, chance),
        precision=precision,
        blind=blind,
        partly=partly,
        against_index=result.counts["removed_against_index"],
    )


def _removals(left: Share, drawn: _Drawn) -> tuple[Share, tuple[float, float, float]]:
    """How many texts are gone is known; how many are left that should go is estimated."""
    few, some, many = (float(drawn.sizes.sum()) * x for x in (left.low, left.value or 0.0, left.high))
    if drawn.gone + some == 0:
        return NOTHING, (some, few, many)
    worst, value, best = (drawn.gone / (drawn.gone + x) if drawn.gone + x else 1.0 for x in (many, some, few))
    return Share(value, worst, best, drawn.gone + some), (some, few, many)


def _chances(result: Result, truth: Truth, values: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """That the features find a pair, where its resemblance is known and they are all that is needed."""
    recipe = result.recipe
    if recipe.filter is None or not truth.exact or recipe.sketcher.comparison.similar is not None:
        return None
    resemblances, rows = np.unique(values, return_inverse=True)
    chances = np.array([recipe.filter.probability(x) for x in resemblances.tolist()], np.float64)
    return chances[rows.reshape(-1)]


def _should_have_gone(
    gathered: Gathered, pairs: NDArray[np.int64], true: NDArray[np.bool_], kept: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """True pairs of kept documents whose second one the keep policy prefers: the first should not be kept."""
    both = np.flatnonzero(true & kept[pairs].all(axis=1))
    out = np.zeros(len(pairs), np.bool_)
    documents, rows = np.unique(pairs[both], return_inverse=True)
    if not len(documents):
        return out
    collection, policy = gathered.collection, gathered.recipe.clusters.keep
    columns = {c: collection.keep_values(c, documents) for c in keep_columns(policy)}
    ids = collection.values("id", documents) if needs_ids(policy) else None
    order = keep_order(policy, documents, collection.numbers("tokens")[documents], columns, ids)
    place = np.empty(len(documents), np.int64)
    place[order] = np.arange(len(documents))
    first, second = place[rows.reshape(-1, 2)].T
    out[both] = second < first
    return out


def _named(
    gathered: Gathered,
    pairs: NDArray[np.int64],
    values: NDArray[np.float64],
    true: NDArray[np.bool_],
    seen: NDArray[np.bool_],
    stays: NDArray[np.bool_],
    kept: NDArray[np.bool_],
    chance: NDArray[np.float64] | None,
) -> list[MissedPair]:
    """The pairs that were missed: first those that left a document in, the most similar first."""
    rows = np.flatnonzero(true & (~seen | stays))
    order = np.lexsort((pairs[rows, 1], pairs[rows, 0], -values[rows], ~stays[rows]))
    shown: dict[frozenset[int], int] = {}
    for row in rows[order].tolist():
        if len(shown) == _SHOWN:
            break
        shown.setdefault(frozenset(pairs[row].tolist()), row)
    chosen = np.array(list(shown.values()), np.int64)
    names = gathered.collection.any_order("id", pairs[chosen].reshape(-1)).to_pylist() if len(chosen) else []
    return [
        MissedPair(
            first=names[2 * i],
            second=names[2 * i + 1],
            value=float(values[row]),
            chance=None if chance is None else float(chance[row]),
            why="too many candidates" if seen[row] else "no key in common",
            both_kept=bool(kept[pairs[row]].all()),
        )
        for i, row in enumerate(chosen.tolist())
    ]
