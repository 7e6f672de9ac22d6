"""The evaluation of 2006 for any collection: all tables and figures of Henzinger's section 3.

exhibits    of a study: what Algorithms B and C returned, and what is known of the pairs

The collection need not have everything: without URLs nothing is told apart by site, without labels there is no
precision, and each exhibit that has nothing says why.
"""

from neardup.evaluating import algorithms as one
from neardup.evaluating import combined as both
from neardup.evaluating.exhibit import Exhibit
from neardup.evaluating.study import Study


def exhibits(study: Study, *, seed: int = 1) -> list[Exhibit]:
    """In the order of the paper. Pages with the same tokens are one page, as in her experiments (section 3).

    seed: of the halves on which the cut-off of the combined algorithm is chosen and tested.
    """
    b, c = one.algorithms(study.distinct())
    training, testing = both.halves(b, seed=seed)
    found = both.cut_offs(b, training)
    chosen = both.chosen_cut_off(found)
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
        both.precision_against_r(found, chosen),
        both.around_the_choice(found, chosen),
        both.tested(b, testing, chosen),
        both.compared(b, c, training, chosen),
    ]
