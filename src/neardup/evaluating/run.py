"""evaluate(): recipes side by side on one collection, against what people say of its pairs.

truth → every recipe: sources → … → pairs and groups → judged pairs → measures → parts → the papers' exhibits
"""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.engines.steps import Silent, Watcher
from neardup.errors import UsageError
from neardup.evaluating import henzinger, jain, slices
from neardup.evaluating.clusterings import cluster_measures
from neardup.evaluating.collection import Found, Placed, all_ids, find, judge, place, similarities
from neardup.evaluating.evaluation import Evaluation, RecipeResult, SplitResult, TruthSummary
from neardup.evaluating.exhibit import Exhibit
from neardup.evaluating.facts import Facts
from neardup.evaluating.intervals import LEVEL, check_level
from neardup.evaluating.lists import Ranked, place_lists, read_lists
from neardup.evaluating.measures import Judged, pair_measures
from neardup.evaluating.studied import LOWEST_MATCH, matches_of, sampled, study_of
from neardup.evaluating.study import CORRECT, INCORRECT, UNDECIDED, UNLABELLED
from neardup.evaluating.truth import Unlisted, read_truth
from neardup.gather import Gathered, Reading, gather
from neardup.pairing import MOST
from neardup.recipe import Recipe
from neardup.recipes import choose_recipe, load_recipe, name_of, recipe_names
from neardup.sketches.bloom import BloomSettings
from neardup.sketches.minhash import MinHashSettings
from neardup.sketches.simhash import SimHashSettings
from neardup.sources.base import Quoting
from neardup.text.sites import SiteRule

RECIPES = ("default", "web", "alg-b", "alg-c", "combined")
"""What is evaluated if nothing is named: ours, and the three of Henzinger's paper."""

SAMPLE = 2000
"""Pairs whose texts are compared."""


def evaluate(
    source: Any,
    truth: Any,
    *,
    recipes: Sequence[Recipe | str | Path] | Mapping[str, Recipe | str | Path] = RECIPES,
    base: str | None = None,
    unlisted: Unlisted | None = None,
    columns: Mapping[str, str] | None = None,
    correct_from: float | None = None,
    incorrect_below: float | None = None,
    splits: bool = True,
    papers: bool = True,
    lists: Any = None,
    sample: int = SAMPLE,
    level: float = LEVEL,
    seed: int = 1,
    sites: SiteRule = "henzinger",
    most: int = MOST,
    text_field: str | None = None,
    id_field: str | None = None,
    url_field: str | None = None,
    html: bool | None = None,
    format: str | None = None,
    quoting: Quoting | None = None,
    on_error: Literal["stop", "skip"] = "stop",
    max_document_bytes: int = 64 << 20,
    threads: int | None = None,
    watcher: Watcher | None = None,
) -> Evaluation:
    """How right recipes are on a collection, against labelled pairs or clusters. Sources are read as by `dedup`.

    truth, columns, correct_from, incorrect_below: as for `read_truth`.
    recipes: names, TOML files or recipes; with names of your own as a mapping. "all": every published one.
    base: the recipe that R is relative to; alg-b if it is evaluated (as in Henzinger's section 3.5), else the first.
    unlisted: what a pair is that was found and that the truth does not list: "unknown" (for a truth that is a sample;
    so if not given) or "incorrect" (for one that lists all correct pairs). Clusters list all pairs of their documents.
    splits: measure parts of the pairs too; by B- and C-similarity, for which alg-b and alg-c are run if need be.
    papers: make the tables and figures of Henzinger 2006 and of Jain, Dahlin, Tewari 2005.
    lists: the ranked results of queries, for the figures of Jain, Dahlin, Tewari: a file or table with the columns
    query, id and perhaps rank.
    sample: of how many pairs texts are compared, for kinds of differences and term differences.
    level: of the confidence intervals. seed: of everything random.
    """
    check_level(level)
    if unlisted not in (None, "incorrect", "unknown"):
        raise UsageError(f"unlisted = {unlisted!r}: choose incorrect or unknown.")
    if sample < 1:
        raise UsageError(f"sample = {sample}: at least one pair is looked at.")
    if lists is not None and not papers:
        raise UsageError("Ranked lists are for the papers' figures: leave --no-papers out (papers=False), or --lists.")
    named = _named(recipes)
    base = _base(named, base)
    read = read_truth(truth, columns=columns, correct_from=correct_from, incorrect_below=incorrect_below)
    if read.clustered and unlisted == "unknown":
        raise UsageError(
            "unlisted = 'unknown': clusters tell of all pairs of their documents, and pairs with other documents are "
            "unknown without this. Leave it out, or list pairs instead."
        )
    ranked = None if lists is None else read_lists(lists)
    reading = Reading(
        text_field, id_field, url_field, html, format, on_error, max_document_bytes, threads, quoting=quoting
    )
    running = _Running(source, reading, most, _Once(watcher or Silent()))
    for sentence in read.said:
        running.watcher.say(sentence)

    needed = {named[base].id, *(load_recipe(name).id for name in _PAPERS if splits or papers)}
    placed: Placed | None = None
    for number, (name, recipe) in enumerate(named.items(), 1):
        running.watcher.say(f"Recipe {name} ({number} of {len(named)})")
        running.run(recipe, keep=recipe.id in needed)
        if placed is None:  # a truth about other documents is refused before hours are spent on them
            placed = place(read, running.ids, unlisted=unlisted)
            for sentence in placed.said[len(read.said) :]:
                running.watcher.say(sentence)
    assert placed is not None
    queries, said = ([], []) if ranked is None else place_lists(ranked, running.ids)
    for sentence in said:
        running.watcher.say(sentence)
    judged = judge(placed, [running.found[recipe.id] for recipe in named.values()])
    components = _components(judged, running, named, base)
    results = _results(judged, placed, running, named, base, components, level=level, seed=seed)
    facts = Facts(running.kept[named[base].id], sites)
    parts = _splits(judged, placed, facts, running, sample=sample, seed=seed) if splits else []
    exhibits: list[Exhibit] = []
    if papers:
        exhibits, more = _exhibits(placed, facts, running, queries, sample=sample, level=level, seed=seed)
        said += more
    return Evaluation(
        documents=placed.documents,
        truth=TruthSummary(
            name=read.name,
            pairs=len(placed.pairs),
            correct=int((placed.verdict == CORRECT).sum()),
            incorrect=int((placed.verdict == INCORRECT).sum()),
            undecided=int((placed.verdict == UNDECIDED).sum()),
            documents=int(placed.listed.sum()),
            unlisted=unlisted or ("incorrect among its documents" if read.clustered else "unknown"),
        ),
        base=base,
        level=level,
        results=tuple(results),
        split_results=tuple(
            _split_result(split, judged, list(named), base, components, level=level, seed=seed) for split in parts
        ),
        pairs=_pairs_table(judged, running.ids, list(named), parts),
        exhibits=tuple(exhibits),
        said=tuple(dict.fromkeys([*placed.said, *running.said, *_cut_short(results, most), *said])),
        settings={"sample": sample, "seed": seed, "most": most, "sites": sites},
    )


_PAPERS = ("alg-b", "alg-c")
"""Whose similarities the splits and the papers' tables need."""


def _named(recipes: Sequence[Recipe | str | Path] | Mapping[str, Recipe | str | Path]) -> dict[str, Recipe]:
    """Recipes by the names that tables have."""
    if isinstance(recipes, str | Path | Recipe):
        recipes = [recipes]
    if isinstance(recipes, Mapping):
        named = {name: choose_recipe(given) for name, given in recipes.items()}
    else:
        named = {}
        listed = [n for given in recipes for n in (recipe_names() if given == "all" else [given])]
        for given in dict.fromkeys(listed):
            recipe = choose_recipe(given)
            name = name_of(recipe) or (recipe.id if isinstance(given, Recipe) else Path(given).stem)
            if named.setdefault(name, recipe).id != recipe.id:
                raise UsageError(f"Two recipes are named {name!r}; give them names: recipes={{'one': …, 'other': …}}.")
    if not named:
        raise UsageError(f"There is no recipe to evaluate; there are {', '.join(recipe_names())}, or all.")
    return named


def _base(named: Mapping[str, Recipe], base: str | None) -> str:
    if base is None:
        b = load_recipe("alg-b").id
        return next((name for name, recipe in named.items() if recipe.id == b), next(iter(named)))
    if base not in named:
        raise UsageError(f"base = {base!r} is not evaluated; choose one of {', '.join(named)}, or add it to them.")
    return base


class _Once:
    """Passes every sentence on once: recipes read the same inputs."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self.begin, self.advance, self.end = watcher.begin, watcher.advance, watcher.end
        self._said: set[str] = set()

    def say(self, sentence: str) -> None:
        """If it is new."""
        if sentence not in self._said:
            self._said.add(sentence)
            self._watcher.say(sentence)


class _Running:
    """Runs recipes on the collection, and keeps what is needed again."""

    def __init__(self, source: Any, reading: Reading, most: int, watcher: _Once) -> None:
        self.watcher = watcher
        self._source, self._reading, self.most = source, reading, most
        # All by recipe.id: a name is what a user calls a recipe.
        self.found: dict[str, Found] = {}
        self.seconds: dict[str, float] = {}
        self.kept: dict[str, Gathered] = {}
        self.ids = pa.array([], pa.string())
        self.said: list[str] = []

    def gathered(self, recipe: Recipe) -> Gathered:
        """The collection, sketched by a recipe; kept for later."""
        if recipe.id not in self.kept:
            self.kept[recipe.id] = self._gather(recipe)
        return self.kept[recipe.id]

    def _gather(self, recipe: Recipe) -> Gathered:
        with gather(self._source, recipe, self._reading, self.watcher) as gathered:
            self.said += gathered.said
            return gathered

    def run(self, recipe: Recipe, *, keep: bool, groups: bool = True) -> Found:
        """Find pairs and groups, if that has not been done."""
        if recipe.id in self.found:
            return self.found[recipe.id]
        began = time.perf_counter()
        gathered = self.kept.get(recipe.id) or self._gather(recipe)
        if keep:
            self.kept[recipe.id] = gathered
        if not len(self.ids):
            self.ids = all_ids(gathered)
        self.found[recipe.id] = find(gathered, most=self.most, groups=groups)
        self.seconds[recipe.id] = time.perf_counter() - began
        return self.found[recipe.id]


def _components(judged: Judged, running: _Running, named: Mapping[str, Recipe], base: str) -> list[NDArray[np.int64]]:
    """Of every recipe, what is drawn again together: documents that its pairs or the truth connect."""
    found = []
    for i, recipe in enumerate(named.values()):
        group = running.found[recipe.id].group
        gone = np.flatnonzero(group != np.arange(len(group)))
        found.append(judged.linked([i, [*named].index(base)], (gone, group[gone])))
    return found


def _results(
    judged: Judged,
    placed: Placed,
    running: _Running,
    named: Mapping[str, Recipe],
    base: str,
    components: list[NDArray[np.int64]],
    *,
    level: float,
    seed: int,
) -> list[RecipeResult]:
    documents = np.flatnonzero(placed.grouped)
    names = list(named)
    results = []
    for i, name in enumerate(names):
        found, component = running.found[named[name].id], components[i]
        results.append(
            RecipeResult(
                name,
                named[name],
                pair_measures(judged, i, names.index(base), component, level=level, seed=seed),
                cluster_measures(
                    found.group[documents], placed.groups[documents], component[documents], level=level, seed=seed
                ),
                running.seconds[named[name].id],
                found.cut_short,
                found.left_out,
            )
        )
    return results


def _splits(
    judged: Judged, placed: Placed, facts: Facts, running: _Running, *, sample: int, seed: int
) -> list[slices.Split]:
    """Parts of the pairs that are correct or found; the others are in no measure."""
    relevant = np.flatnonzero(judged.relevant)
    first, second = judged.first[relevant], judged.second[relevant]
    b, c = (running.gathered(load_recipe(name)) for name in _PAPERS)
    features, bits = b.recipe.sketch, c.recipe.sketch
    assert isinstance(features, MinHashSettings)
    assert isinstance(bits, SimHashSettings)
    labelled = np.flatnonzero(judged.verdict[relevant] != UNLABELLED)  # the others are in no measure
    chosen = labelled[sampled(len(labelled), sample, seed)]
    kinds, _ = facts.differences(first[chosen], second[chosen])
    found = [
        slices.by_site(facts.same_site(first, second)),
        slices.by_b(similarities(b, first, second), features.k),
        slices.by_c(similarities(c, first, second), bits.bits, bits.similar),
        slices.by_difference(kinds, chosen, len(relevant), len(labelled)),
        slices.by_length(facts.tokens(first, second)),
        slices.by_script(facts.scripts(first, second)),
    ]
    if placed.kind is not None:
        codes = first * max(1, judged.documents) + second
        found.append(slices.by_kind(placed.kind, placed.rows(codes)))
    return [_spread(split, relevant, len(judged)) for split in found]


def _spread(split: slices.Split, rows: NDArray[np.int64], n: int) -> slices.Split:
    """From some pairs to all."""
    of = np.full(n, -1, np.int64)
    of[rows] = split.of
    return slices.Split(split.key, split.title, split.parts, of, split.note)


def _split_result(
    split: slices.Split,
    judged: Judged,
    names: list[str],
    base: str,
    components: list[NDArray[np.int64]],
    *,
    level: float,
    seed: int,
) -> SplitResult:
    parts = []
    for i in np.unique(split.of[split.of >= 0]).tolist():
        inside = judged.take(np.flatnonzero(split.of == i))
        for r, name in enumerate(names):
            measures = pair_measures(inside, r, names.index(base), components[r], level=level, seed=seed)
            parts.append((split.parts[i], name, measures))
    return SplitResult(split.key, split.title, split.note, tuple(parts))


_VERDICTS = ("incorrect", "undecided", "correct", None)
"""From -1 on; None: the truth does not say."""


def _pairs_table(judged: Judged, ids: pa.Array, names: list[str], splits: list[slices.Split]) -> pa.Table:
    """Every pair that is in a measure."""
    rows = np.flatnonzero(judged.relevant)
    columns: dict[str, pa.Array] = {
        "first": ids.take(pa.array(judged.first[rows])),
        "second": ids.take(pa.array(judged.second[rows])),
        "verdict": pa.array(_VERDICTS, pa.string()).take(pa.array(judged.verdict[rows] + np.int8(1))),
        "weight": pa.array(judged.weight[rows]),
    }
    for split in splits:
        of = split.of[rows]
        columns[split.key] = pa.array(split.parts, pa.string()).take(pa.array(of, mask=of < 0))
    for i, name in enumerate(names):
        columns[f"found:{name}"] = pa.array(judged.found[i][rows])
    return pa.table(columns)


def _exhibits(
    placed: Placed, facts: Facts, running: _Running, queries: Ranked, *, sample: int, level: float, seed: int
) -> tuple[list[Exhibit], list[str]]:
    """The papers' tables and figures, and what is to be said of them: each tells what its own recipes left out."""
    recipes = [load_recipe(name) for name in _PAPERS]
    b, c = ((running.gathered(recipe), running.run(recipe, keep=True, groups=False)) for recipe in recipes)
    study = study_of(facts, placed, b, c, sample=sample, seed=seed)
    bloom = load_recipe("bloom")
    assert isinstance(bloom.sketch, BloomSettings)
    matched = running.run(bloom.changed(sketch_similar=LOWEST_MATCH), keep=False, groups=False)
    matches = matches_of(placed.documents, matched, similar=bloom.sketch.similar, lists=queries)
    of_pairs = [s for name, found in zip(_PAPERS, (b[1], c[1]), strict=True) for s in _left_out(name, found, running)]
    of_matches = _left_out("bloom", matched, running)
    made = [e.noting(" ".join(of_pairs)) for e in henzinger.exhibits(study, level=level, seed=seed)]
    made += [e.noting(" ".join(of_matches)) for e in jain.exhibits(matches)]
    said = [f"Papers: {s}" for s in (*of_pairs, *of_matches)]
    if study.contradictions:
        said.append(f"Papers: of {study.contradictions:,} pairs, copies are labelled differently; they are undecided.")
    return made, said


def _left_out(name: str, found: Found, running: _Running) -> list[str]:
    if not found.cut_short:
        return []
    return [
        f"{name} compared {found.cut_short:,} documents with {running.most:,} candidates only and left out up to "
        f"{found.left_out:,} pairs."
    ]


def _cut_short(results: list[RecipeResult], most: int) -> list[str]:
    return [
        f"{r.name}: {r.cut_short:,} documents have more than {most:,} candidates and were compared with so many of "
        f"them; up to {r.left_out:,} candidate pairs were not looked at, so recall is too low by what is among them."
        for r in results
        if r.cut_short
    ]
