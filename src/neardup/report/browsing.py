"""Groups to look at: a stratified, seeded sample, with the texts and what differs.

biggest   the largest groups
edge      groups with a removed document of the tenth nearest to its threshold: where a wrong removal is likeliest
random    of all other groups

A group may be both biggest and edge. It is carried once. Of a large collection a part is read (see part). Groups then
have the kept document and a removed one in it; only the very largest are here in any case, with or without texts.

choose_groups    which groups, which members of each
groups_data      with their texts, as the page carries them
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.comparing.marked import segments
from neardup.model import MEASURED, RELATIONS
from neardup.report.facts import Facts
from neardup.report.part import LONGEST, Part

EACH = 60
"""Groups of each kind."""
NAMED = 20
"""The largest ones of all: what the page lists as such."""
MEMBERS = 20
"""Removed documents of a group that are listed."""
WEAKEST = 10
"""Of them, those with the lowest scores; the others are drawn."""

READ = 128 << 20
"""Bytes of all texts that are read for groups."""
COMPARED = 40_000
"""Characters of a text that are compared for display."""
DIFF, CONTEXT = 5_000, 14
"""Characters of both texts that a diff shows, tokens around differences."""
ALL_DIFFS = 8_000_000
"""Bytes of all diffs: what keeps the page small."""
EXCERPT = 900
"""Characters of the kept text that are shown."""


@dataclass(frozen=True)
class Chosen:
    """A group: its number among `facts.centres`, why it is here, and the rows of the decision that are listed."""

    group: int
    strata: tuple[str, ...]
    rows: NDArray[np.int64]


def choose_groups(facts: Facts, part: Part) -> list[Chosen]:
    """Biggest, edge and random ones in turn, so that what has no room is missing evenly."""
    random = facts.random(2)
    readable = part.groups(facts)
    by_size = np.lexsort((facts.centres, -facts.sizes))
    biggest = list(dict.fromkeys([*by_size[:NAMED].tolist(), *by_size[readable[by_size]][:EACH].tolist()]))[:EACH]
    edge = _edge(facts, readable, random)
    others = np.setdiff1d(np.flatnonzero(readable), np.array([*biggest, *edge], np.int64))
    drawn = random.choice(others, min(EACH, len(others)), replace=False).tolist()
    strata: dict[int, list[str]] = {}
    for turn in zip_longest(biggest, edge, drawn):
        for name, group in zip(("biggest", "edge", "random"), turn, strict=True):
            if group is not None:
                strata.setdefault(group, []).append(name)
    return [Chosen(group, tuple(names), _members(facts, part, group, random)) for group, names in strata.items()]


def _edge(facts: Facts, readable: NDArray[np.bool_], random: np.random.Generator) -> list[int]:
    """Groups of documents drawn from the tenth nearest to their threshold."""
    groups = np.searchsorted(facts.centres, facts.decision.kept_for)
    rows = np.flatnonzero(~facts.by_identity & readable[groups])
    few = min(len(rows), max(2 * EACH, len(rows) // 10))
    if not few:
        return []
    margin = facts.decision.score[rows] - facts.needed[rows]
    weakest = rows[np.argpartition(margin, few - 1)[:few]]
    drawn = random.permutation(np.sort(weakest))[: 20 * EACH]
    return list(dict.fromkeys(groups[drawn].tolist()))[:EACH]


def _members(facts: Facts, part: Part, group: int, random: np.random.Generator) -> NDArray[np.int64]:
    """The weakest, and others: those first that can be read."""
    rows = facts.rows_of(group)
    rows = rows[np.lexsort((rows, facts.decision.score[rows]))]
    if len(rows) > MEMBERS:
        rest = random.permutation(len(rows) - WEAKEST) + WEAKEST
        rest = rest[np.argsort(~part.documents[facts.decision.removed[rows[rest]]], kind="stable")]
        rows = np.concatenate([rows[:WEAKEST], rows[np.sort(rest[: MEMBERS - WEAKEST])]])
    return rows


def wanted(facts: Facts, part: Part, chosen: list[Chosen]) -> NDArray[np.int64]:
    """The documents whose texts are needed, as far as there is room: kept ones, and those that are not the same."""
    numbers: list[NDArray[np.int64]] = []
    room = READ
    for one in chosen:
        rows = one.rows[~facts.by_identity[one.rows]]
        documents = np.concatenate([facts.centres[[one.group]], facts.decision.removed[rows]])
        documents = documents[part.documents[documents] & (facts.bytes[documents] <= LONGEST)]
        room -= int(facts.bytes[documents].sum())
        if room < 0:
            break
        numbers.append(documents)
    return np.unique(np.concatenate(numbers)) if numbers else np.empty(0, np.int64)


def groups_data(facts: Facts, part: Part, chosen: list[Chosen], texts: Mapping[int, str]) -> list[dict[str, Any]]:
    """As the page carries them."""
    documents = np.concatenate(
        [np.concatenate([facts.centres[[one.group]], facts.decision.removed[one.rows]]) for one in chosen]
        or [np.empty(0, np.int64)]
    )
    names = iter(called(facts, documents))
    room = [ALL_DIFFS]
    made = []
    for one in chosen:
        centre = int(facts.centres[one.group])
        kept = texts.get(centre)
        made.append(
            {
                "strata": one.strata,
                "size": int(facts.sizes[one.group]),
                "kept": {
                    **next(names),
                    "tokens": int(facts.tokens[centre]),
                    "text": None if kept is None else kept[:EXCERPT],
                    "cut": kept is not None and len(kept) > EXCERPT,
                },
                "members": [
                    {**next(names), **_member(facts, part, row, kept, texts, room)} for row in one.rows.tolist()
                ],
            }
        )
    return made


def called(facts: Facts, documents: NDArray[np.int64]) -> list[dict[str, str | None]]:
    """What names each document."""
    if not len(documents):
        return []
    ids, urls = (facts.collection.any_order(name, documents).to_pylist() for name in ("id", "url"))
    return [{"id": short(id), "url": short(url)} for id, url in zip(ids, urls, strict=True)]


def _member(
    facts: Facts, part: Part, row: int, kept: str | None, texts: Mapping[int, str], room: list[int]
) -> dict[str, Any]:
    decision = facts.decision
    number = int(decision.removed[row])
    return {
        "tokens": int(facts.tokens[number]),
        "relation": RELATIONS[decision.relation[row]],
        "measured": MEASURED[decision.measured[row]],
        "score": _number(decision.score[row]),
        "resemblance": _number(decision.resemblance[row]),
        "in_kept": _number(decision.removed_in_kept[row]),
        "kept_in": _number(decision.kept_in_removed[row]),
        "diff": None if facts.by_identity[row] else _diff(facts, kept, texts.get(number), room),
        "beyond": bool(not (part.documents[number] and part.documents[decision.kept_for[row]])),
        "cut": max(len(kept or ""), len(texts.get(number, ""))) > COMPARED,
    }


def _diff(facts: Facts, kept: str | None, text: str | None, room: list[int]) -> list[list[Any]] | None:
    """None where a text is missing or there is no room left."""
    if kept is None or text is None or room[0] <= 0:
        return None
    found = segments(kept[:COMPARED], text[:COMPARED], tokens=facts.recipe.text.tokens, context=CONTEXT, room=DIFF)
    room[0] -= sum(
        len(s.first.encode("utf-8", "replace")) + len(s.second.encode("utf-8", "replace")) + 20 for s in found
    )
    return [list(s) for s in found]


def _number(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), 6)


def short(name: str | None, most: int = 400) -> str | None:
    """Ids and URLs are untrusted, and may be as long as they like."""
    return name if name is None or len(name) <= most else name[:most] + "…"
