"""Compressed files as streams: .gz .zst .bz2 .xz, of one member or many.

    compression_of   what a file's name says
    open_plain       the content of a stored file, for reading
    create           a new file, compressed as asked, for writing

A file that ends early or is damaged raises an `InputError` that names it; a short read is never silent. That
is why gzip, bz2 and xz are unpacked here, member by member, and not by the standard library's file classes:
`bz2.open` and `lzma.open` take whatever follows the first member and cannot be unpacked for harmless padding,
so that a damaged second member would shorten the corpus without a word. Zstandard comes from pyarrow, which
notices a frame that was cut.
"""

import bz2
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Literal, Protocol, cast

import pyarrow as pa

from neardup.errors import InputError, OutputError
from neardup.sources.files import open_binary

Compression = Literal["gz", "zst", "bz2", "xz"]

ENDINGS: dict[str, Compression] = {".gz": "gz", ".zst": "zst", ".zstd": "zst", ".bz2": "bz2", ".xz": "xz"}
"""Endings of file names, lower case."""

_READ = 1 << 17
_BUFFER = 1 << 20
_XZ_MEMORY = 256 << 20
"""Bytes that an xz file may ask for: 65 MB where it was made by xz -9. Its header may say 4 GB."""


def compression_of(name: str) -> tuple[Compression | None, str]:
    """The compression that a file's name tells, and the name without that ending."""
    lower = name.lower()
    for ending, compression in ENDINGS.items():
        if lower.endswith(ending):
            return compression, name[: -len(ending)]
    return None, name


class _Decompressor(Protocol):
    """What bz2 and lzma offer and `_Inflate` gives zlib: unpacks a member, never more than it is asked for."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _Inflate:
    """A gzip member; zlib checks its length and CRC."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(wbits=31)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        tail = self._zlib.unconsumed_tail
        out = self._zlib.decompress(tail + data if tail else data, max_length)
        # A full answer may leave output inside zlib although all input is consumed: ask again before feeding
        # more.
        self.needs_input = not self._zlib.unconsumed_tail and len(out) < max_length
        return out


def _decompressor(compression: Compression) -> _Decompressor:
    if compression == "gz":
        return _Inflate()
    return bz2.BZ2Decompressor() if compression == "bz2" else lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)


class Unpacked(io.RawIOBase):
    """The content of a gzip, bz2 or xz file.

    Tells where its members start, which is how WARC files are cut.
    """

    def __init__(self, stored: BinaryIO, compression: Compression, name: str) -> None:
        self._stored = stored
        self._compression = compression
        self._name = name
        self._engine: _Decompressor | None = None
        self._pending = b""
        self._read_from_stored = 0
        self._delivered = 0
        self._members = 0
        self.on_member: Callable[[int, int], None] | None = None
        """Is called for every member, with its offset in the content and that in the stored file. Nothing is held here:
        a file of 64 MB can have three million members."""

    def readable(self) -> bool:
        """It is."""
        return True

    def close(self) -> None:
        """Closes the stored file too."""
        if not self.closed:
            self._stored.close()
        super().close()

    def readinto(self, buffer: object) -> int:
        """Fill from the stream; 0 only at a true end."""
        view = memoryview(cast(bytearray, buffer)).cast("B")
        try:
            data = self._some(len(view))
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            raise InputError(self._complaint(error)) from error
        view[: len(data)] = data
        self._delivered += len(data)
        return len(data)

    def _complaint(self, error: Exception) -> str:
        if isinstance(error, EOFError):
            return (
                f"{self._name}: ends in the middle of its {self._compression} data, "
                f"after {self._delivered:,} bytes of content. Was it cut short on its way here? Fetch it again."
            )
        if "Memory usage limit" in str(error):
            return (
                f"{self._name}: is compressed with a dictionary that takes more than {_XZ_MEMORY:,} bytes, which is "
                "not unpacked here. Pack it with a smaller one: xz -dc FILE | xz -9 > NEW."
            )
        if not self._delivered and self._members == 1:
            return (
                f"{self._name}: this is not {self._compression} data, though its name says so ({error}). "
                "Was it unpacked on its way here? Then drop the ending from its name."
            )
        done = f"{self._delivered:,} bytes of content"
        return f"{self._name}: damaged {self._compression} data after {done} ({error}). Fetch it again."

    def _feed(self) -> bool:
        self._pending = self._stored.read(_READ)
        self._read_from_stored += len(self._pending)
        return bool(self._pending)

    def _some(self, limit: int) -> bytes:
        while True:
            if self._engine is None:
                # Padding with zeros between and after members is allowed by xz and left by tapes and block
                # devices.
                self._pending = self._pending.lstrip(b"\0") if self._members else self._pending
                if not self._pending and not self._feed():
                    if not self._members:
                        raise EOFError
                    return b""
                if not self._members or self._pending[0]:
                    self._members += 1
                    if self.on_member is not None:
                        self.on_member(self._delivered, self._read_from_stored - len(self._pending))
                    self._engine = _decompressor(self._compression)
                continue
            if self._engine.needs_input and not self._pending and not self._feed():
                raise EOFError
            data, self._pending = (self._pending, b"") if self._engine.needs_input else (b"", self._pending)
            out = self._engine.decompress(data, limit)
            if self._engine.eof:
                self._pending = self._engine.unused_data or self._pending
                self._engine = None
            if out:
                return out


class _Zstandard(io.RawIOBase):
    """The content of a .zst file; frames follow one another without a seam."""

    def __init__(self, stored: BinaryIO, name: str) -> None:
        self._name = name
        self._stored = stored
        self._stream = pa.CompressedInputStream(pa.PythonFile(stored, mode="r"), "zstd")
        self._delivered = 0
        if not stored.read(1):
            raise InputError(f"{name}: is empty, which no zst file is. Fetch it again.")
        stored.seek(0)

    def readable(self) -> bool:
        """It is."""
        return True

    def close(self) -> None:
        """Closes the stored file too."""
        if not self.closed:
            self._stored.close()
        super().close()

    def readinto(self, buffer: object) -> int:
        """Fill from the stream; 0 only at a true end."""
        view = memoryview(cast(bytearray, buffer)).cast("B")
        try:
            data = self._stream.read(len(view))
        except (OSError, pa.ArrowException) as error:
            if "too much memory" in str(error):
                raise InputError(
                    f"{self._name}: is compressed with a window of more than 128 MB (zstd --long=28 to 31, --ultra), "
                    "which is not unpacked here. Pack it with a smaller one: zstd -dc --long=31 FILE | zstd -o NEW."
                ) from error
            hint = (
                "Was it cut short on its way here? Fetch it again." if "runcated" in str(error) else "Fetch it again."
            )
            raise InputError(
                f"{self._name}: damaged zst data after {self._delivered:,} bytes of content ({error}). {hint}"
            ) from error
        view[: len(data)] = data
        self._delivered += len(data)
        return len(data)


def open_plain(path: str, compression: Compression | None, name: str) -> BinaryIO:
    """The content of a file, unpacked. Only what is stored uncompressed can be sought in."""
    return unpacked(open_binary(path), compression, name)


def unpacked(stored: BinaryIO, compression: Compression | None, name: str) -> BinaryIO:
    """The content of a stream of stored bytes."""
    if compression is None:
        return stored
    raw = _Zstandard(stored, name) if compression == "zst" else Unpacked(stored, compression, name)
    return io.BufferedReader(raw, _BUFFER)


class _GzipFile(gzip.GzipFile):
    """Closes the file beneath it, as the other writers do."""

    def __init__(self, target: BinaryIO) -> None:
        # No time and no name in the header: the same content gives the same bytes.
        super().__init__(filename="", mode="wb", compresslevel=6, fileobj=target, mtime=0)
        self._target = target

    def close(self) -> None:
        super().close()
        self._target.close()


def create(target: Path, compression: Compression | None) -> BinaryIO:
    """A new file for writing. The same content always gives the same bytes."""
    try:
        if compression is None:
            return open(target, "wb")
        if compression == "zst":
            return cast(BinaryIO, pa.CompressedOutputStream(pa.OSFile(os.fsencode(target), "wb"), "zstd"))
        if compression == "bz2":
            return cast(BinaryIO, bz2.BZ2File(target, "wb"))
        if compression == "xz":
            return cast(BinaryIO, lzma.LZMAFile(target, "wb"))
        return cast(BinaryIO, _GzipFile(open(target, "wb")))
    except OSError as error:
        raise OutputError(f"{target}: cannot be written ({error.strerror or error}).") from error
