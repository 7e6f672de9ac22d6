"""neardup sample FOLDER."""

from pathlib import Path

import click

from neardup.atomic import local_place


@click.command(no_args_is_help=True)
@click.argument("folder", type=local_place, metavar="FOLDER")
@click.option("--seed", default=1, show_default=True, help="Another seed gives another collection.")
@click.option("--scale", default=1.0, show_default=True, help="How many documents: 1.0 is about 700.")
def command(folder: Path, seed: int, scale: float) -> None:
    """Make a small labelled collection: mirrors, edits, templates, many scripts; as JSONL, Parquet, HTML and WARC."""
    from neardup.sample import write

    counts = write(folder, seed=seed, scale=scale)
    for kind, number in counts.items():
        click.echo(f"{number:6,}  {kind}")
