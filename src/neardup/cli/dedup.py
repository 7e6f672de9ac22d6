"""neardup dedup INPUT… -o OUT."""

import json
import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.atomic import local_place
from neardup.cli.options import Given, reading_of, reading_options, recipe_of, recipe_options, without_unneeded
from neardup.cli.sizes import bytes_in
from neardup.errors import UsageError, WorkError
from neardup.outputs.folder import OUTPUTS, OutputFolder, listed

if TYPE_CHECKING:
    from neardup.index import Index


@click.command(no_args_is_help=True)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("-o", "--output", "out", required=True, metavar="PATH", help="Folder for the results.")
@recipe_options
@click.option(
    "--keep",
    metavar="RULES",
    help="Who stays: first, last, longest, shortest, max:COLUMN, min:COLUMN, prefer:COLUMN=a,b,c; chained with commas."
    "  [default: first]",
)
@click.option(
    "--cluster",
    type=click.Choice(["star", "components"]),
    help="star: every removed document is similar to a kept one; components: chains.  [default: star]",
)
@click.option(
    "--against",
    metavar="INDEX",
    help="Remove what is similar to a document of this index too; the recipe is the index's, unless one is named.",
)
@click.option(
    "--again",
    type=click.Choice(["keep", "remove"]),
    default="keep",
    show_default=True,
    help="Documents that the index has under the same id and with the same words: keep them, for none is a duplicate "
    "of itself, or remove them, where a batch brings known documents once more.",
)
@reading_options
@click.option(
    "--memory",
    type=bytes_in,
    metavar="BYTES",
    help="For linking, where a recipe judges by features alone; the rest is done from disk.  [default: what is free]",
)
@click.option(
    "--engine",
    type=click.Choice(["local", "spark"]),
    default="local",
    show_default=True,
    help="Where it runs: on this machine, or on Apache Spark, with INPUT and OUT wherever Spark reaches.",
)
@click.option(
    "--master", metavar="URL", help="Of Spark: spark://host:7077, yarn, local[4], …  [default: as configured]"
)
@click.option("--annotate", is_flag=True, help="Keep every document and add columns that say what was found.")
@click.option("--dry-run", is_flag=True, help="Write everything but the corpus.")
@click.option("--report/--no-report", default=True, help="Make OUT/report.html, a page to look at.  [default: report]")
@click.option("--fresh", is_flag=True, help="Start over, whatever OUT holds of an earlier run.")
@click.option("--json", "as_json", is_flag=True, help="Print run.json to stdout at the end.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
@click.option("-v", "--verbose", is_flag=True, help="Say more: the probability curve, every step.")
def command(**given: Any) -> None:
    """Remove near-duplicates from a collection, with the evidence for every removal.

    INPUT: files, folders, globs or URLs of Parquet, JSONL, CSV/TSV, text, HTML, WARC and WET (.gz .zst .bz2 .xz too),
    or - for JSONL on standard input.

    \b
    OUT/kept             the kept documents, in the input's format
    OUT/removed.parquet  for every removed document: the kept one and the measured numbers
    OUT/groups.parquet   who belongs together
    OUT/report.html      what was done and found, as a page
    OUT/run.json         the recipe, counts of everything, time and memory per step
    OUT/work             what makes the run resumable; can be deleted afterwards
    """
    if given["engine"] == "spark":
        _on_spark(given)
        return
    if given["master"] is not None:
        raise UsageError(f"--master {given['master']}: it is Spark's; give --engine spark.")
    without_unneeded()
    from neardup.cli.show import Talk, summary
    from neardup.index.against import as_index_has_it, refuse_another_recipe
    from neardup.pipeline import dedup

    out = local_place(given["out"])
    talk = Talk(quiet=given["quiet"], verbose=given["verbose"])
    with ExitStack() as open_until_done:
        index = open_until_done.enter_context(_index(given["against"])) if given["against"] else None
        if index is not None and given["recipe"] is None:
            given["recipe"] = index.recipe
        recipe = recipe_of(given, keep=given["keep"], cluster=given["cluster"])
        if not callable(recipe):
            recipe = as_index_has_it(index, given["recipe"], given["seed"], recipe)
        if index is not None and not callable(recipe):
            refuse_another_recipe(index, recipe)  # before --fresh removes anything
        _prepare(out, given["inputs"], given["fresh"])
        open_until_done.enter_context(talk)
        result = dedup(
            [Given(i) for i in given["inputs"]],
            recipe=recipe,
            **reading_of(given),
            work=out / "work",
            memory=None if given["memory"] is None else int(given["memory"]),
            against=index,
            again=given["again"],
            watcher=talk,
        )
        result.write(out, annotate=given["annotate"], corpus=not given["dry_run"], report=given["report"])
    if not given["quiet"]:
        summary(
            result,
            out,
            corpus=not given["dry_run"],
            annotate=given["annotate"],
            report=given["report"],
            verbose=given["verbose"],
        )
    if given["as_json"]:
        sys.stdout.write((out / "run.json").read_text())


def _on_spark(given: dict[str, Any]) -> None:
    """The same by Spark, which also finds and writes the files."""
    from neardup.cli.show import Talk, summary
    from neardup.pipeline import dedup
    from neardup.spark.session import session_for
    from neardup.spark.storage import prepare, remove_empty

    out: str = given["out"].rstrip("/")
    for name in ("against", "threads", "memory"):
        if given[name]:
            raise UsageError(f"--{name}: not with --engine spark.{_INSTEAD[name]}")
    if "-" in given["inputs"]:
        raise UsageError("-: Spark does not read the standard input. Name files that its machines reach.")
    talk = Talk(quiet=given["quiet"], verbose=given["verbose"])
    recipe = recipe_of(given, keep=given["keep"], cluster=given["cluster"])
    on_master = f" on {given['master']}" if given["master"] else ""
    talk.say(f"Starting Spark{on_master} …")
    with _hushed(), talk, session_for(given["master"]) as spark:
        made = prepare(spark, out, given["inputs"], fresh=given["fresh"])
        work = f"{out}/work"
        try:
            result = dedup(
                list(given["inputs"]), engine="spark", recipe=recipe, **reading_of(given), work=work, watcher=talk
            )
        except BaseException:
            if made:
                remove_empty(spark, out)
            raise
        with result:
            result.write(out, annotate=given["annotate"], corpus=not given["dry_run"])
            run, _ = result.run(), result.a_removed_one  # while there is a session
    if not given["quiet"]:
        summary(
            result,
            out,
            corpus=not given["dry_run"],
            annotate=given["annotate"],
            report=False,
            verbose=given["verbose"],
        )
    if given["as_json"]:
        sys.stdout.write(json.dumps(run, indent=1, ensure_ascii=False) + "\n")


@contextmanager
def _hushed() -> Iterator[None]:
    """What Python libraries log and warn of on the way is not for people who run a command."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
            yield
    finally:
        logging.disable(before)


_INSTEAD = {
    "against": " An index is on one machine; what Spark keeps can be filtered with `neardup index filter`.",
    "memory": " It is the executors' there: spark.executor.memory, in Spark's configuration or of spark-submit.",
    "threads": " Spark decides: --master local[N], or spark.executor.cores in its configuration or of spark-submit.",
}


def _index(path: str) -> "Index":
    from neardup.index import Index

    return Index.open(path, create=False, read_only=True)


def _prepare(out: Path, inputs: tuple[str, ...], fresh: bool) -> None:
    """An output folder is new, empty, or of an earlier run, and no input is in it."""
    for name in inputs:
        if "://" not in name and out.resolve() in Path(name).resolve().parents:
            raise UsageError(f"{name} lies in the output folder {out}, which is written to; choose another one.")
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file; --output names a folder.")
    if not out.exists() or not any(out.iterdir()):
        return
    if (out / "work" / "plan").is_dir():
        raise WorkError(f"{out} holds a run on Spark. Go on with --engine spark, or choose another folder.")
    folder, others = OutputFolder(out), sorted(p.name for p in out.iterdir() if p.name not in (*OUTPUTS, "work"))
    foreign = folder.foreign()
    if all((out / name).exists() for name in OUTPUTS[:3]) and not (out / "work").exists():
        raise WorkError(
            f"{out} holds a finished run whose work folder was deleted, so that nothing can go on, and its files "
            "cannot be told from others. Choose another folder, or delete this one."
        )
    if not (out / "work" / "lock").exists():
        foreign += others
    if foreign:
        raise WorkError(
            f"{out} is not empty, and not all in it is of an earlier run: {listed(foreign)}. Choose another folder, or "
            "move them away."
        )
    if fresh:
        folder.clear()
