"""Parquet's physical layout: how a kept file gets the very types, annotations and metadata of its input.

Arrow knows fewer types than Parquet. INT96, INTERVAL, ENUM, BSON, decimals in their four forms, lists of two levels
and the flags of times leave pyarrow's reader and writer as something else. So neither of them sees any of this: the
reader is given a footer with physical types alone, and numbers instead of names (`bare`), and the footer that the
writer made gets the schema and the metadata of the input (`restore`). In between, values are numbers and bytes as they
are stored.

This is exact because pages know no annotations. A page depends on the physical type and on how many optional and
repeated levels are above it, and both are the same in the bare schema; INT96 is stored as twelve bytes are.
"""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import SEEK_END, BytesIO
from itertools import zip_longest
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.errors import OutputError
from neardup.sources.thrift import BINARY, I32, LIST, STRUCT, TRUE, Struct, decode, encode

_MAGIC = b"PAR1"
_ARROW, _SPARK = b"ARROW:schema", b"org.apache.spark.sql.parquet.row.metadata"

# Fields of FileMetaData, SchemaElement, RowGroup, ColumnChunk, ColumnMetaData and KeyValue in parquet.thrift
_SCHEMA, _ROW_GROUPS, _KEY_VALUES, _CREATED_BY = 2, 4, 5, 6
_TYPE, _LENGTH, _REPETITION, _NAME, _CHILDREN, _CONVERTED, _LOGICAL = 1, 2, 3, 4, 5, 6, 10
_COLUMNS, _CHUNK, _CHUNK_TYPE, _CHUNK_PATH, _STATISTICS = 1, 3, 1, 3, 12
_KEY, _VALUE = 1, 2

_INT32, _INT64, _INT96, _BYTE_ARRAY, _FIXED = 1, 2, 3, 6, 7
_REQUIRED, _OPTIONAL, _REPEATED = 0, 1, 2
_MAPS, _LIST_OF = (1, 2), 3
_UINT_32, _UINT_64, _INTERVAL = 13, 14, 21
_BYTES_ORDERED = {0, 4, 19, 20}, {1, 4, 12, 13, 14}
"""Annotations under which bytes are ordered as bytes, converted and logical: string, enum, JSON, BSON and UUID."""
_NUMBERS_ORDERED = {5, 6, 7, 8, 9, 10, *range(11, 19)}, {5, 6, 7, 8, 10, 11}
"""Under which integers are ordered as integers: decimal, date, time, timestamp, integers, null."""
_SPARK_TYPES = {pa.bool_(): "boolean", pa.int64(): "long", pa.float64(): "double"}


@dataclass(frozen=True)
class Leaf:
    """A column of a file, as it is stored."""

    names: tuple[bytes, ...]
    """From the top of the schema down."""
    path: str
    """What pyarrow's writer calls it when it writes the bare schema."""
    kind: int
    length: int
    """Of a value in bytes, where that is fixed."""
    optional: int
    repeated: int
    """How many levels of the schema are so; of `optional`, repeated ones are counted too."""
    ordered: bool
    """Whether values are ordered as their physical type is, so that the writer's statistics hold for them."""
    interval: bool

    @property
    def name(self) -> str:
        """Of the column of the table that it belongs to."""
        return self.names[0].decode("utf-8", "replace")

    @property
    def bare_path(self) -> str:
        """What pyarrow's reader calls it when it reads by the bare schema."""
        return self.path.replace(".list.element", "")

    @property
    def stored(self) -> tuple[int, int, int, int]:
        """What its pages depend on."""
        int96 = self.kind == _INT96
        return _FIXED if int96 else self.kind, 12 if int96 else self.length, self.optional, self.repeated


class Layout:
    """The schema and the metadata of a Parquet file."""

    def __init__(self, footer: Struct) -> None:
        self._footer = footer
        self._schema: list[Struct] = footer[_SCHEMA][1][1]
        self._metadata: list[Struct] = footer[_KEY_VALUES][1][1] if _KEY_VALUES in footer else []
        self._created_by = footer.get(_CREATED_BY)
        self.leaves = _leaves(self._schema)
        """In the order of the file."""
        self.int96 = [leaf for leaf in self.leaves if leaf.kind == _INT96]
        self.intervals = [leaf.interval for leaf in self.leaves] if any(leaf.interval for leaf in self.leaves) else []
        """For every column whether it is one of intervals; empty where none is."""
        self.names = list(dict.fromkeys(leaf.name for leaf in self.leaves))
        """Of the columns, nested ones counted as one."""
        self.bare = _as_metadata(self._bare(footer))
        """What pyarrow is to read the file by."""

    def _bare(self, footer: Struct) -> Struct:
        root, *nodes = self._schema
        bare = dict(footer)
        bare[_SCHEMA] = LIST, (STRUCT, [root, *(_bare(node, number) for number, node in enumerate(nodes, 1))])
        bare.pop(_KEY_VALUES, None)  # among them is the Arrow schema, by which types would be restored
        if self.int96:
            groups = [_with_chunks(group, [*map(_as_bytes, group[_COLUMNS][1][1])]) for group in _groups(footer)]
            bare[_ROW_GROUPS] = LIST, (STRUCT, groups)
        return bare

    def with_lists_for_maps(self) -> pq.FileMetaData:
        """Return a footer in which maps with optional keys are lists of entries: pyarrow opens no file with such maps.

        The format asks for required keys, and some writers mark them as optional nevertheless.
        """
        schema = list(self._schema)
        for at, node in enumerate(schema[:-2]):
            if _of(node, _CONVERTED) in _MAPS and _of(schema[at + 2], _REPETITION) != _REQUIRED:
                plain = {field: value for field, value in node.items() if field != _LOGICAL}
                schema[at] = plain | {_CONVERTED: (I32, _LIST_OF)}
        return _as_metadata(self._footer | {_SCHEMA: (LIST, (STRUCT, schema))})

    def restore(self, path: Path, notes: pa.Schema) -> None:
        """Give a file that was written by the bare schema, and then these notes, the input's schema and metadata."""
        with open(path, "r+b") as file:
            data, start = _footer(file)
            footer = decode(data)
            written: list[Struct] = footer[_SCHEMA][1][1]
            mine = written[: len(written) - _last(written, len(notes))]
            for leaf, other in zip_longest(self.leaves, _leaves(mine)):
                if leaf is None or other is None or leaf.stored != other.stored:
                    name = b".".join((leaf or other).names).decode("utf-8", "replace")
                    raise OutputError(
                        f"{path}: pyarrow {pa.__version__} cannot write the column {name!r} as the input stores it. "
                        "Leave it out of the input, or write no corpus (--dry-run)."
                    )
            root = self._schema[0] | {_CHILDREN: (I32, self._schema[0][_CHILDREN][1] + len(notes))}
            footer[_SCHEMA] = LIST, (STRUCT, [root, *self._schema[1:], *written[len(mine) :]])
            footer[_ROW_GROUPS] = LIST, (STRUCT, [self._restored(group) for group in _groups(footer)])
            footer.pop(_KEY_VALUES, None)
            if self._metadata:
                footer[_KEY_VALUES] = LIST, (STRUCT, [_noted(entry, notes) for entry in self._metadata])
            if self._created_by and self.int96:  # by which Hive and Spark may shift INT96 to another time zone
                footer[_CREATED_BY] = self._created_by
            _replace(file, start, footer)

    def _restored(self, group: Struct) -> Struct:
        chunks: list[Struct] = list(group[_COLUMNS][1][1])
        for at, leaf in enumerate(self.leaves):
            told = {_CHUNK_TYPE: (I32, leaf.kind), _CHUNK_PATH: (LIST, (BINARY, list(leaf.names)))}
            chunks[at] = chunks[at] | {_CHUNK: (STRUCT, chunks[at][_CHUNK][1] | told)}
        return _with_chunks(group, chunks)


def mark_intervals(path: Path, intervals: Sequence[bool]) -> None:
    """Annotate columns of a file that hold the twelve bytes of an INTERVAL, for which pyarrow has no type."""
    with open(path, "r+b") as file:
        data, start = _footer(file)
        footer = decode(data)
        leaves = [node for node in footer[_SCHEMA][1][1] if _TYPE in node]
        for at, _ in filter(itemgetter(1), enumerate(intervals)):
            leaves[at][_CONVERTED] = I32, _INTERVAL
            for group in _groups(footer):
                group[_COLUMNS][1][1][at][_CHUNK][1].pop(_STATISTICS, None)  # an interval has no order
        _replace(file, start, footer)


def layout_of(file: BinaryIO) -> Layout:
    """Read the footer of a file. One that is damaged raises ValueError."""
    return _layout_of(_footer(file)[0])


@lru_cache(maxsize=8)
def _layout_of(footer: bytes) -> Layout:
    """Decode a footer, once for all splits of a file: 30,000 column chunks take more than a second."""
    try:
        return Layout(decode(footer))
    except (LookupError, TypeError) as error:
        raise ValueError(f"its footer has another form than Parquet's: {error!r}") from error


def _footer(file: BinaryIO) -> tuple[bytes, int]:
    """Read the footer of a file and the place where it begins."""
    file.seek(-8, SEEK_END)
    tail = file.read(8)
    if len(tail) < 8 or tail[4:] != _MAGIC:
        raise ValueError("it does not end as Parquet files do")
    size = int.from_bytes(tail[:4], "little")
    start = file.seek(-8 - size, SEEK_END)
    return file.read(size), start


def _replace(file: BinaryIO, start: int, footer: Struct) -> None:
    file.seek(start)
    file.truncate()
    file.write(_framed(footer))


def _framed(footer: Struct) -> bytes:
    data = encode(footer)
    return data + len(data).to_bytes(4, "little") + _MAGIC


def _as_metadata(footer: Struct) -> pq.FileMetaData:
    """A footer as pyarrow holds it: that of a file with nothing in it."""
    return pq.read_metadata(BytesIO(_MAGIC + _framed(footer)))


def _groups(footer: Struct) -> list[Struct]:
    groups: list[Struct] = footer[_ROW_GROUPS][1][1]
    return groups


def _with_chunks(group: Struct, chunks: list[Struct]) -> Struct:
    return group | {_COLUMNS: (LIST, (STRUCT, chunks))}


def _as_bytes(chunk: Struct) -> Struct:
    told = chunk[_CHUNK][1]
    return chunk | {_CHUNK: (STRUCT, told | {_CHUNK_TYPE: (I32, _FIXED)})} if told[_CHUNK_TYPE][1] == _INT96 else chunk


def _of(node: Struct, field: int) -> Any:
    return node[field][1] if field in node else None


def _bare(node: Struct, number: int) -> Struct:
    """A node of the schema without its name and annotations.

    Unsigned integers as wide as their physical type stay what they are: their statistics are in another order.
    """
    bare = {field: node[field] for field in (_TYPE, _LENGTH, _REPETITION, _CHILDREN) if field in node}
    bare[_NAME] = BINARY, str(number).encode()
    if _of(node, _TYPE) == _INT96:
        bare |= {_TYPE: (I32, _FIXED), _LENGTH: (I32, 12)}
    if _unsigned(node):
        bare[_CONVERTED] = I32, _UINT_32 if _of(node, _TYPE) == _INT32 else _UINT_64
    return bare


def _unsigned(node: Struct) -> bool:
    """Whether it is of unsigned integers that use all bits."""
    integer = _of(_of(node, _LOGICAL) or {}, 10) or {}
    width, signed = int.from_bytes(_of(integer, 1) or b""), 2 in integer and integer[2][0] == TRUE
    full = {_INT32: (32, _UINT_32), _INT64: (64, _UINT_64)}.get(_of(node, _TYPE))
    return full is not None and ((width == full[0] and not signed) or _of(node, _CONVERTED) == full[1])


def _ordered(node: Struct) -> bool:
    kind, converted, logical = _of(node, _TYPE), _of(node, _CONVERTED), _of(node, _LOGICAL)
    if kind == _INT96:
        return False
    known, known_logical = _BYTES_ORDERED if kind in (_BYTE_ARRAY, _FIXED) else _NUMBERS_ORDERED
    return converted in (None, *known) and (not logical or set(logical) <= known_logical)


def _leaves(schema: list[Struct]) -> list[Leaf]:
    """Flatten a schema, whose nodes are listed from the root down, into its columns."""
    leaves: list[Leaf] = []
    number = 0

    def walk(names: tuple[bytes, ...], path: tuple[str, ...], optional: int, repeated: int) -> None:
        nonlocal number
        number += 1
        node = schema[number]
        repetition = _of(node, _REPETITION)
        names, path = (*names, node[_NAME][1]), (*path, str(number))
        if repetition == _REPEATED:
            path = (*path, "list", "element")
        optional += repetition in (_OPTIONAL, _REPEATED)
        repeated += repetition == _REPEATED
        if _TYPE not in node:
            for _ in range(node[_CHILDREN][1]):
                walk(names, path, optional, repeated)
            return
        kind = node[_TYPE][1]
        length = _of(node, _LENGTH) if kind == _FIXED else 0
        interval = _of(node, _CONVERTED) == _INTERVAL
        leaves.append(Leaf(names, ".".join(path), kind, length, optional, repeated, _ordered(node), interval))

    while number + 1 < len(schema):
        walk((), (), 0, 0)
    return leaves


def _last(schema: list[Struct], columns: int) -> int:
    """Count the nodes of the last columns of a schema."""
    starts: list[int] = []
    at = 1
    while at < len(schema):
        starts.append(at)
        open_nodes = 1
        while open_nodes:
            open_nodes += (_of(schema[at], _CHILDREN) or 0) - 1
            at += 1
    return len(schema) - starts[-columns] if columns else 0


def _noted(entry: Struct, notes: pa.Schema) -> Struct:
    """Add the notes to a schema that is kept among the metadata, pyarrow's and Spark's: their readers go by it."""
    key, value = entry[_KEY][1], _of(entry, _VALUE)
    if not len(notes) or value is None or key not in (_ARROW, _SPARK):
        return entry
    if key == _ARROW:
        arrow = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(value)))
        value = base64.b64encode(pa.schema([*arrow, *notes], metadata=arrow.metadata).serialize())
    else:
        spark = json.loads(value)
        added = [(note.name, _SPARK_TYPES.get(note.type, "string")) for note in notes]
        spark["fields"] += [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in added]
        value = json.dumps(spark, separators=(",", ":"), ensure_ascii=False).encode()
    return entry | {_VALUE: (BINARY, value)}
