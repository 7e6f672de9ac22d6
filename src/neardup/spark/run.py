"""dedup() on Spark: the path of a document, on one screen.

sources → text → shingles → sketches → candidates → verify → clusters → outputs
"""

from contextlib import ExitStack
from typing import Any
from weakref import WeakSet

from pyspark.sql import DataFrame, SparkSession
from pyspark.storagelevel import StorageLevel

from neardup._version import __version__
from neardup.clusters.keep import keep_columns
from neardup.decide import by_features_alone
from neardup.engines.steps import Steps, Watcher
from neardup.errors import UsageError
from neardup.gather import Reading, chosen_recipe, lacking, page_folders
from neardup.recipe import Recipe
from neardup.recipes import Choose
from neardup.spark import is_frame
from neardup.spark.candidates import candidates
from neardup.spark.components import components, linked
from neardup.spark.crowds import relieved
from neardup.spark.inputs import Collected, Named, collected, named
from neardup.spark.outcome import decided
from neardup.spark.problems import pages_met, refuse_nothing_read, refuse_repeated, repeated_ids, unread
from neardup.spark.result import SparkResult
from neardup.spark.session import check_workers, refuse_another, session_for
from neardup.spark.sketching import Sent, Sketching, layout
from neardup.spark.stages import Stages
from neardup.spark.stars import Formed, stars
from neardup.spark.tasks import unwrapping
from neardup.spark.weighing import Scale
from neardup.text.extract import extractor, require_extractor

_STAGES = 5
"""Another number whenever a stage has other columns or a round guesses otherwise: work of another one is refused."""

_FIT: WeakSet[SparkSession] = WeakSet()
"""Sessions whose workers have been looked at."""


def on_spark(
    source: Any, recipe: Recipe | Choose, reading: Reading, watcher: Watcher | None, master: str | None
) -> SparkResult:
    """`dedup` in the session at hand, or in one that is started, and stopped when the result is closed."""
    if reading.threads is not None:
        raise UsageError(f"threads = {reading.threads}: how many there are is for Spark to say (spark.executor.cores).")
    with ExitStack() as until_closed:
        if is_frame(source):
            spark = source.sparkSession
            refuse_another(spark, master)
        else:
            spark = until_closed.enter_context(session_for(master))
        return dedup(spark, source, recipe, reading, watcher, until_closed)


def dedup(
    spark: SparkSession,
    source: Any,
    recipe: Recipe | Choose,
    reading: Reading,
    watcher: Watcher | None,
    until_closed: ExitStack,
) -> SparkResult:
    """Find the near-duplicates of a collection, and which document of each group is kept.

    reading.work: a folder that Spark reaches. What is done is kept there, and a killed run goes on.
    until_closed: what is to be let go of in the end; the result takes it over.
    """
    steps = Steps(watcher)
    if spark not in _FIT:
        check_workers(spark)
        _FIT.add(spark)
    inputs = named(spark, source, reading)
    asked = recipe if isinstance(recipe, Recipe) else recipe(False)
    folder = None if reading.work is None else str(reading.work)
    with unwrapping():
        stages = Stages(spark, folder, _plan(asked, inputs, reading), resumable=inputs.frame is None)
    until_closed.enter_context(stages)
    with stages.noting_failure():
        with steps.step("sketch"), unwrapping():
            documents = collected(spark, inputs, reading, asked.clusters.keep, stages)
            files, said = list(documents.files), list(documents.said)
            if any(f.fields.html or f.format == "html" for f in files):
                require_extractor()
            recipe = chosen_recipe(recipe, files, said)
            sent = Sent.of(recipe)
            said += lacking(recipe, files)
            _say(steps, said)
            if stages.resumed:
                steps.say("Going on with the work of an earlier run.")
            sketches = _sketched(documents, recipe, sent, reading, stages)
            repeated = stages.keep("repeated", lambda: repeated_ids(sketches))
            if reading.on_error == "stop":
                refuse_repeated(repeated)
            else:
                refuse_nothing_read(unread(spark, sketches, repeated, documents.noted), sketches)
        more = pages_met(sketches)
        with steps.step("candidates"), unwrapping():
            found = candidates(spark, sketches, recipe, sent, stages, more)
        _say(steps, more)
        with steps.step("verify"), unwrapping():
            scale = Scale.of(sent, found, documents, stages)
            entries = relieved(sent, found, scale, stages)
            buckets = found.buckets(recipe.sketcher, entries).persist(StorageLevel.DISK_ONLY)
            until_closed.callback(buckets.unpersist)
            formed = _formed(sent, found, buckets, scale, stages)
            buckets.unpersist()
        with steps.step("decide"), unwrapping():
            decisions = stages.keep("decided", decided(found, formed, *scale.how))
            documents.check()
            members = stages.rows("members")
        stages.drop(but=("rows", "lines", "sketches", "repeated", "decided"))
        problems = unread(spark, sketches, repeated, documents.noted)
        told = list(dict.fromkeys([*said, *more]))
        return SparkResult(
            spark,
            documents,
            recipe,
            sketches,
            decisions,
            problems,
            formed,
            members,
            steps,
            told,
            stages.claim,
            until_closed.pop_all(),
        )


def _plan(recipe: Recipe, inputs: Named, reading: Reading) -> dict[str, Any]:
    """What tells this run from others. Whether inputs hold pages is not known yet: what reads pages is always named.

    Rounds go on from the rounds before, whose guesses another version may make otherwise.
    """
    return {
        "neardup": __version__,
        "stages": _STAGES,
        "recipe": {"id": recipe.id, **recipe.to_dict()},
        "inputs": inputs.plan(reading),
        "on_error": reading.on_error,
        "max_document_bytes": reading.max_document_bytes,
        "extractor": extractor(),
    }


def _say(steps: Steps, said: list[str]) -> None:
    for sentence in dict.fromkeys(said):
        steps.say(sentence)


def _sketched(documents: Collected, recipe: Recipe, sent: Sent, reading: Reading, stages: Stages) -> DataFrame:
    columns = keep_columns(recipe.clusters.keep)
    rules = reading.on_error, reading.max_document_bytes
    work = Sketching(sent, columns, rules, tuple(page_folders(documents.files)))
    return stages.keep("sketches", lambda: documents.read(work, layout(columns)))


def _formed(sent: Sent, found: Any, buckets: DataFrame, scale: Scale, stages: Stages) -> Formed:
    recipe = sent.recipe
    if by_features_alone(recipe):
        return linked(found, scale, stages)
    if recipe.clusters.method == "components":
        return components(sent, buckets, scale, found.size, stages)
    return stars(sent, buckets, scale, found.size, stages)
