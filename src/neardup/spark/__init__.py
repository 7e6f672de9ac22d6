"""The same path on Apache Spark: DataFrames and `mapInArrow` alone, so that a user's own session, classic or Spark
Connect, is as good as one of ours. Nothing here takes paths for local ones.

    session     the session: the user's own, or one that is started and stopped; what the machines must have
    tasks       Python functions on executors, and their errors brought home
    stages      frames that are made once: kept in a folder, so that a killed run goes on, or for as long as it lasts
    chosen      some rows of a large frame, by a bit per document: the frame does not travel
    listing     paths, folders and globs as Spark finds them → input files, in the order of the local engine
    reading     batches of Spark's rows → the documents that every engine sketches
    parts       the inputs of one format as a frame of rows
    inputs      a source → documents with their numbers
    sketching   documents → sketches, keys, shingle sets
    problems    what could not be read or compared
    candidates  identity sets, shared keys, the order of the keep policy
    columns     columns of bytes ↔ the arrays of the kernels
    passes      buckets → pairs that count
    weighing    pairs → what was found of them
    stars       who is kept, by rounds
    components  who is connected, by large-star and small-star
    outcome     from there to every document, and the tables of it
    corpus      the kept documents, written
    storage     what is there, and what is to go, wherever Spark writes
    result      what dedup returns
    run         dedup(), on one screen
"""

from typing import Any


def is_frame(source: Any) -> bool:
    """Whether it is a Spark DataFrame, classic or of Spark Connect. Does not load pyspark."""
    return any(c.__name__ == "DataFrame" and c.__module__.startswith("pyspark.sql.") for c in type(source).__mro__)
