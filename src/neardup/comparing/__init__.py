"""Two documents side by side.

documents    texts, bytes, files, URLs → the two documents, and what each recipe reads of them
tokens       a text → its tokens, and where they stand in it
difference   two token sequences → the diff, and the passages that both have
systems      what every published recipe says of the pair, and what was to be expected
report       compare(a, b) → PairReport: all of it
marked       two texts with their differences marked, for pages that people look at
"""

from neardup.comparing.report import Difference, PairReport, Passage, Place, Side, compare
from neardup.comparing.systems import Score, System

__all__ = ["Difference", "PairReport", "Passage", "Place", "Score", "Side", "System", "compare"]
