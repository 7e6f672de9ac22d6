"""Who is similar to whom, and what to measure next: document by document, from the definition in spark.judging."""

from math import isnan


def judged(
    candidates: list[tuple[float, float]], *, threshold: float, presumed: float, at_once: int
) -> tuple[int | None, list[int]]:
    """(score, value) of one document's candidates, the best first, NaN where nothing is measured → the place of the
    one that it is similar to, and the places of those to measure."""
    similar = next((c for c, (_, value) in enumerate(candidates) if value >= threshold), None)
    unknown = [c for c, (_, value) in enumerate(candidates) if isnan(value)]
    if similar is not None:
        return similar, [c for c in unknown if c < similar]
    promising = [c for c in unknown if candidates[c][0] >= presumed]
    if promising and len(unknown) == len(candidates):
        return None, promising[:at_once]
    return None, unknown
