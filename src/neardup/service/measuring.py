"""Documents at hand, measured without looking into the index: two compared exactly, some sketched.

compare   two documents → their exact numbers, and what every system says
sketch    documents → what the index would keep of them
texts     documents → their text as a recipe reads it
"""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import numpy as np
import pyarrow as pa

from neardup.abandoning import checkpoint
from neardup.comparing.documents import Readings, Source
from neardup.comparing.systems import System, exact_overlap, judge
from neardup.errors import UsageError
from neardup.kernels import text as kernel
from neardup.recipe import Recipe
from neardup.recipes import published, recipe_names
from neardup.service import shapes
from neardup.sources.base import Documents
from neardup.text.batches import TextBatch, readable
from neardup.text.settings import TextSettings
from neardup.text.workers import shared

_STATUS = {kernel.FINE: "fine", kernel.SHORT: "short", kernel.EMPTY: "empty", kernel.INVALID: "undecodable"}


def compare(asked: shapes.Comparing, own: Recipe) -> shapes.Comparison:
    """Exactly how similar two documents are. `own`: the index's recipe, where none is named."""
    recipe = own if asked.recipe is None else named(asked.recipe)
    both = Readings(_source("first", asked.first), _source("second", asked.second))
    made = recipe.sketcher.sketch(both.batch(recipe.text))
    found = exact_overlap(recipe.sketcher, both)
    return shapes.Comparison(
        identical=bool(made.compared.all() and (made.identities[0] == made.identities[1]).all()),
        resemblance=float(found.resemblance[0]),
        first_in_second=float(found.first_in_second[0]),
        second_in_first=float(found.second_in_first[0]),
        recipe=recipe.id,
        systems=list(_judged(both)) if asked.systems else None,
    )


def _judged(both: Readings) -> Iterator[dict[str, object]]:
    for known in map(published, recipe_names()):
        checkpoint()
        yield _plain(judge(known.name, known.title, known.recipe, both))


def named(name: str) -> Recipe:
    """A published recipe. Clients name no files."""
    if name not in recipe_names():
        raise UsageError(f"there is no recipe {name!r}; there are {', '.join(recipe_names())}.")
    return published(name).recipe


def sketch(asked: shapes.Sketching, recipe: Recipe) -> shapes.SketchesOut:
    """What the index would keep of documents, as far as it can be shown: identities and keys."""
    sketcher = recipe.sketcher
    made = sketcher.sketch(texts(asked.documents, recipe.text))
    keys = sketcher.keys(made.words, made.ragged)
    rows = zip(asked.documents, made.status.tolist(), made.tokens.tolist(), made.compared.tolist(), strict=True)
    return shapes.SketchesOut(
        recipe.id,
        [
            shapes.SketchOut(
                document.id,
                _STATUS[status],
                tokens,
                made.identities[at].astype(">u8").tobytes().hex() if compared else "",
                _base64(keys.values[keys.offsets[at] : keys.offsets[at + 1]]) if compared else "",
            )
            for at, (document, status, tokens, compared) in enumerate(rows)
        ],
    )


def texts(documents: Sequence[shapes.Query | shapes.Document], settings: TextSettings) -> TextBatch:
    """The documents' text, extracted where they are HTML: in a process of its own, for a page may kill the parser."""
    html = np.array([document.html is not None for document in documents])
    stored = pa.array([d.text if d.html is None else d.html for d in documents], pa.large_binary())
    urls = pa.array([document.url for document in documents], pa.string())
    given = Documents(stored, np.arange(len(documents)), html=html, decoded=True)
    return readable(given, False, shared(settings), urls)[0]


def _source(name: str, side: shapes.Side) -> Source:
    content = side.html if side.html is not None else side.text or ""
    return Source(name, content.encode(), side.html is not None, side.url, decoded=True)


def _plain(system: System) -> dict[str, object]:
    values = asdict(system)
    for score, row in zip(system.scores, values["scores"], strict=True):
        row["similar"] = score.similar
    return values


def _base64(words: "np.ndarray[tuple[int, ...], np.dtype[np.uint64]]") -> str:
    return b64encode(words.astype("<u8").tobytes()).decode()
