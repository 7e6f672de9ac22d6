"""C-similarity on the fly: bit strings made from the candidates' text when the first pair asks for them.

So they cost no room in the sketches of all documents (Henzinger, section 3.5).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.kernels import groups as kernel
from neardup.sketches.base import Sketcher


@dataclass
class Projected:
    """Pairs of documents in, equal bits out. `words` makes the signatures of documents from their text."""

    sketcher: Sketcher
    possible: NDArray[np.int64]
    """Documents that may be asked for, ascending."""
    words: Callable[[NDArray[np.int64]], NDArray[np.uint64]]
    _made: NDArray[np.uint64] | None = None

    @property
    def threshold(self) -> float:
        """Equal bits from which on a pair is one."""
        return self.sketcher.comparison.similar or 0.0

    def measure(self, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Equal bits of pairs of document numbers."""
        if not len(pairs):
            return np.empty(0, np.float64)
        if self._made is None:
            self._made = self.words(self.possible)
        rows = np.searchsorted(self.possible, pairs)
        width = self._made.shape[1]
        offsets = np.arange(len(self._made) + 1, dtype=np.int64) * width
        out = np.empty(len(pairs), np.float64)
        parameters = np.array(self.sketcher.comparison.parameters, np.float64)
        nothing = np.empty((0, 0), np.uint8)
        kernel.scores(self.sketcher.comparison.kind, nothing, self._made.reshape(-1), offsets, parameters, rows, out)
        return out
