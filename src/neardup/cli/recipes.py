"""neardup recipes [NAME]."""

import json
from dataclasses import fields
from typing import Any

import click


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(name: str | None, as_json: bool) -> None:
    """List the published systems with source and parameters; or print one as TOML, to edit and use with --recipe."""
    from neardup.recipes import load_recipe, published, recipe_names

    if name is not None:
        recipe = load_recipe(name)
        click.echo(json.dumps({"id": recipe.id, **recipe.to_dict()}) if as_json else recipe.to_toml(), nl=as_json)
        return
    found = [published(n) for n in recipe_names()]
    if as_json:
        for p in found:
            facts = {"name": p.name, "title": p.title, "source": p.source, "use": p.use, "id": p.recipe.id}
            click.echo(json.dumps({**facts, **p.recipe.to_dict()}, ensure_ascii=False))
        return
    _show(found)


def _show(found: list[Any]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 1, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for p in found:
        about = Text(f"{p.title}\n")
        about.append(f"{p.use}\n", style="italic")
        about.append(f"{p.source}\n", style="dim")
        about.append(_parameters(p.recipe), style="cyan")
        table.add_row(p.name, about)
    with console.capture() as captured:
        console.print(table)
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))
    click.echo("neardup recipes NAME               prints one as TOML, to edit and to use as --recipe FILE")
    click.echo("neardup dedup|pairs --recipe NAME  runs it; --set PART.KEY=VALUE changes it")


def _parameters(recipe: Any) -> str:
    """The settings that make the system, in one line."""
    values = {f.name: getattr(recipe.sketch, f.name) for f in fields(recipe.sketch)}
    silent = {"seed"}
    if not values.get("sampled"):
        silent.add("sampled")  # the permutations of the features, which k and s tell
    if not values.get("samples", True):
        silent.add("bits")
    parts = [f"{name}={_plain(value)}" for name, value in values.items() if name not in silent]
    if recipe.thresholded:
        parts.append(f"threshold={recipe.verify.threshold:g}")
    shingles = f"w={recipe.shingles.width}" + (" rabin" if recipe.shingles.fingerprint == "rabin" else "")
    return " ".join([*parts, "·", shingles, "·", recipe.clusters.method])


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
