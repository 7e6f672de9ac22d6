"""neardup dedup INPUT… -o OUT."""

import json
import shutil
import sys
from importlib.abc import MetaPathFinder
from os import PathLike
from pathlib import Path
from typing import Any

import click

from neardup.errors import UsageError, WorkError

_OURS = ("work", "kept", "removed.parquet", "groups.parquet", "skipped.parquet", "run.json")


@click.command(no_args_is_help=True)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("-o", "--output", "out", required=True, type=click.Path(path_type=Path), help="Folder for the results.")
@click.option(
    "-t",
    "--threshold",
    default=0.8,
    show_default=True,
    help="Resemblance from which on two documents are near-duplicates.",
)
@click.option(
    "--recall", default=0.99, show_default=True, help="Share of the pairs at the threshold that must be found."
)
@click.option(
    "--keep",
    default="first",
    show_default=True,
    metavar="RULES",
    help="Who stays: first, last, longest, shortest, max:COLUMN, min:COLUMN, prefer:COLUMN=a,b,c; chained with commas.",
)
@click.option(
    "--verify",
    type=click.Choice(["exact", "sketch", "none"]),
    default="exact",
    show_default=True,
    help="How candidate pairs are checked.",
)
@click.option(
    "--cluster",
    type=click.Choice(["star", "components"]),
    default="star",
    show_default=True,
    help="star: every removed document is similar to a kept one; components: chains.",
)
@click.option(
    "--tokens",
    type=click.Choice(["words", "chars", "lines"]),
    default="words",
    show_default=True,
    help="What a document is a sequence of.",
)
@click.option("-w", "--width", default=5, show_default=True, help="Tokens in a shingle.")
@click.option("--repeats", is_flag=True, help="Count a shingle as often as it occurs.")
@click.option("--permutations", default=144, show_default=True, help="Longest sketch that may be chosen.")
@click.option("--seed", default=1, show_default=True, help="Of the permutations.")
@click.option("--text-field", metavar="NAME", help="Column with the text.  [default: guessed]")
@click.option("--id-field", metavar="NAME", help="Column with the id; none: number the documents.  [default: guessed]")
@click.option("--url-field", metavar="NAME", help="Column with the URL.  [default: guessed]")
@click.option(
    "--format",
    "format_",
    metavar="NAME",
    help="Of the input: parquet, jsonl, csv, lines, text, html, warc.  [default: by the file's name]",
)
@click.option("--html/--no-html", default=None, help="The text column holds HTML.  [default: guessed]")
@click.option(
    "--extract",
    type=click.Choice(["all", "main"]),
    default="all",
    show_default=True,
    help="Of HTML pages: all visible text or the main content.",
)
@click.option(
    "--on-error",
    type=click.Choice(["stop", "skip"]),
    default="stop",
    show_default=True,
    help="What to do with what cannot be read.",
)
@click.option("--max-document-bytes", default=64 << 20, show_default=True, help="Longer documents are errors.")
@click.option("--annotate", is_flag=True, help="Keep every document and add columns that say what was found.")
@click.option("--dry-run", is_flag=True, help="Write everything but the corpus.")
@click.option("--fresh", is_flag=True, help="Start over, whatever OUT holds of an earlier run.")
@click.option("-j", "--threads", type=click.IntRange(1), help="How many to use.  [default: all cores]")
@click.option("--json", "as_json", is_flag=True, help="Print run.json to stdout at the end.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
@click.option("-v", "--verbose", is_flag=True, help="Say more: the probability curve, every step.")
def command(**given: Any) -> None:
    """Remove near-duplicates from a collection, with the evidence for every removal.

    INPUT: files, folders, globs or URLs of Parquet, JSONL, CSV/TSV, text, HTML, WARC and WET (.gz .zst .bz2 .xz too),
    or - for JSONL on standard input.

    \b
    OUT/kept             the kept documents, in the input's format
    OUT/removed.parquet  for every removed document: the kept one and the measured numbers
    OUT/groups.parquet   who belongs together
    OUT/run.json         the recipe, counts of everything, time and memory per step
    OUT/work             what makes the run resumable; can be deleted afterwards
    """
    sys.meta_path.insert(0, _Unneeded())
    from neardup.cli.show import Talk, summary
    from neardup.pipeline import dedup

    out: Path = given["out"]
    _prepare(out, given["inputs"], given["fresh"])
    talk = Talk(quiet=given["quiet"], verbose=given["verbose"])
    with talk:
        result = dedup(
            [_Given(i) for i in given["inputs"]],
            threshold=given["threshold"],
            recall=given["recall"],
            keep=given["keep"],
            verify=given["verify"],
            cluster=given["cluster"],
            tokens=given["tokens"],
            width=given["width"],
            repeats=given["repeats"],
            permutations=given["permutations"],
            seed=given["seed"],
            text_field=given["text_field"],
            id_field=given["id_field"],
            url_field=given["url_field"],
            format=given["format_"],
            html=given["html"],
            extract=given["extract"],
            on_error=given["on_error"],
            max_document_bytes=given["max_document_bytes"],
            threads=given["threads"],
            work=out / "work",
            watcher=talk,
        )
        result.write(out, annotate=given["annotate"], corpus=not given["dry_run"])
    if not given["quiet"]:
        summary(result, out, corpus=not given["dry_run"], annotate=given["annotate"], verbose=given["verbose"])
    if given["as_json"]:
        json.dump(result.run(), sys.stdout, ensure_ascii=False, indent=1)
        sys.stdout.write("\n")


class _Unneeded(MetaPathFinder):
    """Arrow and numba look for pandas and scipy at their first use, and import them where they are installed: half a
    second for what nothing in this command needs."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        """Not there."""
        if fullname in ("pandas", "scipy"):
            raise ModuleNotFoundError(fullname)


class _Given(PathLike[str]):
    """A path or URL as it was typed: `pathlib` would fold the slashes of a URL."""

    def __init__(self, typed: str) -> None:
        self.typed = typed

    def __fspath__(self) -> str:
        return self.typed


def _prepare(out: Path, inputs: tuple[str, ...], fresh: bool) -> None:
    """An output folder is new, empty, or of an earlier run, and no input is in it."""
    for name in inputs:
        if "://" not in name and out.resolve() in Path(name).resolve().parents:
            raise UsageError(f"{name} lies in the output folder {out}, which is written to; choose another one.")
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file; --output names a folder.")
    if not out.exists() or not any(out.iterdir()):
        return
    ours = (out / "work" / "lock").exists()
    kept_is_ours = (out / "work" / "kept" / "signature").exists()
    if not ours or ((out / "kept").exists() and any((out / "kept").iterdir()) and not kept_is_ours):
        raise WorkError(
            f"{out} is not empty, and not all in it is of an earlier run. Choose another folder, or empty it."
        )
    if fresh:
        for name in _OURS:
            path = out / name
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
