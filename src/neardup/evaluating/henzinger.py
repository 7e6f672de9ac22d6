"""The evaluation of 2006 for any collection: all tables and figures of Henzinger's section 3.

exhibits    of a study: what Algorithms B and C returned, and what is known of the pairs

The collection need not have everything: without URLs nothing is told apart by site, without labels there is no
precision, and each exhibit that has nothing says why.
"""

from neardup.evaluating import algorithms as one
from neardup.evaluating import combined as both
from neardup.evaluating.exhibit import Exhibit
from neardup.evaluating.intervals import LEVEL
from neardup.evaluating.study import UNLABELLED, Study

_VERDICTS = (*(f"table-{i}" for i in (2, 3, 4, 5, 6, 7, 8, 11, 12)), "figure-6", "figure-7", "compared")
"""What verdicts are in, and so the weights of labelled pairs."""


def exhibits(study: Study, *, level: float = LEVEL, seed: int = 1) -> list[Exhibit]:
    """In the order of the paper. Pages with the same tokens are one page, as in her experiments (section 3).

    level: of the intervals. seed: of them, and of the halves on which the combined algorithm's cut-off is chosen and
    tested.
    """
    study = study.distinct()
    said = _said(study)
    return [e.noting(said) if e.key in _VERDICTS and e.rows else e for e in _exhibits(study, level=level, seed=seed)]


def _said(study: Study) -> str:
    """What is to be known of the labels."""
    said = []
    if (study.weight[study.verdict != UNLABELLED] != 1).any():
        said.append("Shares are by the weights of the truth; numbers of pairs are not.")
    if study.contradictions:
        many = study.contradictions
        said.append(
            f"{'1 pair counts' if many == 1 else f'{many:,} pairs count'} as undecided, for their copies are labelled "
            "differently."
        )
    return " ".join(said)


def _exhibits(study: Study, *, level: float, seed: int) -> list[Exhibit]:
    b, c = one.algorithms(study, level=level, seed=seed)
    training, testing = both.halves(b, seed=seed)
    found = both.cut_offs(b, training)
    chosen = both.chosen_cut_off(found)
    why = both.why_untested(b, training, testing)
    return [
        one.pairs_by_similarity(b),
        one.degrees(b),
        one.verdicts(b),
        one.kinds(b),
        one.reasons(b),
        one.differences(b),
        one.degrees(c),
        one.verdicts(c),
        one.kinds(c),
        one.reasons(c),
        one.differences(c),
        one.graphs((b, c)),
        one.difference_figures((b, c)),
        one.large_differences((b, c)),
        both.c_given_b(b),
        both.c_distributions(b),
        both.b_given_c(c),
        both.precision_by_cut_off(b, chosen),
        both.precision_against_r(found, chosen, why),
        both.around_the_choice(found, chosen, why),
        both.tested(b, testing, chosen, why),
        both.compared(b, c, training, chosen, why),
    ]
