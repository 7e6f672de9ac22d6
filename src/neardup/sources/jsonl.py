"""JSON Lines: one object a line. What is kept is written byte for byte as it was read.

Only the wanted fields of a line are decoded, by msgspec, which passes over the rest. Lines that it refuses are
examined one by one (`jsonl_problems`).

Decisions: blank lines are passed over. A null text is an empty document. Ids that are numbers become strings. A text
or id with half of a surrogate pair (\\ud800 alone) has no UTF-8 form and is a problem. What is reported as a problem
is not a document, and stays where it is in what is written.
"""

import json
import math
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.errors import InputError
from neardup.sources.base import BATCH_BYTES, SPLIT_BYTES, Documents, Fields, Format, InputFile, Split
from neardup.sources.compression import create, open_plain
from neardup.sources.ids import WHOLE
from neardup.sources.jsonl_problems import Lookout, encodable
from neardup.sources.linewise import Edit, blocks, byte_splits, copy_lines
from neardup.sources.problems import Problems
from neardup.sources.tabular import clash

SAMPLE_LINES = 1000
SAMPLE_BYTES = 1 << 20
"""How much of a file's beginning tells its fields."""

_LONGEST_FIRST_LINE = 64 << 20


@lru_cache
def _row(fields: Fields, notes: tuple[str, ...]) -> type[msgspec.Struct]:
    """The shape of a line with the wanted fields only: f0 is the text, f1 the id, c… columns, n… unwelcome names."""
    shape: list[Any] = [("f0", str | None)]
    names = {"f0": fields.text or "text"}
    if fields.id is not None:
        shape.append(("f1", str | int | float))
        names["f1"] = fields.id
    for n, column in enumerate(_extra(fields)):
        if column in names.values():
            continue
        shape.append((f"c{n}", Any, None))
        names[f"c{n}"] = column
    for n, note in enumerate(notes):
        if note not in names.values():
            shape.append((f"n{n}", msgspec.Raw | msgspec.UnsetType, msgspec.UNSET))
            names[f"n{n}"] = note
    return msgspec.defstruct("Row", shape, rename=names, gc=False)


def _extra(fields: Fields) -> list[str]:
    return list(dict.fromkeys(c for c in (*fields.columns, fields.url) if c is not None))


@dataclass(frozen=True)
class _Block:
    """The documents of a block of lines: the lines, what was decoded of them, and their numbers."""

    lines: list[bytes]
    rows: list[Any]
    positions: NDArray[np.int64]


class _Decoder:
    """Takes lines of one file for documents, or tells why they are none."""

    def __init__(self, file: InputFile, problems: Problems, notes: tuple[str, ...] = ()) -> None:
        row = _row(file.fields, notes)
        self._file = file
        self._limit = problems.max_document_bytes
        self._decode = msgspec.json.Decoder(row).decode
        self.lookout = Lookout(file, row, problems)

    def block(self, lines: list[bytes], positions: NDArray[np.int64], size: int) -> _Block:
        """What the lines hold; `size` is at least the length of the longest."""
        begins = len(lines) > 0 and positions[0] == 1
        if begins and next((line for line in lines if line.strip()), b"").lstrip()[:1] == b"[":
            raise _array(self._file)
        if size <= self._limit:
            try:
                return _Block(lines, [self._decode(line) for line in lines], positions)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                pass
        places = zip(lines, positions.tolist(), strict=True)
        found = [(line, row, at) for line, at in places if (row := self.lookout.row(line, at))]
        numbers = np.array([at for _, _, at in found], dtype=np.int64)
        return _Block([line for line, _, _ in found], [row for _, row, _ in found], numbers)


def documents_of(
    file: InputFile, lines: list[bytes], positions: NDArray[np.int64], problems: Problems
) -> Documents | None:
    """The documents that lines of a file hold, whoever read them; None where they hold none."""
    block = _Decoder(file, problems).block(lines, positions, sum(map(len, lines)))
    return _documents(block, file.fields) if block.rows else None


class Jsonl(Format):
    """JSON Lines."""

    name = "jsonl"
    suffixes = (".jsonl", ".ndjson", ".json")
    tabular = True

    def columns(self, file: InputFile) -> dict[str, str]:
        """From the first thousand lines. Lines that cannot be read are left for `read` to report."""
        kinds: dict[str, set[str]] = {}
        for line in _sample(file):
            for name, kind in kinds_of(line).items():
                kinds.setdefault(name, set()).add(kind)
        return {name: one_kind(found) for name, found in kinds.items()}

    def splits(self, file: InputFile, size: int = SPLIT_BYTES) -> list[Split]:
        """By bytes, where the file can be entered in the middle."""
        return byte_splits(file, size)

    def _blocks(self, split: Split, problems: Problems, notes: tuple[str, ...] = ()) -> Iterator[_Block]:
        decoder = _Decoder(split.file, problems, notes)
        limit = problems.max_document_bytes
        for first, lines, size in blocks(split, limit=limit, too_long=decoder.lookout.too_long):
            yield decoder.block(lines, np.arange(first, first + len(lines), dtype=np.int64), size)

    def read(self, split: Split, problems: Problems) -> Iterator[Documents]:
        """Texts, ids and the columns asked for.

        Values of several types come as JSON.
        """
        fields = split.file.fields
        pending: list[Documents] = []
        size = 0
        for block in self._blocks(split, problems):
            if block.rows:
                pending.append(_documents(block, fields))
                size += pending[-1].text.nbytes
            if size >= BATCH_BYTES:
                yield _joined(pending)
                pending, size = [], 0
        if pending:
            yield _joined(pending)

    def table(self, split: Split, problems: Problems) -> Iterator[pa.RecordBatch]:
        """All fields.

        Each batch has the fields and types of its own lines; values that differ in type are JSON.
        """
        for block in self._blocks(split, problems):
            rows = [_whole(line) for line in block.lines]
            names = dict.fromkeys(name for row in rows for name in row)
            if rows:
                yield pa.RecordBatch.from_arrays(
                    [_column([row.get(name) for row in rows]) for name in names], names=list(names)
                )

    def write(
        self, split: Split, keep: NDArray[np.bool_], target: Path, notes: pa.Table | None, problems: Problems
    ) -> None:
        """All bytes but the lines of removed documents; notes are put before an object's closing brace."""
        with create(target, split.file.compression) as out:
            copy_lines(split, self._edits(split, keep, notes, problems), out)

    def _edits(
        self, split: Split, keep: NDArray[np.bool_], notes: pa.Table | None, problems: Problems
    ) -> Iterator[Edit]:
        """Yield the lines that are not written as they are."""
        if notes is None and keep.all():
            return
        names = tuple(notes.column_names) if notes is not None else ()
        at = 0
        for block in self._blocks(split, problems, names):
            kept = keep[at : at + len(block.lines)]
            if notes is None:
                yield from ((number, None) for number in block.positions[~kept].tolist())
            else:
                _refuse_clash(split.file, block, names)
                added = notes.slice(at, len(block.lines)).to_pylist()
                for line, number, here, note in zip(block.lines, block.positions.tolist(), kept, added, strict=True):
                    yield number, with_notes(line, note) if here else None
            at += len(block.lines)


def _documents(block: _Block, fields: Fields) -> Documents:
    ids = types = None
    if fields.id is not None:
        values = [row.f1 for row in block.rows]
        whole = [isinstance(value, int) and -(2**63) <= value < 2**63 for value in values]
        types = np.where(whole, WHOLE, 0).astype(np.uint8)
        try:
            ids = pa.array(values, pa.string())
        except (pa.ArrowException, TypeError):
            ids = pa.array([str(value) for value in values], pa.string())
    encoded = {name: field for field, name in zip(*_names(block.rows[0]), strict=True)}
    columns = {name: _typed([getattr(row, encoded[name]) for row in block.rows]) for name in fields.columns}
    if fields.url is not None:
        columns[fields.url] = _column([getattr(row, encoded[fields.url]) for row in block.rows])
    # Encoding first is faster: measured on 3 kB texts, Arrow took strings at 340 to 400 MB/s, bytes at 660 to 5,000.
    texts = [None if row.f0 is None else row.f0.encode() for row in block.rows]
    return Documents(pa.array(texts, pa.large_binary()), block.positions, ids, types, columns, decoded=True)


def _names(row: msgspec.Struct) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return row.__struct_fields__, row.__struct_encode_fields__


def _joined(batches: list[Documents]) -> Documents:
    if len(batches) == 1:
        return batches[0]
    return Documents(
        pa.concat_arrays([b.text for b in batches]),
        np.concatenate([b.positions for b in batches]),
        None if batches[0].id is None else pa.concat_arrays([b.id for b in batches]),
        None
        if batches[0].id_types is None
        else np.concatenate([b.id_types for b in batches if b.id_types is not None]),
        {name: _concatenated([b.columns[name] for b in batches]) for name in batches[0].columns},
        decoded=True,
    )


def _concatenated(arrays: list[pa.Array]) -> pa.Array:
    """Blocks may disagree about a column's type: integers here, fractions, nothing or words there."""
    if len({a.type for a in arrays}) == 1:
        return pa.concat_arrays(arrays)
    return _typed([value for array in arrays for value in _values(array)])


def _values(array: pa.Array) -> list[Any]:
    if not isinstance(array.type, pa.JsonType):
        values: list[Any] = array.to_pylist()
        return values
    return [None if text is None else json.loads(text) for text in array.storage.to_pylist()]


def _typed(values: list[Any]) -> pa.Array:
    """Values of one type as that type, others as JSON, so that each keeps its own."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) <= 1:
        with suppress(pa.ArrowException, OverflowError, TypeError, ValueError):
            return pa.array(values)
    texts = [None if value is None else json.dumps(_plain(value)) for value in values]
    return pa.ExtensionArray.from_storage(pa.json_(pa.string()), pa.array(texts, pa.string()))


def _plain(value: Any) -> Any:
    """Half of a surrogate pair has no place in Arrow's strings."""
    return value if not isinstance(value, str) or encodable(value) else value.encode("utf-8", "replace").decode()


def _column(values: list[Any]) -> pa.Array:
    """Values of one type as that type, integers and fractions together as numbers, anything else as strings.

    Integers that fit in 64 bits stay integers: times in nanoseconds and ids by time would lose their order else.
    """
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        pass
    if all(v is None or (isinstance(v, int | float) and not isinstance(v, bool)) for v in values):
        return pa.array([None if v is None else _float(v) for v in values], pa.float64())
    return pa.array([None if v is None else _as_text(v) for v in values], pa.string())


def _float(value: int | float) -> float:
    """The nearest one; infinity for integers beyond all of them, so that they keep their place in the order."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _integer(digits: str) -> int | float:
    """Python refuses to read integers of thousands of digits, which JSON allows."""
    return float(digits) if len(digits) > sys.int_info.default_max_str_digits else int(digits)


def _as_text(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if encodable(text) else text.encode("utf-8", "replace").decode()


def _whole(line: bytes) -> dict[str, Any]:
    """All fields of a line that `read` accepts; bytes that are not UTF-8 in fields it did not look at are replaced."""
    try:
        value = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        value = json.loads(line.decode("utf-8", "replace"), parse_int=_integer)
    assert isinstance(value, dict)
    return value


def with_notes(line: bytes, note: dict[str, Any]) -> bytes:
    """The line with further fields before its closing brace."""
    brace = line.rindex(b"}")
    head = line[:brace]
    comma = b"" if head.rstrip().endswith(b"{") else b","
    return head + comma + msgspec.json.encode(note)[1:-1] + line[brace:]


def _refuse_clash(file: InputFile, block: _Block, notes: tuple[str, ...]) -> None:
    if not block.rows:
        return
    for field, name in zip(*_names(block.rows[0]), strict=True):
        if name not in notes:
            continue
        for position, row in zip(block.positions, block.rows, strict=True):
            if field[0] != "n" or getattr(row, field) is not msgspec.UNSET:
                raise clash(f"{file.name}:{position}", "field", name)


def _sample(file: InputFile) -> list[bytes]:
    """The first lines, whole."""
    with open_plain(file.path, file.compression, file.name) as stream:
        head = stream.read(SAMPLE_BYTES)
        if b"\n" not in head:
            head += stream.readline(_LONGEST_FIRST_LINE)
        rest = stream.read(1)
    head = head.removeprefix(b"\xef\xbb\xbf")
    if head.lstrip()[:1] == b"[":
        raise _array(file)
    lines = head.split(b"\n")
    return lines[: min(SAMPLE_LINES, len(lines) - 1 if rest and len(lines) > 1 else len(lines))]


def _array(file: InputFile) -> InputError:
    return InputError(
        f"{file.name}: this is one JSON array, which can only be read as a whole. Write one object a line "
        f"first: jq -c '.[]' {file.name} > {Path(file.name).stem}.jsonl"
    )


def kinds_of(line: bytes) -> dict[str, str]:
    """Return the kinds of a line's values by their names; none where the line is not an object.

    Values are not decoded: a line of 61.5 MB with 20.5 million empty lists took 1.6 GB. A line that msgspec refuses is
    looked at by the standard library, which also reads NaN and halves of surrogate pairs, unless the line is longer
    than a sample.
    """
    try:
        if not line.isascii():
            line.decode()  # msgspec passes over strings without a look at their bytes
        fields = _fields_of(line).items()
        return {name: _RAW_KINDS.get(bytes(memoryview(value)[:1]), "number") for name, value in fields}
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        if len(line) > SAMPLE_BYTES:
            return {}
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return {name: _kind(value) for name, value in row.items()} if isinstance(row, dict) else {}


_fields_of = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_RAW_KINDS = {b"n": "null", b'"': "text", b"t": "other", b"f": "other", b"[": "other", b"{": "other"}
"""By the first byte of a value; what begins otherwise is a number."""


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return "text"
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else "other"


def one_kind(found: set[str]) -> str:
    """A field that holds text anywhere is a text field: the lines where it does not are problems of their own."""
    kinds = found - {"null"}
    if "text" in kinds:
        return "text"
    return kinds.pop() if len(kinds) == 1 else "other"
