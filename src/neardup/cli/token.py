"""neardup token FILE NAME."""

import os
import secrets
from datetime import UTC
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import click

from neardup.errors import OutputError, UsageError

if TYPE_CHECKING:
    from datetime import datetime


@click.command
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("name")
@click.option(
    "--rights", type=click.Choice(["read", "write", "admin"]), default="read", show_default=True, help="What it allows."
)
@click.option("--expires", type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]), help="When it ends, in UTC.")
def command(file: Path, name: str, rights: str, expires: "datetime | None") -> None:
    """Make a token for `neardup serve --tokens FILE`, and print it, once.

    FILE gets a table with the token's name, its digest and its rights, and is made where it is not there; the token
    itself is kept nowhere. Limits can be written into the table by hand. A running service reads FILE again on SIGHUP.
    """
    from neardup.service.tokens import Token, read_tokens

    secret = secrets.token_urlsafe(32)
    digest = sha256(secret.encode())
    Token(name, digest.digest())  # checks the name
    if file.exists() and file.stat().st_size:
        if any(token.name == name for token in read_tokens(file, "FILE")):
            raise UsageError(f"{file}: has a token {name} already. Choose another name, or take its table out.")
        between = "\n"
    else:
        between = ""
    ends = f"expires = {expires.replace(tzinfo=UTC).isoformat()}\n" if expires else ""
    table = f'{between}["{name}"]\nsha256 = "{digest.hexdigest()}"\nrights = "{rights}"\n{ends}'
    try:
        with open(file, "a", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as written:
            written.write(table)
    except OSError as error:
        raise OutputError(f"{file}: cannot be written ({error.strerror}).") from error
    click.echo(secret)
