"""Words as terms of the engine.

A term is the kernel's hash of a token, spelled in letters: so a word is cut and folded in one place only, whatever its
script and length. 60 bits are spelled. Of ten million distinct words two share a term with a probability of 0.00004.
"""

from collections.abc import Iterable
from functools import cache
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.kernels import text as kernel
from neardup.shingles import ShingleSettings
from neardup.sketches.base import Ragged
from neardup.sketches.minhash import MinHash, MinHashSettings
from neardup.text.batches import TextBatch, text_batch
from neardup.text.settings import TextSettings

SPELLED = 12
"""Characters that a term takes, with the space behind it."""

_LETTERS = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", np.uint8)
_PAIRS = np.stack([np.tile(_LETTERS, 64), np.repeat(_LETTERS, 64)], axis=1).copy().view(np.uint16)[:, 0]
"""12 bits → two letters."""
_SPACES = np.frombuffer(b"  ", np.uint16)[0]


@cache
def _tokenizer() -> MinHash:
    return MinHash(TextSettings(), ShingleSettings(1), MinHashSettings(1, 1, samples=False))


def hashes(batch: TextBatch) -> tuple[Ragged, NDArray[np.bool_]]:
    """The hashes of every document's tokens in order; and which documents are not UTF-8, and have none."""
    found, made = _tokenizer().fingerprints(batch)
    return found, made.status == kernel.INVALID


def hashes_of(text: str) -> NDArray[np.uint64]:
    """Of one text that can be encoded."""
    return hashes(text_batch(pa.array([text.encode()], pa.large_binary())))[0].values


def spelled(values: NDArray[np.uint64]) -> str:
    """Terms with spaces between them: the term of value i is at SPELLED · i."""
    made = np.empty((len(values), SPELLED // 2), np.uint16)
    for pair in range(SPELLED // 2 - 1):
        made[:, pair] = _PAIRS[(values >> np.uint64(12 * pair)) & np.uint64(4095)]
    made[:, -1] = _SPACES
    return str(made.data.cast("B"), "ascii") if len(values) else ""


def spelled_run(values: Iterable[int]) -> list[str]:
    """A term for each value."""
    return spelled(np.array(list(values), np.uint64)).split()


def spelled_rows(rows: Ragged) -> list[str]:
    """The terms of every row."""
    whole = spelled(rows.values)
    ends = (rows.offsets * SPELLED).tolist()
    return [whole[a:b] for a, b in pairwise(ends)]
