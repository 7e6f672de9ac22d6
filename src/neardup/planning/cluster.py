"""A collection on a Spark cluster: what each step of neardup.spark reads, sends through the network and computes.

    N   documents          B   bytes of text         f   what a document leaves behind (footprint)
    A   with company: a copy, or a key in common     = N x duplicates
    C   of them, those that stand for a set of copies and share keys          = A x standing
    E   entries in buckets                                                    = C x keys x shared
    P   pairs that are measured exactly                                       = C x pairs

A step's formula gives the bytes of its rows; `shuffle` of constants.toml is how many bytes Spark wrote for each of
them when it was measured, with the headers, the alignment and the compression of its rows.
"""

from collections.abc import Callable
from dataclasses import dataclass

from neardup.decide import by_features_alone
from neardup.planning.constants import Constants
from neardup.planning.footprint import WORD, Footprint
from neardup.recipe import Recipe

NUMBER = 8
IDENTITY = 16
ID = 24
"""Bytes of a document's id: assumed. Those of the collection that was measured have 9, and 8 of length."""


FEW = 250_000
"""Pairs up to which those go to the documents (spark.judging), and not all candidates to the pairs."""


@dataclass(frozen=True)
class Expected:
    """The numbers of a collection, before it is read."""

    documents: float
    text: float
    company: float
    standing: float
    entries: float
    pairs: float
    removed: float
    again: bool
    """Whether the text of candidates is read once more: for shingle sets, or for bits made on the fly."""
    sets: bool
    """Whether shingle sets are made of it."""
    labels: bool
    """Whether the driver holds the component of every row: where pairs that connect them are scored or measured."""
    prints: Footprint

    @classmethod
    def of(cls, recipe: Recipe, documents: float, text: float, duplicates: float, known: Constants) -> "Expected":
        """Whose share of documents with company is `duplicates`; the rest is like the collection that was measured."""
        prints = Footprint.of(recipe, text / documents, known)
        like = known.collection
        company = documents * duplicates
        standing = company * like["standing"]
        sets = recipe.verify.method == "exact"
        again = sets or prints.later > 0
        return cls(
            documents=documents,
            text=text,
            company=company,
            standing=standing,
            entries=standing * prints.keys * like["shared"],
            pairs=standing * like["pairs"] if again else 0.0,
            removed=company * like["removed"],
            again=again,
            sets=sets,
            labels=recipe.clusters.method == "components" and not by_features_alone(recipe),
            prints=prints,
        )

    @property
    def shelved(self) -> int:
        """Bytes of a candidate where it is measured: its signature, its shingle set, and bits made on the fly."""
        return self.prints.signature + self.sets * WORD * self.prints.shingles + self.prints.later


@dataclass(frozen=True)
class Step:
    """What one step costs."""

    name: str
    read: float
    """Bytes, from the collection or the work folder."""
    shuffled: float
    kept: float
    """Bytes that it leaves in the work folder, or in the output."""
    core_seconds: float


@dataclass(frozen=True)
class _Formula:
    """Bytes of rows, and the number of units that CPU time is counted by."""

    name: str
    units: Callable[[Expected], float]
    read: Callable[[Expected], float]
    shuffled: Callable[[Expected], float]
    kept: Callable[[Expected], float]


def _sketches(e: Expected) -> float:
    return e.documents * (e.prints.sketch + IDENTITY + 2 * NUMBER + ID)


def _nothing(e: Expected) -> float:
    return 0.0


FORMULAS = (
    _Formula(
        "sketch",
        units=lambda e: e.text,
        read=lambda e: e.text,
        shuffled=lambda e: e.documents * (ID + 2 * NUMBER),  # is any id there twice?
        kept=_sketches,
    ),
    _Formula(
        "copies",
        units=lambda e: e.documents,
        read=lambda e: 2 * e.documents * (IDENTITY + NUMBER),
        shuffled=lambda e: e.documents * (2 * IDENTITY + 3 * NUMBER),
        kept=lambda e: (e.company - e.standing) * 2 * NUMBER,
    ),
    _Formula(
        "keys",
        units=lambda e: e.documents * e.prints.keys,
        read=lambda e: e.documents * (e.prints.sketch + NUMBER),
        shuffled=lambda e: e.documents * e.prints.keys * 2 * NUMBER,
        kept=lambda e: e.entries * 2 * NUMBER,
    ),
    _Formula(
        "order",
        units=lambda e: e.company,
        read=lambda e: e.documents * (ID + 2 * NUMBER),
        shuffled=lambda e: e.entries * NUMBER + e.company * (2 * ID + 8 * NUMBER),
        kept=lambda e: e.company * 3 * NUMBER,
    ),
    _Formula(
        "members",
        units=lambda e: e.standing,
        read=lambda e: e.documents * (e.prints.sketch + NUMBER),
        shuffled=lambda e: e.entries * NUMBER + e.company * 5 * NUMBER + e.standing * (e.prints.sketch + 2 * NUMBER),
        kept=lambda e: e.standing * (e.prints.signature + 2 * NUMBER),
    ),
    _Formula(
        "texts again",
        units=lambda e: e.text if e.again else 0.0,
        read=lambda e: e.text if e.again else 0.0,
        shuffled=lambda e: e.standing * (e.shelved + 3 * NUMBER) if e.again else 0.0,
        kept=lambda e: e.standing * e.shelved if e.again else 0.0,
    ),
    _Formula(
        "buckets",
        units=lambda e: e.entries,
        read=lambda e: e.standing * e.prints.signature + e.entries * 2 * NUMBER,
        shuffled=lambda e: (e.entries + e.standing) * (e.prints.signature + 2 * NUMBER) + e.entries * 2 * NUMBER,
        kept=lambda e: e.pairs * 2 * NUMBER,
    ),
    _Formula(
        "measure",
        units=lambda e: e.pairs,
        read=lambda e: e.standing * e.shelved if e.again else 0.0,
        shuffled=lambda e: (2 * e.pairs + (e.standing if e.pairs > FEW else 0.0)) * e.shelved,
        kept=lambda e: e.pairs * 8 * NUMBER,
    ),
    _Formula(
        "decide",
        units=lambda e: e.company,
        read=_nothing,
        shuffled=lambda e: e.company * 12 * NUMBER,
        kept=lambda e: e.removed * 8 * NUMBER,
    ),
    _Formula(
        "write",
        units=lambda e: e.text,
        read=lambda e: e.text + 2 * e.documents * (ID + NUMBER),
        shuffled=lambda e: e.documents * 3 * (ID + NUMBER) + e.company * 8 * NUMBER,
        kept=lambda e: e.text * (1 - e.removed / e.documents),
    ),
)
"""In the order of the engine; constants.toml has a table for each."""


def steps(expected: Expected, known: Constants) -> list[Step]:
    """What each costs."""
    made = []
    for formula in FORMULAS:
        measured = known.spark[formula.name]
        nanoseconds = measured["nanoseconds"]
        if formula.name == "sketch":  # what remains there is reading; the sketch is the recipe's
            nanoseconds += expected.prints.nanoseconds
        made.append(
            Step(
                formula.name,
                formula.read(expected),
                formula.shuffled(expected) * measured["shuffle"],
                formula.kept(expected) * (measured["kept"] if formula.name != "write" else 1.0),
                formula.units(expected) * nanoseconds / 1e9,
            )
        )
    return made


def held_by_driver(expected: Expected) -> float:
    """Bytes: a bit per document that is asked for or removed, sent to every executor; or a label of 8 bytes per row."""
    bits = expected.documents / 8 + expected.company / 8
    return bits + (expected.company * 2 * NUMBER if expected.labels else 0.0)
