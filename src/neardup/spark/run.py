"""dedup() on Spark: the path of a document, on one screen.

sources → text → shingles → sketches → candidates → verify → clusters → outputs
"""

from contextlib import ExitStack
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.storagelevel import StorageLevel

from neardup.clusters.keep import keep_columns
from neardup.decide import by_features_alone
from neardup.engines.steps import Steps, Watcher
from neardup.errors import InputError
from neardup.gather import Reading, chosen_recipe
from neardup.recipe import Recipe
from neardup.recipes import Choose
from neardup.spark import is_frame
from neardup.spark.candidates import candidates
from neardup.spark.components import components, linked
from neardup.spark.inputs import Collected, collected, named
from neardup.spark.outcome import decided
from neardup.spark.result import SparkResult
from neardup.spark.session import check_workers, session_for
from neardup.spark.sketching import Sent, Sketching, layout
from neardup.spark.stages import Stages
from neardup.spark.stars import Formed, stars
from neardup.spark.tasks import unwrapping
from neardup.spark.weighing import Scale
from neardup.text.extract import require_extractor


def on_spark(
    source: Any, recipe: Recipe | Choose, reading: Reading, watcher: Watcher | None, master: str | None
) -> SparkResult:
    """`dedup` in the session at hand, or in one that is started, and stopped when the result is closed."""
    with ExitStack() as until_closed:
        spark = source.sparkSession if is_frame(source) else until_closed.enter_context(session_for(master))
        result = dedup(spark, source, recipe, reading, watcher)
        result.closing.push(until_closed.pop_all())
    return result


def dedup(
    spark: SparkSession, source: Any, recipe: Recipe | Choose, reading: Reading, watcher: Watcher | None
) -> SparkResult:
    """Find the near-duplicates of a collection, and which document of each group is kept.

    reading.work: a folder that Spark reaches. What is done is kept there, and a killed run goes on.
    """
    steps = Steps(watcher)
    check_workers(spark)
    inputs = named(spark, source, reading)
    said: list[str] = []
    asked = recipe if isinstance(recipe, Recipe) else recipe(False)
    plan = {"recipe": asked.to_dict(), "inputs": inputs.plan(reading), "rules": _rules(reading)}
    stages = Stages(spark, None if reading.work is None else str(reading.work), plan)
    with steps.step("sketch"), unwrapping():
        documents = collected(spark, inputs, reading, asked.clusters.keep, stages)
        if any(f.fields.html or f.format == "html" for f in documents.files):
            require_extractor()
        recipe = chosen_recipe(recipe, list(documents.files), said)
        sent = Sent.of(recipe)
        sketches = _sketched(documents, recipe, sent, reading, stages)
    said += documents.said
    for sentence in dict.fromkeys(said):
        steps.say(sentence)
    if stages.resumed:
        steps.say("Going on with the work of an earlier run.")
    with steps.step("candidates"), unwrapping():
        found = candidates(spark, sketches, recipe, sent, stages)
    with steps.step("verify"), unwrapping():
        scale = Scale.of(sent, found, sketches, documents, stages)
        buckets = found.buckets(sketches).persist(StorageLevel.DISK_ONLY)
        formed = _formed(sent, found, buckets, scale, stages)
        buckets.unpersist()
    with steps.step("decide"), unwrapping():
        decisions = stages.keep("decided", decided(found, formed, *scale.how))
        documents.check()
    members = found.entries.select("number").distinct().count()
    return SparkResult(
        spark, documents, recipe, sketches, decisions, formed, members, steps, stages, list(dict.fromkeys(said))
    )


def _rules(reading: Reading) -> dict[str, Any]:
    return {"on_error": reading.on_error, "max_document_bytes": reading.max_document_bytes}


def _sketched(documents: Collected, recipe: Recipe, sent: Sent, reading: Reading, stages: Stages) -> DataFrame:
    columns = keep_columns(recipe.clusters.keep)
    work = Sketching(sent, columns, (reading.on_error, reading.max_document_bytes))
    sketches = stages.keep("sketches", lambda: documents.read(work, layout(columns)))
    if reading.on_error == "stop":
        _refuse_repeated(sketches)
    return sketches


def _refuse_repeated(sketches: DataFrame) -> None:
    """An id that occurs twice."""
    repeated = sketches.filter("number is not null").groupBy("id").agg(
        F.count("*").alias("n"), F.min("number").alias("first")
    )  # fmt: skip
    found = sketches.join(repeated.filter("n > 1"), "id").filter("number != first").sort("number").limit(1).collect()
    if found:
        name, first = found[0]["id"], found[0]["first"]
        before = sketches.filter(F.col("number") == first).select("source", "position").collect()[0]
        raise InputError(
            f"{found[0]['source']}:{found[0]['position']}: duplicate id: {name!r} is the id at {before['source']}:"
            f"{before['position']} too\nMake ids unique, choose another column with --id-field (id_field=), number the "
            'documents with --id-field none, or pass over it with --on-error skip (on_error="skip").'
        )


def _formed(sent: Sent, found: Any, buckets: DataFrame, scale: Scale, stages: Stages) -> Formed:
    recipe = sent.recipe
    if by_features_alone(recipe):
        return linked(found, scale, stages)
    if recipe.clusters.method == "components":
        return components(sent, buckets, scale, found.size, stages)
    return stars(sent, buckets, scale, found.size, stages)
