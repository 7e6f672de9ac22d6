"""neardup warm [RECIPE]…."""

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from neardup.cli.options import without_unneeded
from neardup.cli.terminal import tell

if TYPE_CHECKING:
    from neardup.recipe import Recipe

DEFAULT = ("stream", "default")


@click.command
@click.argument("recipes", metavar="[RECIPE]…", nargs=-1)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
def command(recipes: tuple[str, ...], quiet: bool) -> None:
    """Compile what recipes need, so that the first run, check or request does not: for image builds and installers.

    RECIPE is a name (see `neardup recipes`) or a TOML file.  [default: stream default]

    Every kernel is used once, on small collections that are deleted again: by dedup, by an index, and by the service.
    The compiled code goes where it always does, NUMBA_CACHE_DIR if that is set. It is for this processor; set
    NUMBA_CPU_NAME=x86-64-v3 and NUMBA_CPU_FEATURES= (empty), here and where it will run, to compile for several.
    """
    without_unneeded()
    from neardup.kernels import compilations
    from neardup.recipes import choose_recipe

    wanted = {name: choose_recipe(name) for name in recipes or DEFAULT}
    for name, recipe in wanted.items():
        began, before = time.monotonic(), compilations()
        _use(recipe)
        many = compilations() - before
        if not quiet:
            done = f"{many} functions compiled" if many else "nothing was left to compile"
            tell(f"{name}: {done}, {time.monotonic() - began:.1f} s")


def _use(recipe: "Recipe") -> None:
    """Deduplicate a sample, ask an index, and take every step that the service prepares."""
    from neardup import dedup
    from neardup.index import Index
    from neardup.sample import write
    from neardup.service.preparing import prepare_index, the_rest

    with TemporaryDirectory(prefix="neardup-") as folder:
        write(Path(folder) / "sample", scale=0.1)
        dedup(Path(folder) / "sample" / "pages.jsonl", recipe=recipe)
        with Index.open(Path(folder) / "index", recipe) as index:
            prepare_index(index)
    for step in the_rest(recipe).values():
        step()
