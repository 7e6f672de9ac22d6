"""neardup index add PATH [FILES|-]…."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.index.inputs import Counted, document_options, documents, files_argument, places, progress
from neardup.cli.index.place import index_path, opened, shown
from neardup.cli.options import without_unneeded
from neardup.errors import TakenId, UsageError

if TYPE_CHECKING:
    from neardup.index import Index


@click.command(no_args_is_help=True)
@index_path
@files_argument
@click.option("--update", is_flag=True, help="Replace documents whose id is there with another text.")
@click.option(
    "--run",
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Add the kept documents of a finished `neardup dedup` of the same recipe; no text is read.",
)
@click.option(
    "--export",
    "exported",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Add what `neardup index export` wrote of an index of the same recipe.",
)
@document_options
def add(path: str, files: tuple[str, ...], **given: Any) -> None:
    """Store documents, whatever they are similar to.

    FILES: whatever `neardup dedup` reads; JSONL on standard input if there are none. Each batch of up to 1,000 is on
    disk before the next one is read. A document that is there with the same text is passed over, so after an
    interruption the same command goes on; another text under its id is an error, or replaced with --update.

    \b
    neardup index add seen.ndx archive/*.parquet
    neardup index add seen.ndx --run clean
    """
    without_unneeded()
    from neardup.cli.index.tally import Tally
    from neardup.cli.show import Talk, many

    talk = Talk(quiet=given["quiet"])
    counted, tally = Counted.of(given), Tally()
    if given["update"] and (given["run"] or given["exported"]):
        raise UsageError("--update is for documents; of a run or an export only what is not there is added.")
    named = places(files, talk) if files or not (given["run"] or given["exported"]) else ()
    with opened(path) as index, progress(named, talk):
        tally.starts(talk)
        come, added = _moved(index, given["run"], given["exported"])
        wordless = 0
        for batch in documents(named, given, counted, talk) if named else ():
            arrived = index.arrive(batch)
            tally.counts["documents"] += len(arrived)
            wordless += len(arrived) - int(arrived.rows.compared.sum())
            if given["update"]:
                there = index.update_many(arrived)
                added += len({id for id, known in zip(arrived.rows.ids, there, strict=True) if not known})
                continue
            try:
                added += sum(index.add_many(arrived))
            except TakenId as error:
                raise TakenId(
                    error.what,
                    "Replace such documents with --update, or give it another id. Of this input "
                    f"{many(added, 'document')} {'is' if added == 1 else 'are'} stored; the same command goes on.",
                ) from error
        now = len(index)
    others = come + tally.counts["documents"] - added
    parts = [f"{many(added, 'document')} added", f"{others:,} replaced" if given["update"] else _there(others)]
    if counted.skipped:
        parts.append(f"{counted.skipped:,} that cannot be read, left out")
    told = [", ".join(parts), f"{shown(path)} has {many(now, 'document')}"]
    if wordless:
        told.insert(1, _without_words(wordless))
    talk.say("; ".join(told) + (f" · {tally.rate}" if named else ""))
    counted.refuse_nothing(tally.counts["documents"])


def _moved(index: "Index", run: Path | None, exported: Path | None) -> tuple[int, int]:
    """Documents of a run and of an export that were offered, and those of them that were not there yet."""
    from pyarrow.parquet import read_metadata

    from neardup.index.moving import run_numbers
    from neardup.result import Result

    come = added = 0
    if run is not None:
        result = Result.open(run)
        added += index.add_run(result)
        come += len(run_numbers(result))
    if exported is not None:
        added += index.add_export(exported)
        come += read_metadata(exported).num_rows
    return come, added


def _there(number: int) -> str:
    return f"{number:,} {'was' if number == 1 else 'were'} there already"


def _without_words(number: int) -> str:
    if number == 1:
        return "1 has no words, and nothing is found similar to it"
    return f"{number:,} have no words, and nothing is found similar to them"
