"""`python -m benchmarks.crowds.audits`: does `neardup audit` confirm the recall that a run states, on real crowds?

Three manuals whose pages share a frame, of the collections of benchmarks.quality (there is how to get them):

    debian-llvm-html              LLVM's documentation in six releases
    rust-doc, openjdk-17-doc      2,500 pages each, much boilerplate around little text

--whole takes all pages of these two packages instead of 2,500 (fetched with apt-get; see benchmarks.scale.manuals), as
a folder of files: recipe `web` takes them for pages of one host.

Each is deduplicated and audited with recipe `default` (all text), with `web` (main content), and with `web` and all
text, without addresses and with them (two pages of one host then need 0.85). All text is the hard case: the frame
alone brings pages near the threshold.

    stated      the probability that a pair at the threshold shares a key: what the run promises
    audited     of the sampled texts that should go, how many are gone, with its interval
    crowded     documents that the summary says were cut short by a bound, and the recall that it says is lost by that
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.quality.data import COLLECTIONS, Labelled, folder
from benchmarks.scale import manuals
from benchmarks.speed import machine

RESULTS = Path(__file__).parent / "results"
NAMES = ("debian-llvm-html", "rust-doc", "openjdk-17-doc")
PACKAGES = NAMES[1:]


@dataclass(frozen=True)
class Variant:
    """How a collection is read."""

    name: str
    options: tuple[str, ...]
    addresses: bool = False


VARIANTS = (
    Variant("default", ("--recipe", "default")),
    Variant("web", ("--recipe", "web")),
    Variant("web, all text", ("--recipe", "web", "--extract", "all")),
    Variant("web, all text, with addresses", ("--recipe", "web", "--extract", "all"), True),
)


def main(argv: list[str] | None = None) -> int:
    """Deduplicate and audit; 1 if an audit contradicts what its run states."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.crowds.audits",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--collections", nargs="+", choices=[c.name for c in COLLECTIONS], default=list(NAMES))
    parser.add_argument("--variants", nargs="+", choices=[v.name for v in VARIANTS], help="all if not given")
    parser.add_argument("--whole", action="store_true", help=f"all pages of {' and '.join(PACKAGES)}")
    parser.add_argument("--manuals", type=Path, default=manuals.default_folder(), help="where whole packages are kept")
    parser.add_argument("--sample", type=int, help="documents that an audit compares with all others")
    parser.add_argument("--results", type=Path, default=RESULTS / "audits.json")
    options = parser.parse_args(argv)
    rows: list[dict[str, Any]] = []
    for name, pages in _whole(options) if options.whole else _labelled(options.collections):
        for variant in VARIANTS:
            asked = not options.variants or variant.name in options.variants
            if asked and not (options.whole and variant.addresses):  # files of a folder are of one place anyhow
                rows.append(_audited(name, pages, variant, options.sample))
                print(_line(rows[-1]), file=sys.stderr, flush=True)
                options.results.parent.mkdir(parents=True, exist_ok=True)
                options.results.write_text(json.dumps({**machine.describe(), "rows": rows}, indent=1) + "\n")
    print(table(rows))
    return 1 if any(_contradicted(row) for row in rows) else 0


def _labelled(names: Sequence[str]) -> Iterator[tuple[str, Labelled]]:
    print(f"Labelled collections are looked for in {folder()} (or where NEARDUP_DATA says).", file=sys.stderr)
    for collection in COLLECTIONS:
        if collection.name in names and collection.there:
            yield collection.name, collection
        elif collection.name in names:
            print(f"{collection.name}: skipped, there is no {collection.path / collection.documents}", file=sys.stderr)


def _whole(options: argparse.Namespace) -> Iterator[tuple[str, Path]]:
    for package in PACKAGES:
        if package in options.collections:
            target = options.manuals / package
            try:
                if not target.exists():
                    manuals.fetch_package(package, target)
                yield f"{package}, whole", target
            except manuals.NoPackageError as error:
                print(f"{package}: skipped, {error}", file=sys.stderr)


def _audited(name: str, source: Labelled | Path, variant: Variant, sample: int | None) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="neardup-audits-") as scratch:
        pages, out = Path(scratch, "pages.jsonl"), Path(scratch, "out")
        if isinstance(source, Path):
            pages = source
        else:
            _write(source, pages, variant.addresses)
        began = time.perf_counter()
        _neardup("dedup", pages, "-o", out, "--no-report", *variant.options)
        seconds = time.perf_counter() - began
        _neardup("audit", out, *(["--sample", sample] if sample else []))
        run = json.loads((out / "run.json").read_text())
        audit = json.loads((out / "audit" / "recall.json").read_text())
    return {
        "collection": name,
        "variant": variant.name,
        "documents": run["counts"]["documents"],
        "threshold": run["recipe"]["verify"]["threshold"],
        "stated": run["filter"]["probability_at_threshold"],
        "audited": audit["removals"],
        "features": audit["features"],
        "predicted": audit["predicted"],
        "missed_removals": audit["missed_removals"],
        "sampled": audit["sampled"],
        "removed": run["counts"]["removed"],
        "crowded": run["counts"]["crowded"],
        "recall_lost": run["counts"].get("recall_lost_in_crowds"),
        "pairs_measured": run["counts"]["pairs_measured"],
        "said": run["said"],
        "seconds": round(seconds, 1),
    }


def _write(collection: Labelled, path: Path, addresses: bool) -> None:
    """Write the pages as neardup reads them."""
    with path.open("w", encoding="utf-8") as file:
        for document in collection.read():
            address = {"url": collection.url(document)} if addresses else {}
            file.write(json.dumps({"id": document["id"], **address, "html": document["html"]}) + "\n")


def _neardup(*arguments: object) -> None:
    command = [sys.executable, "-m", "neardup", *map(str, arguments), "-q"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"neardup {arguments[0]}: exit code {done.returncode}: {done.stderr[-2000:]}")


def _contradicted(row: dict[str, Any]) -> bool:
    """Whether the whole interval of the audit is below what the run states."""
    return row["audited"]["value"] is not None and row["audited"]["high"] < row["stated"]


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return the results as Markdown."""
    lines = [
        "| collection | recipe | documents | removed | stated | audited | missed removals | crowded | pairs measured |",
        "| --- | --- | ---: | ---: | ---: | --- | --- | ---: | ---: |",
    ]
    return "\n".join([*lines, *map(_line, rows)])


def _line(row: dict[str, Any]) -> str:
    share = row["audited"]
    audited = "–" if share["value"] is None else f"{share['value']:.4f} [{share['low']:.3f}, {share['high']:.3f}]"
    audited += " <" if _contradicted(row) else ""
    missed = "–"
    if row["missed_removals"]:
        number, low, high = row["missed_removals"]
        missed = f"{number:,.0f} [{low:,.0f}, {high:,.0f}]"
    crowded = f"{row['crowded']:,}"
    if lost := row.get("recall_lost"):
        crowded += f" ({lost['share']:.2%} lost)"
    return (
        f"| {row['collection']} | {row['variant']} | {row['documents']:,} | {row['removed']:,} | {row['stated']:.4f} "
        f"| {audited} | {missed} | {crowded} | {row['pairs_measured']:,} |"
    )


if __name__ == "__main__":
    sys.exit(main())
