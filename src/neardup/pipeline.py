"""dedup(): the path of a document, on one screen.

sources → text → shingles → sketches → candidates → verify → clusters → outputs
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

from neardup.clusters.settings import ClusterMethod
from neardup.decide import decide
from neardup.engines.steps import Watcher
from neardup.errors import UsageError
from neardup.gather import Reading, gather
from neardup.index import Index
from neardup.index.against import Again, as_index_has_it, known_to, refuse_another_recipe
from neardup.recipe import Recipe
from neardup.recipes import Choose, choose_recipe
from neardup.result import Result
from neardup.sources.base import Quoting
from neardup.spark import is_frame
from neardup.text.settings import Extract, TokenKind
from neardup.verify.settings import Method

if TYPE_CHECKING:
    from neardup.spark.result import SparkResult


@overload
def dedup(source: Any, *, engine: Literal["spark"], **settings: Any) -> "SparkResult": ...


@overload
def dedup(
    source: Any,
    *,
    recipe: Recipe | str | Choose | None = None,
    threshold: float | None = None,
    recall: float | None = None,
    keep: str | Sequence[str] | None = None,
    verify: Method | None = None,
    cluster: ClusterMethod | None = None,
    tokens: TokenKind | None = None,
    width: int | None = None,
    repeats: bool | None = None,
    extract: Extract | None = None,
    permutations: int | None = None,
    seed: int | None = None,
    text_field: str | None = None,
    id_field: str | None = None,
    url_field: str | None = None,
    html: bool | None = None,
    format: str | None = None,
    quoting: Quoting | None = None,
    on_error: Literal["stop", "skip"] = "stop",
    max_document_bytes: int = 64 << 20,
    threads: int | None = None,
    work: str | Path | None = None,
    memory: int | None = None,
    against: Index | str | Path | None = None,
    again: Again = "keep",
    engine: Literal["local"] | None = None,
    watcher: Watcher | None = None,
) -> Result: ...


def dedup(  # type: ignore[misc]
    source: Any,
    *,
    recipe: Recipe | str | Choose | None = None,
    threshold: float | None = None,
    recall: float | None = None,
    keep: str | Sequence[str] | None = None,
    verify: Method | None = None,
    cluster: ClusterMethod | None = None,
    tokens: TokenKind | None = None,
    width: int | None = None,
    repeats: bool | None = None,
    extract: Extract | None = None,
    permutations: int | None = None,
    seed: int | None = None,
    text_field: str | None = None,
    id_field: str | None = None,
    url_field: str | None = None,
    html: bool | None = None,
    format: str | None = None,
    quoting: Quoting | None = None,
    on_error: Literal["stop", "skip"] = "stop",
    max_document_bytes: int = 64 << 20,
    threads: int | None = None,
    work: str | Path | None = None,
    memory: int | None = None,
    against: Index | str | Path | None = None,
    again: Again = "keep",
    engine: Literal["local", "spark"] | None = None,
    master: str | None = None,
    watcher: Watcher | None = None,
) -> "Result | SparkResult":
    """Find the near-duplicates of a collection, and which document of each group is kept.

    source: a path, a glob, a URL or a list of them; or documents in memory: anything with the Arrow C stream
    interface (Polars, pandas, DuckDB, pyarrow, Hugging Face datasets), a list of strings, a list of dicts.
    recipe: the name of a published system (`neardup.recipe_names()`), a TOML file or a Recipe. Without one it is
    `default`, or `web` where most documents are web pages; the sketch follows from the threshold and the recall. Other
    settings, where given, change the recipe.
    threshold: the exact resemblance of two shingle sets from which on they are near-duplicates; 0.8 if not given, and
    0.65 for the main content of web pages.
    recall: the probability that a pair at the threshold is found; 0.99 if not given.
    quoting: of CSV and TSV files: "standard" (RFC 4180) or "none" (quotation marks are text). Without it none where
    tabs separate values, else standard.
    work: a folder that remembers what is done, so that a killed run goes on where it was.
    memory: bytes that linking features may take, where a recipe judges by features alone; what does not fit is done
    from disk, in `work`. Most of what is free if None. Everything else takes little.
    against: an index; documents that are similar to one of its documents are removed, and the others are compared with
    each other. The recipe is the index's if none is given. Nothing is added to it: `Index.add_run` does that.
    again: what becomes of documents that the index has under the same id and with the same words: "keep", because a
    document is no duplicate of itself, or "remove" for a batch that brings known documents once more.
    engine: local, or spark for Apache Spark, which is also meant where the source is a Spark DataFrame. The active
    session is used, or one is started, on `master` or as Spark is configured. The answer is the same; what is returned
    has DataFrames.
    """
    settings: dict[str, Any] = {
        "threshold": threshold,
        "recall": recall,
        "keep": keep,
        "verify": verify,
        "cluster": cluster,
        "tokens": tokens,
        "width": width,
        "repeats": repeats,
        "extract": extract,
        "permutations": permutations,
        "seed": seed,
    }
    reading = Reading(
        text_field, id_field, url_field, html, format, on_error, max_document_bytes, threads, work, memory, quoting
    )
    if engine == "spark" or (engine is None and is_frame(source)):
        if against is not None:
            raise UsageError("against = an index: it works with the local engine alone.")
        from neardup.spark.run import on_spark

        wanted = recipe if callable(recipe) else lambda pages: choose_recipe(recipe, **settings, pages=pages)
        return on_spark(source, wanted, reading, watcher, master)
    if engine not in ("local", None) or master is not None:
        said = f"engine = {engine!r}" if engine not in ("local", None) else f"master = {master!r}"
        raise UsageError(f"{said}: engines are local and spark, and only the latter has a master.")
    if again not in get_args(Again):
        raise UsageError(f"again = {again!r}: choose keep or remove.")
    with _opened(against) as index:
        given = index.recipe if index is not None and recipe is None else recipe

        if callable(given):
            choose: Choose = given
        else:
            plain = given

            def choose(pages: bool) -> Recipe:
                return as_index_has_it(index, recipe, seed, choose_recipe(plain, **settings, pages=pages))

        if index is not None and not callable(given):
            refuse_another_recipe(index, choose(False))  # a named one is the same for pages
        state = None if index is None else {**index.state(), "again": again}
        with gather(source, choose, reading, watcher, state) as gathered:
            known = None if index is None else known_to(index, gathered, again)
            return Result(gathered, decide(gathered, known))


@contextmanager
def _opened(index: Index | str | Path | None) -> Iterator[Index | None]:
    """One that is open stays so."""
    if index is None or isinstance(index, Index):
        yield index
    else:
        with Index.open(index, create=False, read_only=True) as opened:
            yield opened
