"""One instance of every format by its name, and the format that a file's name tells."""

from neardup.errors import UsageError
from neardup.sources.base import Format, InputFile
from neardup.sources.compression import Compression, compression_of
from neardup.sources.csv import Csv
from neardup.sources.folder import Html, Text
from neardup.sources.jsonl import Jsonl
from neardup.sources.lines import Lines
from neardup.sources.parquet import Parquet
from neardup.sources.table import MemoryFile
from neardup.sources.warc import Warc

FORMATS: dict[str, Format] = {f.name: f for f in (Parquet(), Jsonl(), Csv(), Lines(), Text(), Html(), Warc())}
"""By name. Tables in memory are not among them: each has an instance of its own."""

SUFFIXES: dict[str, str] = {suffix: format.name for format in FORMATS.values() for suffix in format.suffixes}
"""Ending of a file's name, without a compression's → name of the format."""


def format_of(file: InputFile) -> Format:
    """The format that reads this input file."""
    if isinstance(file, MemoryFile) and file.source is not None:
        return file.source
    return named(file.format)


def named(name: str) -> Format:
    """The format of that name."""
    if name not in FORMATS:
        raise UsageError(f"there is no format {name!r}; there are {', '.join(FORMATS)}")
    return FORMATS[name]


def told_by(name: str) -> tuple[str | None, Compression | None]:
    """What a file's name says of its format and compression.

    Parquet compresses inside: .parquet.gz is not known.
    """
    compression, plain = compression_of(name)
    lower = plain.lower()
    format = next((format for suffix, format in SUFFIXES.items() if lower.endswith(suffix)), None)
    if format == "parquet" and compression is not None:
        format = None
    return format, compression
