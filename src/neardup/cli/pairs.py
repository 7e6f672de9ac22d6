"""neardup pairs INPUT…."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.atomic import local_place
from neardup.cli.options import Given, reading_of, reading_options, recipe_of, recipe_options, without_unneeded
from neardup.cli.terminal import tell
from neardup.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.pairing import Pairs

_ENDINGS = (".parquet", ".jsonl", ".csv", ".tsv")


@click.command(no_args_is_help=True)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option(
    "-o",
    "--output",
    "out",
    default="-",
    show_default=True,
    help="File for the pairs: .parquet, .jsonl, .csv or .tsv; - for JSONL on standard output.",
)
@recipe_options
@click.option(
    "--most",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    help="With how many earlier candidates a document is compared at the most.",
)
@reading_options
@click.option("--overwrite", is_flag=True, help="Write over a file that is there.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
@click.option("-v", "--verbose", is_flag=True, help="Say what every step took.")
def command(**given: Any) -> None:
    """List the similar pairs of a collection with their scores.

    INPUT: files, folders, globs or URLs as for `neardup dedup`. A row has both ids (the earlier document first), the
    score in the unit of the recipe and how it was found; the resemblance and the containment both ways where they
    were measured; URLs where there are any.

    Pairs are written as they are found, and need not fit into memory. In a collection that is one big cluster there
    are half the square of its size of them: --most bounds the candidates per document, and what it kept out is told.
    """
    without_unneeded()
    from neardup.cli.show import Talk
    from neardup.pairing import pairs

    out = given["out"] if given["out"] == "-" else str(local_place(given["out"]))
    if out != "-" and not out.endswith(_ENDINGS):
        raise UsageError(f"--output {out}: pairs are written as {', '.join(_ENDINGS)}; or - for JSONL.")
    _check_output(out, given["inputs"], given["overwrite"])
    recipe = recipe_of(given)
    talk = Talk(quiet=given["quiet"], verbose=given["verbose"])
    with talk:
        found = pairs(
            [Given(i) for i in given["inputs"]],
            recipe=recipe,
            most=given["most"],
            **reading_of(given),
            watcher=talk,
        )
        with _writer(out, found.layout) as write:
            for batch in found:
                write(batch)
    if not given["quiet"]:
        _tell(found, out, given["most"])


def _check_output(out: str, inputs: tuple[str, ...], overwrite: bool) -> None:
    """Nothing of the user's is written over."""
    target = Path(out).resolve()
    for name in inputs:
        source = Path(name).resolve()
        if out != "-" and "://" not in name and (target == source or source in target.parents):
            raise UsageError(f"--output {out} lies in the input {name}; choose another place.")
    if out != "-" and target.exists() and not overwrite:
        raise UsageError(f"{out} is there already; choose another name, or give --overwrite.")


def _tell(found: "Pairs", out: str, most: int) -> None:
    from neardup.cli.show import judged, many, named

    where = "" if out == "-" else f" in {out}"
    skipped = f", {found.skipped:,} of them skipped" if found.skipped else ""
    tell(
        f"{many(found.found, 'pair')} of {many(found.documents, 'document')}{skipped}{where}. "
        f"{judged(found.recipe)} · {named(found.recipe)}"
    )
    if found.cut_short:
        have = "has" if found.cut_short == 1 else "have"
        click.echo(
            f"Left out: {many(found.cut_short, 'document')} {have} more than {most:,} candidates, and so many were "
            f"looked at; that leaves out up to {many(found.left_out, 'candidate pair')}. Raise --most to see them, "
            "or use `neardup dedup`, which needs no pairs to find groups.",
            err=True,
        )


@contextmanager
def _writer(out: str, layout: "pa.Schema") -> Iterator[Callable[["pa.RecordBatch"], None]]:
    """Writes batches to a file that appears whole or not at all, or to standard output."""
    from neardup.atomic import appearing

    if out == "-":
        yield lambda batch: _lines(batch, sys.stdout)
        sys.stdout.flush()
        return
    with appearing(Path(out)) as draft:
        if out.endswith(".parquet"):
            import pyarrow.parquet as pq

            with pq.ParquetWriter(draft, layout, compression="zstd") as parquet:
                yield parquet.write_batch
        elif out.endswith(".jsonl"):
            with draft.open("w", encoding="utf-8") as file:
                yield lambda batch: _lines(batch, file)
        else:
            import pyarrow.csv

            style = pyarrow.csv.WriteOptions(delimiter="\t" if out.endswith(".tsv") else ",")
            with pyarrow.csv.CSVWriter(str(draft), layout, write_options=style) as csv:
                yield csv.write_batch


def _lines(batch: "pa.RecordBatch", file: Any) -> None:
    for row in batch.to_pylist():
        file.write(json.dumps({k: v for k, v in row.items() if v is not None}, ensure_ascii=False) + "\n")
