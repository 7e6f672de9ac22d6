"""Opening files, here or far away; their names in print."""

import io
import os
import re
from typing import BinaryIO, cast

from neardup.errors import InputError, MissingExtra

_REMOTE_BUFFER = 1 << 20
_ARCHIVES = ("zip://", "tar://", "libarchive://")
_LOOKS_ESCAPED = re.compile(rb"\\(?=x(?:5c|[89a-f][0-9a-f]))")


def is_remote(path: str) -> bool:
    """s3://…, https://…, memory://…: whatever fsspec knows."""
    return "://" in path


def is_web(path: str) -> bool:
    """http://… or https://…: no listings, and perhaps a query after the file's name."""
    return path.startswith(("http://", "https://"))


def printable(name: str) -> str:
    """A file's name as valid UTF-8, for ids and messages. Different names stay different.

    Names need not be UTF-8: a byte that is not becomes \\xHH. A backslash that would pass for such a byte becomes
    \\x5c; all other names are as they are.
    """
    return _LOOKS_ESCAPED.sub(rb"\\x5c", os.fsencode(name)).decode("utf-8", "backslashreplace")


def filesystem(url: str) -> tuple[object, str]:
    """The fsspec file system of a URL, and the URL's path in it."""
    try:
        import fsspec
    except ImportError as error:
        raise MissingExtra(f"reading {url}", "remote") from error
    if "::" in url or url.startswith(_ARCHIVES):
        raise InputError(
            f"{url}: files inside archives, and chained URLs (::), are not read. Unpack the archive first."
        )
    try:
        return cast(tuple[object, str], fsspec.core.url_to_fs(url))
    except Exception as error:  # a protocol nobody knows, one whose package is missing, one that connects and fails
        raise InputError(f"{url}: cannot be read ({reason(error)}).") from error


class _Remote(io.RawIOBase):
    """A remote file whose failures, in whatever package they arise, are errors for people."""

    def __init__(self, file: BinaryIO, url: str) -> None:
        self._file = file
        self._url = url

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._file.seekable()

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast(bytearray, buffer)).cast("B")
        try:
            data = self._file.read(len(view))
        except Exception as error:  # each protocol raises its own package's errors
            raise InputError(f"{self._url}: reading it failed ({reason(error)}).") from error
        view[: len(data)] = data
        return len(data)


def reason(error: BaseException) -> str:
    """What an error says; what its cause says where the error itself says no more than an address, or nothing."""
    told = (error.strerror if isinstance(error, OSError) else None) or str(error)
    if error.__cause__ is not None and (not told or is_remote(told)):
        return reason(error.__cause__)
    return told or type(error).__name__


def read_at_most(stream: BinaryIO, limit: int, name: str, advice: str) -> bytes:
    """Read a stream to its end, which must come within `limit` bytes: what is unpacked may have none.

    Raises:
        InputError: There is more. It says `advice`, which is the next move.
    """
    pieces, size = [], 0
    while piece := stream.read(min(1 << 20, limit + 1 - size)):
        pieces.append(piece)
        size += len(piece)
        if size > limit:
            raise InputError(f"{name}: has more than {limit:,} bytes. {advice}")
    return b"".join(pieces)


def open_binary(path: str) -> BinaryIO:
    """The bytes of a file, seekable, as they are stored."""
    if not is_remote(path):
        try:
            return open(path, "rb")
        except OSError as error:
            raise InputError(f"{printable(path)}: cannot be read ({reason(error)}).") from error
    filesystem_, inner = filesystem(path)
    try:
        file = cast(BinaryIO, filesystem_.open(inner, "rb"))  # type: ignore[attr-defined]
    except Exception as error:  # each protocol raises its own package's errors
        raise InputError(f"{path}: cannot be read ({reason(error)}).") from error
    return io.BufferedReader(_Remote(file, path), _REMOTE_BUFFER)
