"""How far an audited share may be off.

ratio         of pairs that come in bunches, a bunch per sampled document
stratified    of verdicts on a sample that was drawn stratum by stratum

Both are Wilson's interval for fewer trials than were counted: as many independent ones as would be off as far. So
they are right at 0 and 1, where resampling alone says that nothing can be off.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.analysis.estimators import wilson

RESAMPLES = 2000
_AT_ONCE = 1 << 20
"""Documents that are drawn together: what bounds the memory."""


@dataclass(frozen=True)
class Share:
    """A share with its interval; None where nothing was counted."""

    value: float | None
    low: float
    high: float
    of: float
    """How many were counted, or the weight of all."""

    def to_dict(self) -> dict[str, float | None]:
        """Plain values."""
        return {"value": self.value, "low": self.low, "high": self.high, "of": self.of}


NOTHING = Share(None, 0.0, 1.0, 0.0)


def counted(successes: float, trials: float, *, confidence: float, whole: bool = False) -> Share:
    """A share of independent trials: Wilson's interval; none where all there are were looked at (`whole`)."""
    if not trials:
        return NOTHING
    share = successes / trials
    low, high = (share, share) if whole else wilson(successes, trials, confidence=confidence)
    return Share(share, low, high, trials)


def ratio(
    found: NDArray[np.float64],
    of: NDArray[np.float64],
    stratum: NDArray[np.int64],
    sizes: NDArray[np.float64],
    *,
    confidence: float,
    seed: int,
) -> Share:
    """Σ found / Σ of over all documents, from some that were drawn at random in each stratum, each with its own pairs.

    sizes: how many documents the strata have. Pairs of one document are found or missed together, so documents are
    resampled within their strata, not pairs (the bootstrap's percentiles). The interval is never narrower than

    - Wilson's for (Σ of)² / Σ of² trials: so many independent ones the pairs are worth if those of a document always
      agree (Kish's effective sample size);
    - on its lower side, what the documents with a missed pair allow that were not drawn: their share is bounded as in
      `stratified`, and each misses as many as those that were drawn do on average, or one.
    """
    drawn = np.bincount(stratum, minlength=len(sizes))
    weight = (sizes / np.maximum(1, drawn))[stratum]
    true = weight * of
    total = float(true.sum())
    if not total:
        return NOTHING
    share = float((weight * found).sum()) / total
    if (drawn == sizes).all():
        return Share(share, share, share, total)
    worth = total * total / float((true * true).sum())
    low, high = wilson(min(1.0, share) * worth, worth, confidence=confidence)
    missing = weight * (of - found)
    misses = of > found
    most = stratified(
        np.bincount(stratum, misses, len(sizes)).astype(np.float64),
        drawn.astype(np.float64),
        sizes,
        confidence=confidence,
    ).high
    each = float(missing.sum() / weight[misses].sum()) if misses.any() else 1.0
    hidden = most * float(sizes[drawn > 0].sum()) * each / total
    shares = _resampled(found, of, stratum, sizes, np.random.Generator(np.random.PCG64(seed)))
    edge = (1 - confidence) / 2
    least, largest = np.quantile(shares, [edge, 1 - edge])
    return Share(share, max(0.0, min(low, float(least), 1.0 - hidden)), max(high, float(largest)), total)


def _resampled(
    found: NDArray[np.float64],
    of: NDArray[np.float64],
    stratum: NDArray[np.int64],
    sizes: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """The ratio in samples of as many documents of each stratum, drawn from these with replacement."""
    sums = np.zeros((2, RESAMPLES))
    for number, size in enumerate(sizes.tolist()):
        mine = np.flatnonzero(stratum == number)
        some = mine[of[mine] > 0]
        if not len(some):
            continue
        held = rng.binomial(len(mine), len(some) / len(mine), RESAMPLES)  # the others add nothing
        at_once = max(1, _AT_ONCE // len(some))
        for start in range(0, RESAMPLES, at_once):
            part = held[start : start + at_once]
            rows = some[rng.integers(0, len(some), int(part.sum()))]
            place = np.repeat(np.arange(start, start + len(part)), part)
            for sum_, values in zip(sums, (found, of), strict=True):
                sum_ += np.bincount(place, values[rows] * (size / len(mine)), RESAMPLES)
    filled = sums[1] > 0
    shares: NDArray[np.float64] = sums[0, filled] / sums[1, filled]
    return shares


def stratified(
    successes: NDArray[np.float64], trials: NDArray[np.float64], sizes: NDArray[np.float64], *, confidence: float
) -> Share:
    """Σ W·p over strata, W their shares of all; strata without a trial are left out, and `of` is what the rest hold.

    The variance is Σ W²·p(1-p)/n · (N-n)/N, with (x+1)/(n+2) for p: five of five do not make a stratum certain. It
    becomes the number of independent trials that vary as much, and Wilson's interval is taken for those.
    """
    seen = trials > 0
    if not seen.any():
        return NOTHING
    x, n, size = successes[seen], trials[seen], sizes[seen]
    weight = size / size.sum()
    share = float((weight * x / n).sum())
    careful = (x + 1) / (n + 2)
    left = np.maximum(0.0, 1.0 - n / size)
    variance = float((weight**2 * careful * (1 - careful) / n * left).sum())
    if variance <= 0.0:  # every one of them was judged
        return Share(share, share, share, float(size.sum()))
    middle = float((weight * careful).sum())
    worth = middle * (1 - middle) / variance
    low, high = wilson(min(share, 1.0) * worth, worth, confidence=confidence)
    return Share(share, min(low, share), max(high, share), float(size.sum()))
