"""256 bytes that stand for a document in a list of search results: enough to tell how much of it another one has.

    sign            a text or a page → the signature as base64, to be kept as a field of the document
    sign_many       the same for a list
    signatures      texts → signatures as rows of bytes; signatures_in, those of a batch
    is_signature    whether a value is one, of any version
    decoded         base64 → rows of bytes, refused where they were made otherwise
    Signed          rows of bytes → what the kernels compare

The bytes, little endian:

    0        version of this format, 1
    1 .. 3   the settings' name: the first bytes of their SHA-256
    4 .. 7   n, the number of the document's chunks
    8 .. 15  identity: 64 bits that name the sequence of its words
    16 .. 255  a Bloom filter of 1,920 bits over the chunks with the smallest hashes, at most MOST of them

A document's canonical form (kernels/chunks.py) is cut into content-defined chunks, as in Jain, Dahlin, Tewari, section
2.2; a copy of a chunk is an element of its own (footnote 4). What is done otherwise than in the paper, and why:

- Chunks have 16 bytes on average and not 256. An edited word costs the chunk that it is in and those whose end the
  window sees it from; in short chunks that is little more than the word, so that the share of equal chunks follows the
  share of equal text, and snippets have enough of them to be compared.
- Filters do not double with the document. Where there are more than MOST chunks, those with the smallest hashes are
  taken: the same sample for every document, so what two samples share is what the documents share, at any length, by
  all that sampling can tell (Broder's min-wise sample).
- A chunk sets one bit of two that there are for it, and not 6 of 8. These are best for asking whether one element is in
  a set. What two sets share has, by chance collisions, a standard error of about sqrt((1 - share) / bits), whatever
  the number of elements, so that more elements cost little and sample better. benchmarks/refine has the numbers.

A document without words, or with nothing but a numbering, has n = 0 and is similar to nothing.
"""

import hashlib
import json
from base64 import b64encode
from binascii import Error, a2b_base64
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import InputError, RecipeError, UsageError
from neardup.kernels import chunks, results
from neardup.rabin import choose_polynomial, pop_table, push_table
from neardup.shingles import ShingleSettings
from neardup.sketches.bloom import MARKER, Bloom, BloomSettings
from neardup.text.batches import TextBatch
from neardup.text.settings import TextSettings
from neardup.text.workers import Pages, Read, shared

SIGNATURE_BYTES = 256
"""Of one signature; 344 characters in base64."""

FORMAT = 2
"""The first byte. Raised whenever the same settings would give other signatures."""

BITS = 1920
"""Of the filter."""

MOST = 960
"""Chunks that a filter is filled with, at the most: those of about 15 KB."""

HASHES = 1
"""Bits that a chunk sets."""

CHUNKS = BloomSettings(chunk=16, window=16, longest=1024, hashes=HASHES, seed=1)
"""How documents are cut."""

PAGES = TextSettings(extract="main")
"""Of an HTML page the main content counts: pages of one site share the rest."""

Extract = Callable[[Pages], list[Read | None]]
"""What reads pages, such as a PageExtractor."""

_HEAD = 16
_TOGETHER = 4 << 20
"""Bytes of text that are looked at together: what bounds the memory."""


def _settings_name() -> bytes:
    names = ("chunk", "longest", "window", "seed")
    settings = {name: getattr(CHUNKS, name) for name in names} | {"bits": BITS, "most": MOST, "hashes": HASHES}
    return hashlib.sha256(json.dumps(settings, sort_keys=True, separators=(",", ":")).encode()).digest()[:3]


SETTINGS = _settings_name()
"""Three bytes that name the settings above."""

_BEGINNING = np.frombuffer(bytes([FORMAT]) + SETTINGS, np.uint8)


def sign(text: str | bytes | None = None, *, html: str | bytes | None = None) -> str:
    """The signature of a text, or of an HTML page, as base64: 344 characters, for a field made at index time.

    >>> len(sign("The quick brown fox jumps over the lazy dog."))
    344
    """
    if (text is None) == (html is None):
        raise UsageError("sign takes a text or html=, and one of them.")
    return sign_many([_text_of(html) if text is None else text])[0]


def sign_many(texts: Sequence[str | bytes]) -> list[str]:
    """The signatures of texts, as base64."""
    if isinstance(texts, str | bytes):
        raise UsageError("sign_many takes a list of texts; sign takes one.")
    return [b64encode(row).decode() for row in signatures(texts)]


def signatures(texts: Sequence[str | bytes]) -> NDArray[np.uint8]:
    """The signatures of texts as rows of 256 bytes. What is not Unicode counts as replacement characters."""
    return signatures_of([as_bytes(text, place) for place, text in enumerate(texts)])


def signatures_of(stored: Sequence[bytes]) -> NDArray[np.uint8]:
    """The same of texts that are well-formed UTF-8."""
    made = np.zeros((len(stored), SIGNATURE_BYTES), np.uint8)
    for begin, end in runs(stored):
        _write(batch_of(stored[begin:end]), made[begin:end])
    return made


def runs(texts: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """From where to where texts are looked at together."""
    begin = size = 0
    for place, text in enumerate(texts):
        if place > begin and size + len(text) > _TOGETHER:
            yield begin, place
            begin, size = place, 0
        size += len(text)
    if texts:
        yield begin, len(texts)


def signatures_in(batch: TextBatch) -> NDArray[np.uint8]:
    """The same of texts in the layout of the kernels."""
    made = np.zeros((len(batch.sizes), SIGNATURE_BYTES), np.uint8)
    begin = 0
    while begin < len(made):
        end = int(np.searchsorted(batch.offsets, batch.offsets[begin] + _TOGETHER, "right")) - 1
        end = min(max(begin + 1, end), len(made))
        _write(TextBatch(batch.data, batch.offsets[begin : end + 1]), made[begin:end])
        begin = end
    return made


def as_bytes(text: Any, place: int = 0) -> bytes:
    """A text as well-formed UTF-8."""
    if isinstance(text, str):
        return text.encode("utf-8", "replace")
    if isinstance(text, bytes):
        return text.decode("utf-8", "replace").encode()
    raise UsageError(f"text {place + 1} is {type(text).__name__}; give a string or bytes.")


def batch_of(texts: Sequence[bytes]) -> TextBatch:
    """Texts in the layout of the kernels. The bytes may be written to: numba compiles once more for those that may not,
    and everybody else's may."""
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    return TextBatch(np.frombuffer(bytearray().join(texts) or bytearray(1), np.uint8), offsets)


@cache
def sketcher() -> Bloom:
    """What tells words; its seed and tables are those of the chunks."""
    return Bloom(TextSettings(), ShingleSettings(), CHUNKS)


@cache
def _rabin() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    polynomial = choose_polynomial(64, CHUNKS.seed)
    return push_table(polynomial), pop_table(polynomial, CHUNKS.window)


def _write(batch: TextBatch, out: NDArray[np.uint8]) -> None:
    _, made = sketcher().fingerprints(batch, of_tokens=True)
    elements, ends = chunks_of(batch)
    sizes = np.diff(ends, prepend=0)
    words = np.zeros((len(sizes), BITS // 64), np.uint64)
    results.fill(elements, ends, MOST, HASHES, words)
    out[:, :4] = _BEGINNING
    out[:, 4:8] = np.minimum(sizes, 0xFFFFFFFF).astype("<u4")[:, None].view(np.uint8)
    out[:, 8:_HEAD] = made.identities[:, :1].astype("<u8").view(np.uint8)
    out[:, _HEAD:] = words.astype("<u8").view(np.uint8)
    out[~made.compared | (sizes == 0), 4:] = 0


def chunks_of(batch: TextBatch) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The elements of each document, ascending, and where they end."""
    n = len(batch.offsets) - 1
    push, pop = _rabin()
    status, sizes, ends = np.zeros(n, np.uint8), np.zeros(n, np.int64), np.zeros(n, np.int64)
    identities = np.zeros((n, 2), np.uint64)
    room, total = 2 * int(batch.sizes.sum()) // CHUNKS.chunk + n + 64, -1
    while total < 0:
        out = np.empty(room, np.uint64)
        total = chunks.chunk_documents(
            batch.data,
            batch.offsets,
            sketcher().tables,
            push,
            pop,
            CHUNKS.window,
            CHUNKS.chunk.bit_length() - 1,
            MARKER % CHUNKS.chunk,
            CHUNKS.longest,
            sketcher().seed,
            status,
            sizes,
            identities,
            ends,
            out,
        )
        room *= 4
    return out[:total], ends


def _text_of(page: str | bytes | None) -> str:
    read = read_pages([page if page is not None else b""])[0]
    if read is None:
        raise InputError("the parser gives this page up; give its text.")
    return read


def read_pages(pages: Sequence[str | bytes], extract: Extract | None = None) -> list[str | None]:
    """The main content of HTML pages; None for one that the parser gives up. `extract` may do it in processes of their
    own, for pages from strangers."""
    given: Pages = [
        (page.encode("utf-8", "replace"), "utf-8", None) if isinstance(page, str) else (page, None, None)
        for page in pages
    ]
    return [None if read is None else read[0] for read in (extract or shared(PAGES))(given)]


def is_signature(value: Any) -> bool:
    """Whether a value is a signature as base64, of this version or another."""
    try:
        return isinstance(value, str) and len(a2b_base64(value, strict_mode=True)) == SIGNATURE_BYTES
    except (Error, ValueError):
        return False


def decoded(given: Sequence[str | bytes], places: Sequence[int] | None = None) -> NDArray[np.uint8]:
    """Signatures, as base64 or as their 256 bytes, as rows. places: of which results, counted from 0, for messages."""
    places = range(len(given)) if places is None else places
    try:
        rows = [a2b_base64(one, strict_mode=True) for one in given]
        plain = all(len(row) == SIGNATURE_BYTES for row in rows)
    except (Error, ValueError, TypeError):
        plain = False
    if not plain:
        rows = [_row(one, place + 1) for one, place in zip(given, places, strict=True)]
    found = np.frombuffer(b"".join(rows), np.uint8).reshape(-1, SIGNATURE_BYTES)
    others = np.flatnonzero((found[:, :4] != _BEGINNING).any(axis=1))
    if len(others):
        at = int(others[0])
        raise _made_otherwise(rows[at], places[at] + 1)
    return found


def _row(one: str | bytes, number: int) -> bytes:
    if isinstance(one, bytes) and len(one) == SIGNATURE_BYTES:
        return one
    if not isinstance(one, str | bytes):
        raise InputError(
            f"result {number}: its signature is {type(one).__name__}; it is base64, as neardup.sign tells."
        )
    try:
        row = a2b_base64(one, strict_mode=True)
    except (Error, ValueError) as error:
        raise InputError(
            f"result {number}: its signature is not base64 ({error}); make it with neardup.sign, and name its field."
        ) from error
    if len(row) != SIGNATURE_BYTES:
        raise InputError(
            f"result {number}: its signature has {len(row)} bytes; one of neardup.sign has {SIGNATURE_BYTES}."
        )
    return row


def _made_otherwise(row: bytes, number: int) -> RecipeError:
    if row[0] != FORMAT:
        what = f"of format {row[0]}, and this neardup makes format {FORMAT}"
    else:
        what = f"made by settings {row[1:4].hex()}, and this neardup has settings {SETTINGS.hex()}"
    return RecipeError(
        f"result {number}: its signature is {what}; signatures made in two ways do not compare. Make it again with "
        "neardup.sign."
    )


@dataclass(frozen=True)
class Signed:
    """Signatures as the kernels compare them, a row each."""

    filters: NDArray[np.uint64]
    ones: NDArray[np.int64]
    elements: NDArray[np.int64]
    identities: NDArray[np.uint64]

    @classmethod
    def of(cls, rows: NDArray[np.uint8]) -> "Signed":
        """From rows of 256 bytes. What no document could have is refused."""
        filters = np.ascontiguousarray(rows[:, _HEAD:]).view("<u8").astype(np.uint64, copy=False)
        elements = np.ascontiguousarray(rows[:, 4:8]).view("<u4")[:, 0].astype(np.int64)
        identities = np.ascontiguousarray(rows[:, 8:_HEAD]).view("<u8")[:, 0].astype(np.uint64, copy=False)
        ones = np.empty(len(rows), np.int64)
        results.count(filters, ones)
        damaged = (ones > HASHES * np.minimum(elements, MOST)) | ((ones == 0) != (elements == 0))
        if damaged.any():
            at = int(damaged.argmax())
            raise InputError(
                f"result {at + 1}: its signature is damaged: it tells of {elements[at]} chunks and has {ones[at]} bits "
                f"set. Make it again with neardup.sign."
            )
        return cls(filters, ones, elements, identities)

    def __len__(self) -> int:
        return len(self.elements)

    def scores(self, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Of each pair of rows the match, and the containment of the shorter one, -1 where it cannot be told."""
        found = np.empty((len(pairs), 2), np.float64)
        results.scores(self.filters, self.ones, self.elements, self.identities, sizes(), MOST, HASHES, pairs, found)
        return found


@cache
def sizes() -> NDArray[np.float64]:
    """How many chunks a filter stands for, by the number of its bits that are set."""
    table = np.empty(BITS + 1, np.float64)
    results.estimates(BITS, HASHES, table)
    return table
