"""Tokens with their places in the text, so that what was compared can be shown.

The kernel's tokenizer tells a hash per token and not where it stands. The same rules, on whole arrays of characters and
with the same tables, tell where; tests hold the two to the same number of tokens. Tokens are equal where the kernel
says so: case, marks' order and compatibility forms do not count.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.kernels import unicode_tables
from neardup.shingles import ShingleSettings
from neardup.sketches.minhash import MinHash, MinHashSettings
from neardup.text.batches import text_batch
from neardup.text.settings import TextSettings, TokenKind

_SEPARATOR, _WORD, _SINGLE, _MARK = 0, 1, 2, 3
_BLOCK = 1 << 20
"""Characters that are looked at together: what bounds the memory for arrays."""


@dataclass(frozen=True)
class Tokens:
    """The tokens of a text: `hashes` say which are equal; token i is text[starts[i]:ends[i]]."""

    text: str
    kind: TokenKind
    hashes: NDArray[np.uint64]

    @cached_property
    def places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Starts and ends, in characters."""
        starts, ends = places(self.text, self.kind)
        assert len(starts) == len(self.hashes), (len(starts), len(self.hashes))
        return starts, ends

    def __len__(self) -> int:
        return len(self.hashes)

    def characters(self, start: int, stop: int) -> tuple[int, int]:
        """Where the tokens from `start` to before `stop` stand; an empty place where there are none."""
        starts, ends = self.places
        if start < stop:
            return int(starts[start]), int(ends[stop - 1])
        at = int(starts[start]) if start < len(self) else int(ends[-1]) if len(self) else 0
        return at, at


def tokens_of(text: str, kind: TokenKind = "words") -> Tokens:
    """Every token's hash, by the kernel."""
    whole = text.encode("utf-8", "replace")
    single = MinHash(TextSettings(kind), ShingleSettings(1), MinHashSettings(1, 1, samples=False))
    found, _ = single.fingerprints(text_batch(pa.array([whole], pa.large_binary())))
    return Tokens(whole.decode(), kind, found.values.copy())


def places(text: str, kind: TokenKind = "words") -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where every token starts and ends, in characters. One character may be several words (﷽)."""
    starts, ends = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for begin, block in _blocks(text, "\n" if kind == "lines" else " "):
        classes, origins = _classes(block)
        if kind == "chars":
            classes = np.where(classes == _WORD, _SINGLE, classes)
        first, last = _runs(classes)
        if origins is not None:
            first, last = origins[first], origins[last]
        if kind == "lines" and len(first):
            first, last = _lines(block, first, last)
        starts.append(first.astype(np.int64) + begin)
        ends.append(last.astype(np.int64) + (begin + 1))
    return np.concatenate(starts), np.concatenate(ends)


def _blocks(text: str, cut: str) -> Iterator[tuple[int, str]]:
    """Pieces that end behind a separator, and where they begin."""
    begin = 0
    while begin < len(text):
        end = text.find(cut, begin + _BLOCK)
        end = len(text) if end < 0 else end + 1
        yield begin, text[begin:end]
        begin = end


def _classes(block: str) -> tuple[NDArray[np.uint32], NDArray[np.int64] | None]:
    """The class of every folded character, and which character it was; None where none was dropped or unfolded."""
    _, page, entry, pool = unicode_tables()
    codes = np.frombuffer(block.encode("utf-32-le"), np.uint32)
    entries = _entries(codes, page, entry)
    mapped = (entries >> np.uint32(10)).astype(np.int64)
    lengths = np.where(mapped > 0, pool[mapped].astype(np.int64), 1)
    if (lengths == 1).all():
        folded = np.where(mapped > 0, pool[np.where(mapped > 0, mapped + 1, 0)], codes)
        return _entries(folded, page, entry) & np.uint32(3), None
    origins = np.repeat(np.arange(len(codes)), lengths)
    within = np.arange(len(origins)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    at = mapped[origins]
    folded = np.where(at > 0, pool[np.where(at > 0, at + 1 + within, 0)], codes[origins])
    return _entries(folded, page, entry) & np.uint32(3), origins


def _entries(codes: NDArray[np.uint32], page: NDArray[np.uint16], entry: NDArray[np.uint32]) -> NDArray[np.uint32]:
    found: NDArray[np.uint32] = entry[page[codes >> np.uint32(8)].astype(np.int64) * 256 + (codes & np.uint32(255))]
    return found


def _runs(classes: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first and the last character of every token.

    A letter of a script without spaces begins a token. Any other letter or digit does after a separator, and after such
    a letter with its marks; a mark only after a separator.
    """
    n = len(classes)
    if not n:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    before = np.concatenate([np.array([_SEPARATOR], np.uint32), classes[:-1]])
    numbers = np.arange(n)
    base = np.maximum.accumulate(np.where(classes != _MARK, numbers, -1))
    base_before = np.concatenate([[-1], base[:-1]])
    after_single = (base_before >= 0) & (classes[base_before] == _SINGLE)
    opens = classes == _SINGLE
    opens |= (classes == _WORD) & ((before == _SEPARATOR) | after_single)
    opens |= (classes == _MARK) & (before == _SEPARATOR)
    following = np.concatenate([opens[1:] | (classes[1:] == _SEPARATOR), [True]])
    closes = (classes != _SEPARATOR) & following
    return np.flatnonzero(opens), np.flatnonzero(closes)


def _lines(
    block: str, first: NDArray[np.int64], last: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """From words to lines that have any: from the first word to the last."""
    codes = np.frombuffer(block.encode("utf-32-le"), np.uint32)
    line = np.searchsorted(np.flatnonzero((codes == 10) | (codes == 13)), first)
    changes = np.flatnonzero(np.diff(line)) + 1
    return first[np.concatenate([[0], changes])], last[np.concatenate([changes - 1, [len(last) - 1]])]
