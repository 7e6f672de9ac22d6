"""`python -m benchmarks.speed.startup`: what a user waits for before any work is done.

python            an interpreter that does nothing, to be subtracted in the mind
import neardup    the same, importing the library
neardup --help    the command
first dedup       10 documents with an empty kernel cache: compiles everything
later dedup       10 documents again: best of --repeat
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from rich.table import Table

from benchmarks.speed import corpus, machine, measure, ours
from benchmarks.speed.measure import Cost
from benchmarks.speed.settings import default_work
from benchmarks.speed.systems import scratch
from benchmarks.speed.table import console

DOCUMENTS = 10


def main(argv: list[str] | None = None) -> int:
    """Measure and print; 1 if one of them failed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed.startup",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--work", type=Path, default=default_work())
    parser.add_argument("--json", type=Path, default=None)
    options = parser.parse_args(argv)
    work: Path = options.work
    small = corpus.build(corpus.Parameters(DOCUMENTS), work).path

    def python(code: str) -> Cost:
        return measure.run(
            [sys.executable, "-c", code],
            log=work / "logs" / "startup.log",
            environment=ours.environment(work),
        )

    def dedup(*, empty_cache: bool = False) -> Cost:
        if empty_cache:
            shutil.rmtree(ours.environment(work)["NUMBA_CACHE_DIR"], ignore_errors=True)
        with scratch(work, "startup") as folder:
            return ours.dedup(small, folder / "out", work=work, threshold=0.8, threads=2)

    def show_help() -> Cost:
        return measure.run([ours.command(work), "--help"], log=work / "logs" / "startup.log")

    cases: list[tuple[str, Callable[[], Cost], int]] = [
        ("python", lambda: python("pass"), options.repeat),
        ("import neardup", lambda: python("import neardup"), options.repeat),
        ("neardup --help", show_help, options.repeat),
        ("first dedup", lambda: dedup(empty_cache=True), 1),
        ("later dedup", dedup, options.repeat),
    ]
    seconds: dict[str, float] = {}
    failures: dict[str, str] = {}
    for name, case, repeat in cases:
        try:
            seconds[name] = min(case().wall for _ in range(repeat))
        except (ours.MissingCommandError, measure.CommandFailedError) as error:
            failures[name] = str(error)
    if options.json:
        report = {**machine.describe(), "seconds": seconds, "failures": failures}
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    table = Table()
    table.add_column("what")
    table.add_column("wall s", justify="right")
    for name, _, _ in cases:
        table.add_row(name, f"{seconds[name]:.3f}" if name in seconds else "failed")
    screen = console()
    screen.print(f"start-up, best of {options.repeat} (the first dedup: once)", highlight=False)
    screen.print(table)
    for name, reason in failures.items():
        print(f"{name} failed: {reason}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
