"""What the peers' scripts share: command line, 5-word shingles for libraries that bring none, the result."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

SHINGLE = 5
BATCH = 1_000
WORD = re.compile(r"[^\W_]+")


def options(description: str, *more: tuple[str, Mapping[str, object]]) -> argparse.Namespace:
    """The arguments every script takes, and its own."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("result", type=Path)
    parser.add_argument("scratch", type=Path)
    parser.add_argument("--threshold", type=float, default=0.8)
    parser.add_argument("--workers", type=int, default=2)
    for flag, settings in more:
        parser.add_argument(flag, **settings)  # type: ignore[arg-type]
    return parser.parse_args()


def shingles(text: str) -> list[str]:
    """5-word shingles of the casefolded text, as strings; all words of a shorter text as one."""
    words = WORD.findall(text.casefold())
    if len(words) < SHINGLE:
        return [" ".join(words)] if words else []
    return list(map(" ".join, zip(*(words[start:] for start in range(SHINGLE)))))  # noqa: B905


def text_batches(corpus: Path) -> Iterator[list[str]]:
    """The texts in file order, `BATCH` at a time."""
    for batch in pq.ParquetFile(corpus).iter_batches(batch_size=BATCH, columns=["text"]):
        yield batch.column(0).to_pylist()


def write_kept(corpus: Path, removed: Iterable[int], scratch: Path) -> None:
    """Write every row but the removed ones, all columns, as one Parquet file."""
    rows = pa.array(sorted(removed), pa.int64())
    with (
        pq.ParquetFile(corpus) as source,
        pq.ParquetWriter(scratch / "kept.parquet", source.schema_arrow) as out,
    ):
        start = 0
        for batch in source.iter_batches(batch_size=10_000):
            number = pa.array(range(start, start + len(batch)), pa.int64())
            out.write_batch(batch.filter(pc.invert(pc.is_in(number, value_set=rows))))
            start += len(batch)


def write_result(
    corpus: Path,
    result: Path,
    *,
    removed: Iterable[int],
    groups: Iterable[Sequence[int]],
    settings: Mapping[str, object],
) -> None:
    """Translate row numbers to ids and write the result."""
    ids = pq.read_table(corpus, columns=["id"]).column("id").to_pylist()
    found = {
        "removed": [ids[row] for row in sorted(removed)],
        "groups": [[ids[row] for row in sorted(group)] for group in groups if len(group) > 1],
        "settings": dict(settings),
    }
    result.write_text(json.dumps(found))


def stars(keeper: Mapping[int, int]) -> list[list[int]]:
    """Groups of a greedy pass: each removed row with the kept row it was removed for."""
    groups: dict[int, list[int]] = {}
    for row, kept in keeper.items():
        groups.setdefault(kept, [kept]).append(row)
    return list(groups.values())
