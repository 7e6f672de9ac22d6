"""Sketched documents as columns, and each of them as the bytes that a store keeps.

A record is, in this order: the status (its high bit set where a URL follows), the number of tokens, the 128-bit
identity, what the recipe's score is made of (samples; or words, and ragged words), the bits of recipes that compare
twice, the id, the URL. URLs are kept by recipes alone that ask where a document is from.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import comb

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.errors import StoreError, UsageError
from neardup.kernels import groups
from neardup.kernels import text as kernel
from neardup.recipe import Recipe
from neardup.sketches.base import Ragged, mixed, nothing
from neardup.sketches.minhash import MinHashSettings

_HAS_URL = 0x80
_SHORT = struct.Struct("<H")
_COUNT = struct.Struct("<I")
LONGEST_ID = 0xFFFF


@dataclass(frozen=True)
class Rows:
    """Sketched documents, column by column; row i of each is one document."""

    ids: list[str]
    urls: list[str | None]
    status: NDArray[np.uint8]
    tokens: NDArray[np.int64]
    identities: NDArray[np.uint64]
    samples: NDArray[np.uint8]
    words: NDArray[np.uint64]
    ragged: Ragged
    later: NDArray[np.uint64]
    """Bits, of recipes that compare candidates a second time."""

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def compared(self) -> NDArray[np.bool_]:
        """Documents that have tokens."""
        found: NDArray[np.bool_] = (self.status == kernel.FINE) | (self.status == kernel.SHORT)
        return found

    def with_later(self, bits: NDArray[np.uint64]) -> "Rows":
        """The same, with the bits of a second comparison."""
        return replace(self, later=bits)

    def take(self, chosen: NDArray[np.int64]) -> "Rows":
        """Some of them, in this order."""
        return Rows(
            [self.ids[i] for i in chosen.tolist()],
            [self.urls[i] for i in chosen.tolist()],
            self.status[chosen],
            self.tokens[chosen],
            self.identities[chosen],
            self.samples[chosen],
            self.words[chosen],
            taken(self.ragged, chosen),
            self.later[chosen],
        )

    @staticmethod
    def together(parts: Sequence["Rows"]) -> "Rows":
        """All of them, one part after the other."""
        if len(parts) == 1:
            return parts[0]
        return Rows(
            [id for part in parts for id in part.ids],
            [url for part in parts for url in part.urls],
            np.concatenate([part.status for part in parts]),
            np.concatenate([part.tokens for part in parts]),
            np.concatenate([part.identities for part in parts]),
            np.concatenate([part.samples for part in parts]),
            np.concatenate([part.words for part in parts]),
            joined([part.ragged for part in parts]),
            np.concatenate([part.later for part in parts]),
        )


def joined(parts: Sequence[Ragged]) -> Ragged:
    """Ragged rows, one part after the other."""
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Ragged(np.concatenate([part.values for part in parts]), offsets)


def taken(ragged: Ragged, chosen: NDArray[np.int64]) -> Ragged:
    """Some ragged rows, in this order."""
    sizes = np.diff(ragged.offsets)[chosen]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    places = np.arange(offsets[-1]) + np.repeat(ragged.offsets[chosen] - offsets[:-1], sizes)
    return Ragged(ragged.values[places], offsets)


def beside(first: Ragged, second: Ragged) -> Ragged:
    """Append to each row of `first` the same row of `second`."""
    owners = [np.repeat(np.arange(len(part.offsets) - 1), np.diff(part.offsets)) for part in (first, second)]
    order = np.argsort(np.concatenate(owners), kind="stable")
    return Ragged(np.concatenate([first.values, second.values])[order], first.offsets + second.offsets)


class Layout:
    """How the documents of a recipe become records, and which keys they stand under."""

    def __init__(self, recipe: Recipe) -> None:
        sketcher = recipe.sketcher
        self.recipe = recipe
        self.sketcher, later = sketcher, sketcher.on_the_fly
        by_samples = sketcher.comparison.kind == groups.SAMPLES
        self.samples = sketcher.samples if by_samples else 0
        self.packed = isinstance(recipe.sketch, MinHashSettings) and recipe.sketch.bits == 4 and self.samples % 2 == 0
        self.words = 0 if by_samples else sketcher.signed or sketcher.words
        self.later = 0 if later is None else later.words
        self.urls = sketcher.needs_urls or recipe.verify.by_place
        self.ragged = sketcher.has_ragged and not by_samples

    @cached_property
    def fixed(self) -> int:
        """Bytes of the part that every record has."""
        return 21 + self.samples // (2 if self.packed else 1) + 8 * (self.words + self.later)

    def keys(self, rows: Rows) -> Ragged:
        """What documents are found by: first the identity, then the keys of the sketch; nothing of an empty one."""
        found = self.sketcher.keys(rows.words, rows.ragged)
        sizes = np.where(rows.compared, np.diff(found.offsets) + 1, 0)
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        values = np.empty(offsets[-1], np.uint64)
        first = np.zeros(len(values), np.bool_)
        first[offsets[:-1][rows.compared]] = True
        values[first] = identity_keys(rows.identities[rows.compared])
        values[~first] = found.values[np.repeat(rows.compared, np.diff(found.offsets))]
        return Ragged(values, offsets)

    @property
    def fewest_keys(self) -> int:
        """Keys that every document with words stands under: that of its identity, and those of its features."""
        sketch = self.recipe.sketch
        return 1 + comb(sketch.k, sketch.r) if isinstance(sketch, MinHashSettings) else 1

    def kept(self, rows: Rows) -> Rows:
        """What a record remembers of them."""
        n = len(rows)
        return Rows(
            rows.ids,
            rows.urls if self.urls else [None] * n,
            rows.status,
            rows.tokens,
            rows.identities,
            rows.samples if self.samples else np.empty((n, 0), np.uint8),
            rows.words[:, -self.words :] if self.words else np.empty((n, 0), np.uint64),
            rows.ragged if self.ragged else nothing(n),
            rows.later,
        )

    def encode(self, rows: Rows) -> list[bytes]:
        """Rows → records."""
        n, at = len(rows), 21
        fixed = np.empty((n, self.fixed), np.uint8)
        urls = np.array([self.urls and url is not None for url in rows.urls], np.uint8)
        fixed[:, 0] = rows.status | urls * np.uint8(_HAS_URL)
        fixed[:, 1:5] = _bytes(np.minimum(rows.tokens, 0xFFFFFFFF).astype("<u4"))
        fixed[:, 5:21] = _bytes(rows.identities.astype("<u8"))
        if self.samples:
            samples = rows.samples[:, 0::2] | rows.samples[:, 1::2] << 4 if self.packed else rows.samples
            fixed[:, at : at + samples.shape[1]] = samples
            at += samples.shape[1]
        if self.words:
            fixed[:, at : at + 8 * self.words] = _bytes(rows.words[:, -self.words :].astype("<u8"))
            at += 8 * self.words
        if self.later:
            fixed[:, at:] = _bytes(rows.later.astype("<u8"))
        flat, width = fixed.tobytes(), self.fixed
        records = []
        for i, id in enumerate(rows.ids):
            name = id.encode("utf-8", "surrogatepass")
            if len(name) > LONGEST_ID:
                raise UsageError(f"the id {id[:40]!r}… has {len(name):,} bytes; {LONGEST_ID:,} are the most.")
            pieces = [flat[i * width : (i + 1) * width]]
            if self.ragged:
                begin, end = rows.ragged.offsets[i : i + 2].tolist()
                pieces += [_COUNT.pack(end - begin), rows.ragged.values[begin:end].astype("<u8").tobytes()]
            pieces += [_SHORT.pack(len(name)), name]
            if urls[i]:
                pieces.append((rows.urls[i] or "").encode("utf-8", "surrogatepass"))
            records.append(b"".join(pieces))
        return records

    def decode(self, records: list[bytes]) -> Rows:
        """Records → rows."""
        n, width, at = len(records), self.fixed, 21
        try:
            fixed = np.frombuffer(b"".join([record[:width] for record in records]), np.uint8).reshape(n, width)
            rest = [self._rest(record) for record in records]
        except (ValueError, struct.error, UnicodeDecodeError) as error:
            raise StoreError(f"a record of the index is damaged ({error}). Build the index again.") from error
        if self.packed:
            pairs = fixed[:, at : at + self.samples // 2]
            samples = np.empty((n, self.samples), np.uint8)
            samples[:, 0::2], samples[:, 1::2] = pairs & 15, pairs >> 4
            at += self.samples // 2
        else:
            samples = np.ascontiguousarray(fixed[:, at : at + self.samples])
            at += self.samples
        words = _words(fixed[:, at : at + 8 * self.words])
        later = _words(fixed[:, at + 8 * self.words :])
        ragged = nothing(n)
        if self.ragged:
            values = [np.frombuffer(found, "<u8") for _, _, found in rest]
            offsets = np.concatenate([[0], np.cumsum([len(v) for v in values])]).astype(np.int64)
            ragged = Ragged(np.concatenate([np.empty(0, np.uint64), *values]), offsets)
        return Rows(
            [id for id, _, _ in rest],
            [url for _, url, _ in rest],
            fixed[:, 0] & np.uint8(0xFF ^ _HAS_URL),
            np.ascontiguousarray(fixed[:, 1:5]).view("<u4").reshape(n).astype(np.int64),
            _words(fixed[:, 5:21]),
            samples,
            words,
            ragged,
            later,
        )

    def _rest(self, record: bytes) -> tuple[str, str | None, bytes]:
        """Id, URL and ragged words."""
        at, ragged = self.fixed, b""
        if self.ragged:
            count = 8 * _COUNT.unpack_from(record, at)[0]
            ragged = record[at + 4 : at + 4 + count]
            at += 4 + count
        end = at + 2 + _SHORT.unpack_from(record, at)[0]
        if end > len(record):
            raise ValueError(f"{len(record)} bytes, and {end} are needed")
        url = record[end:].decode("utf-8", "surrogatepass") if record[0] & _HAS_URL else None
        return record[at + 2 : end].decode("utf-8", "surrogatepass"), url, ragged


def identity_keys(identities: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the keys that documents with the same words share."""
    return mixed(identities[:, 0] ^ identities[:, 1], 0x1D)


def _bytes(values: NDArray[np.generic]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(values).view(np.uint8).reshape(len(values), values.nbytes // max(1, len(values)))


def _words(columns: NDArray[np.uint8]) -> NDArray[np.uint64]:
    n, width = columns.shape
    return np.ascontiguousarray(columns).view(np.uint64).reshape(n, width // 8)


def addresses(urls: Sequence[str | None]) -> pa.Array:
    """URLs as Arrow has them; half a surrogate pair, which it has not, is shown as a question mark."""
    try:
        return pa.array(urls, pa.string())
    except UnicodeEncodeError:
        return pa.array([url and url.encode("utf-8", "replace").decode() for url in urls], pa.string())
