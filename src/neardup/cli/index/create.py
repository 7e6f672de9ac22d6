"""neardup index create PATH."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.index.place import index_path, is_there, refuse_others, shown, take_back
from neardup.cli.options import index_recipe_options, recipe_of, without_unneeded
from neardup.errors import NeardupError, RecipeError, StoreError

if TYPE_CHECKING:
    from neardup.index.answers import Keep
    from neardup.recipe import Recipe


@click.command(no_args_is_help=True, short_help="Make an index, empty or of a finished run.")
@index_path
@index_recipe_options
@click.option(
    "--keep",
    type=click.Choice(["sketch", "text", "reference"]),
    help="text: store the texts too, so that a recipe that measures exactly can; reference: store the paths of files "
    "that are a document each, for the same.  [default: sketch; text for a run that measured exactly]",
)
@click.option(
    "--run",
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Begin with the kept documents of a finished `neardup dedup`; with --keep sketch no text is read.",
)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
def create(path: str, **given: Any) -> None:
    """Make an index: an empty one, or one with the kept documents of a finished run.

    How documents are compared is chosen here, once. The index draws a seed of its own, so that no document can be
    written to have the sketch of another; indexes whose exports are to be put together need the same --seed.

    \b
    neardup index create seen.ndx --threshold 0.9
    neardup index create seen.ndx --run clean
    """
    without_unneeded()
    from neardup.cli.show import Talk, many
    from neardup.index import Index
    from neardup.index.moving import sketched_alike
    from neardup.recipes import with_own_seed
    from neardup.result import Result

    talk = Talk(quiet=given["quiet"])
    refuse_others(path)
    if is_there(path):
        raise StoreError(
            f"{shown(path)}: there is an index already. Add to it with: neardup index add {shown(path)} FILES"
        )
    with talk:
        result = None if given["run"] is None else Result.open(given["run"])
        recipe = _recipe(given, None if result is None else result.recipe)
        exact = result is not None and result.recipe.verify.method == "exact"
        keep: Keep = given["keep"] or ("text" if exact else "sketch")
        if result is None and not _has_seed(given):
            recipe = with_own_seed(recipe, keep)
        elif result is None and _is_plain(given):
            recipe = with_own_seed(recipe, keep, recipe.sketch.seed)
        if result is not None and not sketched_alike(recipe, result.recipe):
            raise RecipeError(
                f"--run {given['run']}: was made by recipe {result.recipe.id}, and {recipe.id} is asked for; their "
                "sketches do not compare. Leave out --recipe and settings that change it: then it is the run's."
            )
        with Index.open(path, recipe, keep=keep) as index:
            recipe = index.recipe
            try:
                added = 0 if result is None else index.add_run(result)
            except (NeardupError, KeyboardInterrupt):  # what was asked for is no empty one
                take_back(path, index)
                raise
    talk.say(f"{shown(path)}: {many(added, 'document')}. {_about(recipe, keep)}")
    if exact and keep == "text":
        talk.say(
            "It has the texts, so that it measures as the run did. --keep sketch takes less room, reads no text, and "
            "judges by estimates."
        )
    elif exact:
        talk.say(
            "The run measured pairs exactly; this index has no texts, and judges by sketches: of different pages of "
            "one template it drops many (neardup index info says how many). --keep text measures."
        )
    if keep != "sketch" and recipe.verify.method != "exact":
        talk.say(
            f"--keep {keep}: texts are kept, and verdicts do not use them: this recipe does not measure "
            "exactly. Recipes default and web do, and others with --verify exact."
        )


def _recipe(given: dict[str, Any], of_run: "Recipe | None") -> "Recipe":
    """What the options say; `stream` for the threshold, or the run's, where none is named."""
    from neardup.recipe import Recipe
    from neardup.recipes import stream_recipe

    wanted = {**given, "recall": None, "permutations": None}
    if given["recipe"] is None and of_run is not None:
        wanted["recipe"] = of_run
    elif given["recipe"] in (None, "stream"):
        wanted["recipe"] = "stream"
        if given["threshold"] is not None:  # first, so that --set may change what the threshold asks for
            wanted |= {"recipe": stream_recipe(given["threshold"]), "threshold": None}
    found = recipe_of(wanted)
    assert isinstance(found, Recipe)
    return found


def _has_seed(given: dict[str, Any]) -> bool:
    """Tell whether somebody chose a seed: by an option, or in the file of a recipe."""
    from neardup.recipes import recipe_names

    chosen = given["seed"] is not None or any(text.startswith("sketch.seed") for text in given["settings"])
    return chosen or (given["recipe"] is not None and given["recipe"] not in recipe_names())


def _is_plain(given: dict[str, Any]) -> bool:
    """Tell whether the recipe is one that comes with the package, and nobody chose how it samples."""
    from neardup.recipes import recipe_names

    chosen = any(text.startswith("sketch.apart") for text in given["settings"])
    return not chosen and (given["recipe"] is None or given["recipe"] in recipe_names())


def _about(recipe: "Recipe", keep: str) -> str:
    from neardup.cli.index.about import judged_by
    from neardup.cli.show import named

    return f"{judged_by(recipe, keep)} · {named(recipe)}"
