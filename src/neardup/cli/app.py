"""The command group, and what happens to errors."""

import errno
import os
import sys
from importlib import import_module
from io import StringIO
from typing import Any

import click

from neardup._version import __version__
from neardup.cli.terminal import tell
from neardup.errors import NeardupError, OutputError

_CANNOT_BE_WRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

_COMMANDS = {
    "dedup": "Remove near-duplicates from a collection, with the evidence.",
    "pairs": "List the similar pairs of a collection with their scores.",
    "compare": "Compare two documents by every system, and show what they share.",
    "recipes": "List the published systems, or show one as TOML.",
    "plan": "Say what a run will cost: bytes, hours and money, and whether one machine does.",
    "tune": "Choose parameters, and see what they will find.",
    "report": "Make the page that shows a finished run.",
    "audit": "Measure how right a finished run is: recall by brute force, precision by people.",
    "evaluate": "Measure recipes against labelled truth, side by side.",
    "index": "Remember documents, and tell which arriving ones are near-duplicates.",
    "group": "Group the near-duplicates of search results under the best-ranked one.",
    "sign": "Give every document a signature by which search results are grouped.",
    "serve": "Serve an index over HTTP: check documents as they arrive, add, compare, group.",
    "token": "Make a token for a service, with a name and rights.",
    "warm": "Compile what recipes need, before anybody waits for it.",
    "explain": "Say why documents of a finished run were kept or removed.",
    "sample": "Make a small labelled collection to try things on.",
}


class Commands(click.Group):
    """Loads a command's module when it is used, so that --help answers at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of the table."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """From its module."""
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"neardup.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """A slip of the finger gets a suggestion."""
        name = args[0]
        if name not in _COMMANDS and not name.startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(name, _COMMANDS, 1)
            hint = f" Did you mean {near[0]!r}?" if near else f" Commands: {', '.join(_COMMANDS)}."
            raise click.UsageError(f"There is no command {name!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Without loading any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="neardup %(version)s")
def cli() -> None:
    """Find near-duplicate documents, prove it, and do something useful with it."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; errors become sentences on stderr and an exit code."""
    try:
        code: Any = cli.main(arguments, prog_name="neardup", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()  # what cannot be written is to be known here, and not when Python ends
        sys.exit(code if isinstance(code, int) else 0)
    except click.ClickException as error:
        shown = StringIO()
        error.show(shown)
        tell(shown.getvalue(), nl=False)
        sys.exit(error.exit_code)
    except click.Abort:
        resumes = (sys.argv[1:] if arguments is None else arguments)[:1] == ["dedup"]
        click.echo("Interrupted." + (" The same command goes on where it stopped." if resumes else ""), err=True)
        sys.exit(130)
    except NeardupError as error:
        tell(f"neardup: {error}")
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        if error.errno not in _CANNOT_BE_WRITTEN or error.filename is not None:
            raise
        click.echo(
            f"neardup: the output cannot be written ({error.strerror}). Nothing of it can be relied on.", err=True
        )
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left in the buffer would be written once more at the end
        sys.exit(OutputError.exit_code)
