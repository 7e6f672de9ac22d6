"""Near-duplicate detection with the evidence.

The path of a document, and where it is written:

    sources     files, tables, streams → batches of documents
    text        bytes → canonical token sequence
    shingles    tokens → 64-bit fingerprints of w consecutive tokens
    sketches    fingerprints → a few dozen bytes per document
    candidates  sketches → pairs worth a look, without listing all pairs
    verify      candidate pairs → pairs with a measured similarity
    clusters    verified pairs → groups, and which member is kept
    outputs     groups → kept corpus and the evidence for every removal

Around it: recipe (how), recipes (the published systems), engines (where), gather, decide, pipeline and pairing (the
path itself), evidence and result (what comes out), index (documents as they arrive), comparing (two documents),
evaluate (recipes against labelled truth), audit (how right was this run?), report and pages (what people look at),
service and client (all of it over HTTP), analysis (the mathematics), charts, rabin, kernels (the compiled loops), cli.

    import neardup
    result = neardup.dedup("pages/*.jsonl.gz", threshold=0.8)
    result.removed                 # a pyarrow.Table: id, kept_id, relation, resemblance, …
    result.explain("page-17")
    result.write("clean/")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from neardup._version import __version__

if TYPE_CHECKING:
    from neardup.analysis.filters import Filter as Filter
    from neardup.analysis.filters import choose_filter as choose_filter
    from neardup.audit import LabellingSession as LabellingSession
    from neardup.audit import RecallAudit as RecallAudit
    from neardup.audit import measure_recall as measure_recall
    from neardup.client import Client as Client
    from neardup.clusters.settings import ClusterSettings as ClusterSettings
    from neardup.comparing import PairReport as PairReport
    from neardup.comparing import compare as compare
    from neardup.errors import InputError as InputError
    from neardup.errors import MissingExtra as MissingExtra
    from neardup.errors import NeardupError as NeardupError
    from neardup.errors import OutputError as OutputError
    from neardup.errors import RecipeError as RecipeError
    from neardup.errors import StoreError as StoreError
    from neardup.errors import UsageError as UsageError
    from neardup.errors import WorkError as WorkError
    from neardup.evaluating import Evaluation as Evaluation
    from neardup.evaluating import evaluate as evaluate
    from neardup.evaluating import read_truth as read_truth
    from neardup.index import Document as Document
    from neardup.index import Index as Index
    from neardup.index import Match as Match
    from neardup.index import Stored as Stored
    from neardup.index import Verdict as Verdict
    from neardup.model import Explanation as Explanation
    from neardup.pairing import Pairs as Pairs
    from neardup.pairing import pairs as pairs
    from neardup.pipeline import dedup as dedup
    from neardup.recipe import Recipe as Recipe
    from neardup.recipes import load_recipe as load_recipe
    from neardup.recipes import recipe_names as recipe_names
    from neardup.refine import Grouped as Grouped
    from neardup.refine import group as group
    from neardup.refine import sign as sign
    from neardup.report import write_report as write_report
    from neardup.result import Result as Result
    from neardup.shingles import ShingleSettings as ShingleSettings
    from neardup.single import resemblance as resemblance
    from neardup.single import scores as scores
    from neardup.single import sketch as sketch
    from neardup.sketches.bins import OnePermutationSettings as OnePermutationSettings
    from neardup.sketches.bloom import BloomSettings as BloomSettings
    from neardup.sketches.both import BySiteSettings as BySiteSettings
    from neardup.sketches.both import CombinedSettings as CombinedSettings
    from neardup.sketches.lists import ListSettings as ListSettings
    from neardup.sketches.minhash import MinHashSettings as MinHashSettings
    from neardup.sketches.samples import BottomSettings as BottomSettings
    from neardup.sketches.samples import ModSettings as ModSettings
    from neardup.sketches.simhash import SimHashSettings as SimHashSettings
    from neardup.text.settings import TextSettings as TextSettings
    from neardup.verify.settings import VerifySettings as VerifySettings

# Importing numba and Arrow takes half a second, so each name is loaded when it is first used.
_HOME = {
    "BloomSettings": "neardup.sketches.bloom",
    "BottomSettings": "neardup.sketches.samples",
    "BySiteSettings": "neardup.sketches.both",
    "Client": "neardup.client",
    "ClusterSettings": "neardup.clusters.settings",
    "CombinedSettings": "neardup.sketches.both",
    "Document": "neardup.index",
    "Evaluation": "neardup.evaluating",
    "Explanation": "neardup.model",
    "Filter": "neardup.analysis.filters",
    "Grouped": "neardup.refine",
    "Index": "neardup.index",
    "InputError": "neardup.errors",
    "LabellingSession": "neardup.audit",
    "ListSettings": "neardup.sketches.lists",
    "Match": "neardup.index",
    "MinHashSettings": "neardup.sketches.minhash",
    "MissingExtra": "neardup.errors",
    "ModSettings": "neardup.sketches.samples",
    "NeardupError": "neardup.errors",
    "OnePermutationSettings": "neardup.sketches.bins",
    "OutputError": "neardup.errors",
    "PairReport": "neardup.comparing",
    "Pairs": "neardup.pairing",
    "RecallAudit": "neardup.audit",
    "Recipe": "neardup.recipe",
    "RecipeError": "neardup.errors",
    "Result": "neardup.result",
    "ShingleSettings": "neardup.shingles",
    "SimHashSettings": "neardup.sketches.simhash",
    "StoreError": "neardup.errors",
    "Stored": "neardup.index",
    "TextSettings": "neardup.text.settings",
    "UsageError": "neardup.errors",
    "Verdict": "neardup.index",
    "VerifySettings": "neardup.verify.settings",
    "WorkError": "neardup.errors",
    "choose_filter": "neardup.analysis.filters",
    "compare": "neardup.comparing",
    "dedup": "neardup.pipeline",
    "evaluate": "neardup.evaluating",
    "group": "neardup.refine",
    "load_recipe": "neardup.recipes",
    "measure_recall": "neardup.audit",
    "pairs": "neardup.pairing",
    "read_truth": "neardup.evaluating",
    "recipe_names": "neardup.recipes",
    "resemblance": "neardup.single",
    "scores": "neardup.single",
    "sign": "neardup.refine",
    "sketch": "neardup.single",
    "write_report": "neardup.report",
}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'neardup' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
