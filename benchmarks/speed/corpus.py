"""The corpus: documents of about 3.25 kB with planted near-duplicates, as Parquet or JSON lines.

`build` writes a file once per set of parameters and returns it with what is in it. Columns: id, text, url,
score. Parquet files have the row groups `pq.write_table` would give them, one per 1,048,576 rows; memory
holds the text of one row group and no more.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.speed import planting, vocabulary
from benchmarks.speed.planting import GOLDEN, Plan, mix
from benchmarks.speed.vocabulary import SCRIPTS, Script, Vocabulary

Format = Literal["parquet", "jsonl"]

VERSION = 1
"""Part of every cached file's name; raise it when the same parameters give other text."""
MEAN_BYTES = 3_250
BATCH = 4_096
"""Documents generated at a time; divides a row group."""
ROW_GROUP = 1 << 20
LONGEST_BURST = 8


@dataclass(frozen=True)
class Parameters:
    """All that decides a corpus."""

    documents: int
    script: Script = "latin"
    format: Format = "parquet"
    seed: int = 1
    mean_bytes: int = MEAN_BYTES

    @property
    def name(self) -> str:
        long = "" if self.mean_bytes == MEAN_BYTES else f"-b{self.mean_bytes}"
        return f"{self.script}-{self.documents}{long}-s{self.seed}-v{VERSION}"

    def planned(self) -> tuple[Plan, Vocabulary]:
        """Which documents there are, and the words that they are made of."""
        words = vocabulary.vocabulary(self.script, seed=self.seed)
        # 7 % of separators are longer than one space; boilerplate adds 0.1 × 80 words to the mean.
        mean_words = self.mean_bytes / (words.mean_bytes * 1.02) - 8
        return planting.plan(self.documents, mean_words=mean_words, seed=self.seed), words


@dataclass(frozen=True)
class Corpus:
    """A file and what is in it."""

    path: Path
    facts: dict[str, Any]

    @property
    def text_bytes(self) -> int:
        return int(self.facts["text_bytes"])


def build(parameters: Parameters, work: Path) -> Corpus:
    """The corpus of `parameters`, from the cache in `work` if it is there."""
    folder = work / "corpora"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{parameters.name}.{parameters.format}"
    facts_path = path.with_name(path.name + ".facts.json")
    if path.exists() and facts_path.exists():
        return Corpus(path, json.loads(facts_path.read_text()))
    print(f"writing {path.name} …", file=sys.stderr)
    began = time.perf_counter()
    planned, words = parameters.planned()
    partial = path.with_name(path.name + ".partial")
    write = _write_parquet if parameters.format == "parquet" else _write_jsonl
    text_bytes = write(partial, batches(planned, words))
    facts = {
        **asdict(parameters),
        "version": VERSION,
        "text_bytes": text_bytes,
        "file_bytes": partial.stat().st_size,
        "mean_document_bytes": round(text_bytes / parameters.documents, 1),
        "documents_by_kind": {name: int((planned.kind == code).sum()) for code, name in enumerate(planting.KINDS)},
        "planted_clusters": int(planned.cluster.max()) + 1,
        "with_boilerplate": int((planned.boilerplate >= 0).sum()),
        "seconds_to_write": round(time.perf_counter() - began, 1),
    }
    facts_path.write_text(json.dumps(facts, indent=2) + "\n")
    partial.replace(path)
    return Corpus(path, facts)


def batches(
    planned: Plan, words: Vocabulary, *, size: int = BATCH, begin: int = 0, end: int | None = None
) -> Iterator[pa.RecordBatch]:
    """The documents from `begin` to before `end` in file order, `size` at a time."""
    hosts = pa.array(words.words[1_000:6_000])
    end = len(planned) if end is None else min(end, len(planned))
    for low in range(begin, end, size):
        high = min(low + size, end)
        own = planned.own[low:high]
        ids = pa.array([f"d{number:08d}" for number in range(low, high)])
        host = hosts.take(pa.array((mix(own + np.uint64(8)) % np.uint64(len(hosts))).astype(np.int64)))
        yield pa.record_batch(
            {
                "id": ids,
                "text": texts(planned, words, low, high),
                "url": pc.binary_join_element_wise("https://www.", host, ".example/page/", ids, ""),
                "score": pa.array(np.round(planting.unit(mix(own + np.uint64(9))), 4)),
            }
        )


def texts(planned: Plan, words: Vocabulary, low: int, high: int) -> pa.StringArray:
    """The texts of documents low..high: draw, edit, punctuate, copy the bytes of the words."""
    drawn, document = _edited(planned, low, high, *_unedited(planned, low, high))
    return _spell(drawn, document, high - low, words)


Draws = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.int64]


def _unedited(planned: Plan, low: int, high: int) -> tuple[Draws, Rows, Rows]:
    """A random number for every word position of every document, (draws, document of each, first of each)."""
    boilerplate = planned.boilerplate[low:high]
    body = planned.words[low:high]
    tail = np.where(boilerplate >= 0, 40 + boilerplate * 80 // planting.BOILERPLATES, 0)
    sizes = body + tail
    firsts = np.cumsum(sizes) - sizes
    document = np.repeat(np.arange(high - low), sizes)
    position = np.arange(len(document)) - firsts[document]
    in_tail = position >= body[document]
    key = np.where(
        in_tail,
        mix(boilerplate.astype(np.uint64) + np.uint64(0xB011))[document],
        planned.content[low:high][document],
    )
    position -= np.where(in_tail, body[document], 0)
    return mix(key + position.astype(np.uint64) * GOLDEN), document, firsts


def _edited(planned: Plan, low: int, high: int, drawn: Draws, document: Rows, firsts: Rows) -> tuple[Draws, Rows]:
    """Apply the bursts: replace, drop or insert runs of words, never the first word or the boilerplate."""
    bursts = planned.bursts[low:high]
    if not bursts.any():
        return drawn, document
    of = np.repeat(np.arange(high - low), bursts)
    number = np.arange(len(of)) - (np.cumsum(bursts) - bursts)[of]
    random = mix(mix(planned.places[low:high])[of] + number.astype(np.uint64) * GOLDEN)
    body = planned.words[low:high][of]
    start = 1 + ((random >> np.uint64(40)).astype(np.int64) * (body - 1) >> 24)
    length = 1 + (random & np.uint64(LONGEST_BURST - 1)).astype(np.int64)
    # 0 and 1 replace, 2 inserts, 3 drops; slots of a template are always replaced.
    edit = (random >> np.uint64(3) & np.uint64(3)).astype(np.int64)
    edit[planned.kind[low:high][of] == planting.TEMPLATE] = 0

    copies = np.ones(len(drawn), np.int64)
    replaced = np.zeros(len(drawn), bool)
    for step in range(LONGEST_BURST):
        inside = (step < length) & (start + step < body)
        at = firsts[of] + start + step
        replaced[at[inside & (edit <= 1)]] = True
        copies[at[inside & (edit == 3)]] = 0
    np.add.at(copies, (firsts[of] + start)[edit == 2], length[edit == 2])

    kept = np.repeat(np.arange(len(drawn)), copies)
    fresh = replaced[kept]
    fresh[1:] |= kept[1:] == kept[:-1]
    drawn, document = drawn[kept], document[kept]
    at = np.flatnonzero(fresh)
    position = at - np.searchsorted(document, np.arange(high - low))[document[at]]
    drawn[at] = mix(mix(planned.own[low:high])[document[at]] + position.astype(np.uint64) * GOLDEN)
    return drawn, document


def _spell(drawn: Draws, document: Rows, documents: int, words: Vocabulary) -> pa.StringArray:
    """Turn random numbers into words with punctuation and capitals, and copy their bytes into one array."""
    pool, starts, lengths = words.pool
    word = words.quantiles[drawn >> np.uint64(64 - vocabulary.QUANTILE_BITS)]
    separator = np.full(len(drawn), vocabulary.SPACE, np.int32)
    low_bits = drawn & np.uint64(15)
    separator[low_bits == 1] = vocabulary.COMMA
    stop = low_bits == 0
    separator[stop] = vocabulary.STOP
    separator[stop & (drawn >> np.uint64(4) & np.uint64(7) == 0)] = vocabulary.PARAGRAPH
    last = np.append(document[1:] != document[:-1], True)
    separator[last] = vocabulary.END
    capital = np.append(True, separator[:-1] >= vocabulary.STOP)
    variant = word * np.int32(vocabulary.VARIANTS) + capital * np.int32(5) + separator

    size = lengths[variant]
    ends = np.cumsum(size, dtype=np.int64)
    shift = (starts[variant] - (ends - size)).astype(np.int32)
    gather = np.repeat(shift, size)
    gather += np.arange(len(gather), dtype=np.int32)
    offsets = np.zeros(documents + 1, np.int32)
    offsets[1:] = ends[last]
    return pa.StringArray.from_buffers(documents, pa.py_buffer(offsets), pa.py_buffer(pool[gather]))


def _write_parquet(path: Path, source: Iterator[pa.RecordBatch]) -> int:
    """Row groups of `ROW_GROUP` documents, each written in one piece."""
    text_bytes = 0
    first = next(source)
    with pq.ParquetWriter(path, first.schema) as writer:
        pending: list[pa.RecordBatch] = []
        for batch in chain([first], source):
            text_bytes += _text_bytes(batch)
            pending.append(batch)
            if sum(map(len, pending)) + BATCH > ROW_GROUP:
                writer.write_table(pa.Table.from_batches(pending))
                pending = []
        if pending:
            writer.write_table(pa.Table.from_batches(pending))
    return text_bytes


def _write_jsonl(path: Path, source: Iterator[pa.RecordBatch]) -> int:
    text_bytes = 0
    with path.open("w", encoding="utf-8") as out:
        for batch in source:
            text_bytes += _text_bytes(batch)
            out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in batch.to_pylist())
    return text_bytes


def _text_bytes(batch: pa.RecordBatch) -> int:
    return int(pc.sum(pc.binary_length(batch.column("text"))).as_py())


def main(argv: list[str] | None = None) -> int:
    """`python -m benchmarks.speed.corpus`: write a corpus and print its path and facts as JSON."""
    from benchmarks.speed.settings import default_work

    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.corpus", description=main.__doc__)
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--script", choices=SCRIPTS, default="latin")
    parser.add_argument("--format", choices=("parquet", "jsonl"), default="parquet")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=Path, default=default_work())
    options = parser.parse_args(argv)
    made = build(Parameters(options.documents, options.script, options.format, options.seed), options.work)
    print(json.dumps({"path": str(made.path), **made.facts}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
