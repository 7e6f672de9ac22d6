"""The arrays that the papers' tables and figures are made of, from a collection.

study_of     every pair that Algorithm B or C found, with both similarities, verdict and difference (Henzinger)
matches_of   every pair by the match of its Bloom filters (Jain, Dahlin, Tewari)
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from neardup.evaluating.collection import Found, Placed, judge, similarities
from neardup.evaluating.facts import Facts
from neardup.evaluating.study import NOT_MEASURED, UNLABELLED, Matches, Study
from neardup.gather import Gathered
from neardup.sketches.minhash import MinHashSettings
from neardup.sketches.simhash import SimHashSettings

LOWEST_MATCH = 0.5
"""Of the figures of Jain, Dahlin and Tewari."""


def study_of(
    facts: Facts, truth: Placed, b: tuple[Gathered, Found], c: tuple[Gathered, Found], *, sample: int, seed: int
) -> Study:
    """Copies are left out first. Then differences are looked for in `sample` pairs: labelled ones, then others."""
    judged = judge(truth, [b[1], c[1]])
    returned = judged.found.any(axis=0)
    first, second = judged.first[returned], judged.second[returned]
    n = max(1, judged.documents)
    codes = first * n + second
    features, bits = b[0].recipe.sketch, c[0].recipe.sketch
    assert isinstance(features, MinHashSettings)
    assert isinstance(bits, SimHashSettings)
    study = Study(
        documents=judged.documents,
        first=first,
        second=second,
        b=np.maximum(0, similarities(b[0], first, second)).astype(np.int64),
        c=np.maximum(0, similarities(c[0], first, second)).astype(np.int64),
        in_b=judged.found[0][returned],
        in_c=judged.found[1][returned],
        same_site=facts.same_site(first, second),
        verdict=judged.verdict[returned],
        weight=judged.weight[returned],
        term_difference=np.full(len(first), NOT_MEASURED, np.int64),
        identical=np.isin(codes, np.concatenate([f.pairs[f.identical] for f in (b[1], c[1])])),
        reason=_reasons(truth, codes),
        features=features.k,
        least_b=features.r,
        bits=bits.bits,
        least_c=bits.similar,
    ).distinct()
    chosen = labelled_first(study.verdict != UNLABELLED, sample, seed)
    terms = np.full(len(study), NOT_MEASURED, np.int64)
    kinds = [""] * len(study)
    found, terms[chosen] = facts.differences(study.first[chosen], study.second[chosen])
    for row, kind in zip(chosen.tolist(), found, strict=True):
        kinds[row] = kind
    return replace(study, term_difference=terms, kind=kinds)


def _reasons(truth: Placed, codes: NDArray[np.int64]) -> list[str] | None:
    """Why pairs were judged as they were, where the truth says so."""
    if truth.reason is None:
        return None
    return ["" if row < 0 else truth.reason[row] or "" for row in truth.rows(codes).tolist()]


def sampled(n: int, most: int, seed: int) -> NDArray[np.int64]:
    """So many of n rows, at random, ascending; all, where there are fewer."""
    if n <= most:
        return np.arange(n)
    random = np.random.Generator(np.random.PCG64(seed))
    return np.sort(random.choice(n, most, replace=False))


def labelled_first(labelled: NDArray[np.bool_], most: int, seed: int) -> NDArray[np.int64]:
    """So many rows, ascending: labelled ones at random, and if these are too few, all of them and others at random."""
    some, rest = np.flatnonzero(labelled), np.flatnonzero(~labelled)
    some = some[sampled(len(some), most, seed)]
    return np.sort(np.concatenate([some, rest[sampled(len(rest), most - len(some), seed)]]))


def matches_of(
    documents: int, found: Found, *, similar: float, lists: Sequence[tuple[str, NDArray[np.int64]]] = ()
) -> Matches:
    """Of a recipe with Bloom filters whose threshold is LOWEST_MATCH."""
    first, second = np.divmod(found.pairs, max(1, documents))
    match = np.where(found.identical, 1.0, found.score)
    return Matches(
        documents=documents, first=first, second=second, match=match, lowest=LOWEST_MATCH, similar=similar, lists=lists
    )
