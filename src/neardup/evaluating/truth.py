"""What people say of pairs, from a file: labelled pairs, graded pairs, or clusters.

    read_truth   TSV, CSV, JSONL or Parquet (.gz .zst .bz2 .xz too), or a table in memory → Truth
    Truth        ids of pairs with verdicts; or ids of documents with clusters

Columns are known by their names, in this order (first come first served); every one can be chosen instead:

    first, second   first/second, id_a/id_b, a/b, id1/id2 …: the two documents
    verdict         verdict, judgement, label …: words (see VERDICTS), or numbers, which are then grades
    grade           grade, *resemblance*, similarity, label …: a number; correct from `correct_from` on, incorrect below
                    `incorrect_below`, undecided between
    id, cluster     id and cluster, group, label …: documents with the same cluster are correct pairs
    kind            which kind of pair it is: measures are split by it
    weight          how many pairs it stands for, where pairs were sampled with unequal chances
    reason          why it was judged so

Verdicts are Henzinger's (section 3.1): correct, incorrect, undecided. Rows without a verdict are passed over, and
counted. The same pair twice, in any order, is one; with two verdicts it is an error. Ids are taken as they are written;
`collection.place` trims those that name no document.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from neardup.errors import InputError, UsageError
from neardup.evaluating.labels import Columns, columns_of, trimmed
from neardup.evaluating.study import CORRECT, INCORRECT, UNDECIDED

Unlisted = Literal["incorrect", "unknown"]
"""What a pair is that was found and that the truth does not list."""

CORRECT_FROM, INCORRECT_BELOW = 0.9, 0.5

PAIRS = (
    ("first", "second"), ("id_a", "id_b"), ("a", "b"), ("id1", "id2"), ("id_1", "id_2"), ("first_id", "second_id"),
    ("id_first", "id_second"), ("left", "right"), ("left_id", "right_id"), ("doc_a", "doc_b"), ("doc1", "doc2"),
    ("doc_1", "doc_2"), ("docid_a", "docid_b"), ("a_id", "b_id"), ("document_a", "document_b"), ("source", "target"),
)  # fmt: skip
IDS = ("id", "doc_id", "docid", "document", "document_id", "name", "url")
_NAMES = {
    "verdict": ("verdict", "judgement", "judgment", "is_duplicate", "duplicate", "match", "label", "gold"),
    "grade": (
        "grade", "version_resemblance", "main_resemblance4", "resemblance4", "resemblance", "similarity", "jaccard",
        "relevance", "rating",
    ),
    "id": IDS,
    "cluster": ("cluster", "cluster_id", "group", "group_id", "label"),
    "kind": ("kind",),
    "weight": ("weight",),
    "reason": ("reason", "why"),
}  # fmt: skip
ROLES = ("first", "second", *_NAMES)

VERDICTS = {
    **dict.fromkeys(("correct", "yes", "true", "duplicate", "near-duplicate", "same", "positive", "match"), CORRECT),
    **dict.fromkeys(("incorrect", "no", "false", "different", "distinct", "negative", "no match"), INCORRECT),
    **dict.fromkeys(("undecided", "unsure", "maybe", "unclear", "?"), UNDECIDED),
}
"""Words of verdicts, in lower case."""


@dataclass(frozen=True, eq=False)
class Truth:
    """Either pairs (`first` and `second` are ids) or clusters (`first` are ids, `second` is empty)."""

    name: str
    """Where it is from."""
    first: pa.Array
    second: pa.Array
    verdict: NDArray[np.int8]
    weight: NDArray[np.float64] | None
    kind: pa.Array | None
    reason: pa.Array | None
    cluster: NDArray[np.int64] | None
    """For clusters, a number for every id."""
    said: tuple[str, ...]
    """What was guessed and noticed."""

    @property
    def clustered(self) -> bool:
        """Whether it lists documents with clusters, and not pairs."""
        return self.cluster is not None

    def __len__(self) -> int:
        return len(self.first)

    def __repr__(self) -> str:
        return f"<neardup.evaluating.Truth: {len(self):,} {'documents in clusters' if self.clustered else 'pairs'}>"


def read_truth(
    source: Any,
    *,
    columns: Mapping[str, str] | None = None,
    correct_from: float | None = None,
    incorrect_below: float | None = None,
) -> Truth:
    """Labelled pairs or clusters from a file, or from a table or a list of dicts in memory.

    columns: the column of a role (see ROLES), where it is not to be guessed.
    correct_from, incorrect_below: of grades; 0.9 and 0.5 if not given, and needed where grades go beyond 1.
    """
    chosen = dict(columns or {})
    for role in chosen:
        if role not in ROLES:
            raise UsageError(f"columns: there is no role {role!r}; there are {', '.join(ROLES)}.")
    if isinstance(source, Truth):
        if chosen or correct_from is not None or incorrect_below is not None:
            raise UsageError("This truth has been read already: give its columns and grades to read_truth().")
        return source
    low = INCORRECT_BELOW if incorrect_below is None else incorrect_below
    high = CORRECT_FROM if correct_from is None else correct_from
    if not low <= high:
        raise UsageError(
            f"correct from {high:g} and incorrect below {low:g}: grades from {high:g} to {low:g} would be both. "
            "Make the first number the larger one."
        )
    table = columns_of(source)
    roles = _roles(table, chosen)
    if "cluster" in roles:
        return _clusters(table, roles)
    told = correct_from is not None or incorrect_below is not None
    return _pairs(table, roles, low, high, told=told)


def _roles(table: Columns, chosen: dict[str, str]) -> dict[str, str]:
    """Which column has which role."""
    lower = {name.strip().lower(): name for name in reversed(table.names)}
    for role, name in chosen.items():
        if name not in table.names:
            raise InputError(f"{table.name}: there is no column {name!r} for {role}; there are {_listed(table.names)}.")
    roles = dict(chosen)

    def guess(role: str) -> None:
        found = [lower[n] for n in _NAMES[role] if n in lower and lower[n] not in roles.values()]
        if role not in roles and found:
            roles[role] = found[0]

    of_clusters, of_pairs = {"id", "cluster"} & set(chosen), _OF_PAIRS & set(chosen)
    if of_clusters and of_pairs:
        raise UsageError(
            f"columns: {min(of_clusters)} is of clusters and {min(of_pairs)} of pairs; choose those of one of the two."
        )
    if not of_clusters:
        roles |= _two_columns(table, chosen, lower)
    if "first" in roles and "second" in roles:
        for role in ("verdict", "grade") if not {"verdict", "grade"} & set(chosen) else ():
            if "verdict" not in roles:
                guess(role)
        if "verdict" not in roles and "grade" not in roles:
            raise InputError(
                f"{table.name}: pairs without a verdict: no column is named {', '.join(_NAMES['verdict'])}, or as a "
                f"grade {', '.join(_NAMES['grade'])}. There are {_listed(table.names)}; choose one with --column "
                "verdict=NAME or --column grade=NAME (columns=)."
            )
        for role in ("kind", "weight", "reason"):
            guess(role)
        return roles
    for role in ("id", "cluster") if not of_pairs else ():
        guess(role)
    if "id" in roles and "cluster" in roles:
        return roles
    raise InputError(
        f"{table.name}: neither pairs nor clusters: the columns are {_listed(table.names)}. Pairs have two columns "
        "such as first and second and one such as verdict; clusters have id and cluster. Name them so, or choose them "
        "with --column first=NAME --column second=NAME --column verdict=NAME (columns=)."
    )


_OF_PAIRS = {"first", "second", "verdict", "grade"}


def _two_columns(table: Columns, chosen: dict[str, str], lower: dict[str, str]) -> dict[str, str]:
    """The columns of the two documents, where they can be told. One that is chosen is looked for a partner."""
    there = [(lower.get(a), lower.get(b)) for a, b in PAIRS]
    if "first" in chosen and "second" in chosen:
        return {}
    for role, other, at in (("first", "second", 0), ("second", "first", 1)):
        if role in chosen:
            mine = chosen[role]
            # By its own name's partner, else by any name of a partner.
            own = [p[1 - i] for p in there for i in (0, 1) if p[i] == mine]
            partners = own + [p[1 - at] for p in there]
            partner = next((p for p in partners if p is not None and p != mine), None)
            if partner is None:
                raise InputError(
                    f"{table.name}: {mine!r} is the {role} document, and no column looks like the {other} one; there "
                    f"are {_listed(table.names)}. Choose it with --column {other}=NAME (columns=)."
                )
            return {other: partner}
    pair = next(((a, b) for a, b in there if a is not None and b is not None), None)
    return dict(zip(("first", "second"), pair, strict=True)) if pair else {}


def _listed(names: list[str]) -> str:
    return ", ".join(repr(n) for n in names[:12]) + (" …" if len(names) > 12 else "")


def _clusters(table: Columns, roles: dict[str, str]) -> Truth:
    values = table.read([roles["id"], roles["cluster"]])
    ids, clusters = _ids(values[roles["id"]]), trimmed(values[roles["cluster"]])
    known = pc.and_(pc.is_valid(ids), pc.is_valid(clusters))
    said = [f"Truth: clusters by the columns {roles['id']!r} and {roles['cluster']!r} of {table.title}."]
    passed = len(ids) - pc.sum(known.cast(pa.int64())).as_py() if len(ids) else 0
    if passed:
        said.append(f"Truth: {passed:,} of {len(ids):,} rows have no id or no cluster, and were passed over.")
    ids, clusters = ids.filter(known), clusters.filter(known)
    if not len(ids):
        raise InputError(f"{table.name}: holds no documents with clusters.")
    numbers = clusters.dictionary_encode().indices.to_numpy(zero_copy_only=False).astype(np.int64)
    repeated = _repeated(ids)
    if repeated is not None:
        raise InputError(
            f"{table.name}: {repeated!r} is listed twice. A document is in one cluster; list pairs where it is not so."
        )
    nothing = pa.array([], pa.string())
    return Truth(table.title, ids, nothing, np.empty(0, np.int8), None, None, None, numbers, tuple(said))


def _repeated(ids: pa.Array) -> str | None:
    """One that occurs twice."""
    counts = ids.value_counts()
    twice = counts.filter(pc.greater(counts.field("counts"), 1))
    return str(twice[0]["values"].as_py()) if len(twice) else None


def _pairs(table: Columns, roles: dict[str, str], low: float, high: float, *, told: bool) -> Truth:
    values = table.read(list(dict.fromkeys(roles.values())))
    if not table.rows:
        raise InputError(f"{table.name}: holds no pairs.")
    first, second = _ids(values[roles["first"]]), _ids(values[roles["second"]])
    named = roles.get("verdict") or roles["grade"]
    words = trimmed(values[named])
    numbers = _numbers(words)
    if "verdict" in roles and numbers is None:
        verdict, how = _worded(table, named, words), "verdicts"
    else:
        if numbers is None:
            raise InputError(
                f"{table.name}: the column {named!r} holds {_not_a_number(words)!r}, which is no grade. "
                "Choose another with --column grade=NAME, or --column verdict=NAME for words (columns=)."
            )
        verdict, how = _graded(table, named, numbers, low, high, told=told), f"correct from {high:g}"
        how += f", incorrect below {low:g}" + ("" if low == high else ", undecided between")
    said = [
        f"Truth: pairs by the columns {roles['first']!r}, {roles['second']!r} and {named!r} of {table.title}; {how}."
    ]
    known: NDArray[np.bool_] = (verdict != _NOTHING) & _valid(first) & _valid(second)
    own = known & _equal(first, second)
    if (~known).any():
        said.append(
            f"Truth: {int((~known).sum()):,} of {len(known):,} rows have no verdict or no id, and were passed over."
        )
    if own.any():
        said.append(f"Truth: {int(own.sum()):,} rows pair a document with itself, and were passed over.")
    rows = np.flatnonzero(known & ~own)
    if not len(rows):
        raise InputError(f"{table.name}: holds no pair with a verdict; {table.rows:,} rows were looked at.")
    keep = _distinct(table, first, second, verdict, rows, said)
    take = pa.array(keep)

    def column(role: str) -> pa.Array | None:
        return trimmed(values[roles[role]]).take(take) if role in roles else None

    weight = None
    if "weight" in roles:
        weight = _weights(table, roles["weight"], column("weight"))
        said.append(f"Truth: pairs are weighted by the column {roles['weight']!r}.")
    if "stratum" in table.names:
        said.append(
            "Truth: it comes from an audit, so all its pairs are ones that the audited run removed. That run's recall "
            "is 1 here whatever it missed; recall and R of others are relative to it."
        )
    return Truth(
        table.title, first.take(take), second.take(take), verdict[keep], weight, column("kind"), column("reason"),
        None, tuple(said),
    )  # fmt: skip


_NOTHING = np.int8(9)
"""In place of a verdict where there is none."""


def _ids(values: pa.Array) -> pa.Array:
    """As they are written; null where there is nothing but white space."""
    return pc.if_else(pc.is_valid(trimmed(values)), values, pa.scalar(None, pa.string()))


def _valid(values: pa.Array) -> NDArray[np.bool_]:
    return np.asarray(pc.is_valid(values))


def _equal(first: pa.Array, second: pa.Array) -> NDArray[np.bool_]:
    return np.asarray(pc.fill_null(pc.equal(first, second), False))


def _numbers(words: pa.Array) -> NDArray[np.float64] | None:
    """NaN where there is nothing; None where something is no number."""
    try:
        return np.asarray(words.cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)
    except pa.ArrowInvalid:
        return None


def _not_a_number(words: pa.Array) -> str:
    for value in words.unique().to_pylist():
        try:
            float(value or 0)
        except ValueError:
            return str(value)
    return str(words[0])


def _worded(table: Columns, column: str, words: pa.Array) -> NDArray[np.int8]:
    encoded = words.dictionary_encode()
    meaning = []
    for word in encoded.dictionary.to_pylist():
        plain = " ".join(word.lower().replace("_", " ").split())
        found = VERDICTS.get(plain, {"1": CORRECT, "0": INCORRECT}.get(plain))
        if found is None:
            raise InputError(
                f"{table.name}: {word!r} in the column {column!r} is no verdict. Write correct, incorrect or undecided "
                "(yes and no, true and false, duplicate and different, 1 and 0 will do), or grades in numbers."
            )
        meaning.append(found)
    codes = encoded.indices.fill_null(len(meaning)).to_numpy(zero_copy_only=False)
    verdict: NDArray[np.int8] = np.array([*meaning, _NOTHING], np.int8)[codes]
    return verdict


def _graded(
    table: Columns, column: str, grades: NDArray[np.float64], low: float, high: float, *, told: bool
) -> NDArray[np.int8]:
    known = grades[~np.isnan(grades)]
    if not told and len(known) and (known.max() > 1.0 or known.min() < 0.0):
        raise UsageError(
            f"{table.name}: grades in the column {column!r} go from {known.min():g} to {known.max():g}. Say which are "
            "right: --correct-from X --incorrect-below Y (correct_from=, incorrect_below=)."
        )
    with np.errstate(invalid="ignore"):
        verdict = np.where(grades >= high, CORRECT, np.where(grades < low, INCORRECT, UNDECIDED)).astype(np.int8)
    verdict[np.isnan(grades)] = _NOTHING
    return verdict


def _distinct(
    table: Columns,
    first: pa.Array,
    second: pa.Array,
    verdict: NDArray[np.int8],
    rows: NDArray[np.int64],
    said: list[str],
) -> NDArray[np.int64]:
    """Of rows about the same pair the first; with different verdicts they are an error."""
    both = pa.concat_arrays([first, second]).dictionary_encode().indices.fill_null(0).to_numpy(zero_copy_only=False)
    one, other = both[: len(first)][rows].astype(np.int64), both[len(first) :][rows].astype(np.int64)
    codes = np.minimum(one, other) * (int(both.max()) + 1) + np.maximum(one, other)
    _, firsts, place = np.unique(codes, return_index=True, return_inverse=True)
    against = np.flatnonzero(verdict[rows] != verdict[rows[firsts[place]]])
    if len(against):
        words = {int(CORRECT): "correct", int(INCORRECT): "incorrect", int(UNDECIDED): "undecided"}
        at, before = int(rows[against[0]]), int(rows[firsts[place[against[0]]]])
        pairs = len(np.unique(place[against]))
        raise InputError(
            f"{table.name}: {'1 pair is' if pairs == 1 else f'{pairs:,} pairs are'} labelled twice and differently, "
            f"such as {first[at].as_py()!r} and {second[at].as_py()!r}: {words[int(verdict[before])]} in "
            f"{table.place(before)}, {words[int(verdict[at])]} in {table.place(at)}. Decide which is right."
        )
    if len(firsts) < len(rows):
        repeated = len(rows) - len(firsts)
        said.append(f"Truth: {repeated:,} rows repeat a pair with the same verdict, and were passed over.")
    return np.sort(rows[firsts])


def _weights(table: Columns, column: str, values: pa.Array | None) -> NDArray[np.float64]:
    assert values is not None
    weights = _numbers(values)
    if weights is None or np.isnan(weights).any() or (weights <= 0).any() or np.isinf(weights).any():
        raise InputError(
            f"{table.name}: the column {column!r} must hold a positive number in every row, for it weighs pairs. "
            "Rename it if it is something else."
        )
    return weights
