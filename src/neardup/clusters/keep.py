"""The keep policy: an order of documents, in which the first of a group is kept.

Rules are chained with commas, the earlier one counts first: `prefer:source=wiki,news,max:score,longest`. What ties
under all of them is decided by the id (or, under `first` and `last`, by the place in the input), so that the answer
depends neither on the order of the input nor on the number of threads.
"""

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from neardup.errors import RecipeError
from neardup.sketches.artefact import KeepColumn
from neardup.sketches.sortable import TEXT

_RULE = re.compile(r"(first|last|longest|shortest)$|(max|min):(.+)$|(prefer):([^=]+)=(.*)$")


@dataclass(frozen=True)
class Rule:
    """One rule. `column` and `values` where it has them."""

    kind: str
    column: str | None = None
    values: tuple[str, ...] = ()


def parse_keep(policy: str) -> tuple[Rule, ...]:
    """Read a policy; a piece that is no rule belongs to the list of the prefer before it."""
    rules: list[Rule] = []
    for piece in (p.strip() for p in policy.split(",")):
        match = _RULE.match(piece)
        if match is None:
            if piece and rules and rules[-1].kind == "prefer":
                rules[-1] = Rule("prefer", rules[-1].column, (*rules[-1].values, piece))
                continue
            raise RecipeError(
                f"keep: {piece!r} is no rule. Rules are first, last, longest, shortest, max:COLUMN, min:COLUMN and "
                "prefer:COLUMN=a,b,c, chained with commas."
            )
        plain, extreme, column, prefer, preferred, value = match.groups()
        if plain:
            rules.append(Rule(plain))
        elif extreme:
            rules.append(Rule(extreme, column))
        elif prefer:
            rules.append(Rule("prefer", preferred, (value,) if value else ()))
    for rule in rules[:-1]:
        if rule.kind in ("first", "last"):
            raise RecipeError(f"keep: nothing ties after {rule.kind!r}, so it can only come last in {policy!r}.")
    return tuple(rules)


def keep_columns(policy: str) -> tuple[str, ...]:
    """The columns of the input that the policy asks for."""
    return tuple(dict.fromkeys(r.column for r in parse_keep(policy) if r.column))


def needs_ids(policy: str) -> bool:
    """Whether ties are decided by the id."""
    return parse_keep(policy)[-1].kind not in ("first", "last")


def keep_remarks(policy: str, columns: dict[str, KeepColumn]) -> list[str]:
    """What a user may not expect of a policy, given the values that it meets."""
    remarks = []
    for rule in parse_keep(policy):
        values = columns[rule.column] if rule.column else None
        if values is None or not len(values.shown):
            continue
        if rule.kind == "prefer":
            if not pc.any(pc.is_in(values.shown, pa.array(rule.values, pa.string()))).as_py():
                remarks.append(none_preferred(rule))
        elif values.kind == TEXT:
            remarks.append(compared_as_text(rule))
    return remarks


def none_preferred(rule: Rule) -> str:
    """What is said where a rule chooses nobody."""
    return f"--keep: no document of a group has one of {', '.join(rule.values)} in {rule.column!r}."


def compared_as_text(rule: Rule) -> str:
    """What is said where an order is not that of numbers."""
    return f"--keep: {rule.column!r} holds text and is compared as text: '10' comes before '9'."


def keep_order(
    policy: str,
    places: NDArray[np.int64],
    tokens: NDArray[np.int64],
    columns: dict[str, KeepColumn],
    ids: pa.ChunkedArray | None,
) -> NDArray[np.int64]:
    """The documents, best first: indices into the arguments, which all have one row per document.

    Documents without a value in a column, or with one that is not a number, come last under its rule.
    """
    keys: list[tuple[str, str]] = []
    table: dict[str, pa.Array | pa.ChunkedArray] = {}

    def by(values: pa.Array | pa.ChunkedArray, order: str) -> None:
        name = f"key{len(keys)}"
        table[name] = values
        keys.append((name, order))

    for rule in parse_keep(policy):
        if rule.kind == "first":
            by(pa.array(places), "ascending")
        elif rule.kind == "last":
            by(pa.array(places), "descending")
        elif rule.kind in ("longest", "shortest"):
            by(pa.array(tokens), "descending" if rule.kind == "longest" else "ascending")
        else:
            assert rule.column is not None
            values = columns[rule.column]
            if rule.kind == "prefer":
                place = pc.index_in(values.shown, pa.array(rule.values, pa.string()))
                by(pc.fill_null(place, len(rule.values)), "ascending")
            else:
                by(values.order, "descending" if rule.kind == "max" else "ascending")
    if ids is not None:
        by(ids, "ascending")
    return np.asarray(pc.sort_indices(pa.table(table), sort_keys=keys)).astype(np.int64)
