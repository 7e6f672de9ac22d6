"""`python -m benchmarks.speed.kernels`: throughput of the first steps alone, in memory, from UTF-8 bytes.

Measured, each as the best of --repeat passes over the same Arrow arrays after one pass to compile:
    sketching of ASCII, Latin and Chinese text, on one thread and on --threads
    HTML extraction followed by sketching, on one thread and on --threads
A megabyte is 10^6 bytes of the input as it is handed over: of text, or of HTML.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from rich.table import Table

from benchmarks.speed import corpus, html_pages, machine
from benchmarks.speed.settings import default_work
from benchmarks.speed.table import console
from benchmarks.speed.vocabulary import SCRIPTS

BATCH = 1_000

Batches = Sequence[pa.Array]


def sketch(texts: pa.Array) -> object:
    """The one place that calls neardup's sketches."""
    import neardup

    return neardup.sketch(texts, neardup.Recipe.for_threshold(0.8))


def extractor(threads: int) -> Callable[[pa.Array], pa.Array]:
    """neardup's HTML extraction, as the engine runs it: in a process per thread where there are several."""
    from neardup.text.workers import PageExtractor

    run = PageExtractor(main=False, workers=threads if threads > 1 else 0)
    return lambda html: pa.array(run([(page.as_buffer().to_pybytes(), None) for page in html]))


def sketch_throughput(batches: Batches, *, threads: int = 1, repeat: int = 3) -> float:
    """MB/s of sketching `batches`."""
    return throughput(sketch, batches, threads=threads, repeat=repeat)


def html_throughput(batches: Batches, *, threads: int = 1, repeat: int = 3) -> float:
    """MB/s of extracting the text of `batches` of HTML and sketching it."""
    extract = extractor(threads)
    return throughput(lambda html: sketch(extract(html)), batches, threads=threads, repeat=repeat)


def throughput(step: Callable[[pa.Array], object], batches: Batches, *, threads: int, repeat: int) -> float:
    """Input MB/s of `step` mapped over `batches` by `threads` Python threads, best of `repeat`."""
    size = sum(int(pc.sum(pc.binary_length(batch)).as_py()) for batch in batches)
    step(batches[0])
    seconds = []
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(repeat):
            began = time.perf_counter()
            for _result in pool.map(step, batches):
                pass
            seconds.append(time.perf_counter() - began)
    return size / 1e6 / min(seconds)


def text_batches(parameters: corpus.Parameters, work: Path) -> list[pa.Array]:
    """The texts of a corpus as Arrow arrays of `BATCH` documents."""
    made = corpus.build(parameters, work)
    source = pq.ParquetFile(made.path).iter_batches(batch_size=BATCH, columns=["text"])
    return [batch.column(0) for batch in source]


def main(argv: list[str] | None = None) -> int:
    """Measure and print; 1 if neardup does not offer what is measured."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed.kernels",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--work", type=Path, default=default_work())
    parser.add_argument("--json", type=Path, default=None)
    options = parser.parse_args(argv)

    cases: list[tuple[str, Callable[..., float], list[pa.Array]]] = []
    for script in SCRIPTS:
        batches = text_batches(corpus.Parameters(options.documents, script), options.work)
        cases.append((f"sketch {script}", sketch_throughput, batches))
        if script == "latin":
            html = [html_pages.pages(batch.to_pylist()) for batch in batches]
            cases.append(("extract HTML, sketch", html_throughput, html))
    figures: dict[str, dict[str, float]] = {}
    for name, measure, batches in cases:
        try:
            figures[name] = {
                str(threads): measure(batches, threads=threads, repeat=options.repeat)
                for threads in sorted({1, options.threads})
            }
        except (ImportError, AttributeError) as error:
            print(f"{name}: not measured, neardup does not offer it: {error}", file=sys.stderr)
    if options.json:
        options.json.write_text(json.dumps({**machine.describe(), "megabytes_per_second": figures}, indent=2) + "\n")
    _print(figures, options)
    return 0 if len(figures) == len(cases) else 1


def _print(figures: dict[str, dict[str, float]], options: argparse.Namespace) -> None:
    title = f"MB/s of input, {options.documents:,} documents, best of {options.repeat}"
    table = Table()
    table.add_column("step")
    for threads in sorted({1, options.threads}):
        table.add_column(f"{threads} thread{'s' * (threads > 1)}", justify="right")
    for name, by_threads in figures.items():
        table.add_row(name, *(f"{figure:.0f}" for figure in by_threads.values()))
    screen = console()
    screen.print(title, highlight=False)
    screen.print(table)


if __name__ == "__main__":
    sys.exit(main())
