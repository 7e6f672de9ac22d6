"""Sentences for people, on stderr: a terminal shows what is in them and does not obey it."""

import click

_KEPT = "\n\u200c\u200d"  # scripts need the joiners


def harmless(message: str) -> str:
    """Return a message with control characters and marks of direction as escapes: names in it come from files.

    Its lines stay.
    """
    if message.isprintable():
        return message
    return "".join(c if c.isprintable() or c in _KEPT else c.encode("unicode_escape").decode() for c in message)


def tell(message: str, *, nl: bool = True) -> None:
    """Write a message to stderr."""
    click.echo(harmless(message), err=True, nl=nl)
