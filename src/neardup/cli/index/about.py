"""neardup index info|export|expire|compact PATH."""

import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import click

from neardup.analysis.drops import MARGIN, bar, dropped
from neardup.atomic import local_place
from neardup.cli.index.place import index_path, opened, shown
from neardup.cli.index.remote import service_at, service_options
from neardup.cli.options import without_unneeded
from neardup.errors import StoreError, UsageError

if TYPE_CHECKING:
    from neardup.index import Index
    from neardup.recipe import Recipe

_QUIET = click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")


@click.command(no_args_is_help=True, short_help="What it is: documents, recipe, how sure, size.")
@index_path
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def info(path: str, as_json: bool) -> None:
    """Say what an index is: documents, recipe, how sure its verdicts are, size.

    \b
    neardup index info seen.ndx
    neardup index info seen.ndx --json | jq .documents
    """
    without_unneeded()
    with opened(path, read_only=True) as index:
        facts = _facts(index, path)
        recipe, keep = index.recipe, index.keep
    if as_json:
        json.dump(facts, sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")
    else:
        _show(facts, recipe, keep)


def _facts(index: "Index", path: str) -> dict[str, Any]:
    from neardup.index.store import FORMAT

    recipe = index.recipe
    found = {**index.info(), "seed": recipe.sketch.seed, "path": shown(path), "format": FORMAT}
    if recipe.thresholded:
        error = recipe.sketcher.error(recipe.verify.threshold)
        if found["judged_by"] == "estimate" and not math.isnan(error):
            found["error_at_threshold"] = error
        if recipe.filter is not None:
            similar = [recipe.verify.threshold + more for more in (0.0, 0.05, 0.1)]
            found["found_at"] = {f"{r:g}": _found(recipe, r, found["judged_by"]) for r in similar if r < 1.0}
        if found["judged_by"] == "estimate" and not math.isnan(error):
            unlike = [recipe.verify.threshold - less for less in (MARGIN, 2 * MARGIN)]
            found["dropped_at"] = {f"{r:g}": _dropped(recipe, r) for r in unlike if r > 0.0}
    return found


def _found(recipe: "Recipe", resemblance: float, judged_by: str) -> float:
    """How likely a pair of this resemblance is a candidate and, where that is estimated, taken for similar enough."""
    assert recipe.filter is not None
    looked_at = recipe.filter.probability(resemblance)
    error = recipe.sketcher.error(resemblance)
    if judged_by != "estimate" or math.isnan(error) or not error:
        return looked_at
    return looked_at * (1 - NormalDist(resemblance, error).cdf(_bar(recipe, 1)))


def _bar(recipe: "Recipe", others: int) -> float:
    comparison = recipe.sketcher.comparison
    return bar(recipe.verify.threshold, recipe.sketcher.error, comparison.drops, comparison.keys, others)


def _dropped(recipe: "Recipe", resemblance: float) -> float:
    """The share of the pages of a template that are called similar wrongly, if any two resemble by so much."""
    comparison, keys = recipe.sketcher.comparison, recipe.filter.k if recipe.filter else 1
    error, crowd = recipe.sketcher.error, recipe.clusters.crowd
    return dropped(resemblance, recipe.verify.threshold, error, comparison.drops, keys, crowd)


def _share(share: float) -> str:
    return f"{share:.3%}" if 0.0 < share < 0.0005 else f"{share:.1%}"


def _show(facts: dict[str, Any], recipe: "Recipe", keep: str) -> None:
    from rich.console import Console
    from rich.table import Table

    from neardup.cli.show import in_bytes, named

    console = Console(highlight=False)
    console = console if console.is_terminal else Console(highlight=False, width=160)
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("index", facts["path"])
    table.add_row("documents", f"{facts['documents']:,}")
    table.add_row("recipe", named(recipe).removeprefix("recipe "))
    table.add_row("seed", _seed(recipe.sketch.seed))
    table.add_row("judged by", judged_by(recipe, keep))
    if "found_at" in facts:
        shares = ", ".join(f"{share:.1%} at {resemblance}" for resemblance, share in facts["found_at"].items())
        table.add_row("finds", f"of pairs with this resemblance: {shares}")
    if "dropped_at" in facts:
        shares = ", ".join(f"{_share(share)} at {resemblance}" for resemblance, share in facts["dropped_at"].items())
        known = max(map(float, facts["dropped_at"]))
        unknown = f"more above {known:g}" if facts["dropped_at"][f"{known:g}"] < 1.0 else ""
        told = f"of different pages of a template, any two with this resemblance: up to {shares}"
        table.add_row("drops", ", ".join(filter(None, [told, unknown])))
    table.add_row("kept", _KEPT[keep])
    size = in_bytes(facts["bytes"])
    if facts["bytes_per_document"] is not None:
        size += f", {facts['bytes_per_document']:,.0f} bytes a document"
    table.add_row("on disk", size)
    if facts["oldest"]:
        gone = f"; {facts['expired']:,} expired" if facts.get("expired") else ""
        table.add_row("seen", f"none of them last before {facts['oldest']}{gone}")
    if facts.get("removed_since_compaction"):
        table.add_row("removed", f"{facts['removed_since_compaction']:,} since it was compacted")
    table.add_row("engine", f"{facts['engine']}, format {facts['format']}")
    with console.capture() as captured:
        console.print(table)
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def _seed(seed: int) -> str:
    from neardup.recipes import PUBLIC_SEED

    return f"{seed}, which everybody knows" if seed == PUBLIC_SEED else f"{seed}, to be kept from strangers"


_KEPT = {
    "sketch": "sketches; no text",
    "text": "sketches and texts",
    "reference": "sketches, and where the texts can be read again",
}


def judged_by(recipe: "Recipe", keep: str) -> str:
    """What makes a near-duplicate here, and how sure that is."""
    from neardup.cli.show import judged

    unmeasured = recipe.verify.method == "exact" and keep == "sketch"
    how = recipe.changed(verify_method="sketch", verify_same_site=0.0) if unmeasured else recipe
    told = judged(how)
    error = recipe.sketcher.error(recipe.verify.threshold) if how.verify.method == "sketch" else math.nan
    if how.thresholded and not math.isnan(error):
        told += f", ± {error:.3f} at the threshold (standard error)"
    return told + ("; measuring exactly needs texts, which are not kept" if unmeasured else "")


@click.command(no_args_is_help=True, short_help="Write all of it to a Parquet file.")
@index_path
@click.option(
    "-o", "--output", "out", required=True, type=local_place, metavar="PATH", help="A Parquet file for all of it."
)
@click.option("--overwrite", is_flag=True, help="Write over a file that is there.")
@_QUIET
def export(path: str, out: Path, overwrite: bool, quiet: bool) -> None:
    """Write an index to one Parquet file: id, url, tokens, record, keys, text.

    It can be added to another index of the same recipe, also on another engine. Another process may write to the
    index meanwhile.

    \b
    neardup index export seen.ndx -o seen.parquet
    neardup index add postgresql://crawl@db/pages --export seen.parquet
    """
    without_unneeded()
    from neardup.cli.show import Talk, many
    from neardup.index.rocks_folder import require_parent

    if out.suffix not in ("", ".parquet"):
        raise UsageError(f"{out}: what is written is Parquet. Choose a name that ends in .parquet.")
    if out.exists() and not overwrite:
        raise UsageError(f"{out} is there already; choose another name, or give --overwrite.")
    require_parent(out)
    with opened(path, read_only=True) as index:
        number = index.export(out)
    Talk(quiet=quiet).say(f"{many(number, 'document')} in {out}")


@contextmanager
def _for_writing(path: str, command: str) -> Iterator["Index"]:
    """Open an index; where another process writes to it, name the command that asks a service to do the same."""
    from neardup.index.rocks_folder import WrittenError

    try:
        index = opened(path)
    except WrittenError as error:
        instead = f"neardup index {command.format('http://HOST:PORT')}"
        raise StoreError(f"{error} If that process is a service, let it do this: {instead}") from error
    with index:
        yield index


@click.command(no_args_is_help=True, short_help="Forget documents that were not seen for long.")
@index_path
@click.option(
    "--keep-days",
    type=click.IntRange(1),
    required=True,
    help="Keep documents that were added or met again within so many days.",
)
@service_options
@_QUIET
def expire(path: str, keep_days: int, token_file: Path | None, ca: Path | None, quiet: bool) -> None:
    """Forget the documents that were not seen for long: neither added nor met again as a duplicate.

    Days are counted in UTC, and a document stays up to a day longer. Other processes read meanwhile; in a database they
    also write. Stopped at any time, it goes on where it was. `neardup index compact` gives the space back.

    \b
    neardup index expire seen.ndx --keep-days 30
    neardup index expire http://127.0.0.1:8080 --keep-days 30
    """
    without_unneeded()
    from neardup.cli.show import Talk, many

    service = service_at(path, token_file, ca)
    if service is not None:
        with service as client:
            found = client.expire(days=keep_days)
        expired, left = found["expired"], found["documents"]
    else:
        with _for_writing(path, f"expire {{}} --keep-days {keep_days}") as index:
            expired = index.expire(days=keep_days)
            left = len(index)
    Talk(quiet=quiet).say(f"{shown(path)}: {many(expired, 'document')} expired, {left:,} left")


@click.command(no_args_is_help=True, short_help="Give back the space of removed documents.")
@index_path
@service_options
@_QUIET
def compact(path: str, token_file: Path | None, ca: Path | None, quiet: bool) -> None:
    """Drop what removed and replaced documents left behind, and give the space back.

    \b
    neardup index compact seen.ndx
    neardup index compact 'postgresql://crawl@db/pages?index=news'
    neardup index compact http://127.0.0.1:8080 --token-file admin-token
    neardup index compact https://10.0.0.5:8443 --token-file admin-token --ca our-ca.pem
    """
    without_unneeded()
    from neardup.cli.show import Talk, in_bytes

    service = service_at(path, token_file, ca)
    if service is not None:
        with service as client:
            found = client.compact()
        before, after = found["bytes_before"], found["bytes"]
    else:
        with _for_writing(path, "compact {}") as index:
            before = index.info()["bytes"]
            index.compact()
            after = index.info()["bytes"]
    told = f"{in_bytes(before)} before, {in_bytes(after)} after"
    if after >= before:  # RocksDB keeps a diary, which is longer than a small store
        told = f"there was nothing to give back: {told}, with what the engine notes down of its work"
    Talk(quiet=quiet).say(f"{shown(path)}: {told}")
