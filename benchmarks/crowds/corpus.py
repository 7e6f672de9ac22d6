"""Crowds with chosen resemblances: originals of one template, and a near-duplicate of each.

    python -m benchmarks.crowds.corpus --originals 2000 --between 0.79 --duplicate 0.85 FILE.parquet

Resemblance is the Jaccard similarity of sets of w-word shingles (word n-grams). Every original is the template with
blocks of own words at fixed places; a block of b words that stands inside other text is part of b + w - 1 shingles.
Of S shingles D are a document's own, so any two originals resemble by (S - D) / (S + D). A duplicate has new words in
place of some of its original's, which changes E shingles: it resembles its original by (S - E) / (S + E). S, D and E
are integers that come closest to what is asked for (within 0.002 for 270 shingles). No two documents have the same own
word at one place, so the resemblances are the same for all pairs.

    edits "own"        a duplicate's new words stand in place of own words: it resembles every other original as its
                       own original does. The hard case, and the default.
    edits "template"   they stand in place of words of the template: it resembles the other originals less.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.speed.vocabulary import Vocabulary, vocabulary

Order = Literal["originals first", "shuffled"]
Hosts = Literal["own", "one"]
Edits = Literal["own", "template"]
Words = npt.NDArray[np.int32]

ORDERS: tuple[Order, ...] = ("originals first", "shuffled")
HOSTS: tuple[Hosts, ...] = ("own", "one")
EDITS: tuple[Edits, ...] = ("own", "template")

FREQUENT = 1_000
"""Own words are rarer than this many words of the vocabulary, as names and numbers are."""
LINE = 11
"""Words between two line ends."""
SLACK = 8
"""How many shingles more or fewer than asked for a document may have, where the resemblances come closer by it."""
AT_ONCE = 10_000
"""Documents that are spelled at once, to bound memory."""


@dataclass(frozen=True)
class Parameters:
    """What a crowd is made from; equal parameters give equal documents."""

    originals: int
    between: float
    """Resemblance of any two originals."""
    duplicate: float
    """Resemblance of a duplicate to its original."""
    order: Order = "originals first"
    hosts: Hosts = "own"
    """URLs: every document on a host of its own, or all on one host."""
    edits: Edits = "own"
    blocks: int = 3
    """In how many places own words stand."""
    shingles: int = 270
    """Of a document, within `SLACK`."""
    width: int = 5
    seed: int = 1


@dataclass(frozen=True)
class Layout:
    """Where words stand in every document of a crowd."""

    words: int
    blocks: tuple[range, ...]
    """Positions of own words."""
    edits: tuple[tuple[range, int], ...]
    """(where an edit may begin, how many words it replaces)."""
    between: float
    duplicate: float


@dataclass(frozen=True)
class Crowd:
    """The documents in input order, and which of them is whose near-duplicate."""

    parameters: Parameters
    layout: Layout
    documents: pa.Table
    """id, text, url."""
    truth: pa.Table
    """duplicate, original: ids."""

    @property
    def facts(self) -> dict[str, object]:
        """The parameters and the resemblances that follow from the chosen integers, as plain data."""
        achieved = {"between": self.layout.between, "duplicate": self.layout.duplicate}
        return {**asdict(self.parameters), "documents": len(self.documents), "achieved": achieved}


def crowd(parameters: Parameters) -> Crowd:
    """Make the crowd of `parameters`."""
    made = layout(parameters)
    known = _words()
    rng = np.random.default_rng([parameters.seed, 1])
    n = parameters.originals
    template = _template(known, made.words, parameters.width, rng)
    rare = np.setdiff1d(np.arange(FREQUENT, len(known.words), dtype=np.int32), template)
    if 2 * n > len(rare):
        raise ValueError(f"{n:,} originals: there are words for at most {len(rare) // 2:,}.")
    originals = np.tile(template, (n, 1))
    duplicates = originals.copy()
    edited = np.zeros((n, made.words), np.bool_)
    for starts, length in made.edits:
        start = rng.integers(starts.start, starts.stop, n)
        np.put_along_axis(edited, start[:, None] + np.arange(length), True, axis=1)
    own = {position for block in made.blocks for position in block}
    for position in sorted(own.union(np.flatnonzero(edited.any(axis=0)).tolist())):
        drawn = rng.choice(rare, (2, n), replace=False)  # no word twice: no two documents have the same one here
        if position in own:
            originals[:, position] = duplicates[:, position] = drawn[0]
        duplicates[:, position] = np.where(edited[:, position], drawn[1], duplicates[:, position])
    rows = np.arange(2 * n)
    if parameters.order == "shuffled":
        order = rng.permutation(rows)
    else:
        order = np.concatenate([rows[:n], n + rng.permutation(n)])
    place = np.empty(2 * n, np.int64)
    place[order] = rows
    ids = pa.array([f"{row:07d}" for row in range(2 * n)])
    documents = pa.table(
        {
            "id": ids,
            "text": _texts(np.concatenate([originals, duplicates]), order),
            "url": pa.array([_url(row, parameters.hosts) for row in range(2 * n)]),
        }
    )
    truth = pa.table({"duplicate": ids.take(place[n:]), "original": ids.take(place[:n])})
    return Crowd(parameters, made, documents, truth)


def unrelated(documents: int, *, shingles: int = 270, width: int = 5, seed: int = 1) -> pa.Table:
    """Return documents (id, text, url) of the length of a crowd's that share no shingle."""
    known = _words()
    if documents > len(known.words):
        raise ValueError(f"{documents:,} documents: there are words for at most {len(known.words):,}.")
    rng = np.random.default_rng([seed, 2])
    words = known.quantiles[rng.integers(0, len(known.quantiles), (documents, shingles + width - 1))]
    for position in range(0, words.shape[1], width):  # a word in every shingle that no other document has there
        words[:, position] = rng.permutation(len(known.words))[:documents]
    return pa.table(
        {
            "id": pa.array([f"{row:07d}" for row in range(documents)]),
            "text": _texts(words, np.arange(documents)),
            "url": pa.array([_url(row, "own") for row in range(documents)]),
        }
    )


def layout(parameters: Parameters) -> Layout:
    """Choose the integers that come closest to the resemblances, and the places of own and of edited words."""
    best: tuple[float, Layout] | None = None
    for shingles in range(parameters.shingles - SLACK, parameters.shingles + SLACK + 1):
        own, changed = (round(shingles * (1 - r) / (1 + r)) for r in (parameters.between, parameters.duplicate))
        between, duplicate = ((shingles - x) / (shingles + x) for x in (own, changed))
        error = abs(between - parameters.between) + abs(duplicate - parameters.duplicate)
        if best and error >= best[0]:
            continue
        if found := _places(parameters, shingles, own, changed):
            best = error, Layout(shingles + parameters.width - 1, *found, between, duplicate)
    if best is None:
        raise ValueError(
            f"no document of {parameters.shingles} shingles in {parameters.blocks} blocks has resemblances "
            f"{parameters.between} and {parameters.duplicate}: try fewer blocks or more shingles."
        )
    return best[1]


def _places(
    parameters: Parameters, shingles: int, own: int, changed: int
) -> tuple[tuple[range, ...], tuple[tuple[range, int], ...]] | None:
    """Blocks of `own` shingles and edits of `changed`; None where they do not fit."""
    overhang, n = parameters.width - 1, parameters.blocks
    sizes = [own // n + (block < own % n) for block in range(n)]
    template = shingles + overhang - sum(size - overhang for size in sizes)
    if min(sizes) <= overhang or template < (n + 1) * overhang:
        return None
    blocks, position = [], 0
    for block, size in enumerate(sizes):
        position += template // (n + 1) + (block < template % (n + 1))
        blocks.append(range(position, position + size - overhang))
        position = blocks[-1].stop
    if parameters.edits == "template":
        edited, last = changed - overhang, blocks[0].start
        if not 0 < edited <= last - overhang:
            return None
        return tuple(blocks), ((range(overhang, last - edited + 1), edited),)
    edits, left = [], changed
    for block, size in zip(blocks, sizes, strict=True):
        part = min(size, left)
        if 0 < left - part <= overhang:
            part = left - overhang - 1
        if left and part <= overhang:
            return None
        if left:
            words = part - overhang
            edits.append((range(block.start, block.stop - words + 1), words))
        left -= part if left else 0
    return None if left else (tuple(blocks), tuple(edits))


def resemblances(made: Crowd, *, pairs: int = 1_000, seed: int = 1) -> dict[str, npt.NDArray[np.float64]]:
    """Measure exactly the resemblance of as many random pairs of every kind.

    Returns:
        "between": of two originals; "duplicate": of a duplicate and its original; "strangers": of a duplicate and
        another original; "duplicates": of two duplicates.
    """
    rng = np.random.default_rng([seed, 3])
    n = made.parameters.originals
    count = min(pairs, n)
    one = rng.permutation(n)[:count]
    other = (one + rng.integers(1, n, count)) % n if n > 1 else one[:0]
    text = made.documents.column("text")
    row = {side: pc.cast(made.truth.column(side), pa.int64()).to_numpy() for side in ("original", "duplicate")}
    sides = {
        "between": (row["original"][one], row["original"][other]),
        "duplicate": (row["duplicate"][one], row["original"][one]),
        "strangers": (row["duplicate"][one], row["original"][other]),
        "duplicates": (row["duplicate"][one], row["duplicate"][other]),
    }
    found = {}
    for kind, (left, right) in sides.items():
        texts = zip(text.take(left).to_pylist(), text.take(right).to_pylist(), strict=False)
        found[kind] = np.array([resemblance(a, b, made.parameters.width) for a, b in texts])
    return found


def resemblance(one: str, other: str, width: int = 5) -> float:
    """Return the Jaccard similarity of two texts' sets of shingles of `width` words, by the definition."""
    a, b = (
        {tuple(words[i : i + width]) for i in range(len(words) - width + 1)} for words in (one.split(), other.split())
    )
    return len(a & b) / len(a | b)


@cache
def _words() -> Vocabulary:
    return vocabulary("ascii", seed=1)


@cache
def _spellings() -> pa.StringArray:
    """Every word with a space, then every word with a line end."""
    return pa.array([word + end for end in (" ", "\n") for word in _words().words])


def _template(known: Vocabulary, words: int, width: int, rng: np.random.Generator) -> Words:
    """Draw words by their frequencies until no shingle occurs twice."""
    while True:
        drawn = known.quantiles[rng.integers(0, len(known.quantiles), words)]
        shingles = np.lib.stride_tricks.sliding_window_view(drawn, width)
        if len(np.unique(shingles, axis=0)) == len(shingles):
            return drawn


def _texts(words: Words, order: npt.NDArray[np.int64]) -> pa.ChunkedArray:
    """Spell rows of word numbers, in `order`, in lines of `LINE` words."""
    line_end = np.zeros(words.shape[1], np.int32)
    line_end[LINE - 1 :: LINE] = line_end[-1] = len(_words().words)
    chunks = []
    for low in range(0, len(order), AT_ONCE):
        rows = words[order[low : low + AT_ONCE]] + line_end
        offsets = np.arange(len(rows) + 1, dtype=np.int32) * rows.shape[1]
        lists = pa.ListArray.from_arrays(offsets, _spellings().take(rows.ravel()))
        chunks.append(pc.binary_join(lists, ""))
    return pa.chunked_array(chunks, pa.string())


def _url(row: int, hosts: Hosts) -> str:
    return f"https://shop{row}.example/item" if hosts == "own" else f"https://shop.example/item/{row}"


def main(argv: list[str] | None = None) -> int:
    """Write a crowd as Parquet, its truth beside it, and print the measured resemblances as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crowds.corpus", description=main.__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--originals", type=int, default=2_000)
    parser.add_argument("--between", type=float, default=0.79, help="resemblance of two originals")
    parser.add_argument("--duplicate", type=float, default=0.85, help="resemblance of a duplicate to its original")
    parser.add_argument("--order", choices=ORDERS, default=ORDERS[0])
    parser.add_argument("--hosts", choices=HOSTS, default="own")
    parser.add_argument("--edits", choices=EDITS, default="own")
    parser.add_argument("--blocks", type=int, default=3)
    parser.add_argument("--shingles", type=int, default=270)
    parser.add_argument("--seed", type=int, default=1)
    options = vars(parser.parse_args(argv))
    file: Path = options.pop("file")
    made = crowd(Parameters(**options))
    pq.write_table(made.documents, file)
    pq.write_table(made.truth, file.with_suffix(".truth.parquet"))
    measured = {
        kind: {"mean": float(values.mean()), "least": float(values.min()), "most": float(values.max())}
        for kind, values in resemblances(made).items()
        if len(values)
    }
    print(json.dumps({**made.facts, "measured": measured}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
