"""neardup index check PATH [FILES|-]…."""

import json
from typing import Any

import click

from neardup.cli.index.inputs import Counted, document_options, documents, files_argument, places, progress
from neardup.cli.index.pipe import Output, quiet_when_nobody_listens
from neardup.cli.index.place import index_path, opened
from neardup.cli.options import without_unneeded


@click.command(no_args_is_help=True, short_help="Say which documents are near-duplicates; store nothing.")
@index_path
@files_argument
@document_options
def check(path: str, files: tuple[str, ...], **given: Any) -> None:
    """Say of documents whether they are near-duplicates of stored ones; store nothing.

    FILES: whatever `neardup dedup` reads; JSONL on standard input if there are none. A JSON object per document goes to
    standard output: its id, status (new, duplicate, empty, undecodable) and, of a duplicate, the stored document that
    it is similar to with what is known of the two. Documents are not compared with each other. Another process may
    write to the index meanwhile.

    \b
    neardup index check seen.ndx pages.jsonl > verdicts.jsonl
    curl -s https://example.org/ | jq -Rs '{html: .}' -c | neardup index check seen.ndx
    """
    without_unneeded()
    from neardup.cli.index.tally import Tally
    from neardup.cli.show import Talk

    talk = Talk(quiet=given["quiet"])
    counted, tally, output = Counted.of(given), Tally(), Output()
    named = places(files, talk)
    with quiet_when_nobody_listens(), opened(path, read_only=True) as index, progress(named, talk):
        tally.starts(talk)
        for batch in documents(named, given, counted, talk):
            index.refresh()
            verdicts = index.check_many(batch)
            tally.count(verdicts)
            output.write(b"".join(json.dumps(v.to_dict(), ensure_ascii=False).encode() + b"\n" for v in verdicts))
    talk.say(tally.sentence("new", skipped=counted.skipped))
    counted.refuse_nothing(tally.counts["documents"])
