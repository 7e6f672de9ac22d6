"""The options that commands on collections share: how documents are compared, and how inputs are read."""

import sys
import tomllib
from collections.abc import Callable
from functools import reduce
from importlib.abc import MetaPathFinder
from os import PathLike
from typing import TYPE_CHECKING, Any

import click

from neardup.errors import UsageError

if TYPE_CHECKING:
    from neardup.recipe import Recipe
    from neardup.recipes import Choose

Decorator = Callable[[Any], Any]


def _recipe(default: str) -> Decorator:
    told = f"A published system (see `neardup recipes`) or a TOML file.  [default: {default}]"
    return click.option("--recipe", metavar="NAME", help=told)


_CHANGING: tuple[Decorator, ...] = (
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="PART.KEY=VALUE",
        help="Change a setting of the recipe, such as sketch.k=8; may be repeated.",
    ),
    click.option(
        "-t",
        "--threshold",
        type=float,
        help="Resemblance from which on two documents are near-duplicates.  [default: the recipe's, 0.8 or 0.65]",
    ),
    click.option(
        "--verify",
        type=click.Choice(["exact", "sketch", "none"]),
        help="How candidate pairs are checked.  [default: the recipe's]",
    ),
    click.option(
        "--tokens",
        type=click.Choice(["words", "chars", "lines"]),
        help="What a document is a sequence of.  [default: words]",
    ),
    click.option("-w", "--width", type=int, help="Tokens in a shingle.  [default: 5]"),
    click.option("--repeats/--no-repeats", default=None, help="Count a shingle as often as it occurs."),
    click.option(
        "--extract",
        type=click.Choice(["all", "main", "web"]),
        help="Of HTML pages: all visible text, the main content, or web terms with images.  [default: the recipe's]",
    ),
    click.option("--seed", type=int, help="Of all hashes.  [default: 1; a new index draws its own]"),
)
_CHOOSING: tuple[Decorator, ...] = (
    click.option(
        "--recall", type=float, help="Share of the pairs at the threshold that must be found.  [default: 0.99]"
    ),
    click.option("--permutations", type=int, help="Longest sketch that may be chosen.  [default: 144]"),
)
"""What a filter is chosen by, where the recipe is `default`."""

QUOTING = click.option(
    "--quoting",
    type=click.Choice(["standard", "none"]),
    help="Of CSV: standard (RFC 4180), none: quotation marks are text.  [default: none for tabs, else standard]",
)

_FINDING: tuple[Decorator, ...] = (
    click.option("--text-field", metavar="NAME", help="Column with the text.  [default: guessed]"),
    click.option(
        "--id-field", metavar="NAME", help="Column with the id; none: number the documents.  [default: guessed]"
    ),
    click.option("--url-field", metavar="NAME", help="Column with the URL.  [default: guessed]"),
    click.option(
        "--format",
        "format_",
        metavar="NAME",
        help="Of the input: parquet, jsonl, csv, lines, text, html, warc.  [default: by the file's name]",
    ),
    click.option("--html/--no-html", default=None, help="The text column holds HTML.  [default: guessed]"),
    QUOTING,
)
"""Where in the inputs the documents are."""

READING: tuple[Decorator, ...] = (
    *_FINDING,
    click.option(
        "--on-error",
        type=click.Choice(["stop", "skip"]),
        default="stop",
        show_default=True,
        help="What to do with what cannot be read.",
    ),
    click.option("--max-document-bytes", default=64 << 20, show_default=True, help="Longer documents are errors."),
    click.option("-j", "--threads", type=click.IntRange(1), help="How many to use.  [default: all cores]"),
)


def recipe_options(command: Any) -> Any:
    """How the documents of a collection are compared."""
    return with_options(command, _recipe("web for web pages, else default"), *_CHANGING, *_CHOOSING)


def index_recipe_options(command: Any) -> Any:
    """How an index compares documents."""
    return with_options(command, _recipe("stream, or the run's"), *_CHANGING)


def reading_options(command: Any) -> Any:
    """How inputs are read."""
    return with_options(command, *READING)


def finding_options(command: Any) -> Any:
    """Where in the inputs the documents are."""
    return with_options(command, *_FINDING)


def with_options(command: Any, *options: Decorator) -> Any:
    """A command with options, in this order."""
    return reduce(lambda c, option: option(c), reversed(options), command)


def recipe_of(given: dict[str, Any], **further: Any) -> "Recipe | Choose":
    """The recipe that the options describe; it depends on the documents where none is named."""
    from neardup.recipes import choose_recipe

    names = ("threshold", "recall", "verify", "tokens", "width", "repeats", "extract", "permutations", "seed")
    changes = dict(_setting(text) for text in given["settings"])
    recipe = given["recipe"]
    if changes and "sketch_kind" in changes:
        raise UsageError("--set sketch.kind: another kind of sketch is another recipe; choose it with --recipe.")
    if recipe is None:
        wanted = {name: given[name] for name in names}

        def chosen(pages: bool) -> "Recipe":
            found = choose_recipe(**wanted, **further, pages=pages)
            return found.changed(**changes) if changes else found

        return chosen
    if changes:
        recipe = choose_recipe(recipe).changed(**changes)
    return choose_recipe(recipe, **{name: given[name] for name in names}, **further)


def _setting(text: str) -> tuple[str, Any]:
    """PART.KEY=VALUE, the value as in TOML; a bare word is a string."""
    name, equals, value = text.partition("=")
    part, dot, key = name.strip().partition(".")
    if not equals or not dot or not key:
        raise UsageError(f"--set {text}: write PART.KEY=VALUE, such as sketch.k=8 or shingles.width=10.")
    try:
        parsed = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value.strip()
    return f"{part}_{key}", parsed


def reading_of(given: dict[str, Any]) -> dict[str, Any]:
    """How inputs are read, as the arguments of `dedup` and `pairs`."""
    return {**finding_of(given), **{name: given[name] for name in ("on_error", "max_document_bytes", "threads")}}


def finding_of(given: dict[str, Any]) -> dict[str, Any]:
    """Where in the inputs the documents are, as arguments of `dedup`, or of `Reading`."""
    return {
        **{name: given[name] for name in ("text_field", "id_field", "url_field", "html", "quoting")},
        "format": given["format_"],
    }


class Given(PathLike[str]):
    """A path or URL as it was typed: `pathlib` would fold the slashes of a URL."""

    def __init__(self, typed: str) -> None:
        self.typed = typed

    def __fspath__(self) -> str:
        return self.typed


class _Unneeded(MetaPathFinder):
    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        """Not there."""
        if fullname in ("pandas", "scipy"):
            raise ModuleNotFoundError(fullname)


def without_unneeded() -> None:
    """Arrow and numba look for pandas and scipy at their first use, and import them where they are installed: half a
    second for what nothing in these commands needs."""
    sys.meta_path.insert(0, _Unneeded())
