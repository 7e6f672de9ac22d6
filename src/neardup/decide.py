"""The decision: for every document, the one that is kept for it, and the evidence.

Identity sets first: documents with the same token sequence are represented by the one that the keep policy prefers.
Representatives that share a key are candidates; they are compared and clustered (clusters.form). Where sharing features
is all that matters and chains count, they are linked without buckets or pairs (clusters.linked).
"""

import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.atomic import appearing
from neardup.candidates.features import Buckets, bucket
from neardup.clusters.form import Formed, form
from neardup.clusters.keep import keep_columns, keep_order, keep_remarks, needs_ids
from neardup.clusters.linked import link_features, linking_memory
from neardup.clusters.loss import Loss, loss
from neardup.engines.machine import free_memory
from neardup.errors import WorkError
from neardup.evidence import Evidence, Verifier
from neardup.gather import Gathered
from neardup.kernels import equal as kernel
from neardup.model import MEASURED, RELATIONS, REMOVED
from neardup.recipe import Recipe
from neardup.untrusted import open_regular

KNOWN = pa.schema([pa.field("number", pa.int64(), nullable=False), *(f for f in REMOVED if f.name != "kept_source")])
"""Documents that are similar to one of an index, and are gone before the others are compared: their numbers, ascending,
and the same of them as of all removed ones. `kept_id` names a document of the index."""


@dataclass(frozen=True)
class Decision:
    """Row i of each array is about the i-th removed document; documents are named by their number."""

    removed: NDArray[np.int64]
    kept_for: NDArray[np.int64]
    relation: NDArray[np.uint8]
    score: NDArray[np.float64]
    """In the unit that `measured` names."""
    resemblance: NDArray[np.float64]
    """These three are NaN where the score is not of this kind."""
    removed_in_kept: NDArray[np.float64]
    kept_in_removed: NDArray[np.float64]
    measured: NDArray[np.uint8]
    crowded: int
    """Documents that are kept though they were compared with only some of their many candidates."""
    rounds: int
    candidates: int
    """Documents that share a key with another one."""
    pairs: int
    """Pairs that were measured, beyond what the sketches show."""
    crowded_sampled: int = 0
    """How many of the crowded ones were compared with all of their candidates afterwards."""
    crowded_missed: int = 0
    """How many of these are similar to a kept one."""
    known: pa.Table = field(default_factory=KNOWN.empty_table)

    @property
    def lost_in_crowds(self) -> dict[str, Any]:
        """Return the counts of run.json about documents that were cut short."""
        lost = Loss(self.crowded, self.crowded_sampled, self.crowded_missed)
        return lost.counts(int((self.relation != RELATIONS.index("identical")).sum()))

    @property
    def known_numbers(self) -> NDArray[np.int64]:
        """Of the documents that an index knows."""
        return np.asarray(self.known.column("number").to_numpy())


_KINDS = {
    "removed": np.int64, "kept_for": np.int64, "relation": np.uint8, "score": np.float64, "resemblance": np.float64,
    "removed_in_kept": np.float64, "kept_in_removed": np.float64, "measured": np.uint8,
}  # fmt: skip
"""The columns of a decision, and their types."""


def write_decision(path: Path, decision: Decision) -> None:
    """For whoever opens the run again."""
    table = pa.table({name: getattr(decision, name) for name in _KINDS})
    counts = json.dumps({name: getattr(decision, name) for name in _Counts.__struct_fields__})
    table = table.replace_schema_metadata({"neardup.counts": counts})
    for target, rows in ((path, table), (path.with_name("known.arrow"), decision.known)):
        with appearing(target) as draft, pa.ipc.new_file(draft, rows.schema) as file:
            file.write_table(rows)


def read_decision(path: Path, documents: int) -> Decision:
    """Read and check what `write_decision` wrote for a collection of this number of documents."""
    known = path.with_name("known.arrow")
    try:
        table = _validated(path)
        columns = {name: table.column(name).to_numpy().copy() for name in _KINDS}
        counts = msgspec.json.decode(table.schema.metadata[b"neardup.counts"], type=_Counts)
        decision = Decision(**columns, **msgspec.structs.asdict(counts))
        _check(decision, documents)
    except _UNREADABLE as error:
        raise _unreadable(path, error) from error
    if not known.exists():  # it was written before there were indexes
        return decision
    try:
        rows = _validated(known)
        _check_known(rows, documents)
        return replace(decision, known=rows)
    except _UNREADABLE as error:
        raise _unreadable(known, error) from error


class _Counts(msgspec.Struct, forbid_unknown_fields=True):
    """The counts of a decision, which are beside its columns."""

    crowded: Annotated[int, msgspec.Meta(ge=0)]
    rounds: Annotated[int, msgspec.Meta(ge=0)]
    candidates: Annotated[int, msgspec.Meta(ge=0)]
    pairs: Annotated[int, msgspec.Meta(ge=0)]
    crowded_sampled: Annotated[int, msgspec.Meta(ge=0)] = 0
    crowded_missed: Annotated[int, msgspec.Meta(ge=0)] = 0


_UNREADABLE = (pa.ArrowException, OSError, KeyError, TypeError, ValueError, RecursionError, msgspec.MsgspecError)


def _unreadable(path: Path, error: Exception) -> WorkError:
    return WorkError(f"{path}: cannot be read ({error}). Run `neardup dedup` again; it goes on from its work.")


def _validated(path: Path) -> pa.Table:
    """Return the table in an Arrow file, in memory, with offsets and lengths that lead nowhere else."""
    with open_regular(path) as file:
        table = pa.ipc.open_file(file.read()).read_all()
    table.validate(full=True)
    return table


def _check(decision: Decision, documents: int) -> None:
    """Raise a ValueError if a number of a decision names no document, relation or measure."""
    removed, kept_for = decision.removed, decision.kept_for
    for name, wanted in _KINDS.items():
        values = getattr(decision, name)
        if values.dtype != wanted:
            raise ValueError(f"{name} is of the type {values.dtype} and not {wanted.__name__}")
    _check_numbers("removed", removed, documents)
    if len(removed) and not (kept_for.min() >= 0 and kept_for.max() < documents):
        raise ValueError(f"a document is kept that is not there; there are {documents:,}")
    for name, most in (("relation", len(RELATIONS)), ("measured", len(MEASURED))):
        if (getattr(decision, name) >= most).any():
            raise ValueError(f"{name} has a number that is not below {most}")


def _check_numbers(name: str, numbers: NDArray[np.int64], documents: int) -> None:
    if len(numbers) and not (numbers[0] >= 0 and numbers[-1] < documents and (np.diff(numbers) > 0).all()):
        raise ValueError(f"{name} does not have the numbers of documents in their order; there are {documents:,}")


def _check_known(rows: pa.Table, documents: int) -> None:
    """Raise a ValueError if the table of documents that an index knows is not what a run writes."""
    if rows.schema.names != KNOWN.names:
        raise ValueError("it has other columns")
    for column in KNOWN:
        found = rows.column(column.name)
        if found.type != column.type and column.name not in ("id", "kept_id"):  # ids have the type of the inputs
            raise ValueError(f"{column.name} is of the type {found.type} and not {column.type}")
        if found.null_count and not column.nullable:
            raise ValueError(f"values are missing in the column {column.name}")
    _check_numbers("number", rows.column("number").to_numpy(), documents)
    for name, possible in (("relation", RELATIONS), ("measured", MEASURED)):
        strange = set(rows.column(name).unique().to_pylist()) - set(possible)
        if strange:
            raise ValueError(f"{name} is {min(strange)!r}, which is none of {', '.join(possible)}")


def decide(gathered: Gathered, known: pa.Table | None = None) -> Decision:
    """Decide about every document that is compared, step by step; not about those that an index knows."""
    engine = gathered.engine
    if known is not None:
        gathered.compared[known.column("number").to_numpy()] = False
    with ExitStack() as running:

        def begin(step: str) -> None:
            running.close()
            volume = sum(s.size for s in engine.splits) if step == "verify" else 0
            running.enter_context(engine.steps.step(step, volume))

        decision = _decide(gathered, begin)
    engine.work.pairs_are_measured()
    return decision if known is None else replace(decision, known=known)


def _decide(gathered: Gathered, begin: Callable[[str], None]) -> Decision:
    collection, compared, recipe = gathered.collection, gathered.compared, gathered.recipe
    begin("candidates")
    holders, copies = identity_sets(gathered)
    members = compared & (holders == np.arange(len(collection)))
    linked = _linked(gathered, members) if members.any() and by_features_alone(recipe) else None
    if linked is None:
        buckets = bucket(gathered.keys, members)
    else:
        together = np.bincount(linked, minlength=len(linked))[linked] > 1
        buckets = Buckets.empty(np.flatnonzero(together & members))
    begin("order")
    ranked = np.union1d(buckets.members, copies).astype(np.int64)
    _remark_on_policy(gathered, ranked)
    buckets = buckets.among(_order(gathered, buckets.members))
    begin("verify")
    verifier = Verifier.of(gathered, buckets.members, remember=True)
    missed = Loss()
    if linked is None:
        relieved, shown, rule, clusters = (
            verifier.relieved(buckets),
            verifier.signatures,
            verifier.rule,
            recipe.clusters,
        )
        formed = form(relieved, shown, rule, clusters, verifier.measure, verifier.known, sites=verifier.sites)
        missed = loss(relieved, shown, rule, formed, verifier.look_up, star=clusters.method == "star")
    else:
        formed = _first_of_component(linked[buckets.members])
    removed = np.flatnonzero(formed.centre != np.arange(len(buckets.members)))
    evidence = verifier.evidence(np.stack([removed, formed.centre[removed]], axis=1))
    begin("decide")
    return _spread(ranked, holders, buckets, formed, evidence, missed)


def by_features_alone(recipe: Recipe) -> bool:
    """Whether documents that share r features are one group, and nothing else matters."""
    return (
        recipe.clusters.method == "components"
        and recipe.verify.method != "exact"
        and recipe.sketcher.comparison.measure == "b-similarity"
        and recipe.sketcher.on_the_fly is None
    )


def _linked(gathered: Gathered, members: NDArray[np.bool_]) -> NDArray[np.int32]:
    """In memory where there is enough of it; else the features are mapped from a file, and linked from there."""
    filter, engine, collection = gathered.recipe.filter, gathered.engine, gathered.collection
    assert filter is not None
    k, r, n = filter.k, filter.r, len(members)
    limit = engine.memory if engine.memory is not None else _most_of(free_memory())
    if limit is None or linking_memory(n, k, r, threads=engine.threads) + 8 * k * n <= limit:
        features = collection.matrix("words", np.arange(n))
        return link_features(features, r, threads=engine.threads, members=members)
    scratch = engine.work.folder
    mapped = collection.mapped_words(scratch)
    return link_features(mapped, r, threads=engine.threads, members=members, memory=limit, scratch=scratch)


def _most_of(free: int | None) -> int | None:
    """Others want some of it meanwhile."""
    return None if free is None else free * 4 // 5


def _first_of_component(components: NDArray[np.int32]) -> Formed:
    """Rows are in the order of the keep policy: the first of a component stands for it."""
    _, firsts, place = np.unique(components, return_index=True, return_inverse=True)
    return Formed(firsts[place].astype(np.int32), np.zeros(len(place), np.bool_), rounds=1, measured=0)


def identity_sets(gathered: Gathered) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return for every document the preferred one with the same tokens, and which documents have copies.

    The preferred one stands for its copies in all that is compared: copies may differ in their host, and in the bytes
    between their words.
    """
    n = len(gathered.collection)
    firsts = np.empty(n, np.int32)
    kernel.first_holders(gathered.identities(), gathered.compared, firsts)
    copies = np.flatnonzero(gathered.compared & (np.bincount(firsts, minlength=n)[firsts] > 1))
    worst_first = copies[_order(gathered, copies)[::-1]]
    preferred = np.arange(n, dtype=np.int32)
    preferred[firsts[worst_first]] = worst_first  # of a set's members the last one written stays
    return preferred[firsts], copies


def _order(gathered: Gathered, documents: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the order of the keep policy, best first, as indices into `documents`, which ascend."""
    collection, policy = gathered.collection, gathered.recipe.clusters.keep
    columns = {c: collection.keep_values(c, documents) for c in keep_columns(policy)}
    ids = collection.values("id", documents) if needs_ids(policy) else None
    return keep_order(policy, documents, collection.numbers("tokens")[documents], columns, ids)


def _remark_on_policy(gathered: Gathered, ranked: NDArray[np.int64]) -> None:
    """Say what may surprise about the keep policy, given all documents that it chooses from."""
    collection, policy = gathered.collection, gathered.recipe.clusters.keep
    for remark in keep_remarks(policy, {c: collection.keep_values(c, ranked) for c in keep_columns(policy)}):
        gathered.remark(remark)


def _spread(
    ranked: NDArray[np.int64],
    holders: NDArray[np.int32],
    buckets: Buckets,
    formed: Formed,
    found: Evidence,
    missed: Loss,
) -> Decision:
    """From representatives to all members of their identity sets."""
    n_rows = len(buckets.members)
    row_centre = buckets.members[formed.centre] if n_rows else np.empty(0, np.int64)
    evidence = np.full(n_rows, -1, np.int64)
    evidence[formed.centre != np.arange(n_rows)] = np.arange(len(found.score))
    by_document = np.argsort(buckets.members, kind="stable")
    sorted_members = buckets.members[by_document]

    owner = holders[ranked].astype(np.int64)
    at = np.minimum(np.searchsorted(sorted_members, owner), max(0, n_rows - 1))
    in_buckets = (sorted_members[at] == owner) if n_rows else np.zeros(len(ranked), bool)
    row = np.where(in_buckets, by_document[at] if n_rows else 0, -1)
    kept_for = np.where(in_buckets, row_centre[row] if n_rows else 0, owner)

    gone = kept_for != ranked
    pair = np.where(in_buckets & gone, evidence[row] if n_rows else -1, -1)[gone]
    measured = pair >= 0
    rows = pair[measured]
    score, resemblance = np.full(len(pair), found.full), np.ones(len(pair))
    inside, around = np.ones(len(pair)), np.ones(len(pair))
    score[measured] = found.score[rows]
    resemblance[measured] = found.resemblance[rows]
    inside[measured] = found.first_in_second[rows]
    around[measured] = found.second_in_first[rows]
    relation = np.full(len(pair), RELATIONS.index("identical"), np.uint8)
    relation[measured] = found.relation[rows]
    return Decision(
        removed=ranked[gone],
        kept_for=kept_for[gone],
        relation=relation,
        score=score,
        resemblance=resemblance,
        removed_in_kept=inside,
        kept_in_removed=around,
        measured=np.where(measured, MEASURED.index(found.how), MEASURED.index("identity")).astype(np.uint8),
        crowded=missed.crowded,
        crowded_sampled=missed.sampled,
        crowded_missed=missed.missed,
        rounds=formed.rounds,
        candidates=n_rows,
        pairs=formed.measured,
    )
