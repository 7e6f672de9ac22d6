"""Whether to trust the run: the first lines of the report, as sentences with a level.

good   what was proven or promised holds
look   something that a person should look at before using the result, with a link to where
note   what is worth knowing
"""

from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from neardup.model import MEASURED
from neardup.report.facts import Facts
from neardup.sources.problems import COMPARED_ANYWAY

LARGE_GROUP = 0.01
"""Share of the collection from which on a group is worth a look."""
MANY = 0.5
"""Share of a source, a site or the collection from which on a removal is worth a look."""
CLOSE = 0.05
"""How far above the threshold a removal is a close one, where scores are shares."""
NEAR = 0.1
"""The same, for two pages of one host."""
SOME, SHARE = 5, 0.01
"""Such removals, and their share of all, from which on they are worth a look."""
FEW = 20
"""Documents below which shares say little."""
MOSTLY = 0.2
"""Share of documents made mostly of shared passages from which on templates are worth a look."""


class Check(NamedTuple):
    """A sentence and how it is meant."""

    level: Literal["good", "look", "note"]
    text: str
    link: str | None = None
    """The id of the section that shows it."""
    groups: Literal["edge", "site"] | None = None
    """Of which kind the groups are that it speaks of."""


def checks(facts: Facts, parts: dict[str, Any]) -> list[Check]:
    """All sentences, those to look at first."""
    found = [
        *([Check("look", parts["texts"])] if parts["texts"] else []),
        *_known(facts),
        *_evidence(facts),
        *_recall(facts),
        *_close(facts),
        *_twins(facts),
        *_groups(facts),
        *_sources(facts, parts),
        *_templates(parts),
        *_passed_over(facts),
    ]
    found += [Check("note", said) for said in facts.result.said]
    return sorted(found, key=lambda check: ("look", "good", "note").index(check.level))


def proof(facts: Facts) -> list[dict[str, Any]]:
    """How many removals rest on what."""
    counts = np.bincount(facts.decision.measured, minlength=len(MEASURED))
    return [{"how": how, "documents": int(n)} for how, n in zip(MEASURED, counts, strict=True) if n]


def _known(facts: Facts) -> list[Check]:
    """Removals that an index is the reason for."""
    known = facts.decision.known
    if not known.num_rows:
        return []
    counts = pc.value_counts(known.column("measured")).to_pylist()
    how = ", ".join(f"{row['counts']:,} by {_HOW.get(row['values'], row['values'])}" for row in counts)
    sure = {row["values"] for row in counts} <= {"identity", "exact"}
    text = f"{known.num_rows:,} documents were removed for documents of an index: {how}. Groups are of the others."
    return [Check("good" if sure else "note", text)]


_HOW = {"identity": "the same tokens", "exact": "exact measurement", "estimate": "an estimate from sketches"}


def _evidence(facts: Facts) -> list[Check]:
    recipe, removed = facts.recipe, len(facts.decision.removed)
    if not removed:
        nothing = "" if facts.decision.known.num_rows else "Nothing was removed: "
        return [Check("note", f"{nothing}no two documents of the collection are similar enough.".capitalize())]
    others = removed - int(facts.by_identity.sum())
    same = f"{removed - others:,} have the same tokens as the kept one"
    if not others:
        return [Check("good", f"Every removed document has the same tokens as the kept one ({removed:,}).")]
    if recipe.verify.method == "none":
        return [
            Check(
                "look",
                f"{others:,} removed documents were not measured: this recipe removes documents that share features. "
                f"{same}.",
                "similarity",
            )
        ]
    scores = facts.decision.score[~facts.by_identity]
    short = int((scores < facts.threshold - 1e-9).sum())
    if recipe.clusters.method == "components" and short:
        return [
            Check(
                "look",
                f"{short:,} removed documents are less similar to the kept one than the threshold: this recipe follows "
                "chains of similar documents (cluster = components).",
                "browser-title",
                "edge",
            )
        ]
    if recipe.verify.method == "exact":
        every = "Every other" if facts.decision.known.num_rows else "Every"
        text = f"{every} removed document was measured against the kept one: {others:,} exactly, {same}."
        return [Check("look", text, "browser-title", "edge") if short else Check("good", text)]
    samples = recipe.sketcher.estimators
    if recipe.thresholded and samples:
        error = recipe.sketcher.error(facts.threshold)
        text = f"{others:,} removals rest on estimates from {samples} samples, ± {error:.3f} at the threshold; {same}."
    elif recipe.thresholded:
        text = f"{others:,} removals rest on estimates from sketches; {same}."
    else:
        text = f"{others:,} removals rest on sketches ({facts.unit}), as the published system does; {same}."
    return [Check("note", text, "similarity")]


def _recall(facts: Facts) -> list[Check]:
    recipe = facts.recipe
    if recipe.filter is None or not recipe.thresholded:
        return []
    found = recipe.filter.probability(recipe.verify.threshold)
    much = f"{found:.1%}" if found < 0.9995 else "more than 99.9%"
    # Two pages of one host may need more than the threshold, and are then found at least as often.
    text = f"The search for candidates finds at least {much} of the pairs that reach {recipe.verify.threshold:g}"
    if found >= recipe.verify.recall - 0.005:
        return [Check("good", f"{text} (computed; neardup audit measures it).", "done")]
    return [Check("look", f"{text}: fewer than asked for, {recipe.verify.recall:.1%}.", "done")]


def _close(facts: Facts) -> list[Check]:
    """Removals that a slightly higher threshold would not have made: where a doubt is likeliest."""
    if facts.counted or not facts.threshold or not len(facts.decision.removed):
        return []
    close = int((facts.decision.score < facts.needed + CLOSE - 1e-9).sum())
    threshold = "their threshold" if facts.stricter else "the threshold"
    if not close:
        return [Check("good", f"No removal lies within {CLOSE} of {threshold}.")]
    part = close / len(facts.decision.removed)
    share = f"{part:.1%}" if part >= 0.0005 else "less than 0.1%"
    lie = "lies" if close == 1 else "lie"
    text = f"{close:,} of the removals ({share}) {lie} within {CLOSE} of {threshold}: look at some of them."
    return [Check("note", text, "browser-title", "edge")]


def twins(facts: Facts) -> NDArray[np.bool_]:
    """Which removals are two pages of one host just above the threshold. A template that was filled in twice makes
    such pairs: Henzinger measures low precision of both algorithms for pairs on one site (section 3). Where a recipe
    asks more of them, none is."""
    found = np.zeros(len(facts.decision.removed), bool)
    if facts.counted or not facts.threshold or facts.stricter:
        return found
    rows = np.flatnonzero(~facts.by_identity & (facts.decision.score < facts.threshold + NEAR - 1e-9))
    if len(rows):
        pairs = np.stack([facts.decision.removed[rows], facts.decision.kept_for[rows]], axis=1)
        found[rows] = facts.result.gathered.neighbours(pairs)
    return found


def _twins(facts: Facts) -> list[Check]:
    found = twins(facts)
    number, removed = int(found.sum()), len(found)
    if not number or (number < SOME and number < SHARE * removed):
        return []
    urls = facts.collection.any_order("url", facts.decision.removed[found])
    are = "1 removal is" if number == 1 else f"{number:,} removals are"
    text = (
        f"{are} two pages of one {'folder' if urls.null_count == number else 'site'} within {NEAR} of the threshold "
        f"({number / removed:.1%} of all): look whether a template was filled in twice."
    )
    return [Check("look", text, "browser-title", "site")]


def _groups(facts: Facts) -> list[Check]:
    if not len(facts.sizes):
        return []
    largest, whole = int(facts.sizes.max()), len(facts)
    part = largest / whole
    text = (
        f"The largest group holds {largest:,} documents, {f'{part:.1%}' if part >= 0.001 else 'less than 0.1%'} of all."
    )
    return [Check("look" if largest > LARGE_GROUP * whole and largest >= FEW else "good", text, "groups")]


def _sources(facts: Facts, parts: dict[str, Any]) -> list[Check]:
    removed, whole = int(facts.gone.sum()), len(facts)
    found = []
    if removed > MANY * whole and whole >= FEW:
        found.append(Check("look", f"More than half of the collection was removed ({removed / whole:.1%}).", "removed"))
    for what, key in (("file", "by_source"), ("site", "by_site")):
        rows = parts[key]["rows"] if parts[key] else []
        heavy = [row for row in rows if row["documents"] >= FEW and row["removed"] > MANY * row["documents"]]
        if not heavy or len(rows) == 1:
            continue
        worst = max(heavy, key=lambda row: (row["removed"] / row["documents"], row["documents"]))
        more = f"; so did {len(heavy) - 1:,} more {what}s" if len(heavy) > 1 else ""
        found.append(
            Check(
                "look",
                f"The {what} {worst['name']} lost more than half of its documents "
                f"({worst['removed']:,} of {worst['documents']:,}){more}.",
                "removed",
            )
        )
    if removed and not found:
        found.append(Check("good", "No source lost more than half of its documents.", "removed"))
    return found


def _templates(parts: dict[str, Any]) -> list[Check]:
    found = parts["templates"]
    if not found or found["mostly"] < MOSTLY:
        return []
    return [
        Check(
            "look",
            f"About {found['mostly']:.0%} of the documents consist for more than half of passages that many share: "
            "where only these are the same, documents look alike that are not.",
            "templates",
        )
    ]


def _passed_over(facts: Facts) -> list[Check]:
    counts, recipe = facts.result.counts, facts.recipe
    found = []
    for compared, sentence in ((False, "Could not be read or compared"), (True, "Compared, and yet to be mended")):
        kinds = {k: n for k, n in counts["skipped_by_kind"].items() if (k in COMPARED_ANYWAY) == compared}
        if kinds:
            named = ", ".join(f"{n:,} {kind}" for kind, n in kinds.items())
            found.append(Check("look", f"{sentence}: {named} (skipped.parquet names them)."))
    if counts["crowded"]:
        lost = counts["recall_lost_in_crowds"]
        found.append(
            Check(
                "look",
                f"{counts['crowded']:,} kept documents have more than {recipe.clusters.crowd:,} candidates under a key "
                f"and were compared with the latest of them: about {lost['share']:.1%} of the near-duplicates "
                f"({lost['low']:.1%} to {lost['high']:.1%}) are missed by it.",
            )
        )
    if counts["empty"]:
        found.append(Check("note", f"{counts['empty']:,} documents have no letters or digits: not compared, kept."))
    if counts["short"]:
        found.append(
            Check(
                "note",
                f"{counts['short']:,} documents have fewer than {recipe.shingles.width} tokens: compared as a whole.",
            )
        )
    return found
