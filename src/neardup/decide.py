"""The decision: for every document, the one that is kept for it, and the evidence.

Identity sets first: documents with the same token sequence are represented by the one that the keep policy prefers.
Representatives that share a feature are candidates; they are measured and clustered (clusters.form).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.analysis.filters import least_agreement
from neardup.candidates.features import Buckets, bucket
from neardup.clusters.form import Formed, form
from neardup.clusters.keep import keep_columns, keep_order, keep_remarks, needs_ids
from neardup.kernels import groups as kernel
from neardup.model import MEASURED, RELATIONS
from neardup.recipe import Recipe
from neardup.sketches.artefact import Collection
from neardup.verify.measure import Meter
from neardup.verify.resemblance import Overlap, estimated_overlap

_IDENTICAL, _NEAR, _CONTAINED, _CONTAINS = range(4)
_BY_IDENTITY, _EXACT, _ESTIMATE = range(3)
assert RELATIONS == ("identical", "near", "contained", "contains")
assert MEASURED == ("identity", "exact", "estimate")


@dataclass(frozen=True)
class Decision:
    """Row i of each array is about the i-th removed document; documents are named by their number."""

    removed: NDArray[np.int64]
    kept_for: NDArray[np.int64]
    relation: NDArray[np.uint8]
    resemblance: NDArray[np.float64]
    removed_in_kept: NDArray[np.float64]
    kept_in_removed: NDArray[np.float64]
    measured: NDArray[np.uint8]
    crowded: int
    rounds: int
    candidates: int
    """Documents that share a feature with another one."""
    pairs: int
    """Pairs measured exactly."""


def decide(
    collection: Collection,
    compared: NDArray[np.bool_],
    recipe: Recipe,
    meter: Callable[[NDArray[np.int64], NDArray[np.int64]], Meter],
    begin: Callable[[str], None],
    say: Callable[[str], None],
) -> Decision:
    """Decide about every document that is compared. `meter` is told how many tokens each document has, and which ones
    may have to be measured."""
    begin("candidates")
    holders = np.empty(len(collection), np.int32)
    kernel.first_holders(collection.identities(), compared, holders)
    members = np.flatnonzero(compared & (holders == np.arange(len(collection))))
    buckets = bucket(lambda g: collection.numbers(f"key{g}"), recipe.sketch.k, members)
    begin("order")
    copies = np.flatnonzero(compared & (np.bincount(holders, minlength=len(collection))[holders] > 1))
    ranked = np.union1d(buckets.members, copies).astype(np.int64)
    tokens = collection.numbers("tokens")
    best_first = ranked[_order(collection, recipe, ranked, tokens[ranked], say)]
    owners, firsts = np.unique(holders[best_first], return_index=True)
    best = best_first[firsts]  # best[x] is the preferred document of the identity set owners[x]
    place = firsts[np.searchsorted(owners, buckets.members)]
    buckets = buckets.among(np.argsort(place, kind="stable"))
    begin("verify")
    formed, overlaps, how = _cluster(collection, buckets, recipe, meter(tokens, np.sort(buckets.members)))
    begin("decide")
    return _spread(ranked, holders, owners, best, buckets, formed, overlaps, how)


def _order(
    collection: Collection,
    recipe: Recipe,
    ranked: NDArray[np.int64],
    tokens: NDArray[np.int64],
    say: Callable[[str], None],
) -> NDArray[np.int64]:
    policy = recipe.clusters.keep
    columns = {c: collection.keep_values(c, ranked) for c in keep_columns(policy)}
    for remark in keep_remarks(policy, columns):
        say(remark)
    ids = collection.values("id", ranked) if needs_ids(policy) else None
    return keep_order(policy, ranked, tokens, columns, ids)


def _cluster(collection: Collection, buckets: Buckets, recipe: Recipe, meter: Meter) -> tuple[Formed, Overlap, int]:
    """Cluster the candidates; the overlap of every removed one with its centre, and how it was found."""
    members = buckets.members
    ascending = np.argsort(members)
    samples = collection.samples(members)
    exact = recipe.verify.method == "exact"
    known = ascending[np.searchsorted(members[ascending], meter.pairs)].astype(np.int32)
    least = least_agreement(recipe.verify.threshold, recipe.sketch.permutations)
    formed = form(
        buckets,
        samples,
        least,
        recipe.verify,
        recipe.clusters,
        lambda asked: meter.measure(members[asked]).resemblance,
        (known, meter.overlaps.resemblance),
    )
    removed = np.flatnonzero(formed.centre != np.arange(len(members)))
    pairs = np.stack([members[removed], members[formed.centre[removed]]], axis=1)
    if exact:
        return formed, meter.look_up(pairs), _EXACT
    width = recipe.sketch.permutations
    centres = formed.centre
    estimate = np.array(
        [kernel.estimate(kernel.equal_samples(samples[i], samples[centres[i]]), width) for i in removed]
    )
    bounds = meter.shelf.sizes
    return formed, estimated_overlap(estimate, bounds[pairs[:, 0]], bounds[pairs[:, 1]]), _ESTIMATE


def _spread(
    ranked: NDArray[np.int64],
    holders: NDArray[np.int32],
    owners: NDArray[np.int32],
    best: NDArray[np.int64],
    buckets: Buckets,
    formed: Formed,
    overlaps: Overlap,
    how: int,
) -> Decision:
    """From representatives to all members of their identity sets."""
    n_rows = len(buckets.members)
    row_centre = buckets.members[formed.centre] if n_rows else np.empty(0, np.int64)
    evidence = np.full(n_rows, -1, np.int64)
    evidence[formed.centre != np.arange(n_rows)] = np.arange(len(overlaps.shared))
    by_document = np.argsort(buckets.members, kind="stable")
    sorted_members = buckets.members[by_document]

    owner = holders[ranked].astype(np.int64)
    at = np.minimum(np.searchsorted(sorted_members, owner), max(0, n_rows - 1))
    in_buckets = (sorted_members[at] == owner) if n_rows else np.zeros(len(ranked), bool)
    row = np.where(in_buckets, by_document[at] if n_rows else 0, -1)
    centre = np.where(in_buckets, row_centre[row] if n_rows else 0, owner)
    kept_for = best[np.searchsorted(owners, centre)]

    gone = kept_for != ranked
    pair = np.where(in_buckets & gone, evidence[row] if n_rows else -1, -1)[gone]
    measured = pair >= 0
    found = overlaps[pair[measured]]
    resemblance, inside, around = np.ones(len(pair)), np.ones(len(pair)), np.ones(len(pair))
    resemblance[measured] = found.resemblance
    inside[measured] = found.first_in_second
    around[measured] = found.second_in_first
    relation = np.full(len(pair), _IDENTICAL, np.uint8)
    relation[measured] = _NEAR
    if how == _EXACT:
        relation[measured & (inside == 1.0) & (around < 1.0)] = _CONTAINED
        relation[measured & (around == 1.0) & (inside < 1.0)] = _CONTAINS
    return Decision(
        removed=ranked[gone],
        kept_for=kept_for[gone],
        relation=relation,
        resemblance=resemblance,
        removed_in_kept=inside,
        kept_in_removed=around,
        measured=np.where(measured, how, _BY_IDENTITY).astype(np.uint8),
        crowded=formed.crowded,
        rounds=formed.rounds,
        candidates=n_rows,
        pairs=formed.measured,
    )
