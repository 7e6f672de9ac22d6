"""`python -m benchmarks.scale.whole`: all of `neardup dedup`, as a process, on real pages and on a large Parquet set.

Beside every run stand the floors of the same session (`floors`): what pyarrow needs to read the data and to write them
again, what `wc -w` needs to find the words; for pages also what reading their bytes and what parsing them costs. Runs
and floors take turns, and the least of several counts.

    --sets manuals       Debian's manuals (`manuals`), 1.5 GB of HTML in files
    --sets synthetic     so many documents (`synthetic`), 10 million if not said otherwise
    --before CHECKOUT    another checkout of neardup, which runs in turn with this one

The machine may have other things to do: CPU seconds, which are of the whole process tree, tell more then than the
wall's. Results go to results/whole.json and whole.md; sets that are not run again keep their figures.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.scale import manuals, synthetic
from benchmarks.speed import machine, measure
from benchmarks.speed.settings import default_work

RESULTS = Path(__file__).parent / "results"
WC = "LC_ALL=C find {folder} -type f -print0 | LC_ALL=C xargs -0 -P {threads} -n 500 wc -w > /dev/null"
HERE, BEFORE = "neardup dedup", "neardup dedup, before"


def main(argv: list[str] | None = None) -> int:
    """Measure, write and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale.whole", description=__doc__.partition("\n")[0])
    parser.add_argument("--sets", nargs="+", choices=["manuals", "synthetic"], default=["manuals", "synthetic"])
    parser.add_argument("--documents", type=float, default=1e7, help="of the synthetic set (default 1e7)")
    parser.add_argument("--pages", type=Path, help="a folder of pages (default: Debian's manuals, fetched if missing)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=2, help="of everything; the least counts (default 2)")
    parser.add_argument("--before", type=Path, help="another checkout, to compare with")
    parser.add_argument("--no-floors", action="store_true", help="dedup alone")
    parser.add_argument("--work", type=Path, default=default_work(), help="for data and outputs")
    parser.add_argument("--results", type=Path, default=RESULTS)
    asked = parser.parse_args(argv)
    path = asked.results / "whole.json"
    sets: dict[str, Any] = json.loads(path.read_text())["sets"] if path.exists() else {}
    for name in asked.sets:
        folder, facts = _pages(asked) if name == "manuals" else _documents(asked)
        found = compare(folder, asked, pages=name == "manuals")
        described = {key: machine.describe()[key] for key in ("time", "commit")}
        key = name if name == "manuals" else f"{name}, {int(asked.documents):,}"
        sets[key] = {**facts, **described, "threads": asked.threads, "repeats": asked.repeats, "measured": found}
        asked.results.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**machine.describe(), "sets": sets}, indent=1) + "\n")
        print(table(key, sets[key]), flush=True)
    (asked.results / "whole.md").write_text("\n\n".join(table(key, sets[key]) for key in sets) + "\n")
    return 0


def _pages(asked: argparse.Namespace) -> tuple[Path, dict[str, Any]]:
    folder = asked.pages or manuals.default_folder()
    if not folder.exists():
        if asked.pages:
            sys.exit(f"{folder} is not there; without --pages Debian's manuals are fetched")
        manuals.fetch(folder)
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file() and not _hidden(path, folder)]
    return folder, {"documents": len(sizes), "bytes": sum(sizes)}


def _hidden(path: Path, folder: Path) -> bool:
    """Files and folders whose names begin with a dot are passed over."""
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def _documents(asked: argparse.Namespace) -> tuple[Path, dict[str, Any]]:
    folder, facts = synthetic.build(int(asked.documents), asked.work, processes=asked.threads)
    return folder, {**facts, "bytes": facts["text_bytes"]}


def compare(folder: Path, asked: argparse.Namespace, *, pages: bool) -> dict[str, Any]:
    """Everything once, then everything again; of each the run of least CPU time, which others disturb least."""
    measured: dict[str, dict[str, Any]] = {}
    versions = {HERE: machine.PROJECT, **({BEFORE: asked.before.resolve()} if asked.before else {})}
    for _ in range(asked.repeats):
        for name, checkout in versions.items():
            _keep_least(measured, name, dedup(folder, asked, checkout))
        if not asked.no_floors:
            for name, found in floors(folder, asked, pages=pages).items():
                _keep_least(measured, name, found)
    return measured


def _keep_least(measured: dict[str, dict[str, Any]], name: str, found: dict[str, Any]) -> None:
    walls = [found["seconds"], *measured.get(name, {}).get("all_seconds", [])]
    if name not in measured or found["cpu_seconds"] < measured[name]["cpu_seconds"]:
        measured[name] = found
    measured[name]["all_seconds"] = walls
    print(f"{name}: {found['seconds']:.1f} s, CPU {found['cpu_seconds']:.1f} s", file=sys.stderr, flush=True)


def dedup(folder: Path, asked: argparse.Namespace, checkout: Path) -> dict[str, Any]:
    """One run, with what run.json says of its steps."""
    with tempfile.TemporaryDirectory(prefix="whole-", dir=_made(asked.work)) as work:
        out = Path(work, "out")
        command = [sys.executable, "-m", "neardup", "dedup", folder, "-o", out, "-q", "--threads", str(asked.threads)]
        path = {"PYTHONPATH": os.pathsep.join([str(checkout / "src"), str(checkout)])}
        cost = measure.run(command, log=Path(work, "log"), environment=path)
        run = json.loads((out / "run.json").read_text())
        counts = {key: run["counts"][key] for key in ("documents", "removed", "candidates", "pairs_measured")}
        return {**_figures(cost), "counts": counts, "steps": run["steps"]}


def floors(folder: Path, asked: argparse.Namespace, *, pages: bool) -> dict[str, Any]:
    """What others need for less."""
    names = {"read": "files read" if pages else "pyarrow reads"}
    names["read-write"] = "files copied" if pages else "pyarrow reads and writes"
    if pages:
        names |= {"parse": "pages parsed", "extract": "pages parsed, main text taken out"}
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="whole-", dir=_made(asked.work)) as work:
        target = Path(work, "target")
        for floor, name in names.items():
            command = [sys.executable, "-m", "benchmarks.scale.floors", floor, folder, target, str(asked.threads)]
            path = {"PYTHONPATH": os.pathsep.join([str(machine.PROJECT / "src"), str(machine.PROJECT)])}
            found[name] = _figures(measure.run(command, log=Path(work, "log"), environment=path))
            shutil.rmtree(target, ignore_errors=True)
        words, share = folder, 1.0
        if not pages:
            words = target
            command = [sys.executable, "-m", "benchmarks.scale.floors", "text", folder, words]
            measure.run(command, log=Path(work, "log"), environment=path)
            total = synthetic.build(int(asked.documents), asked.work)[1]["text_bytes"]
            share = words.stat().st_size / (total + asked.documents * 1.0)
        counting = WC.format(folder=words, threads=asked.threads)
        cost = _figures(measure.run(["sh", "-c", counting], log=Path(work, "log")))
        share = min(1.0, share)
        found["wc -w"] = {**cost, "seconds": cost["seconds"] / share, "cpu_seconds": cost["cpu_seconds"] / share}
        found["wc -w"]["measured_share"] = round(share, 4)
    return found


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _figures(cost: measure.Cost) -> dict[str, Any]:
    return {"seconds": cost.wall, "cpu_seconds": cost.cpu, "peak_bytes": cost.peak_tree}


def table(name: str, found: dict[str, Any]) -> str:
    """The results for the documentation: runs, their steps, the floors, each beside the run's CPU seconds."""
    megabytes = found["bytes"] / 1e6
    whole = found["measured"][HERE]["cpu_seconds"]
    what = "HTML" if name == "manuals" else "text"
    lines = [
        f"**{name}**: {found['documents']:,} documents, {megabytes:,.0f} MB of {what}, {found['threads']} threads, "
        f"the least CPU time of {found['repeats']}",
        "",
        "| | seconds | CPU seconds | MB/s of CPU | peak, MB | share of dedup's CPU |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]

    def row(title: str, seconds: float, cpu: float, peak: float, strong: str = "") -> None:
        rate = f"{megabytes / cpu:,.0f}" if cpu >= 0.05 else ""
        most = f"{peak / 1e6:,.0f}" if peak else ""
        lines.append(f"| {strong}{title}{strong} | {seconds:,.1f} | {cpu:,.1f} | {rate} | {most} | {cpu / whole:.2f} |")

    for title, one in found["measured"].items():
        row(title, one["seconds"], one["cpu_seconds"], one["peak_bytes"], "**" if "steps" in one else "")
        if "steps" in one:
            for step in one["steps"]:
                row(f"· {step['name']}", step["seconds"], step["cpu_seconds"], step["peak_memory_bytes"])
            rest = [one[key] - sum(step[key] for step in one["steps"]) for key in ("seconds", "cpu_seconds")]
            row("· start, planning, report", *rest, 0)
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
