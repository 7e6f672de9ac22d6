"""The published systems and our default, as data: a TOML file each, with where it comes from.

recipe_names()      what there is
published(name)     one of them: title, source, recipe
name_of(recipe)     the name of one of them
load_recipe(name)   by name, or from a TOML file
stream_recipe(t)    the recipe `stream` for another threshold
choose_recipe(...)  a recipe and what the user wants otherwise
Choose              the same, when it is known whether the documents are web pages
"""

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from secrets import randbits
from typing import Any

from neardup.analysis.drops import MARGIN
from neardup.analysis.filters import PERMUTATIONS, largest_s
from neardup.clusters.settings import ClusterSettings
from neardup.errors import RecipeError, UsageError
from neardup.recipe import Recipe
from neardup.shingles import ShingleSettings
from neardup.sketches.minhash import MinHashSettings
from neardup.sketches.odd import THROWS, OddSettings
from neardup.text.settings import TextSettings

LARGEST = 64 << 10
"""Bytes of a recipe's file; ours have 2,000."""

_ORDER = (
    "default",
    "web",
    "stream",
    "one-pass",
    "resemblance",
    "altavista",
    "alg-b",
    "alg-c",
    "combined",
    "by-site",
    "lists",
    "bottom-m",
    "mod-n",
    "bloom",
)


Choose = Callable[[bool], Recipe]
"""Whether most documents are web pages → the recipe for them."""

_OWN_THRESHOLDS = ("similar", "same", "different", "needed", "r")


@dataclass(frozen=True)
class Published:
    """A system with its name, where it comes from, and what it is for."""

    name: str
    title: str
    source: str
    use: str
    recipe: Recipe


PUBLIC_SEED = 1
"""Of all recipes that come with the package, so that everybody makes the same sketches."""


def with_own_seed(recipe: Recipe, keep: str = "text", seed: int | None = None) -> Recipe:
    """Return the recipe of a new index: with a seed that nobody knows, so that no document can be written to have the
    sketch of another; and where sketches judge, by other permutations than those that find.

    keep: what the index keeps; with texts, a recipe that measures needs no second set of permutations.
    seed: one that was chosen, in the place of a drawn one.
    """
    judges = keep == "sketch" or recipe.verify.method != "exact"
    apart = judges and isinstance(recipe.sketch, MinHashSettings) and recipe.sketch.samples
    chosen = randbits(62) if seed is None else seed
    return recipe.changed(sketch_seed=chosen, **({"sketch_apart": True} if apart else {}))


def as_in_index(recipe: Recipe, other: Recipe) -> Recipe:
    """Return a recipe with what an index of the recipe `other` chose: the seed, and whether samples are apart."""
    sampled = isinstance(recipe.sketch, MinHashSettings) and recipe.sketch.samples
    apart = {"sketch_apart": getattr(other.sketch, "apart", False)} if sampled else {}
    return recipe.changed(sketch_seed=other.sketch.seed, **apart)


def recipe_names() -> list[str]:
    """The names of all recipes that come with the package."""
    return list(_ORDER)


@cache
def published(name: str) -> Published:
    """A recipe that comes with the package."""
    if name not in _ORDER:
        near = get_close_matches(name.lower(), _ORDER, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise RecipeError(f"there is no recipe {name!r}.{hint} There are {', '.join(_ORDER)}; or name a TOML file.")
    text = files("neardup.recipes").joinpath(f"{name}.toml").read_text(encoding="utf-8")
    about = tomllib.loads(text)["about"]
    return Published(name, about["title"], about["source"], about["use"], Recipe.from_toml(text))


def name_of(recipe: Recipe, *, any_seed: bool = False) -> str | None:
    """Return the name of a recipe that comes with the package, whatever is kept; as an index has it, with another seed
    and samples apart, if asked."""
    chosen = {"sketch_seed": PUBLIC_SEED} if any_seed else {}
    if any_seed and getattr(recipe.sketch, "apart", False):
        chosen["sketch_apart"] = False
    plain = recipe.changed(clusters_keep="first", **chosen)
    return next((name for name in _ORDER if published(name).recipe.id == plain.id), None)


def load_recipe(name: str | Path) -> Recipe:
    """By its name, or from a TOML file."""
    path = Path(name)
    if path.suffix == ".toml" or path.is_file():
        try:
            with path.open("rb") as file:
                text = file.read(LARGEST + 1).decode()
            if len(text) > LARGEST:
                raise RecipeError(f"it has more than {LARGEST:,} characters, and no recipe is so long.")
            if not text.strip():
                raise RecipeError("it is empty; `neardup recipes NAME` prints one to begin with.")
            return Recipe.from_toml(text)
        except OSError as error:
            raise RecipeError(f"{path}: cannot be read ({error.strerror}).") from error
        except UnicodeDecodeError as error:
            raise RecipeError(f"{path}: this is not a recipe in TOML: it is not UTF-8.") from error
        except RecipeError as error:
            raise RecipeError(f"{path}: {error}") from error
    return published(str(name)).recipe


def stream_recipe(threshold: float = 0.8) -> Recipe:
    """Recipe `stream` for this threshold: as many features, each of as many minima as the recall at it allows."""
    return _with_threshold(published("stream").recipe, threshold)


def _with_threshold(stream: Recipe, threshold: float) -> Recipe:
    """Features of a fixed length would lose pairs at a lower threshold, and nobody would be told."""
    sketch = stream.sketch
    assert isinstance(sketch, OddSettings)
    s = largest_s(threshold, stream.verify.recall, sketch.k, _MINIMA)
    # with more bins, documents at a low threshold would differ in so many minima that the bits told nothing
    bins = THROWS * min(64 * sketch.odd // THROWS, round(18 * sketch.odd / (1 - threshold + MARGIN) / THROWS))
    return stream.changed(sketch_s=s, sketch_bins=bins, verify_threshold=float(threshold))


_MINIMA = 96
"""That the features of recipe `stream` are made of, at the most."""


def choose_recipe(
    recipe: Recipe | str | Path | None = None,
    *,
    threshold: float | None = None,
    recall: float | None = None,
    keep: str | Sequence[str] | None = None,
    verify: Any = None,
    cluster: Any = None,
    tokens: Any = None,
    width: int | None = None,
    repeats: bool | None = None,
    extract: Any = None,
    permutations: int | None = None,
    seed: int | None = None,
    pages: bool = False,
) -> Recipe:
    """The recipe that the user means: chosen for a threshold and a recall, or a given one with some other settings.

    Where none is given it is `default`, or `web` for web pages that are measured exactly, with the sketch that the
    threshold asks for. The recipe `stream` is for a threshold too, and another threshold makes another one of it.
    """
    keep = keep if keep is None or isinstance(keep, str) else ",".join(keep)
    if recipe is None:
        base = published("web" if pages and verify in (None, "exact") else "default").recipe
        method = verify or base.verify.method
        chosen = Recipe.for_threshold(
            base.verify.threshold if threshold is None else threshold,
            recall=base.verify.recall if recall is None else recall,
            permutations=PERMUTATIONS if permutations is None else permutations,
            seed=1 if seed is None else seed,
            text=TextSettings(tokens or base.text.tokens, extract or base.text.extract),
            shingles=ShingleSettings(base.shingles.width if width is None else width, bool(repeats)),
            verify=method,
            clusters=ClusterSettings(cluster or base.clusters.method, base.clusters.keep if keep is None else keep),
        )
        return chosen.changed(verify_same_site=base.verify.same_site) if base.verify.by_place else chosen
    given = recipe if isinstance(recipe, Recipe) else load_recipe(recipe)
    for name, value in (("recall", recall), ("permutations", permutations)):
        if value is not None:
            raise UsageError(
                f"{name} = {value} chooses k and s where no recipe is named; a recipe has its own. "
                f"Leave away either {name} or the recipe."
            )
    if threshold is not None and name_of(given) == "stream":
        given = _with_threshold(given, threshold)
    wanted = {
        "verify_method": verify,
        "clusters_keep": keep,
        "clusters_method": cluster,
        "text_tokens": tokens,
        "text_extract": extract,
        "shingles_width": width,
        "shingles_repeats": repeats,
        "sketch_seed": seed,
    }
    changed = given.changed(**{name: value for name, value in wanted.items() if value is not None})
    if threshold is None:
        return changed
    if changed.verify.method == "none":
        raise UsageError(
            f"threshold = {threshold}: with --verify none nothing is held against it; leave away one of both."
        )
    if not changed.thresholded:
        settings = [name for name in _OWN_THRESHOLDS if hasattr(changed.sketch, name)][:2]
        raise UsageError(
            f"threshold = {threshold}: this recipe judges by {changed.sketcher.comparison.measure} and not by "
            f"resemblance. Change its rule with --set sketch.{settings[0]}=… (now "
            f"{', '.join(f'{s} = {getattr(changed.sketch, s):g}' for s in settings)}), or measure the resemblance as "
            'well with --verify exact (verify="exact").'
        )
    return changed.changed(verify_threshold=float(threshold))
