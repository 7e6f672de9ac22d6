"""What cannot be undercut: the least that a program which reads and writes these data must do.

    python -m benchmarks.scale.floors NAME FOLDER TARGET [THREADS]

    read          Parquet: pyarrow decodes all columns of all files; pages: their bytes are read
    read-write    the same, and writes all of it again to TARGET with the same compression; pages: copies of all files
    text          Parquet: the text of the first files is written to TARGET, one document after the other, for `wc -w`
    parse         pages: the parser builds a tree of every page, and nothing else
    extract       pages: read, decoded, parsed, and the text of their main content taken out, as `dedup` does

All run on THREADS threads, or processes for pages that are parsed, since the parser keeps Python's lock. TARGET gets
what is written. `wc -w` itself is the system's command.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

T = TypeVar("T")

TEXT_BYTES = 1_000_000_000
"""So much text is written for `wc -w`, or all of it."""
PAGES_AT_ONCE = 64


def main(name: str, folder: str, target: str, threads: str = "2") -> None:
    """One of them; bytes that went through it to stdout."""
    paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    pages = [paths[at : at + PAGES_AT_ONCE] for at in range(0, len(paths), PAGES_AT_ONCE)]
    parquet = paths[0].suffix == ".parquet"
    done: int
    if name == "text":
        done = _text(paths, Path(target))
    elif parquet:
        done = _each(_decode if name == "read" else _rewrite, paths, Path(target), int(threads))
    elif name in ("read", "read-write"):
        done = _each(_bytes if name == "read" else _copy, pages, Path(target), int(threads))
    else:
        with ProcessPoolExecutor(int(threads), multiprocessing.get_context("fork")) as pool:
            done = sum(pool.map(_parse if name == "parse" else _extract, pages))
    print(json.dumps({"bytes": done}))


def _each(work: Callable[[T, Path], int], items: list[T], target: Path, threads: int) -> int:
    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(lambda item: work(item, target), items))


def _decode(path: Path, target: Path) -> int:
    return sum(batch.nbytes for batch in pq.ParquetFile(path).iter_batches(use_threads=False))


def _rewrite(path: Path, target: Path) -> int:
    target.mkdir(parents=True, exist_ok=True)
    with pq.ParquetFile(path) as source:
        codec = source.metadata.row_group(0).column(0).compression
        with pq.ParquetWriter(target / path.name, source.schema_arrow, compression=codec) as writer:
            done = 0
            for group in range(source.num_row_groups):
                table = source.read_row_group(group, use_threads=False)
                writer.write_table(table)
                done += table.nbytes
    return done


def _text(paths: list[Path], target: Path) -> int:
    done = 0
    with target.open("wb") as out:
        for path in paths:
            for batch in pq.ParquetFile(path).iter_batches(columns=["text"]):
                for text in batch.column(0).cast(pa.binary()).to_pylist():
                    done += out.write(text + b"\n")
                if done >= TEXT_BYTES:
                    return done
    return done


def _bytes(paths: list[Path], target: Path) -> int:
    return sum(len(path.read_bytes()) for path in paths)


def _copy(paths: list[Path], target: Path) -> int:
    done = 0
    for path in paths:
        place = Path(f"{target}{path}")
        place.parent.mkdir(parents=True, exist_ok=True)
        done += place.write_bytes(path.read_bytes())
    return done


def _parse(paths: list[Path]) -> int:
    from resiliparse.parse.html import HTMLTree

    done = 0
    for path in paths:
        page = path.read_bytes()
        HTMLTree.parse_from_bytes(page)
        done += len(page)
    return done


def _extract(paths: list[Path]) -> int:
    from neardup.text.extract import read_page

    done = 0
    for path in paths:
        page = path.read_bytes()
        read_page(page, extract="main")
        done += len(page)
    return done


if __name__ == "__main__":
    main(*sys.argv[1:])
