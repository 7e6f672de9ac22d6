"""Files with secrets: tokens, the key of a certificate.

A file that others may read is refused, as ssh and PostgreSQL do with keys. What counts are the owner and the mode of
the file that was opened, so a symbolic link may lead to it, and nobody can exchange it between look and reading.
"""

import os
import stat
from pathlib import Path

from neardup.errors import UsageError

LONGEST = 1 << 20
"""Bytes."""


def read_private(path: Path, what: str) -> bytes:
    """Return the content of a file that nobody but its owner may read.

    Args:
        path: A file, or a pipe such as /dev/fd/3.
        what: The option that names it, for errors.

    Raises:
        UsageError: It cannot be read, others may read it, or it belongs to another user than this one and root.
    """
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            found = os.fstat(file.fileno())
            if not (stat.S_ISREG(found.st_mode) or stat.S_ISFIFO(found.st_mode)):
                raise UsageError(f"{what} {path}: is no file.")
            _check_owner(path, what, found)
            os.set_blocking(file.fileno(), True)
            content = file.read(LONGEST + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{what} {path}: cannot be read ({why}).") from error
    if len(content) > LONGEST:
        raise UsageError(f"{what} {path}: has more than {LONGEST:,} bytes; that is another file.")
    return content


def _without_waiting(path: str, flags: int) -> int:
    """Open a named pipe without a writer too: what it is shows then."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _check_owner(path: Path, what: str, found: os.stat_result) -> None:
    if not hasattr(os, "geteuid"):  # Windows has other rights, which the mode does not show
        return
    if found.st_uid not in (os.geteuid(), 0):
        raise UsageError(
            f"{what} {path}: belongs to another user (uid {found.st_uid}), who may change it. Make it yours: "
            f"chown {os.geteuid()} {path}"
        )
    # A group that root has chosen may read: systemd's credentials and Kubernetes' secrets reach a service so.
    by_group = found.st_uid == 0 and (os.geteuid() != 0 or _is_credential(path))
    others = stat.S_IMODE(found.st_mode) & (0o037 if by_group else 0o077)
    if others:
        raise UsageError(
            f"{what} {path}: others may read or change it (mode {stat.S_IMODE(found.st_mode):04o}). Take that from "
            f"them: chmod 600 {path}; if they were not to know it, make a new one."
        )


def _is_credential(path: Path) -> bool:
    """Whether systemd hands this file to the service (LoadCredential=)."""
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    return folder is not None and Path(path).resolve().is_relative_to(Path(folder).resolve())
