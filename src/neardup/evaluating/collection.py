"""The collection as an evaluation sees it: documents by number, pairs by recipe, the truth put in its place.

    Found           what one recipe found: pairs, groups, what was cut short
    find            run a recipe on a collection
    place           the truth's ids → document numbers
    judge           placed truth and found pairs → Judged
    members_of      the documents of pairs
    similarities    the scores of any pairs by the sketches of a recipe, whoever found them
    numbers_of      ids → document numbers

Memory: 17 bytes per found pair and recipe (pair, score, whether it is one of copies), then one row per different pair.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from neardup.decide import decide
from neardup.errors import InputError
from neardup.evaluating.forest import components
from neardup.evaluating.labels import trimmed
from neardup.evaluating.measures import Judged
from neardup.evaluating.study import CORRECT, INCORRECT, UNLABELLED
from neardup.evaluating.truth import Truth, Unlisted
from neardup.gather import Gathered
from neardup.pairing import Pairs
from neardup.verify.signatures import Signatures

Ints = NDArray[np.int64]

MOST_LISTED = 20_000_000
"""Pairs of the truth's clusters that are listed."""


@dataclass(frozen=True, eq=False)
class Found:
    """What a recipe found. A pair is first · documents + second, the lower number first; ascending."""

    pairs: Ints
    identical: NDArray[np.bool_]
    score: NDArray[np.float64]
    """In the recipe's own unit."""
    group: Ints
    """For every document the kept one of its group."""
    cut_short: int
    left_out: int


def all_ids(gathered: Gathered) -> pa.Array:
    """In the order of the documents."""
    return _whole(gathered.collection.values("id", np.arange(len(gathered.collection))))


def _whole(values: pa.ChunkedArray) -> pa.Array:
    joined = values.combine_chunks()
    if isinstance(joined, pa.ChunkedArray):
        return pa.concat_arrays(joined.chunks) if joined.num_chunks else pa.array([], values.type)
    return joined


def find(gathered: Gathered, *, most: int, groups: bool = True) -> Found:
    """All pairs and the groups of a sketched collection."""
    looking = Pairs(gathered, most)
    rows: list[tuple[Ints, NDArray[np.bool_], NDArray[np.float64]]] = [
        (np.empty(0, np.int64), np.empty(0, bool), np.empty(0))
    ]
    for documents, copies, evidence in looking.numbered():
        scores = np.full(len(copies), float(evidence.full))
        scores[~copies] = evidence.score
        rows.append((coded(documents[:, 0], documents[:, 1], looking.documents), copies, scores))
    pairs, identical, score = (np.concatenate(column) for column in zip(*rows, strict=True))
    order = np.argsort(pairs)
    group = _groups(gathered) if groups else np.arange(looking.documents)
    return Found(pairs[order], identical[order], score[order], group, looking.cut_short, looking.left_out)


def _groups(gathered: Gathered) -> Ints:
    decision = decide(gathered)
    group = np.arange(len(gathered.collection))
    group[decision.removed] = decision.kept_for
    return group


def numbers_of(values: pa.Array, ids: pa.Array) -> Ints:
    """Of ids as they are written, else without white space around; -1 where there is no such document.

    An id that occurs twice names the first document that has it.
    """
    found = pc.index_in(values, value_set=ids)
    if found.null_count:
        found = pc.coalesce(found, pc.index_in(trimmed(values), value_set=ids))
    return np.asarray(pc.fill_null(found, -1).to_numpy(zero_copy_only=False), np.int64)


def coded(first: Ints, second: Ints, documents: int) -> Ints:
    """A number per pair, whichever comes first."""
    codes: Ints = np.minimum(first, second) * documents + np.maximum(first, second)
    return codes


@dataclass(frozen=True, eq=False, kw_only=True)
class Placed:
    """The truth by document numbers: pairs, ascending, and what is known of them."""

    documents: int
    pairs: Ints
    verdict: NDArray[np.int8]
    weight: NDArray[np.float64]
    kind: list[str | None] | None
    reason: list[str | None] | None
    exhaustive: NDArray[np.bool_]
    """Documents whose unlisted pairs, with each other, are incorrect."""
    listed: NDArray[np.bool_]
    """Documents that are mentioned."""
    said: tuple[str, ...]

    @cached_property
    def groups(self) -> Ints:
        """The true group of every document: the components of the correct pairs."""
        first, second = np.divmod(self.pairs[self.verdict == CORRECT], max(1, self.documents))
        return components(self.documents, first, second)

    def rows(self, codes: Ints) -> Ints:
        """Where the truth lists these pairs; -1: it does not."""
        at = np.searchsorted(self.pairs, codes)
        found = at < len(self.pairs)
        found[found] = self.pairs[at[found]] == codes[found]
        return np.where(found, at, -1)

    @property
    def grouped(self) -> NDArray[np.bool_]:
        """The documents whose groups are compared: all about which the truth says everything, or at least something."""
        return self.exhaustive if self.exhaustive.any() else self.listed


def place(truth: Truth, ids: pa.Array, *, unlisted: Unlisted | None) -> Placed:
    """Ids become numbers. Ids that the collection does not have are left out, with their pairs, and told."""
    n = len(ids)
    both = numbers_of(pa.concat_arrays([truth.first, truth.second]), ids)
    first, second = both[: len(truth.first)], both[len(truth.first) :]
    said = list(truth.said)
    _tell_ambiguous(both, ids, said)
    if truth.cluster is not None:
        known = _known([(truth.first, first)], ids, truth.name, "documents", said)
        _refuse_one_twice(first[known], truth, known)
        documents, labels = first[known], truth.cluster[known]
        listed = np.zeros(n, bool)
        listed[documents] = True
        pairs = np.sort(_within(documents, labels, n, truth.name))
        exhaustive = np.ones(n, bool) if unlisted == "incorrect" else listed
        return Placed(
            documents=n, pairs=pairs, verdict=np.full(len(pairs), CORRECT, np.int8), weight=np.ones(len(pairs)),
            kind=None, reason=None, exhaustive=exhaustive, listed=listed, said=tuple(said),
        )  # fmt: skip
    known = _known([(truth.first, first), (truth.second, second)], ids, truth.name, "pairs", said)
    codes = coded(first[known], second[known], n)
    _refuse_one_twice(codes, truth, known)
    rows = known[np.argsort(codes, kind="stable")]
    listed = np.zeros(n, bool)
    listed[first[rows]] = listed[second[rows]] = True

    def texts(values: pa.Array | None) -> list[str | None] | None:
        return None if values is None else values.take(pa.array(rows)).to_pylist()

    weight = np.ones(len(rows)) if truth.weight is None else truth.weight[rows]
    exhaustive = np.full(n, unlisted == "incorrect")
    return Placed(
        documents=n, pairs=np.sort(codes), verdict=truth.verdict[rows], weight=weight, kind=texts(truth.kind),
        reason=texts(truth.reason), exhaustive=exhaustive, listed=listed, said=tuple(said),
    )  # fmt: skip


def _tell_ambiguous(found: Ints, ids: pa.Array, said: list[str]) -> None:
    """Documents with the same id stay apart; what the truth says is about the first of them."""
    if pc.count_distinct(ids).as_py() == len(ids):
        return
    encoded = ids.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    twice = (np.bincount(encoded) > 1)[encoded]
    ambiguous = len(np.unique(found[(found >= 0) & twice[found]]))
    if ambiguous:
        said.append(f"Truth: {ambiguous:,} ids name more than one document each; the first of them is meant.")


def _refuse_one_twice(numbers: Ints, truth: Truth, rows: Ints) -> None:
    """Ids that differ in white space alone may name one document; `read_truth` has refused what is written alike."""
    order = np.argsort(numbers, kind="stable")
    twice = np.flatnonzero(np.diff(numbers[order]) == 0)
    if len(twice):
        one, other = (int(rows[order[i]]) for i in (twice[0], twice[0] + 1))
        names = [" and ".join(repr(c[r].as_py()) for c in (truth.first, truth.second) if len(c)) for r in (one, other)]
        raise InputError(
            f"{truth.name}: {names[0]} is the same as {names[1]} but for white space, and the collection has only "
            "one of them. List it once."
        )


def _known(named: Sequence[tuple[pa.Array, Ints]], ids: pa.Array, name: str, what: str, said: list[str]) -> Ints:
    """The rows all of whose ids are in the collection."""
    missing = {str(v) for values, found in named for v in values.filter(pa.array(found < 0)).unique().to_pylist()}
    known = np.flatnonzero(np.all([found >= 0 for _, found in named], axis=0))
    if len(named) == 2:  # a document and itself, but for white space
        known = known[named[0][1][known] != named[1][1][known]]
    examples = ", ".join(repr(x) for x in sorted(missing)[:3])
    if not len(known):
        ours = ", ".join(repr(x) for x in ids[:3].to_pylist()) or "none: there are no documents"
        raise InputError(
            f"{name}: not one of its {len(named[0][1]):,} {what} is in the collection. Its ids look like {examples}; "
            f"those of the collection like {ours}. Choose the column of ids with --id-field (id_field=)."
        )
    if missing:
        lost = len(named[0][1]) - len(known)
        said.append(
            f"Truth: {len(missing):,} ids are not in the collection, such as {examples}; {lost:,} of "
            f"{len(named[0][1]):,} {what} were left out."
        )
    return known


def _within(documents: Ints, labels: Ints, n: int, name: str) -> Ints:
    """All pairs of documents with the same label."""
    order = np.lexsort((documents, labels))
    documents, labels = documents[order], labels[order]
    _, begins, sizes = np.unique(labels, return_index=True, return_counts=True)
    total = int((sizes * (sizes - 1) // 2).sum())
    if total > MOST_LISTED:
        raise InputError(
            f"{name}: its clusters hold {total:,} pairs, the largest {int(sizes.max()):,} documents; pairs are listed, "
            f"up to {MOST_LISTED:,}. Evaluate a sample of the documents of the largest clusters."
        )
    pieces = [np.empty(0, np.int64)]
    for size in np.unique(sizes[sizes >= 2]).tolist():
        one, other = np.triu_indices(size, 1)
        rows = documents[begins[sizes == size][:, None] + np.arange(size)]
        pieces.append(coded(rows[:, one].ravel(), rows[:, other].ravel(), n))
    return np.concatenate(pieces)


def judge(truth: Placed, found: Sequence[Found]) -> Judged:
    """Every pair that the truth lists or a recipe found."""
    pairs = _union([truth.pairs, *(f.pairs for f in found)])
    first, second = np.divmod(pairs, max(1, truth.documents))
    verdict = np.full(len(pairs), UNLABELLED, np.int8)
    verdict[truth.exhaustive[first] & truth.exhaustive[second]] = INCORRECT
    weight = np.ones(len(pairs))
    at = np.searchsorted(pairs, truth.pairs)
    verdict[at], weight[at] = truth.verdict, truth.weight
    members = np.zeros((len(found), len(pairs)), bool)
    for row, f in zip(members, found, strict=True):
        row[np.searchsorted(pairs, f.pairs)] = True
    return Judged(documents=truth.documents, first=first, second=second, verdict=verdict, weight=weight, found=members)


def _union(lists: Iterable[Ints]) -> Ints:
    """One after the other, so that no more than two are held beside the result."""
    union = np.empty(0, np.int64)
    for pairs in lists:
        union = np.union1d(union, pairs)
    return union


def members_of(first: Ints, second: Ints, documents: int) -> tuple[Ints, Ints]:
    """The documents of pairs, ascending, and every pair as two rows of them."""
    taken = np.zeros(documents, bool)
    taken[first] = taken[second] = True
    rows = np.cumsum(taken) - 1
    return np.flatnonzero(taken), np.stack([rows[first], rows[second]], axis=1)


def similarities(gathered: Gathered, first: Ints, second: Ints) -> NDArray[np.float64]:
    """The scores of these pairs by the sketches of the collection's recipe; -1 where a document has no sketch."""
    members, rows = members_of(first, second, len(gathered.collection))
    signatures = Signatures.of(gathered.engine.sketcher, gathered.collection, members)
    scores = signatures.scores(rows) if len(rows) else np.empty(0)
    scores[~(gathered.compared[first] & gathered.compared[second])] = -1.0
    return scores
