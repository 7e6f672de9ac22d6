"""What `dedup` returns on Spark: DataFrames of the user's session, and a way to write them all.

result.kept            the kept documents, all columns untouched
result.removed         id, kept_id, relation, resemblance, containment both ways
result.groups          id, group_id, size, kept
result.counts          counts of everything
result.write(path)     the folder that the command writes, wherever Spark reaches
"""

import atexit
import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from neardup._version import __version__
from neardup.engines.steps import Step, Steps
from neardup.errors import OutputError, UsageError
from neardup.kernels import text as kernel
from neardup.model import RELATIONS
from neardup.recipe import Recipe
from neardup.result import filter_of
from neardup.sources.files import printable
from neardup.sources.problems import COMPARED_ANYWAY
from neardup.spark.corpus import annotated_rows, check_annotated, kept_documents, kept_rows, other_lines, write
from neardup.spark.footers import timestamp_form, writing_timestamps
from neardup.spark.inputs import Collected
from neardup.spark.outcome import groups_table, id_type, notes_table, removed_table
from neardup.spark.reading import PROBLEMS
from neardup.spark.stars import Formed
from neardup.spark.storage import delete, exists, refuse_foreign, write_text
from neardup.spark.tasks import unwrapping


class SparkResult:
    """The outcome of a deduplication. Frames are read, or made, when they are asked for."""

    def __init__(
        self,
        spark: SparkSession,
        documents: Collected,
        recipe: Recipe,
        sketches: DataFrame,
        decisions: DataFrame,
        problems: DataFrame,
        formed: Formed,
        candidates: int,
        steps: Steps,
        said: list[str],
        claim: Callable[[str], bool],
        closing: ExitStack,
    ) -> None:
        self._spark, self._documents, self._problems = spark, documents, problems
        self._sketches = sketches.filter("number is not null")
        self._decisions, self._formed, self._candidates = decisions, formed, candidates
        self._steps, self._claim, self._closing = steps, claim, closing
        self.recipe, self.said = recipe, said
        # A session that is let go of when Python ends cannot be stopped any more: its gateway is gone by then.
        atexit.register(closing.close)

    @cached_property
    def kept(self) -> DataFrame:
        """The kept documents with all their columns."""
        wholes = self._documents.whole
        if len(wholes) > 1:
            formats = ", ".join(whole.format for whole in wholes)
            raise UsageError(f"the inputs are of several formats ({formats}), which make no one frame; use write().")
        return kept_documents(wholes[0], self._sketches.select("number"), self._gone)

    @cached_property
    def _ids(self) -> str:
        """The type of ids."""
        with unwrapping():
            return id_type(self._sketches)

    @property
    def _gone(self) -> DataFrame:
        return self._decisions.select("number")

    @property
    def removed(self) -> DataFrame:
        """The removed documents, each with the kept one and the measured numbers."""
        return removed_table(self._decisions, self._sketches, self._ids)

    @property
    def groups(self) -> DataFrame:
        """The documents of groups of two or more."""
        return groups_table(self._decisions, self._sketches, self._ids)

    @property
    def skipped(self) -> DataFrame:
        """What could not be read or compared, with the reason."""
        return self._problems.sort(*PROBLEMS.names)

    @property
    def steps(self) -> list[Step]:
        """What each step cost; of memory, what the driver needed."""
        return self._steps.done

    @cached_property
    def counts(self) -> dict[str, Any]:
        """Counts of everything."""
        with unwrapping():
            gone = self._decisions.select("number", "relation")
            told = self._sketches.join(gone, "number", "left")
            status = {name: F.sum((F.col("status") == int(code)).cast("long")) for name, code in _STATUS.items()}
            row = told.agg(
                F.count("*").alias("documents"),
                F.count("relation").alias("removed"),
                F.sum("bytes").alias("text_bytes"),
                F.sum(F.when(F.col("relation").isNotNull(), F.col("bytes"))).alias("text_bytes_removed"),
                *(value.alias(name) for name, value in status.items()),
            ).collect()[0]
            relations = {r["relation"]: r["count"] for r in gone.groupBy("relation").count().collect()}
            sizes = self._decisions.groupBy("kept_for").count()
            groups = sizes.agg(F.count("*").alias("n"), F.max("count").alias("most")).collect()[0]
            kinds = {r["kind"]: r["count"] for r in self._problems.groupBy("kind").count().sort("kind").collect()}
        found = {name: int(row[name] or 0) for name in row.asDict()}
        return {
            "documents": found["documents"],
            "kept": found["documents"] - found["removed"],
            "removed": found["removed"],
            "removed_by_relation": {name: relations.get(name, 0) for name in RELATIONS},
            "removed_against_index": 0,
            "groups": groups["n"],
            "largest_group": (groups["most"] or 0) + 1,
            "text_bytes": found["text_bytes"],
            "text_bytes_removed": found["text_bytes_removed"],
            "empty": found["empty"],
            "short": found["short"],
            "undecodable": found["undecodable"],
            "skipped": sum(count for kind, count in kinds.items() if kind not in COMPARED_ANYWAY),
            "skipped_by_kind": kinds,
            "candidates": self._candidates,
            "pairs_measured": self._formed.measured,
            **self._formed.loss.counts(found["removed"] - relations.get("identical", 0)),
        }

    @property
    def known_by(self) -> list[str]:
        """Nothing: there is no index on Spark."""
        return []

    @cached_property
    def a_removed_one(self) -> str:
        """The id of one of them, where there is any."""
        first = self.removed.select("id").first()
        return "" if first is None else str(first["id"])

    def __repr__(self) -> str:
        counts = self.counts
        return (
            f"<neardup.SparkResult: {counts['documents']:,} documents, {counts['kept']:,} kept, "
            f"{counts['removed']:,} removed>"
        )

    def run(self) -> dict[str, Any]:
        """What run.json holds."""
        return {
            "neardup": __version__,
            "engine": {"name": "spark", "version": self._spark.version},
            "recipe": {"id": self.recipe.id, **self.recipe.to_dict()},
            "filter": filter_of(self.recipe),
            "counts": self.counts,
            "inputs": [
                {"path": printable(f.path), "format": f.format, "bytes": f.size, "fields": asdict(f.fields)}
                for f in self._documents.files
            ],
            "said": self.said,
            "rounds": self._formed.rounds,
            "steps": self._steps.to_list(),
        }

    def write(self, path: str | Path, *, annotate: bool = False, corpus: bool = True) -> None:
        """Write OUT/kept, removed.parquet, groups.parquet, skipped.parquet (where something was) and run.json, folders
        of Spark's making but for the last.

        annotate: OUT/kept holds every document, with columns that say what was found. corpus=False: no OUT/kept.
        run.json appears last: where it is, everything else is whole.
        """
        out = str(path).rstrip("/")
        with self._steps.step("write"), unwrapping():
            if corpus and annotate:
                check_annotated(self._documents.whole)
            timestamps = self._timestamps() if corpus else None
            refuse_foreign(self._spark, out, ours=exists(self._spark, f"{out}/work/plan"))
            self._claim(f"{out}/work")
            for name in ("run.json", "skipped.parquet"):
                delete(self._spark, f"{out}/{name}")
            for name, rows in (("removed", self.removed), ("groups", self.groups)):
                rows.write.mode("overwrite").option("compression", "zstd").parquet(f"{out}/{name}.parquet")
            if self.counts["skipped_by_kind"]:
                self.skipped.coalesce(1).write.mode("overwrite").parquet(f"{out}/skipped.parquet")
            if corpus:
                with writing_timestamps(self._spark, timestamps):
                    self._write_corpus(out, annotate)
            self._documents.check()
        write_text(self._spark, f"{out}/run.json", json.dumps(self.run(), indent=1, ensure_ascii=False) + "\n")

    def _timestamps(self) -> str | None:
        """How Parquet inputs store them; what cannot be written like that is refused before anything is written."""
        rows = next((whole.frame for whole in self._documents.whole if whole.format == "parquet"), None)
        return None if rows is None else timestamp_form(self._spark, rows.schema, self._documents.parquet_paths)

    def _write_corpus(self, out: str, annotate: bool) -> None:
        """What was written is read back and counted: a store that lost a file is noticed here."""
        wholes = self._documents.whole
        numbers = self._sketches.select("number")
        delete(self._spark, f"{out}/kept")
        written = others = 0
        for whole in wholes:
            place = f"{out}/kept" if len(wholes) == 1 else f"{out}/kept/{whole.format}"
            if annotate:
                rows = annotated_rows(whole, numbers, notes_table(self._decisions, self._sketches, self._ids))
            else:
                rows = kept_rows(whole, self._gone)
            written += write(rows, whole, place)
            others += other_lines(whole, numbers).count() if whole.format == "jsonl" else 0
        written -= others
        expected = self.counts["documents" if annotate else "kept"]
        if written != expected:
            raise OutputError(
                f"{out}/kept holds {written:,} documents, and {expected:,} were to be written. Run it again; if that "
                "does not help, look at the committer of the store (docs/spark.md, object stores)."
            )

    def close(self) -> None:
        """Let go of what executors keep for it, and stop the session if it was started for this."""
        atexit.unregister(self._closing.close)
        self._closing.close()

    def __enter__(self) -> "SparkResult":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


_STATUS = {"empty": kernel.EMPTY, "short": kernel.SHORT, "undecodable": kernel.INVALID}
