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
    from rich.padding import Padding
    from rich.text import Text

    console = Console(highlight=False)
    for p in found:
        console.print(Text(p.name, style="bold") + Text(f"  {p.title}", style="not bold"))
        for line, style in ((p.use, ""), (p.source, "dim"), (_parameters(p.recipe), "cyan")):
            console.print(Padding(Text(line, style=style), (0, 0, 0, 4)))
        console.print()
    console.print(
        Text(
            "neardup recipes NAME prints one as TOML · neardup dedup|pairs … --recipe NAME runs it · "
            "--set PART.KEY=VALUE changes it",
            style="dim",
        )
    )


def _parameters(recipe: Any) -> str:
    """The settings that make the system, in one line."""
    parts = [f"{f.name}={_plain(getattr(recipe.sketch, f.name))}" for f in fields(recipe.sketch) if f.name != "seed"]
    if recipe.thresholded:
        parts.append(f"threshold={recipe.verify.threshold:g}")
    shingles = f"w={recipe.shingles.width}" + (" rabin" if recipe.shingles.fingerprint == "rabin" else "")
    return " ".join([*parts, "·", shingles, "·", recipe.clusters.method])


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
