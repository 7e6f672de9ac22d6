"""The living index from its definition: a dictionary, and every stored document looked at for every question.

Documents are numbers of a `System`, so that what is similar is known of all pairs beforehand. A document that is
similar to stored ones is a duplicate of the most similar, of the earliest where several are; any other is new.
"""

from typing import NamedTuple

from tests.naive.systems import Pair, System


class Told(NamedTuple):
    """A stored document that is similar."""

    id: str
    score: float
    identical: bool


class Refused(Exception):
    """Another text is stored under the id."""


def judged(system: System, *, texts: bool) -> dict[Pair, float]:
    """The similar pairs of a collection. Without texts a recipe that measures exactly goes by what sketches show."""
    if texts or system.recipe.verify.method != "exact":
        return system.similar()
    similar = system.kind.similar
    answer = {}
    for i, j in system.pairs():
        least = system.threshold(i, j) if similar is None else float(similar)
        if system.identical(i, j):
            answer[i, j] = system.full
        elif system.share_a_key(i, j) and system.score(i, j) >= least:
            answer[i, j] = system.score(i, j)
    return answer


class NaiveIndex:
    """Ids and the documents under them, in the order of adding."""

    def __init__(self, system: System, pairs: dict[Pair, float]) -> None:
        self.system, self.pairs = system, pairs
        self.stored: dict[str, int] = {}

    def __contains__(self, id: str) -> bool:
        return id in self.stored

    def __len__(self) -> int:
        return len(self.stored)

    def similar(self, document: int) -> list[Told]:
        """Copies in the order of adding, then the others, the most similar first."""
        copies, others = [], []
        for id, other in self.stored.items():
            if self.system.identical(document, other) or (document == other and other in self.system.identity):
                copies.append(Told(id, 1.0, True))
            elif (pair := (min(document, other), max(document, other))) in self.pairs:
                others.append(Told(id, self.pairs[pair], False))
        return copies + sorted(others, key=lambda told: -told.score)

    def duplicates(self, document: int) -> list[Told]:
        """Those of the similar ones whose score is enough, given how many documents stand under a common key."""
        found = []
        for told in self.similar(document):
            other = self.stored[told.id]
            shared = [] if told.identical else self.system.keys[document] & self.system.keys[other]
            heights = [sum(key in self.system.keys.get(n, ()) for n in self.stored.values()) for key in shared]
            if told.identical or told.score >= self.system.bar(document, other, min(heights, default=1)):
                found.append(told)
        return found

    def same(self, id: str, document: int) -> bool:
        """Whether the same words are stored under this id; none are the same as none."""
        return id in self.stored and self.words(self.stored[id]) == self.words(document)

    def words(self, document: int) -> tuple:
        """Without the site."""
        return self.system.identity.get(document, (None,))[:-1]

    def put(self, id: str, document: int) -> None:
        """Under a new number: it is the latest one now."""
        self.stored.pop(id, None)
        self.stored[id] = document

    def add(self, id: str, document: int) -> bool:
        if id in self.stored and not self.same(id, document):
            raise Refused(id)
        if id in self.stored:
            return False
        self.put(id, document)
        return True

    def check_and_add(self, id: str, document: int) -> tuple[list[Told], bool]:
        """What is similar, and whether it was stored."""
        found = self.duplicates(document)
        added = not found and (document in self.system.identity or id not in self.stored)
        if added:
            self.put(id, document)
        return found, added

    def update(self, id: str, document: int) -> bool:
        there = id in self.stored
        self.put(id, document)
        return there

    def remove(self, id: str) -> bool:
        return self.stored.pop(id, None) is not None
