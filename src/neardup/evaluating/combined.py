"""Both algorithms together: Henzinger, sections 3.4.4 and 3.5, tables 9 to 12 and figures 5 to 7, for any collection.

c_given_b             table 9    the average C-similarity of B-similar pairs
b_given_c             table 10   the average B-similarity of C-similar pairs
c_distributions       figure 5   the distribution of C-similarity for each B-similarity
halves                S1 and S2: judged B-similar pairs to choose a cut-off by, and to test it on
cut_offs              for every C-similarity threshold, precision and R of the combined algorithm
choose                the cut-off
precision_by_cut_off  figure 6   on all judged pairs
precision_against_r   figure 7   on S1
around_the_choice     table 11   on S1
tested                table 12   on S2
compared              section 3.5 all algorithms on S2

The combined algorithm returns B-similar pairs whose C-similarity is at least the cut-off. R is the number of correct
pairs that it returns, divided by the number that Algorithm B returns; precision counts undecided pairs as not correct.

Her S1 and S2 are random halves of the pairs. Ours are halves of the connected components: pairs of one cluster share
their template and mostly their verdict, so with pairs of one cluster on both sides the test would repeat the training.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from neardup.evaluating import figures
from neardup.evaluating.algorithms import NO_LABELS, NO_PAIRS, Algorithm, Mask, c_ranges, verdict_row
from neardup.evaluating.exhibit import Exhibit, Row, Value, empty
from neardup.evaluating.shares import Share
from neardup.evaluating.study import CORRECT, DIFFERENT_SITES, SAME_SITE

KEEP = 0.8
"""Of the correct pairs that Algorithm B returns, the combined one is to keep so many: "R over 0.8"."""

AROUND = 4
"""Table 11 has so many thresholds on both sides of the choice: 351 to 359 around 355."""

NO_CORRECT = "Algorithm B has no pair that is labelled correct, so R is not defined."


class CutOff(NamedTuple):
    """What the combined algorithm does with a C-similarity threshold."""

    threshold: int
    precision: Share
    recalled: Share
    """R: of the correct pairs of Algorithm B."""


def c_given_b(b: Algorithm) -> Exhibit:
    """Table 9."""
    title, source = "Average C-similarity for each B-similarity", "Henzinger, table 9"
    study = b.study
    if not b.returned.any():
        return empty("table-9", title, source, NO_PAIRS)
    rows: list[Row] = []
    for value in range(study.least_b, study.features + 1):
        chosen = b.returned & (study.b == value)
        if chosen.any():
            similar = b.shares.of(study.c >= study.least_c, chosen)
            row: dict[str, Value] = {"B-similarity": value, "pairs": int(chosen.sum())}
            row |= {"C-similarity average": float(study.c[chosen].mean()), "median": float(np.median(study.c[chosen]))}
            rows.append({**row, **similar.cells(f"C-similarity ≥ {study.least_c}")})
    similar = b.shares.of(study.c >= study.least_c, b.returned)
    caption = (
        f"All {similar.total:,} B-similar pairs: average C-similarity {study.c[b.returned].mean():,.1f} "
        f"of {study.bits}; {similar.value:.1%} have {study.least_c} or more."
    )
    return Exhibit(key="table-9", title=title, source=source, caption=caption, rows=rows)


def b_given_c(c: Algorithm) -> Exhibit:
    """Table 10."""
    title, source = "Average B-similarity for ranges of C-similarity", "Henzinger, table 10"
    study = c.study
    if not c.returned.any():
        return empty("table-10", title, source, NO_PAIRS)
    rows: list[Row] = []
    for low, high in c_ranges(study.bits, study.least_c):
        chosen = c.returned & (study.c >= low) & (study.c <= high)
        if chosen.any():
            similar = c.shares.of(study.b >= study.least_b, chosen)
            row: dict[str, Value] = {"C-similarity": f"{low}–{high}", "pairs": int(chosen.sum())}
            rows.append({**row, "B-similarity average": float(study.b[chosen].mean()), **similar.cells("B-similar")})
    similar, none = c.shares.of(study.b >= study.least_b, c.returned), c.shares.of(study.b == 0, c.returned)
    caption = (
        f"All {similar.total:,} C-similar pairs: {similar.value:.1%} are B-similar; "
        f"{none.value:.1%} have B-similarity 0."
    )
    return Exhibit(key="table-10", title=title, source=source, caption=caption, rows=rows)


def c_distributions(b: Algorithm) -> Exhibit:
    """Figure 5."""
    title, source = "C-similarity for each B-similarity", "Henzinger, figure 5"
    study = b.study
    if not b.returned.any():
        return empty("figure-5", title, source, NO_PAIRS)
    rows: list[Row] = []
    for value in range(study.least_b, study.features + 1):
        values, counts = np.unique(study.c[b.returned & (study.b == value)], return_counts=True)
        of_all = counts / max(counts.sum(), 1)
        rows += [
            {"B-similarity": value, "C-similarity": c, "pairs": n, "share": share}
            for c, n, share in zip(values.tolist(), counts.tolist(), of_all.tolist(), strict=True)
        ]
    domain = (int(study.c[b.returned].min()), study.bits)
    chart = figures.ridges(
        rows, title=title, x="C-similarity", y="share", by="B-similarity", domain=domain,
        subtitle="Share of the pairs of each B-similarity; every panel has its own scale",
    )  # fmt: skip
    caption = (
        "Of the B-similar pairs with each number of equal supershingles, the share with each number of equal bits."
    )
    return Exhibit(key="figure-5", title=title, source=source, caption=caption, rows=rows, chart=chart)


def halves(b: Algorithm, *, seed: int = 1) -> tuple[Mask, Mask]:
    """Two masks over the judged B-similar pairs. Components are shuffled; each goes to the half with fewer pairs.

    Every component is on one side, and the halves are as even as its largest components allow.
    """
    component = b.shares.component
    names, sizes = np.unique(component[b.judged], return_counts=True)
    training: list[int] = []
    filled = [0, 0]
    for i in np.random.default_rng(seed).permutation(len(names)).tolist():
        side = 0 if filled[0] <= filled[1] else 1
        filled[side] += int(sizes[i])
        if side == 0:
            training.append(int(names[i]))
    first = np.isin(component, np.array(training, np.int64)) & b.judged
    return first, b.judged & ~first


def cut_offs(b: Algorithm, pairs: Mask) -> list[CutOff]:
    """For 0, at which all stay, and every C-similarity that a pair has but the lowest.

    A threshold between two of these returns the same pairs as the upper one.
    """
    study = b.study
    correct = study.verdict == CORRECT
    values = np.unique(study.c[pairs])
    thresholds = [0, *values[1:].tolist()] if len(values) else []
    return [
        CutOff(t, b.shares.judged(correct, pairs & (study.c >= t)), b.shares.judged(study.c >= t, pairs & correct))
        for t in thresholds
    ]


def choose(found: Sequence[tuple[int, float, float]], *, keep: float = KEEP) -> int:
    """The cut-off of these (threshold, precision, R): the best precision to two digits with R ≥ `keep`.

    Of several the highest: her table 11 leaves 353, 354 and 355, which she finds good, and she takes 355. But where the
    lowest threshold is among them, a higher one would lose correct pairs for nothing, and the lowest is taken.
    """
    allowed = [(round(precision, 2), threshold) for threshold, precision, r in found if r >= keep]
    best = max(allowed)
    return min(found)[0] if round(min(found)[1], 2) == best[0] else best[1]


def precision_by_cut_off(b: Algorithm, chosen: int | None) -> Exhibit:
    """Figure 6."""
    title, source = "Precision of the combined algorithm by cut-off", "Henzinger, figure 6"
    found = cut_offs(b, b.judged)
    if not found:
        return empty("figure-6", title, source, NO_LABELS)
    rows = [_cut_off_row(each) for each in found]
    # Below the lowest C-similarity nothing changes, and most of the axis would be empty.
    start = int(b.study.c[b.judged].min())
    shown = [{**rows[0], "C-similarity threshold": start}, *rows[1:]]
    chart = figures.threshold(
        shown, title=title, x="C-similarity threshold", y="precision", mark=chosen or None,
        mark_name=f"{chosen}: chosen on S1",
        subtitle=f"B-similar pairs with at least so many equal bits; {100 * b.shares.level:.4g} % interval",
    )  # fmt: skip
    caption = f"{int(b.judged.sum()):,} judged B-similar pairs. Thresholds at which no pair leaves are left out."
    return Exhibit(key="figure-6", title=title, source=source, caption=caption, rows=rows, chart=chart)


def precision_against_r(found: Sequence[CutOff], chosen: int | None, why: str) -> Exhibit:
    """Figure 7."""
    title, source = "Precision against R on the training half", "Henzinger, figure 7"
    if chosen is None:
        return empty("figure-7", title, source, why)
    rows = [{**_cut_off_row(each), "chosen": each.threshold == chosen} for each in found]
    shown = [{**row, "label": f"cut-off {row['C-similarity threshold']}"} for row in rows]
    chart = figures.trade_off(
        shown, title=title, x="R", y="precision", chosen="chosen", label="label",
        subtitle="One point per C-similarity threshold",
    )  # fmt: skip
    rule = f"the best precision to two digits that keeps R at {KEEP} or more, and the highest such threshold"
    reason = rule if chosen else f"no threshold that keeps R at {KEEP} or more improves the precision by a hundredth"
    caption = f"S1: {found[0].precision.total:,} judged B-similar pairs. The cut-off is {chosen}: {reason}."
    return Exhibit(key="figure-7", title=title, source=source, caption=caption, rows=rows, chart=chart)


def around_the_choice(found: Sequence[CutOff], chosen: int | None, why: str) -> Exhibit:
    """Table 11."""
    title, source = "Precision and R around the cut-off, on the training half", "Henzinger, table 11"
    if chosen is None:
        return empty("table-11", title, source, why)
    at = [each.threshold for each in found].index(chosen)
    rows = [_cut_off_row(each) for each in found[max(at - AROUND, 0) : at + AROUND + 1]]
    caption = f"S1; the cut-off is {chosen}. Thresholds at which no pair leaves are left out."
    return Exhibit(key="table-11", title=title, source=source, caption=caption, rows=rows)


def tested(b: Algorithm, testing: Mask, chosen: int | None, why: str) -> Exhibit:
    """Table 12."""
    title, source = "The combined algorithm on the test half", "Henzinger, table 12"
    study = b.study
    returned = testing & (study.c >= (chosen or 0))
    if chosen is None or not returned.any():
        none = f"None of the {int(testing.sum()):,} judged pairs of S2 has C-similarity {chosen} or more, the cut-off"
        return empty("table-12", title, source, why or f"{none} that was chosen on S1.")
    rows: list[Row] = []
    correct = study.verdict == CORRECT
    groups = (
        ("all", np.ones(len(study), bool)),
        ("same site", study.same_site == SAME_SITE),
        ("different sites", study.same_site == DIFFERENT_SITES),
    )
    for name, mask in groups:
        if (returned & mask).any():
            recalled = b.shares.judged(returned, testing & correct & mask)
            rows.append({**verdict_row(b.shares, study, name, returned & mask), **recalled.cells("R")})
    chart = figures.stacked(rows, title=title, name="pairs of")
    caption = (
        f"S2: {int(testing.sum()):,} judged B-similar pairs, of which {int(returned.sum()):,} have C-similarity "
        f"{chosen} or more."
    )
    return Exhibit(key="table-12", title=title, source=source, caption=caption, rows=rows, chart=chart)


def compared(b: Algorithm, c: Algorithm, training: Mask, chosen: int | None, why: str) -> Exhibit:
    """Section 3.5: what the choices return among the judged pairs of the test half, and what R they have there.

    B-similarity one higher is her comparison; the last row is her proposal at the end: Algorithm C for different sites,
    the combined one for the same site. (Her sum there is 374M + 919M = 1,293M correct pairs; she prints 1,335M.)
    """
    title, source = "All algorithms on the test half", "Henzinger, section 3.5"
    study = b.study
    component = b.shares.component
    judged = (b.judged | c.judged) & ~np.isin(component, component[training])
    correct, base = study.verdict == CORRECT, b.judged & judged & (study.verdict == CORRECT)
    if chosen is None or not base.any():
        none = "Algorithm B has no correct pair in S2, so R is not defined there"
        sizes = f"S1 has {int(training.sum()):,} judged pairs, S2 {int((b.judged & ~training).sum()):,}"
        return empty("compared", title, source, why or f"{none}. {sizes}.")
    both = b.returned & (study.c >= chosen)
    choices = [
        ("Algorithm B", b.returned),
        (f"Algorithm B, {study.least_b + 1} equal", b.returned & (study.b > study.least_b)),
        ("Algorithm C", c.returned),
        (f"combined, cut-off {chosen}", both),
    ]
    if (study.same_site[judged] != -1).any():
        different = study.same_site == DIFFERENT_SITES
        choices.append(("C on different sites, else combined", (c.returned & different) | (both & ~different)))
    rows: list[Row] = []
    for name, returned in choices:
        precision = b.shares.judged(correct, returned & judged)
        row: dict[str, Value] = {"algorithm": name, "pairs": precision.total, "correct": precision.hits}
        rows.append(
            {
                **row,
                **precision.cells("precision"),
                "R": float(study.weight[returned & judged & correct].sum() / study.weight[base].sum()),
            }
        )
    caption = "Judged pairs in components of S2. R is relative to Algorithm B, so Algorithm C may have more than 1."
    return Exhibit(key="compared", title=title, source=source, caption=caption, rows=rows)


def chosen_cut_off(found: Sequence[CutOff]) -> int | None:
    """The cut-off of the training half; None where no pair there is labelled correct."""
    if not found or not found[0].recalled.total:
        return None
    return choose([(each.threshold, each.precision.value, each.recalled.value) for each in found])


def why_untested(b: Algorithm, training: Mask, testing: Mask) -> str:
    """Why no cut-off is chosen on S1, or none is tested on S2; nothing, where neither is so."""
    if not b.judged.any():
        return NO_LABELS
    correct = b.study.verdict == CORRECT
    sizes = f"S1 has {int(training.sum()):,} judged pairs, S2 {int(testing.sum()):,}"
    if not (b.judged & correct).any():
        return f"{NO_CORRECT} {sizes}."
    if not (training & correct).any():
        return f"S1 has no correct pair, so no cut-off can be chosen on it. {sizes}."
    if not testing.any():
        return f"All judged pairs of Algorithm B are in one connected component, so nothing is left for S2. {sizes}."
    return ""


def _cut_off_row(cut_off: CutOff) -> dict[str, Value]:
    row: dict[str, Value] = {"C-similarity threshold": cut_off.threshold, "pairs": cut_off.precision.total}
    return {**row, **cut_off.precision.cells("precision"), **cut_off.recalled.cells("R")}
