"""Algorithms B and C one by one: Henzinger, sections 3.2 to 3.4.3, tables 1 to 8, figures 1 to 4, for any collection.

pairs_by_similarity   table 1       pairs for each B-similarity
degrees               figures 1, 3  near-duplicates per page, log-log, with both exponents
graphs                section 3.4.1 the two graphs side by side
verdicts              tables 2, 5   correct, incorrect, undecided: by site, and by similarity
kinds                 tables 3, 6   what correct pairs differ in
reasons               tables 4, 7   why pairs are undecided
differences           figures 2, 4  pairs for each term difference
difference_figures    section 3.4.3 their averages side by side
large_differences     table 8       verdicts on pairs with a term difference above 200

A share's denominator is hers: all judged pairs, the undecided ones too, by the truth's weights; of tables 1, 9 and 10
and of term differences, all pairs that were returned. Its interval counts with clusters (`shares`).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.comparing.documents import inert
from neardup.evaluating import figures, powerlaw
from neardup.evaluating.exhibit import Exhibit, Row, Value, empty
from neardup.evaluating.forest import components
from neardup.evaluating.intervals import LEVEL
from neardup.evaluating.shares import Shares
from neardup.evaluating.study import (
    CORRECT,
    DIFFERENT_SITES,
    INCORRECT,
    NOT_MEASURED,
    SAME_SITE,
    UNDECIDED,
    UNLABELLED,
    Study,
)

LARGE = 200
"""The term difference up to which she draws, and above which she looks at every pair."""

FORMS = ("form", "forms", "prefilled form", "prefilled forms", "prefilled, erasable form")
"""Reasons of undecided pairs that differ in prefilled, erasable values; an audit writes the first."""

NO_LABELS = "No pair of this algorithm is labelled, so nothing is known of its precision: give labelled pairs."
NO_PAIRS = "The algorithm returned no pair."

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Algorithm:
    """The pairs that one algorithm returned, within a study."""

    letter: str
    study: Study
    returned: Mask
    shares: Shares

    @property
    def name(self) -> str:
        """As in the paper's text."""
        return f"Algorithm {self.letter}"

    @property
    def judged(self) -> Mask:
        """Returned, and somebody said what it is."""
        judged: Mask = self.returned & (self.study.verdict != UNLABELLED)
        return judged


def algorithms(study: Study, *, level: float = LEVEL, seed: int = 1) -> tuple[Algorithm, Algorithm]:
    """B and C; the components are those of all pairs of the study."""
    shares = Shares(component_of(study), study.weight, level=level, seed=seed)
    return Algorithm("B", study, study.in_b, shares), Algorithm("C", study, study.in_c, shares)


def component_of(study: Study) -> NDArray[np.int64]:
    """For every pair the connected component that it is in."""
    if not len(study):
        return np.empty(0, np.int64)
    names, places = np.unique(np.concatenate([study.first, study.second]), return_inverse=True)
    first, second = places[: len(study)], places[len(study) :]
    return components(len(names), first, second)[first]


def pairs_by_similarity(b: Algorithm) -> Exhibit:
    """Table 1: how many pairs have how many equal supershingles."""
    key, title = "table-1", "Pairs for each B-similarity"
    study = b.study
    if not b.returned.any():
        return empty(key, title, "Henzinger, table 1", NO_PAIRS)
    rows: list[Row] = []
    for value in range(study.least_b, study.features + 1):
        share = b.shares.of(study.b == value, b.returned)
        rows.append({"B-similarity": value, "pairs": share.hits, **share.cells("share")})
    shown = [{**row, "name": f"{row['B-similarity']} equal", "label": _percent(row["share"])} for row in rows]
    return Exhibit(
        key=key,
        title=title,
        source="Henzinger, table 1",
        caption=f"{int(b.returned.sum()):,} pairs; {study.least_b} or more of {study.features} supershingles equal.",
        rows=rows,
        chart=figures.bars(shown, title=title, name="name", number="pairs", label="label"),
    )


def degrees(algorithm: Algorithm) -> Exhibit:
    """Figures 1 and 3: how many pages have how many near-duplicates."""
    key = "figure-1" if algorithm.letter == "B" else "figure-3"
    source = f"Henzinger, figure {key[-1]}"
    title = f"Near-duplicates per page, {algorithm.name}"
    values, counts = _degree_counts(algorithm)
    if not len(values):
        return empty(key, title, source, NO_PAIRS)
    rows: list[Row] = [
        {"degree": d, "pages": n} for d, n in zip(values.tolist(), counts.tolist(), strict=True)
    ]  # fmt: skip
    line, law = powerlaw.slope(values, counts), powerlaw.exponent(values, counts)
    lines: list[Row] = []
    if line is not None:
        name = f"least squares: slope {_signed(line.slope)} ± {line.error:.2f}"
        ends = (float(values[0]), float(values[-1]))
        lines += [{"degree": x, "pages": float(np.exp(line.intercept) * x**line.slope), "line": name} for x in ends]
    if law is not None:
        name = f"maximum likelihood: −{law.exponent:.2f} ± {law.error:.2f} from {law.xmin} on"
        total = float(powerlaw.hurwitz(law.exponent, np.array([float(law.xmin)]))[0])
        ends = (float(law.xmin), float(values[-1]))
        lines += [{"degree": x, "pages": law.tail * x**-law.exponent / total, "line": name} for x in ends]
    return Exhibit(
        key=key,
        title=title,
        source=source,
        caption="Pages for each number of near-duplicates, both scales logarithmic. " + _fits(line, law),
        rows=rows,
        chart=figures.loglog(rows, lines, title=title, x="degree", y="pages"),
        note="" if line is not None else "Fewer than three different degrees: no line is fitted.",
    )


def graphs(pair: Sequence[Algorithm]) -> Exhibit:
    """Section 3.4.1: what she says of the two similarity graphs."""
    rows: list[Row] = []
    for algorithm in pair:
        values, counts = _degree_counts(algorithm)
        edges, pages = int(algorithm.returned.sum()), int(counts.sum())
        line, law = powerlaw.slope(values, counts), powerlaw.exponent(values, counts)
        row: dict[str, Value] = {"algorithm": algorithm.letter, "pairs": edges, "near-duplicate pages": pages}
        row["of all pages"] = pages / algorithm.study.documents if algorithm.study.documents else None
        row["average degree"] = 2 * edges / pages if pages else None
        row["degree ≥ 100"] = int(counts[values >= 100].sum()) / pages if pages else None
        row["slope"] = line.slope if line else None
        row["slope error"] = line.error if line else None
        row["exponent"] = law.exponent if law else None
        row["exponent error"] = law.error if law else None
        row["from degree"] = law.xmin if law else None
        rows.append(row)
    return Exhibit(
        key="graphs",
        title="The two similarity graphs",
        source="Henzinger, sections 3.2, 3.3 and 3.4.1",
        caption="Nodes are pages with at least one near-duplicate; the average degree is over these. "
        "Pages with the same tokens count as one.",
        rows=rows,
    )


def verdicts(algorithm: Algorithm) -> Exhibit:
    """Tables 2 and 5: shares of the judged pairs, by site and by similarity."""
    key = "table-2" if algorithm.letter == "B" else "table-5"
    source, title = f"Henzinger, table {key[-1]}", f"Correct, undecided and incorrect pairs, {algorithm.name}"
    study = algorithm.study
    if not algorithm.judged.any():
        return empty(key, title, source, NO_LABELS)
    groups = [("all", np.ones(len(study), bool)), *_by_site(study)]
    if algorithm.letter == "B":
        groups += [(f"B-sim {value}", study.b == value) for value in range(study.least_b, study.features + 1)]
    else:
        groups += [
            (f"C-sim {low}–{high}", (study.c >= low) & (study.c <= high))
            for low, high in reversed(c_ranges(study.bits, study.least_c))
        ]
    rows = [verdict_row(algorithm.shares, study, name, algorithm.judged & mask) for name, mask in groups]
    if study.reason is not None:  # her parenthesis
        forms = (study.verdict == UNDECIDED) & np.array([r.lower() in FORMS for r in study.reason], bool)
        for row, (_, mask) in zip(rows, groups, strict=True):
            row |= algorithm.shares.judged(forms, algorithm.judged & mask).cells("forms")
    rows = [row for row in rows if row["pairs"]]
    known = study.same_site[algorithm.returned]
    note = "" if (known != -1).any() else "No URLs are known, so pairs are not told apart by site."
    return Exhibit(
        key=key,
        title=title,
        source=source,
        caption=_judged_caption(algorithm),
        rows=rows,
        chart=figures.stacked(rows, title=title, name="pairs of"),
        note=note,
    )


def verdict_row(shares: Shares, study: Study, name: str, judged: Mask) -> dict[str, Value]:
    """The three shares of these judged pairs, each with its interval."""
    row: dict[str, Value] = {"pairs of": name, "pairs": int(judged.sum())}
    for verdict, code in (("correct", CORRECT), ("incorrect", INCORRECT), ("undecided", UNDECIDED)):
        row |= shares.judged(study.verdict == code, judged).cells(verdict)
    return row


def kinds(algorithm: Algorithm) -> Exhibit:
    """Tables 3 and 6: what the two pages of a correct pair differ in."""
    key = "table-3" if algorithm.letter == "B" else "table-6"
    title = f"What correct pairs differ in, {algorithm.name}"
    chosen = algorithm.judged & (algorithm.study.verdict == CORRECT)
    why = "No kind of difference is known of any correct pair."
    return _counted(algorithm, algorithm.study.kind, chosen, key=key, title=title, name="kind", why=why)


def reasons(algorithm: Algorithm) -> Exhibit:
    """Tables 4 and 7: why pairs are undecided."""
    key = "table-4" if algorithm.letter == "B" else "table-7"
    title = f"Why pairs are undecided, {algorithm.name}"
    chosen = algorithm.judged & (algorithm.study.verdict == UNDECIDED)
    why = "No undecided pair has a reason: labels come with reasons from an audit."
    return _counted(algorithm, algorithm.study.reason, chosen, key=key, title=title, name="reason", why=why)


def differences(algorithm: Algorithm) -> Exhibit:
    """Figures 2 and 4: how many pairs have which term difference, up to 200."""
    key = "figure-2" if algorithm.letter == "B" else "figure-4"
    source, title = f"Henzinger, figure {key[-1]}", f"Term differences, {algorithm.name}"
    measured = _measured(algorithm)
    if not len(measured):
        return empty(key, title, source, "No term difference was measured.")
    values, counts = np.unique(measured, return_counts=True)
    rows: list[Row] = [
        {"term difference": d, "pairs": n} for d, n in zip(values.tolist(), counts.tolist(), strict=True)
    ]  # fmt: skip
    large = int((measured > LARGE).sum())
    returned = int(algorithm.returned.sum())
    how = ", labelled ones first, the others at random" if len(measured) < returned else ""
    said = f"{len(measured):,} of {returned:,} pairs measured{how}. " + _difference_sentence(measured)
    return Exhibit(
        key=key,
        title=title,
        source=source,
        caption=said + (f" The figure ends at {LARGE}; {large:,} pairs lie beyond." if large else ""),
        rows=rows,
        chart=figures.histogram(rows, title=title, x="term difference", y="pairs", most=LARGE),
    )


def difference_figures(pair: Sequence[Algorithm]) -> Exhibit:
    """Sections 3.2, 3.3 and 3.4.3: the figures on term differences that stand in her text."""
    title, source = "Term differences side by side", "Henzinger, sections 3.2, 3.3 and 3.4.3"
    rows: list[Row] = []
    for algorithm in pair:
        measured = _measured(algorithm)
        if not len(measured):
            continue
        two = algorithm.shares.of(algorithm.study.term_difference == 2, _is_measured(algorithm))
        beyond = algorithm.shares.of(algorithm.study.term_difference > LARGE, _is_measured(algorithm))
        row: dict[str, Value] = {"algorithm": algorithm.letter, "pairs": len(measured)}
        row |= {"average": float(measured.mean()), "median": float(np.median(measured)), **two.cells("exactly 2")}
        row |= {"90 % are below": _ninety(measured), f"above {LARGE}": beyond.hits}
        rows.append({**row, **beyond.cells(f"share above {LARGE}")})
    if not rows:
        return empty("differences", title, source, "No term difference was measured.")
    caption = (
        "Tokens that `diff` returns for the two token sequences. She writes mean for what must be the median "
        "(11 beside an average of 24)."
    )
    return Exhibit(key="differences", title=title, source=source, caption=caption, rows=rows)


def large_differences(pair: Sequence[Algorithm]) -> Exhibit:
    """Table 8: the verdicts on pairs whose term difference is above 200."""
    title, source = f"Verdicts on pairs with a term difference above {LARGE}", "Henzinger, table 8"
    of = {algorithm.letter: algorithm.judged & (algorithm.study.term_difference > LARGE) for algorithm in pair}
    if not any(mask.any() for mask in of.values()):
        why = f"No labelled pair has a measured term difference above {LARGE}."
        return empty("table-8", title, source, why)
    rows: list[Row] = []
    for name, code in (("incorrect", INCORRECT), ("undecided", UNDECIDED), ("correct", CORRECT)):
        row: dict[str, Value] = {"verdict": name}
        for a in pair:
            share = a.shares.judged(a.study.verdict == code, of[a.letter])
            row |= {f"Alg. {a.letter}": share.hits, **share.cells(f"share {a.letter}")}
        rows.append(row)
    return Exhibit(key="table-8", title=title, source=source, rows=rows, caption="Pairs of the sample.")


def c_ranges(bits: int, least: int) -> list[tuple[int, int]]:
    """The C-similarity ranges of tables 5 and 10, ascending: four of one length, and the lowest takes what is left.

    384 and 372 give 372–375, 376–378, 379–381, 382–384.
    """
    step = max(1, (bits - least + 1) // 4)
    lows = [low for low in (bits + 1 - 3 * step, bits + 1 - 2 * step, bits + 1 - step) if low > least]
    starts = [least, *lows]
    return list(zip(starts, [low - 1 for low in lows] + [bits], strict=True))


def _degree_counts(algorithm: Algorithm) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The different degrees, ascending, and how many pages have each."""
    study, returned = algorithm.study, algorithm.returned
    ends = np.concatenate([study.first[returned], study.second[returned]])
    degree = np.unique(ends, return_counts=True)[1]
    values, counts = np.unique(degree, return_counts=True)
    return values.astype(np.int64), counts.astype(np.int64)


def _by_site(study: Study) -> list[tuple[str, Mask]]:
    return [("same site", study.same_site == SAME_SITE), ("different sites", study.same_site == DIFFERENT_SITES)]


def _counted(
    algorithm: Algorithm, words: Sequence[str] | None, chosen: Mask, *, key: str, title: str, name: str, why: str
) -> Exhibit:
    """How often each word occurs among the chosen pairs, and among those on one site; the most frequent first."""
    source = f"Henzinger, table {key[-1]}"
    places = [] if words is None else [i for i in np.flatnonzero(chosen).tolist() if words[i]]
    if words is None or not places:
        return empty(key, title, source, why)
    same = algorithm.study.same_site == SAME_SITE
    all_pairs, on_site = Counter(words[i] for i in places), Counter(words[i] for i in places if same[i])
    among = np.zeros(len(algorithm.study), bool)
    among[places] = True
    rows: list[Row] = []
    for word, _ in sorted(all_pairs.items(), key=lambda item: (-item[1], item[0])):
        hits = np.zeros(len(algorithm.study), bool)
        hits[[i for i in places if words[i] == word]] = True
        every, here = algorithm.shares.judged(hits, among), algorithm.shares.judged(hits, among & same)
        row: dict[str, Value] = {name: inert(word), "pairs": all_pairs[word], **every.cells("share")}
        rows.append({**row, "same site": on_site[word], **here.cells("share on the same site")})
    left = int(chosen.sum()) - len(places)
    shown = [{**row, "label": _percent(row["share"])} for row in rows]
    return Exhibit(
        key=key,
        title=title,
        source=source,
        caption=f"{len(places):,} pairs" + (f"; of {left:,} more the {name} is not known." if left else "."),
        rows=rows,
        chart=figures.bars(shown, title=title, name=name, number="pairs", label="label"),
    )


def _is_measured(algorithm: Algorithm) -> Mask:
    measured: Mask = algorithm.returned & (algorithm.study.term_difference != NOT_MEASURED)
    return measured


def _measured(algorithm: Algorithm) -> NDArray[np.int64]:
    return algorithm.study.term_difference[_is_measured(algorithm)]


def _ninety(measured: NDArray[np.int64]) -> int:
    """The least x such that nine in ten are below it."""
    ordered = np.sort(measured)
    return int(ordered[-(-9 * len(ordered) // 10) - 1]) + 1


def _difference_sentence(measured: NDArray[np.int64]) -> str:
    return (
        f"Average {measured.mean():,.1f}, median {np.median(measured):,.0f}; {(measured == 2).mean():.0%} have 2, "
        f"90 % have less than {_ninety(measured):,}."
    )


def _fits(line: powerlaw.Slope | None, law: powerlaw.Exponent | None) -> str:
    said = ""
    if line is not None:
        said = f"Least squares through the points: slope {_signed(line.slope)} ± {line.error:.2f} (standard error)."
    if law is not None:
        said += (
            f" Maximum likelihood from degree {law.xmin} on ({law.tail:,} pages): exponent −{law.exponent:.2f} ± "
            f"{law.error:.2f}, Kolmogorov-Smirnov distance {law.distance:.3f}."
        )
    return said.strip()


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _judged_caption(algorithm: Algorithm) -> str:
    judged, returned = int(algorithm.judged.sum()), int(algorithm.returned.sum())
    said = f"{judged:,} of {returned:,} returned pairs are judged. Undecided pairs are part of every denominator."
    return said + ("" if algorithm.study.reason is None else " Forms: undecided for prefilled, erasable values.")


def _percent(value: Value) -> str:
    return f"{value:.1%}" if isinstance(value, float) else ""
