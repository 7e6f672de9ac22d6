"""Groups to look at: a stratified, seeded sample, with the texts and what differs.

biggest   the largest groups
edge      groups with a removed document whose score is among the lowest tenth: where a wrong removal is likeliest
random    of all other groups

A group may be both biggest and edge. It is carried once.

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

EACH = 60
"""Groups of each kind."""
MEMBERS = 20
"""Removed documents of a group that are listed."""
WEAKEST = 10
"""Of them, those with the lowest scores; the others are drawn."""

LONGEST = 1 << 20
"""Bytes of a text from which on it is not read again."""
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


def choose_groups(facts: Facts) -> list[Chosen]:
    """Biggest, edge and random ones in turn, so that what has no room is missing evenly."""
    random = facts.random(2)
    biggest = np.lexsort((facts.centres, -facts.sizes))[:EACH].tolist()
    edge = _edge(facts, random)
    others = np.setdiff1d(np.arange(len(facts.centres)), np.array([*biggest, *edge], np.int64))
    drawn = random.choice(others, min(EACH, len(others)), replace=False).tolist()
    strata: dict[int, list[str]] = {}
    for turn in zip_longest(biggest, edge, drawn):
        for name, group in zip(("biggest", "edge", "random"), turn, strict=True):
            if group is not None:
                strata.setdefault(group, []).append(name)
    return [Chosen(group, tuple(names), _members(facts, group, random)) for group, names in strata.items()]


def _edge(facts: Facts, random: np.random.Generator) -> list[int]:
    """Groups of documents drawn from the tenth with the lowest scores."""
    rows = np.flatnonzero(~facts.by_identity)
    few = min(len(rows), max(2 * EACH, len(rows) // 10))
    if not few:
        return []
    weakest = rows[np.argpartition(facts.decision.score[rows], few - 1)[:few]]
    drawn = random.permutation(np.sort(weakest))[: 20 * EACH]
    groups = np.searchsorted(facts.centres, facts.decision.kept_for[drawn])
    return list(dict.fromkeys(groups.tolist()))[:EACH]


def _members(facts: Facts, group: int, random: np.random.Generator) -> NDArray[np.int64]:
    rows = facts.rows_of(group)
    rows = rows[np.lexsort((rows, facts.decision.score[rows]))]
    if len(rows) > MEMBERS:
        rest = np.sort(random.choice(len(rows) - WEAKEST, MEMBERS - WEAKEST, replace=False)) + WEAKEST
        rows = np.concatenate([rows[:WEAKEST], rows[rest]])
    return rows


def wanted(facts: Facts, chosen: list[Chosen]) -> NDArray[np.int64]:
    """The documents whose texts are needed, as far as there is room: kept ones, and those that are not the same."""
    numbers: list[NDArray[np.int64]] = []
    room = READ
    for one in chosen:
        rows = one.rows[~facts.by_identity[one.rows]]
        documents = np.concatenate([facts.centres[[one.group]], facts.decision.removed[rows]])
        documents = documents[facts.bytes[documents] <= LONGEST]
        room -= int(facts.bytes[documents].sum())
        if room < 0:
            break
        numbers.append(documents)
    return np.unique(np.concatenate(numbers)) if numbers else np.empty(0, np.int64)


def groups_data(facts: Facts, chosen: list[Chosen], texts: Mapping[int, str]) -> list[dict[str, Any]]:
    """As the page carries them."""
    documents = np.concatenate(
        [np.concatenate([facts.centres[[one.group]], facts.decision.removed[one.rows]]) for one in chosen]
        or [np.empty(0, np.int64)]
    )
    ids = facts.collection.any_order("id", documents).to_pylist() if len(documents) else []
    urls = facts.collection.any_order("url", documents).to_pylist() if len(documents) else []
    room = [ALL_DIFFS]
    at = 0
    made = []
    for one in chosen:
        centre = int(facts.centres[one.group])
        kept = texts.get(centre)
        names = [(short(ids[at + i]), short(urls[at + i])) for i in range(len(one.rows) + 1)]
        at += len(one.rows) + 1
        made.append(
            {
                "strata": one.strata,
                "size": int(facts.sizes[one.group]),
                "kept": {
                    "id": names[0][0],
                    "url": names[0][1],
                    "tokens": int(facts.tokens[centre]),
                    "text": None if kept is None else kept[:EXCERPT],
                    "cut": kept is not None and len(kept) > EXCERPT,
                },
                "members": [
                    _member(facts, int(row), *names[i + 1], kept, texts, room)
                    for i, row in enumerate(one.rows.tolist())
                ],
            }
        )
    return made


def _member(
    facts: Facts, row: int, id: str | None, url: str | None, kept: str | None, texts: Mapping[int, str], room: list[int]
) -> dict[str, Any]:
    decision = facts.decision
    number = int(decision.removed[row])
    return {
        "id": id,
        "url": url,
        "tokens": int(facts.tokens[number]),
        "relation": RELATIONS[decision.relation[row]],
        "measured": MEASURED[decision.measured[row]],
        "score": _number(decision.score[row]),
        "resemblance": _number(decision.resemblance[row]),
        "in_kept": _number(decision.removed_in_kept[row]),
        "kept_in": _number(decision.kept_in_removed[row]),
        "diff": None if facts.by_identity[row] else _diff(facts, kept, texts.get(number), room),
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
