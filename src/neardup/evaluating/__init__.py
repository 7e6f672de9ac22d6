"""How right are recipes? Against labelled pairs or clusters, with intervals; and the papers' tables for any collection.

run            evaluate(): the whole path, on one screen
evaluation     what it returns; write: as a folder; page: as one HTML file

labels, truth  what people say: labelled pairs, graded pairs, clusters; lists: ranked results of queries
collection     what recipes found, and the truth, by document numbers
measures       precision, recall, F1 and R of pairs
clusterings    pairwise F1, adjusted Rand index, exact sets and B-cubed of groups
intervals      how sure all of them are; forest: connected components

slices         the pairs in parts; facts: what is known of pairs
differences    kinds of differences and term differences; expressions: time stamps, counters, ids in many languages
scripts        Latin, Cyrillic, Han, …

studied        from a collection to the papers' arrays; study: these arrays
henzinger      her tables and figures (algorithms, combined, shares, powerlaw); jain: theirs
exhibit        a table or figure; figures: the specifications of pictures
"""

from neardup.evaluating.evaluation import Evaluation
from neardup.evaluating.run import RECIPES, evaluate
from neardup.evaluating.truth import Truth, read_truth

__all__ = ["RECIPES", "Evaluation", "Truth", "evaluate", "read_truth"]
