"""`python -m benchmarks.scale.engines`: one collection on both engines; what it costs, and whether the answer is one.

    local           two threads
    spark           local[2]: the executor in one Java process, with two Python processes beside it
    spark-wide      the same, and no join sends its smaller side to everybody (spark.sql.autoBroadcastJoinThreshold=-1):
                    what a collection has of which both sides are large
    spark-cluster   a master and two workers of one core, each a process of its own

A case is the whole command `neardup dedup`, in a process of its own, start and writing included. Its work folder is
what it keeps on disk. `--constants` writes what `neardup plan` calculates with: see benchmarks.scale.constants.
Results go to results/engines.json, with the table beside it; cases that are not run again keep their figures.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.scale import eventlog
from benchmarks.scale.watch import Watch
from benchmarks.speed import corpus, machine
from benchmarks.speed.settings import default_work

RESULTS = Path(__file__).parent / "results"
PICTURE = Path(__file__).parents[2] / "docs" / "engines.svg"
ENGINES = ("local", "spark", "spark-wide", "spark-cluster")
DRIVER_MEMORY, WORKER_MEMORY = "4g", "1g"
_WIDE = {"spark.sql.autoBroadcastJoinThreshold": "-1", "spark.sql.adaptive.autoBroadcastJoinThreshold": "-1"}


class DifferentAnswerError(RuntimeError):
    """Two engines did not remove the same documents."""


def measure(file: Path, engine: str, *, threads: int = 2, recipe: Sequence[str] = ()) -> dict[str, Any]:
    """One case."""
    with tempfile.TemporaryDirectory(prefix="neardup-engines-") as scratch, ExitStack() as until_done:
        folder = Path(scratch)
        command = [sys.executable, "-m", "neardup", "dedup", str(file), "-o", str(folder / "out"), "-q", *recipe]
        environment = dict(os.environ)
        watch = until_done.enter_context(Watch())
        if engine == "local":
            command += ["--threads", str(threads), "--no-report"]
        else:
            (folder / "log").mkdir()
            master = f"local[{threads}]"
            if engine == "spark-cluster":
                from tests.spark.standalone import Cluster

                cluster = Cluster(workers=threads)
                until_done.callback(cluster.stop)
                master = cluster.address
            command += ["--engine", "spark", "--master", master]
            environment |= {"PYSPARK_SUBMIT_ARGS": _submitted(folder / "log", engine), "PYSPARK_PYTHON": sys.executable}
            environment |= {"SPARK_LOCAL_IP": "127.0.0.1"}
        began, cpu_began = time.time(), watch.cpu_seconds
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        seconds = time.time() - began
        if done.returncode:
            raise RuntimeError(f"{engine}: exit code {done.returncode}: {done.stderr[-2000:]}")
        run = json.loads((folder / "out" / "run.json").read_text())
        row = {
            "documents": run["counts"]["documents"],
            "engine": engine,
            "seconds": round(seconds, 2),
            "cpu_seconds": round(watch.cpu_between(began, began + seconds), 2)
            or round(watch.cpu_seconds - cpu_began, 2),
            "peak_mb": round(watch.peak / 1e6, 1),
            "input_bytes": file.stat().st_size,
            "work_bytes": _size(folder / "out" / "work"),
            "output_bytes": _size(folder / "out" / "kept"),
            "steps": {step["name"]: step["seconds"] for step in run["steps"]},
            "step_cpu": {step["name"]: step["cpu_seconds"] for step in run["steps"]},
            "counts": run["counts"],
            "rounds": run.get("rounds"),
            "recipe": run["recipe"],
            "removed": _digest(folder / "out" / "removed.parquet"),
        }
        if engine != "local":
            logged = [path for path in (folder / "log").iterdir() if path.is_file()]
            row["stages"] = [_rounded(asdict(stage)) for stage in eventlog.stages(logged[0], watch.cpu_between)]
            row["rows"] = _rows(folder / "out" / "work")
            row["tokens"] = sum(
                pq.read_table(folder / "out" / "work" / "sketches", columns=["tokens"])["tokens"].to_pylist()
            )
    return row


def _submitted(log: Path, engine: str) -> str:
    settings = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.dir": f"file://{log}",
        "spark.executor.memory": WORKER_MEMORY,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        **(_WIDE if engine == "spark-wide" else {}),
    }
    told = " ".join(f"--conf {name}={value}" for name, value in settings.items())
    return f"--driver-memory {DRIVER_MEMORY} {told} pyspark-shell"


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _rows(work: Path) -> dict[str, int]:
    """How many rows the stages have that the plan's formulas speak of."""
    names = ("sketches", "copies", "entries", "order", "members", "shelf")
    found = {name: _counted(work / name) for name in names if (work / name).exists()}
    found["measured"] = sum(_counted(path) for path in work.glob("measured-*") if not path.name.endswith(".done"))
    return found


def _counted(folder: Path) -> int:
    return sum(pq.read_metadata(path).num_rows for path in folder.glob("*.parquet"))


def _digest(removed: Path) -> str:
    """Of who was removed for whom."""
    table = pq.read_table(removed, columns=["id", "kept_id"]).sort_by("id")
    lines = zip(table["id"].to_pylist(), table["kept_id"].to_pylist(), strict=True)
    return hashlib.sha256("\n".join(f"{one}\t{other}" for one, other in lines).encode()).hexdigest()[:32]


def _rounded(values: dict[str, Any]) -> dict[str, Any]:
    return {name: round(value, 3) if isinstance(value, float) else value for name, value in values.items()}


def check_equal(rows: Sequence[dict[str, Any]]) -> None:
    """All engines removed the same documents for the same ones."""
    first: dict[int, dict[str, Any]] = {}
    for row in rows:
        other = first.setdefault(row["documents"], row)
        if row["removed"] != other["removed"]:
            raise DifferentAnswerError(
                f"{row['documents']:,} documents: {row['engine']} removed {row['counts']['removed']:,}, "
                f"{other['engine']} {other['counts']['removed']:,}, and not the same for the same."
            )


def table(rows: Sequence[dict[str, Any]]) -> str:
    """The results for the documentation."""
    lines = [
        "| documents | engine | seconds | CPU seconds | peak, MB | bytes a document on disk | shuffled | removed |",
        "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        n = row["documents"]
        shuffled = sum(stage["shuffle_bytes"] for stage in row.get("stages", ()))
        lines.append(
            f"| {n:,} | {row['engine']} | {row['seconds']:,.1f} | {row['cpu_seconds']:,.1f} | {row['peak_mb']:,.0f} | "
            f"{row['work_bytes'] / n:,.0f} | {f'{shuffled / n:,.0f}' if shuffled else '–'} | "
            f"{row['counts']['removed']:,} |"
        )
    return "\n".join(lines)


def stage_table(row: dict[str, Any]) -> str:
    """The stages of one Spark run, per document."""
    n = row["documents"]
    lines = [
        f"{row['engine']}, {n:,} documents:",
        "",
        "| stage | step | jobs | tasks | seconds | CPU, µs a document | files read | shuffled | written |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for stage in row["stages"]:
        each = (f"{stage[name] / n:,.1f}" for name in ("read_bytes", "shuffle_bytes", "written_bytes"))
        lines.append(
            f"| {stage['name']} | {stage['step']} | {stage['jobs']} | {stage['tasks']} | {stage['seconds']:.1f} | "
            f"{stage['cpu_seconds'] / n * 1e6:,.1f} | {' | '.join(each)} |"
        )
    return "\n".join([*lines, "", "Bytes a document."])


def step_table(rows: Sequence[dict[str, Any]]) -> str:
    """Seconds of the steps, as run.json has them."""
    names = list(dict.fromkeys(name for row in rows for name in row["steps"]))
    lines = [f"| documents | engine | {' | '.join(names)} |", f"| ---: | --- |{' ---: |' * len(names)}"]
    for row in rows:
        seconds = (f"{row['steps'][name]:.1f}" if name in row["steps"] else "–" for name in names)
        lines.append(f"| {row['documents']:,} | {row['engine']} | {' | '.join(seconds)} |")
    return "\n".join(lines)


def report(rows: Sequence[dict[str, Any]]) -> str:
    """All tables."""
    largest = [row for row in rows if "stages" in row]
    parts = [table(rows), "Seconds of each step:", step_table(rows)]
    for engine in ENGINES:
        of_engine = [row for row in largest if row["engine"] == engine]
        parts += [stage_table(of_engine[-1])] if of_engine else []
    return "\n\n".join(parts) + "\n"


def main(argv: list[str] | None = None) -> int:
    """Measure, check, write, draw and print; 1 if the engines differ."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale.engines", description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=float, nargs="*", default=[1e4, 1e5, 1e6])
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=["local", "spark"])
    parser.add_argument("--threads", type=int, default=2, help="of the local engine, and cores of Spark (default 2)")
    parser.add_argument("--work", type=Path, default=default_work(), help="where collections are made and stay")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--picture", type=Path, default=PICTURE)
    parser.add_argument(
        "--constants", action="store_true", help="write the constants of `neardup plan` from the results"
    )
    asked = parser.parse_args(argv)
    asked.results.mkdir(parents=True, exist_ok=True)
    path = asked.results / "engines.json"
    found = json.loads(path.read_text()) if path.exists() else {"rows": []}
    rows = {(row["documents"], row["engine"]): row for row in found["rows"]}
    for n in map(int, asked.documents):
        made = corpus.build(corpus.Parameters(n), asked.work)
        for engine in asked.engines:
            row = measure(made.path, engine, threads=asked.threads)
            described = machine.describe()
            row |= {"text_bytes": made.text_bytes, **{key: described[key] for key in ("time", "commit")}}
            row["load_average"] = described["machine"]["load_average"]
            rows[n, engine] = row
            print(table([row]).splitlines()[-1], file=sys.stderr, flush=True)
            found = {**described, "rows": [rows[key] for key in sorted(rows, key=_order)]}
            path.write_text(json.dumps(found, indent=1) + "\n")
    ordered = found["rows"]
    if not asked.constants or asked.documents:
        (asked.results / "engines.md").write_text(report(ordered))
        from benchmarks.scale import plot

        plot.draw_engines(ordered, asked.picture)
        print(report(ordered))
    if asked.constants:
        from benchmarks.scale import constants

        print(constants.write(found))
    try:
        check_equal(ordered)
    except DifferentAnswerError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _order(key: tuple[int, str]) -> tuple[int, int]:
    return ENGINES.index(key[1]), key[0]


if __name__ == "__main__":
    raise SystemExit(main())
