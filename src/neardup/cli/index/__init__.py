"""neardup index …: documents that were seen, from the command line.

    create   a new index, empty or of a finished run
    add      files, standard input, a run, another index → stored
    check    documents in, verdicts out; nothing is stored
    filter   lines in, the lines of new documents out
    remove   forget documents by their id
    about    info, export, expire, compact: the index as a whole
    care     verify, backup, restore: is it whole, and a copy for the day when it is not

Shared: place (where an index is), inputs (options and files), lines (JSONL as it arrives), pipe (standard output,
signals), tally (counts).
"""

import click

from neardup.cli.index.about import compact, expire, export, info
from neardup.cli.index.add import add
from neardup.cli.index.care import backup, restore, verify
from neardup.cli.index.check import check
from neardup.cli.index.create import create
from neardup.cli.index.filter import filter_
from neardup.cli.index.remove import remove

__all__ = ["command"]


class _InOrder(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        """As they are used, one after the other."""
        return list(self.commands)


@click.group(cls=_InOrder, no_args_is_help=True)
def command() -> None:
    """Remember documents, and tell which of those that arrive are near-duplicates of them.

    PATH is a folder, or for several machines postgresql://user@host/database?index=NAME.

    \b
    crawler | neardup index filter seen.ndx | indexer
    neardup index check seen.ndx pages.jsonl
    """


for _part in (create, add, check, filter_, remove, info, export, expire, compact, verify, backup, restore):
    command.add_command(_part)
