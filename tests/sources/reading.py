"""Reading what was written, in the few words that the tests need."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from neardup.sources import Fields, InputFile, Problems, format_of
from neardup.sources.compression import compression_of

WHOLE = 1 << 40
TEXT_AND_ID = Fields("text", "id")
TEXT = Fields("text")
NOTHING = Fields()


def input_file(path: Path | str, format: str, fields: Fields = TEXT_AND_ID, **more: Any) -> InputFile:
    size = Path(path).stat().st_size if "://" not in str(path) else 0
    name = Path(path).name
    return InputFile(str(path), name, format, compression_of(name)[0], size, fields=fields, **more)


def documents(file: InputFile, size: int = WHOLE, problems: Problems | None = None) -> list[dict[str, Any]]:
    """All documents of a file, read split by split."""
    format = format_of(file)
    found: list[dict[str, Any]] = []
    for split in format.splits(file, size):
        for batch in format.read(split, problems or Problems()):
            assert len(batch) > 0
            assert len(batch.positions) == len(batch)
            ids = batch.id.to_pylist() if batch.id is not None else [f"{file.name}:{p}" for p in batch.positions]
            columns = {name: column.to_pylist() for name, column in batch.columns.items()}
            for i, text in enumerate(batch.text.to_pylist()):
                plain = text.decode() if isinstance(text, bytes) else text
                row = {"id": ids[i], "text": plain, "position": int(batch.positions[i])}
                found.append(row | {name: values[i] for name, values in columns.items()})
    return found


def texts(file: InputFile, size: int = WHOLE, problems: Problems | None = None) -> list[str | None]:
    return [d["text"] for d in documents(file, size, problems)]


def masks(file: InputFile, size: int, keep: Any, problems: Problems | None = None) -> Iterator[Any]:
    """The part of a mask over the whole file that belongs to each split."""
    format = format_of(file)
    at = 0
    for split in format.splits(file, size):
        rows = sum(len(batch) for batch in format.read(split, problems or Problems("skip")))
        yield split, np.asarray(keep[at : at + rows], dtype=bool), slice(at, at + rows)
        at += rows
