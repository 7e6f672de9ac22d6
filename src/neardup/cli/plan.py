"""neardup plan: what a run will cost, before anything is read."""

import json
import sys
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table

from neardup.cli.options import recipe_of, recipe_options
from neardup.cli.sizes import bytes_in, number_in
from neardup.errors import UsageError
from neardup.planning.words import count, duration, size

if TYPE_CHECKING:
    from neardup.planning import Plan

_STEPS = {
    "sketch": "read and sketch",
    "copies": "find copies",
    "keys": "keys shuffled",
    "order": "order to keep in",
    "members": "signatures",
    "texts again": "texts read again",
    "buckets": "buckets scored",
    "measure": "pairs measured",
    "decide": "decide",
    "write": "write what is kept",
}


@click.command(no_args_is_help=True)
@click.option("--documents", type=number_in, metavar="NUMBER", required=True, help="How many there are.")
@click.option(
    "--bytes", "text", type=bytes_in, metavar="BYTES", required=True, help="Of their text, all together: 20e12, 20TB."
)
@click.option(
    "--duplicates",
    type=float,
    default=0.3,
    show_default=True,
    help="Share of documents that have company: a copy, or a key in common.",
)
@recipe_options
@click.option(
    "--cluster",
    type=click.Choice(["star", "components"]),
    help="As of `neardup dedup`.  [default: star]",
)
@click.option("--cores", type=click.IntRange(1), default=1000, show_default=True, help="Of the Spark cluster.")
@click.option("--executor-cores", type=click.IntRange(1), default=4, show_default=True, help="Of one executor.")
@click.option(
    "--memory-per-core", type=bytes_in, metavar="BYTES", default="4GB", show_default=True, help="Of the machines."
)
@click.option(
    "--bandwidth",
    type=bytes_in,
    metavar="BYTES",
    default="50MB",
    show_default=True,
    help="A second and core, from storage or through the network. Assumed, not measured.",
)
@click.option("--busy", type=float, default=0.7, show_default=True, help="Share of time that cores compute. Assumed.")
@click.option(
    "--price", type=float, default=0.05, show_default=True, help="Of a core-hour. An assumption, nobody's quotation."
)
@click.option(
    "--machine-cores", type=click.IntRange(1), default=32, show_default=True, help="Of the one machine to compare with."
)
@click.option("--patience", type=float, default=24.0, show_default=True, help="Hours that one machine may take.")
@click.option("--json", "as_json", is_flag=True, help="All numbers, in bytes, seconds and hours.")
def command(**given: Any) -> None:
    """Say what a run will cost: bytes, hours and money on Spark, and whether one machine does.

    \b
    neardup plan --documents 1.6e9 --bytes 20e12 --cores 1000
    neardup plan --documents 1.6e9 --bytes 20TB --recipe altavista
    neardup plan --documents 5e7 --bytes 150GB --machine-cores 16

    Nothing is read. What documents cost was measured on small collections, what the recipe keeps follows from the
    recipe, and prices and bandwidths are assumed.
    """
    from neardup.planning import Assumed, Collection, make_plan

    collection = Collection(given["documents"], given["text"], given["duplicates"])
    assumed = Assumed(
        cores=given["cores"],
        cores_per_executor=given["executor_cores"],
        memory_per_core=given["memory_per_core"],
        bandwidth=given["bandwidth"],
        busy=given["busy"],
        price=given["price"],
        machine_cores=given["machine_cores"],
        patience=given["patience"],
    )
    recipe = recipe_of(given, cluster=given["cluster"])
    chosen = recipe(False) if callable(recipe) else recipe
    if chosen.text.links:
        raise UsageError("this recipe compares links too, and how many a page has is not planned for.")
    plan = make_plan(collection, chosen, assumed)
    if given["as_json"]:
        json.dump(plan.to_dict(), sys.stdout, ensure_ascii=False, indent=1)
        sys.stdout.write("\n")
    else:
        _print(plan, given["recipe"] or "default")


def _print(plan: "Plan", recipe: str) -> None:
    console = Console(highlight=False)
    collection, assumed, one = plan.collection, plan.assumed, plan.one
    prints = plan.expected.prints
    console.print(
        f"[bold]{count(collection.documents)} documents, {size(collection.text)} of text[/bold], "
        f"{collection.duplicates:.0%} with company, recipe {recipe}"
    )
    console.print(
        f"{size(collection.text / collection.documents)} a document: a sketch of {prints.sketch:,} bytes, "
        f"{prints.keys:,} keys, {prints.shingles:,} shingles",
        style="dim",
    )
    console.print()
    console.print(_steps(plan))
    console.print()
    console.print(_sums(plan))
    console.print()
    console.print(
        f"[bold]One machine[/bold] of {assumed.machine_cores} cores and "
        f"{size(assumed.machine_cores * assumed.memory_per_core)}: {size(one.memory)} of memory, {size(one.disk)} "
        f"of disk, {duration(one.hours)}. It does for up to {count(plan.suffices)} such documents."
    )
    console.print(plan.advice, style="bold green" if not one.obstacles else "bold yellow")
    for warning in plan.warnings:
        console.print(warning, style="yellow")
    console.print()
    console.print(
        f"Measured: time and bytes of each step. Assumed: {size(assumed.bandwidth)}/s and core, cores busy "
        f"{assumed.busy:.0%} of the time, {assumed.price:g} a core-hour. See docs/plan.md.",
        style="dim",
    )


def _steps(plan: "Plan") -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("step", no_wrap=True)
    for name in ("reads", "shuffles", "keeps", "busy core-h", "hours"):
        table.add_column(name, justify="right", no_wrap=True)
    for step in plan.steps:
        if not (step.read or step.shuffled or step.core_seconds):
            continue
        moved = (size(step.read), size(step.shuffled), size(step.kept))
        table.add_row(
            _STEPS[step.name], *moved, f"{step.core_seconds / 3600:,.1f}", _hours(plan.hours(step)), style="cyan"
        )
    sums = (sum(getattr(step, name) for step in plan.steps) for name in ("read", "shuffled", "kept"))
    computing = sum(step.core_seconds for step in plan.steps) / 3600
    table.add_row("all", *map(size, sums), f"{computing:,.1f}", _hours(plan.total_hours), style="bold")
    return table


def _sums(plan: "Plan") -> Table:
    assumed = plan.assumed
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold")
    grid.add_column(justify="right", style="cyan", no_wrap=True)
    grid.add_column(style="dim")
    grid.add_row(
        "Spark", duration(plan.total_hours), f"{plan.executors:,} executors of {assumed.cores_per_executor} cores"
    )
    grid.add_row(
        "money", f"{plan.money:,.2f}", f"{plan.core_hours:,.1f} core-hours, busy and waiting, at {assumed.price:g}"
    )
    grid.add_row("work folder", size(plan.work_bytes), "can be deleted afterwards")
    held = "labels of rows and " if plan.expected.labels else ""
    grid.add_row(
        "driver",
        size(plan.driver_bytes),
        f"{held}a bit per document, and {size(plan.executor_bytes)} in every executor",
    )
    grid.add_row("setting", f"{plan.partitions:,}", "spark.sql.shuffle.partitions; Spark's own is 200")
    return grid


def _hours(hours: float) -> str:
    return f"{hours:,.2f}" if hours < 100 else f"{hours:,.0f}"
