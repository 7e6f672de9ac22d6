"""What every format offers and every reader gets: splits of a file, batches of documents, and problems on the way.

    Fields      which columns matter: text, id, url, those the keep policy asks for
    InputFile   one input: a file, or a folder of files that are one document each
    Split       a part of an input file that is read, kept and resumed as one
    Documents   a batch on its way to the kernels
    Format      one file format: splits it, reads it, writes the kept part of it

A split is always read from its start to its end and yields the same documents in the same order: that order is how
later steps name them.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.sources.problems import Problems

SPLIT_BYTES = 64 << 20
"""The size that splits aim at, in bytes of the file."""

BATCH_BYTES = 4 << 20
"""The size that batches aim at, in bytes of text: large enough to be cheap, small enough to stay in the cache."""

Quoting = Literal["standard", "none"]
"""How values of CSV files are quoted: as RFC 4180 says, or not at all."""


@dataclass(frozen=True)
class Fields:
    """Which columns of the input matter. None: the format knows (a file's name, its content) or there is none."""

    text: str | None = None
    id: str | None = None
    url: str | None = None
    columns: tuple[str, ...] = ()
    """Further columns that are read, for the keep policy."""
    html: bool = False
    """The text is HTML."""
    quoting: Quoting | None = None
    """Of CSV files; None: as `csv` says."""


@dataclass(frozen=True)
class InputFile:
    """One input. `name` is how ids, messages and the output call it: relative, with forward slashes, valid UTF-8."""

    path: str
    name: str
    format: str
    compression: Literal["gz", "zst", "bz2", "xz"] | None = None
    size: int = 0
    stamp: str = ""
    """Another one where the content may be another one: `stamps` tells how it is made, and what it is now."""
    members: tuple[str, ...] = ()
    """Of a folder: the files in it, relative to `path`, in order, named as they are stored."""
    fields: Fields = Fields()

    def with_fields(self, fields: Fields) -> "InputFile":
        """The same file, read by these columns."""
        return replace(self, fields=fields)


@dataclass(frozen=True)
class Split:
    """A part of an input file: rows groups, bytes or members from `start` to before `stop`, as the format counts."""

    file: InputFile
    start: int
    stop: int
    size: int
    """Bytes of the file that it covers, for progress."""
    part: int = 0
    parts: int = 1


@dataclass
class Documents:
    """A batch of documents. All sequences have the same length."""

    text: pa.Array
    """string, large_string, binary or large_binary; null where the document has no text."""
    positions: NDArray[np.int64]
    """Line or row in the file, from 1: for messages and for ids where there is no id column."""
    id: pa.Array | None = None
    """string, without nulls; None: the id is name:position, which is also what a row whose id is null gets."""
    id_types: NDArray[np.uint8] | None = None
    """The type that each id has in the input, as `ids` counts them; None: all are text."""
    columns: dict[str, pa.Array] = field(default_factory=dict)
    """The columns named in `Fields.columns` and `Fields.url`."""
    html: NDArray[np.bool_] | None = None
    """Which documents are HTML; None: none, or all of them if `Fields.html`."""
    charset: list[str | None] | None = None
    """What the protocol said of each HTML document's encoding."""
    untyped: bool = False
    """The format has no types: a column of numbers is one of texts that look like numbers."""
    decoded: bool = False
    """The texts were strings: they are UTF-8, whatever a page in them says of its encoding."""

    def __len__(self) -> int:
        return len(self.text)


class Format(ABC):
    """One file format. Instances have no state and can be shared between threads."""

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    """Endings of file names, lower case, without a compression's ending."""
    tabular: ClassVar[bool] = False
    """Has named columns: ids and texts must be found among them, and columns can be added to it."""

    @abstractmethod
    def columns(self, file: InputFile) -> dict[str, str]:
        """Names and types of the columns: "text", "bytes", "number" or "other". Empty where there are none."""

    def guessed(self, file: InputFile) -> list[str]:
        """Sentences for the user: what was guessed of how the file is written."""
        return []

    @abstractmethod
    def splits(self, file: InputFile, size: int = SPLIT_BYTES) -> list[Split]:
        """Cut the file into parts of about `size` bytes, without reading it where that is possible."""

    @abstractmethod
    def read(self, split: Split, problems: Problems) -> Iterator[Documents]:
        """The documents of a split, with the columns in `split.file.fields`, in batches of about BATCH_BYTES."""

    @abstractmethod
    def table(self, split: Split, problems: Problems) -> Iterator[pa.RecordBatch]:
        """The documents of a split with all their columns, untouched, in the same order as `read`."""

    def refuse_unwritable(self, file: InputFile) -> None:
        """Raise InputError where `write` could not write what the file holds; before anything is written."""
        return

    @abstractmethod
    def write(
        self, split: Split, keep: NDArray[np.bool_], target: Path, notes: pa.Table | None, problems: Problems
    ) -> None:
        """Write the kept documents of a split to the file `target` (a folder, for formats of many files).

        `keep` and `notes` have a row per document of the split, in the order of `read`. Where there are notes (only
        tabular formats are given any), they become further columns of the documents written.
        """
