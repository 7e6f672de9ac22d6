"""`python -m benchmarks.speed`: neardup and its peers, time beside quality.

All systems read the same Parquet file of --peer-documents documents; what they removed is held against the
exact pairs. neardup and the floor (pyarrow reading and writing the file) then also run on --documents.
stdout is the tables, stderr is talk, and --json holds every figure of every repetition.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.speed import corpus, machine, measure, ours, systems, table, truth
from benchmarks.speed.quality import Quality, UnknownDocumentError, judge
from benchmarks.speed.settings import default_work
from benchmarks.speed.systems import Run

NAMES = ("neardup", *(peer.name for peer in systems.PEERS))
ALSO_ON_FULL = ("neardup", "floor")


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark; 0 if every system ran, 1 if one failed, 2 if used wrongly."""
    options = _options(argv)
    peer_set = corpus.build(corpus.Parameters(options.peer_documents), options.work)
    pairs = truth.truth(peer_set.path, options.work)
    warm_up = _warm_up(options)

    measured: list[tuple[Run, Quality | None]] = []
    for name in options.only:
        run = _run(name, peer_set, options)
        measured.append((run, _judge(run, pairs, options.threshold)))
    full_measured: list[tuple[Run, Quality | None]] = []
    full = None
    full_names = [name for name in options.only if name in ALSO_ON_FULL]
    if full_names and options.documents != options.peer_documents:
        full = corpus.build(corpus.Parameters(options.documents), options.work)
        full_pairs = truth.truth(full.path, options.work) if options.full_truth else None
        for name in full_names:
            run = _run(name, full, options)
            full_measured.append((run, _judge(run, full_pairs, options.threshold) if full_pairs else None))

    report = _report(options, [peer_set, *([full] if full else [])], warm_up, [*measured, *full_measured])
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n")
    _print(options, report, measured, full_measured)
    return 1 if any(run.failure for run, _ in [*measured, *full_measured]) else 0


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--documents", type=int, default=200_000, help="of the corpus neardup and the floor run on")
    parser.add_argument("--peer-documents", type=int, default=20_000, help="of the corpus all systems run on")
    parser.add_argument("--threads", type=int, default=2, help="threads, processes or workers of every system")
    parser.add_argument("--threshold", type=float, default=0.8)
    parser.add_argument("--repeat", type=int, default=3, help="runs of each system; the fastest counts")
    parser.add_argument("--only", type=_names, default=list(NAMES), help=f"comma-separated, of {', '.join(NAMES)}")
    parser.add_argument("--full-truth", action="store_true", help="compare all pairs of the large corpus too")
    parser.add_argument("--timeout", type=float, default=7_200.0, help="seconds a single run may take")
    parser.add_argument("--work", type=Path, default=default_work(), help="corpora, environments, logs")
    parser.add_argument("--json", type=Path, default=None, help="default: speed.json in the work folder")
    options = parser.parse_args(argv)
    options.work = options.work.resolve()
    options.json = options.json or options.work / "speed.json"
    return options


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if unknown := [name for name in names if name not in NAMES]:
        raise argparse.ArgumentTypeError(f"no system is called {unknown[0]!r}; there are {', '.join(NAMES)}")
    return names


def _warm_up(options: argparse.Namespace) -> ours.WarmUp | None:
    if "neardup" not in options.only:
        return None
    try:
        return ours.warm_up(options.work, threshold=options.threshold, threads=options.threads)
    except (ours.MissingCommandError, measure.CommandFailedError) as error:
        print(f"neardup was not warmed up: {error}", file=sys.stderr)
        return None


def _run(name: str, made: corpus.Corpus, options: argparse.Namespace) -> Run:
    print(f"running {name} on {made.path.name} …", file=sys.stderr)
    run = Run(name, made.path.name, int(made.facts["documents"]), made.text_bytes)
    limits = {"repeat": options.repeat, "timeout": options.timeout}
    shared = {"work": options.work, "threshold": options.threshold, "threads": options.threads, **limits}
    if name == "neardup":
        ours.run(made.path, run, **shared)
    else:
        systems.run_peer(next(peer for peer in systems.PEERS if peer.name == name), made.path, run, **shared)
    if run.failure:
        print(f"  failed: {run.failure}", file=sys.stderr)
    return run


def _judge(run: Run, pairs: truth.Truth, threshold: float) -> Quality | None:
    if run.outcome is None or run.failure is not None:
        return None
    try:
        return judge(run.outcome, pairs, threshold=threshold)
    except UnknownDocumentError as error:
        run.failure = str(error)
        return None


def _report(
    options: argparse.Namespace,
    corpora: list[corpus.Corpus],
    warm_up: ours.WarmUp | None,
    measured: list[tuple[Run, Quality | None]],
) -> dict[str, Any]:
    runs = []
    for run, quality in measured:
        entry: dict[str, Any] = {
            "system": run.system,
            "corpus": run.corpus,
            "documents": run.documents,
            "failure": run.failure,
            "settings": run.settings,
            "versions": run.versions,
            "runs": [asdict(cost) for cost in run.costs],
        }
        if run.failure is None:
            cost = measure.best(run.costs)
            entry["best"] = {**asdict(cost), "megabytes_per_second": run.text_bytes / 1e6 / cost.wall}
            entry["quality"] = asdict(quality) if quality else None
        runs.append(entry)
    return {
        **machine.describe(),
        "parameters": {
            "threshold": options.threshold,
            "threads": options.threads,
            "repeat": options.repeat,
            "shingle_words": truth.SHINGLE,
        },
        "corpora": {made.path.name: made.facts for made in corpora},
        "neardup_warm_up": {**asdict(warm_up), "compile_seconds": warm_up.compile_seconds} if warm_up else None,
        "results": runs,
    }


def _print(
    options: argparse.Namespace,
    report: dict[str, Any],
    measured: list[tuple[Run, Quality | None]],
    full: list[tuple[Run, Quality | None]],
) -> None:
    screen = table.console()
    box, versions = report["machine"], report["versions"]
    screen.print(
        f"{box['cpu']}, {box['cores']} cores, {box['memory_bytes'] / 2**30:.0f} GiB, Linux {box['kernel']}; "
        f"Python {versions['python']}, neardup {versions['neardup']}, commit {report['commit']}",
        highlight=False,
    )
    for rows in (measured, full):
        if rows:
            run = rows[0][0]
            pairs = next((f", {quality.true_pairs:,} true pairs" for _, quality in rows if quality), "")
            screen.print(
                table.results(
                    f"{run.documents:,} documents, {run.text_bytes / 1e6:.0f} MB of text{pairs}; "
                    f"resemblance ≥ {options.threshold}, {options.threads} threads, best of {options.repeat}",
                    rows,
                )
            )
    if report["neardup_warm_up"]:
        screen.print(f"neardup compiles its kernels once, in {report['neardup_warm_up']['compile_seconds']:.1f} s")
    for sentence in table.failures([run for run, _ in [*measured, *full]]):
        screen.print(sentence, style="red", markup=False, highlight=False)
    print(f"written to {options.json}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
