"""Recall: fast = from the definition, for every kind of recipe; planted misses are found as often as the curve says."""

import json
import random
from dataclasses import replace
from io import StringIO
from math import sqrt

import numpy as np
import pytest
from rich.console import Console

import neardup
from benchmarks.crowds.corpus import Parameters
from benchmarks.crowds.corpus import crowd as made_crowd
from neardup import ClusterSettings, MinHashSettings, Recipe, VerifySettings
from neardup.audit import RecallAudit, measure_recall
from neardup.audit import neighbours as search
from neardup.audit.judging import Truth, digest_of, score_ranges
from neardup.cli.audit import _show_recall
from neardup.errors import UsageError
from neardup.recipes import choose_recipe
from neardup.verify.signatures import Signatures
from tests.corpus import WORDS, documents
from tests.naive import audit as naive
from tests.naive import text as naive_text

FEW = Recipe(sketch=MinHashSettings(k=3, s=8), verify=VerifySettings("exact", 0.7))
"""A recipe that misses a good part."""

RECIPES = {
    **{name: {"recipe": name} for name in neardup.recipe_names()},
    "few features": {"recipe": FEW},
    "few, longest stays": {"recipe": FEW, "keep": "longest"},
    "few, by a column": {"recipe": FEW, "keep": "prefer:source=c,a,max:score"},
    "components": {"recipe": FEW, "cluster": "components"},
    "not verified": {"recipe": replace(FEW, verify=VerifySettings("none"))},
    "estimated": {"recipe": FEW, "verify": "sketch"},
    "bottom, exact": {"recipe": "bottom-m", "verify": "exact", "threshold": 0.6},
    "mod, exact": {"recipe": neardup.load_recipe("mod-n").changed(sketch_n=2, verify_method="exact")},
    "containment, exact": {
        "recipe": neardup.load_recipe("mod-n").changed(sketch_n=2, sketch_measure="containment", verify_method="exact")
    },
    "stream, exact": {"recipe": "stream", "verify": "exact", "threshold": 0.6},
    "c, exact": {"recipe": "alg-c", "verify": "exact", "threshold": 0.5},
    "combined, exact": {"recipe": "combined", "verify": "exact", "threshold": 0.5},
    "features alone, exact": {"recipe": replace(FEW, sketch=MinHashSettings(k=3, s=8, samples=False))},
}


@pytest.fixture(scope="module")
def rows() -> list[dict]:
    made = documents(120, seed=3, length=200)
    return [{**row, "url": f"https://www.s{i % 4}.example.org/{i}"} for i, row in enumerate(made)]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Deduplicate rows from a file."""
    folder = tmp_path_factory.mktemp("rows")

    def deduplicated(rows: list[dict], **settings) -> neardup.Result:
        path = folder / f"{len(list(folder.iterdir()))}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return neardup.dedup(str(path), threads=2, **settings)

    return deduplicated


def by_definition(result: neardup.Result, rows: list[dict]) -> tuple[int, int, set[int]]:
    """All pairs, each by the recipe's rule: the naive shingle sets, or the scores of all signatures."""
    gathered, recipe = result.gathered, result.recipe
    collection, sketcher = gathered.collection, recipe.sketcher
    n = len(collection)
    every = np.arange(n)
    signatures = Signatures.of(sketcher, collection, every)
    keys = sketcher.keys(collection.matrix("words", every), collection.ragged(every))
    keys_of = [set(keys.values[a:b].tolist()) for a, b in zip(keys.offsets[:-1], keys.offsets[1:], strict=True)]
    sets = [set(naive_text.shingles(naive_text.tokens(r["text"]), recipe.shingles.width)) for r in rows]
    pairs = np.array([(i, j) for i in range(n) for j in range(n)])
    scores = signatures.scores(pairs).reshape(n, n)
    projected = gathered.projected(every)
    bits = None if projected is None else projected.measure(pairs).reshape(n, n)
    comparison, verify = sketcher.comparison, recipe.verify

    def true(i: int, j: int) -> bool:
        score = scores[i, j]
        passes = comparison.similar is None or score >= comparison.similar
        if bits is not None:
            passes &= bool(bits[i, j] >= projected.threshold)
        if verify.method == "exact" or (verify.method == "none" and comparison.similar is None):
            both, either = len(sets[i] & sets[j]), len(sets[i] | sets[j])
            share = both / min(len(sets[i]), len(sets[j])) if comparison.contained else both / either
            hosts = {rows[d]["url"].split("/")[2] for d in (i, j)}  # two pages of one host need more
            return passes and share >= (
                max(verify.same_site, verify.threshold) if len(hosts) == 1 else verify.threshold
            )
        return passes and (comparison.similar is not None or score >= verify.threshold)

    kept = set(np.flatnonzero(result.keep).tolist())
    identities = [tuple(x) for x in gathered.identities().tolist()]
    rank = {"first": lambda i: i, "longest": lambda i: (-len(naive_text.tokens(rows[i]["text"])), rows[i]["id"])}.get(
        recipe.clusters.keep,
        lambda i: ("ca".find(rows[i]["source"]) % 3, -rows[i]["score"], rows[i]["id"]),
    )
    texts: dict[tuple, int] = {}  # of documents with the same words the preferred one is compared
    for i in sorted(every.tolist(), key=rank, reverse=True):
        texts[identities[i]] = i
    enough = search.margin(recipe).enough
    blind = {i for i in every.tolist() if len(keys_of[i]) < enough}
    return naive.recall(
        sorted(texts.values()),
        blind,
        kept,
        true,
        lambda i, j: bool(keys_of[i] & keys_of[j]),
        lambda i, j: rank(i) < rank(j),
    )


@pytest.mark.parametrize("name", RECIPES)
def test_a_census_is_the_definition(run, rows, name):
    result = run(rows, **RECIPES[name])
    pairs, found, stay = by_definition(result, rows)
    audit = measure_recall(result)
    assert audit.sampled == audit.texts
    assert sum(r.judged for r in audit.ranges) == pairs > 0
    assert len(audit.missed) <= 50
    if audit.truth.by_features:
        assert_not_measured(audit)
        return
    assert audit.features.of == pairs
    assert sum(round(r.share.of * (r.share.value or 0)) for r in audit.ranges) == found
    assert audit.missed_removals == (len(stay), len(stay), len(stay))
    assert audit.features.value == found / pairs
    names = {rows[i]["id"] for i in stay}
    told = {p.first for p in audit.missed if p.both_kept}
    assert told <= names | {p.first for p in audit.missed if p.why == "no key in common"}


def assert_not_measured(audit: RecallAudit) -> None:
    facts = json.loads(json.dumps(audit.to_dict()))
    assert facts["features"]["value"] is None
    assert facts["removals"]["value"] is None
    assert facts["missed_removals"] is None
    assert facts["predicted"] is None
    assert all(r["share"]["value"] is None for r in facts["ranges"])


def test_sketches_that_see_only_pairs_with_a_common_feature_cannot_tell_what_was_missed(run, rows):
    """The same run with samples misses half; without them it would find that it missed nothing."""
    told = {name for name in RECIPES if Truth.of(run(rows[:2], **RECIPES[name]).recipe).by_features}
    assert told == {"features alone, exact", "combined, exact"}
    result = run(rows, **RECIPES["features alone, exact"])
    audit = measure_recall(result)
    assert_not_measured(audit)
    assert measure_recall(run(rows, **RECIPES["few features"])).removals.value < 1
    shown = spoken(audit)
    assert shown.count("cannot be measured: these sketches see only pairs that share a feature") == 2
    assert "share a feature\n" in shown
    assert "%" not in shown.partition("measured again")[0]


def spoken(audit: RecallAudit) -> str:
    """What a person reads."""
    console = Console(width=160, highlight=False, file=StringIO())
    _show_recall(console, audit)
    return console.file.getvalue()


def test_the_recipes_above_do_miss(run, rows):
    """Otherwise the test before would prove little."""
    for name in ("few features", "few, longest stays", "components", "estimated"):
        audit = measure_recall(run(rows, **RECIPES[name]))
        assert 0 < audit.features.value < 1, name
        assert audit.missed_removals[0] > 0, name
        assert {p.why for p in audit.missed} == {"no key in common"}


def independent_pairs(n: int, *, seed: int) -> list[dict]:
    """n pairs that share nothing with each other, over the range of resemblance."""
    rng = random.Random(seed)
    made = []
    for i in range(n):
        words = [f"{rng.choice(WORDS)}{i}x{j}" for j in range(150)]
        made.append({"id": f"{i}a", "text": " ".join(words)})
        for at in rng.sample(range(150), rng.randint(1, 5)):
            words[at] = f"new{at}"
        made.append({"id": f"{i}b", "text": " ".join(words)})
    return made


def test_planted_misses_are_found_at_the_rate_of_the_curve(run):
    recipe = Recipe(sketch=MinHashSettings(k=4, s=6), verify=VerifySettings("exact", 0.7))
    rows = independent_pairs(500, seed=7)
    audit = measure_recall(run(rows, recipe=recipe))
    chances = [recipe.filter.probability(r) for r in planted_resemblances(rows, 0.7)]
    assert len(chances) > 300
    assert audit.predicted == pytest.approx(sum(chances) / len(chances), abs=1e-9)
    off = sqrt(sum(p * (1 - p) for p in chances)) / len(chances)
    assert 0.3 < audit.predicted < 0.95
    assert abs(audit.features.value - audit.predicted) < 4 * off
    assert audit.removals.value == pytest.approx(audit.features.value)  # every pair is a cluster of its own
    few = [r for r in audit.ranges if r.judged]
    assert [r.predicted for r in few] == sorted(r.predicted for r in few)


def planted_resemblances(rows: list[dict], threshold: float) -> list[float]:
    """Of the planted pairs that are pairs, from the definition."""
    words = [row["text"].split() for row in rows]
    sets = [{tuple(w[i : i + 5]) for i in range(len(w) - 4)} for w in words]
    values = [len(a & b) / len(a | b) for a, b in zip(sets[::2], sets[1::2], strict=True)]
    return [v for v in values if v >= threshold]


def test_a_sample_covers_the_census(run):
    rows = independent_pairs(200, seed=9)
    result = run(rows, recipe=Recipe(sketch=MinHashSettings(k=2, s=6), verify=VerifySettings("exact", 0.7)))
    census = measure_recall(result)
    trials, inside = 60, {"features": 0, "removals": 0}
    for seed in range(trials):
        audit = measure_recall(result, sample=60, seed=seed)
        assert audit.sampled == 60
        for name in inside:
            share = getattr(audit, name)
            inside[name] += share.low <= getattr(census, name).value <= share.high
    for name, number in inside.items():
        assert number / trials >= 0.95 - 3 * sqrt(0.95 * 0.05 / trials), name


def crowd(n: int) -> list[dict]:
    """One cluster of n texts that are all alike, and a few others."""
    base = [f"w{i}" for i in range(100)]
    near = [{"id": f"n{i}", "text": " ".join([*base, f"own{i}"])} for i in range(n)]
    return near + [{"id": f"o{i}", "text": " ".join(f"x{i}y{j}" for j in range(50))} for i in range(20)]


def test_of_many_neighbours_some_are_drawn_and_stand_for_all(run, monkeypatch):
    monkeypatch.setattr("neardup.audit.recall.MOST", 10)
    result = run(crowd(60), threshold=0.8)
    audit = measure_recall(result)
    assert audit.judged == 60 * 10
    assert audit.features.of == pytest.approx(60 * 59)
    assert audit.features.value == 1.0


def test_neither_threads_nor_runs_matter(run, rows, monkeypatch):
    result = run(rows, recipe=FEW)
    monkeypatch.setattr("neardup.audit.recall.MOST", 3)
    whole = measure_recall(result, sample=50)
    monkeypatch.setattr(search, "_RUN", 7)
    monkeypatch.setattr(search, "_QUERIES", 5)
    result.gathered.engine.threads = 1
    assert measure_recall(result, sample=50) == whole


def test_what_a_crowd_hides_is_told(run):
    """Pages of one template just below the threshold fill the buckets; a copy of the first meets them only."""
    rng = random.Random(4)
    base = [f"w{i}" for i in range(200)]
    rows = []
    for i in range(30):
        words = list(base)
        for at in rng.sample(range(200), 3):
            words[at] = f"own{i}x{at}"
        rows.append({"id": f"page{i}", "text": " ".join(words)})
    rows += [{"id": f"copy{i}", "text": rows[i]["text"] + f" more{i}"} for i in range(30)]
    result = run(rows, recipe=neardup.load_recipe("default").changed(clusters_crowd=2))
    audit = measure_recall(result)
    assert result.counts["crowded"] > 0
    assert audit.features.value == 1.0
    assert audit.removals.value < 1.0
    assert {p.why for p in audit.missed} == {"too many candidates"}


def test_measured_precision(run, rows):
    exact = measure_recall(run(rows, recipe=FEW)).precision
    assert exact.passing.value == 1.0
    assert exact.quantiles["0"] >= 0.7
    result = run(rows, recipe=replace(FEW, verify=VerifySettings("none"), clusters=ClusterSettings("components")))
    loose = measure_recall(result).precision
    assert loose.passing.value < 1.0
    assert loose.quantiles["0"] < 0.7
    assert loose.copies + loose.population == len(result.removed)
    own = measure_recall(run(rows, recipe="alg-c")).precision
    assert own.threshold is None
    assert own.passing.value is None
    assert 0 < own.quantiles["0.5"] <= 1


def pages_of_hosts() -> list[dict]:
    """Pairs of resemblance 0.7 or so: ten on one host, ten on two, ten versions of one page; and ten of 0.9 on one."""
    rows = []
    for kind, host, other, changed in (
        ("one", "a", "a", 3),
        ("two", "a", "b", 3),
        ("version", "a", "a", 3),
        ("near", "a", "a", 1),
    ):
        for i in range(10):
            words = [f"{kind}{i}x{j}" for j in range(100)]
            path = f"{kind}{i}"
            rows.append({"id": f"{path}-0", "url": f"https://{host}.org/{path}", "text": " ".join(words)})
            for at in range(changed):
                words[10 + 20 * at] = "changed"
            path += "" if kind == "version" else "?again"
            rows.append({"id": f"{kind}{i}-1", "url": f"https://{other}.org/{path}", "text": " ".join(words)})
    return rows


def test_two_pages_of_one_host_need_more_and_values_are_true_ones(run):
    rows = pages_of_hosts()
    recipe = neardup.load_recipe("web").changed(sketch_k=2, sketch_s=4)
    verify = recipe.verify
    assert verify.threshold == 0.65
    assert verify.same_site == 0.85
    result = run(rows, recipe=recipe)
    audit = measure_recall(result)
    words = [row["text"].split() for row in rows]
    sets = [{tuple(w[i : i + 5]) for i in range(len(w) - 4)} for w in words]
    planted = {rows[i]["id"]: len(sets[i] & sets[i + 1]) / len(sets[i] | sets[i + 1]) for i in range(0, len(rows), 2)}
    low, high = planted["one0-0"], planted["near0-0"]
    assert 0.65 < low < 0.85 < high
    assert audit.truth.same_site == 0.85
    assert audit.features.of == 60  # both ways, and not those of kind "one"
    expected = [20 * sum(r.low <= value < r.high for value in (low, low, high)) for r in audit.ranges]
    assert [r.judged for r in audit.ranges] == expected
    chance = recipe.filter.probability
    assert audit.predicted == pytest.approx((20 * chance(low) + 10 * chance(high)) / 30)
    assert audit.missed
    assert not any(p.first.startswith("one") for p in audit.missed)
    for pair in audit.missed:
        assert pair.value == pytest.approx(planted[min(pair.first, pair.second)])
        assert pair.chance == pytest.approx(chance(pair.value))
    again = audit.precision
    assert again.sampled == len(result.removed) > 0
    assert again.passing.value == 1.0
    assert again.quantiles["0"] >= low - 1e-9
    assert "A pair: resemblance ≥ 0.65 (0.85 for two pages of one host), measured exactly." in spoken(audit)


def test_a_copy_on_another_host_is_judged_as_the_document_that_stands_for_it(run):
    """a-2 and its copy a-1 are removed because a-2 resembles b, a page of another host; a-1 is on the host of b."""
    one, other = (row["text"] for row in pages_of_hosts()[:2])
    rows = [
        {"id": "a-1", "url": "https://one.org/a", "score": 1, "text": one},
        {"id": "a-2", "url": "https://two.org/a", "score": 2, "text": one},
        {"id": "b", "url": "https://one.org/b", "score": 3, "text": other},
    ]
    result = run(rows, recipe=neardup.load_recipe("web").changed(clusters_keep="max:score"))
    assert result.removed["kept_id"].to_pylist() == ["b", "b"]
    audit = measure_recall(result)
    assert audit.precision.sampled == 2
    assert audit.precision.passing.value == 1.0
    assert audit.features.of == 2, "the pair is a true one, seen from both sides"
    assert audit.removals.value == 1.0


def test_to_draw_more_is_said_only_where_there_are_more(run):
    rows = [{"id": str(i), "text": " ".join(f"w{i}x{j}" for j in range(30))} for i in range(12)]
    result = run(rows)
    assert "raise --sample" in spoken(measure_recall(result, sample=5))
    assert "raise --sample" not in spoken(measure_recall(result))


def test_an_audit_names_its_run(run, rows):
    one, same, other = (run(rows, **RECIPES[name]) for name in ("few features", "few features", "components"))
    assert measure_recall(one, sample=20).run == measure_recall(same, sample=30).run == digest_of(one)
    assert digest_of(other) != digest_of(one)


@pytest.mark.parametrize("texts", [[""], ["", ""], ["one two three four five six"], ["same words here again"] * 5])
@pytest.mark.parametrize("recipe", ["default", "mod-n", "bloom", "by-site", "combined", "altavista"])
def test_little_or_nothing(run, texts, recipe):
    audit = measure_recall(run([{"id": str(i), "text": text} for i, text in enumerate(texts)], recipe=recipe))
    assert audit.features.of == 0
    assert audit.missed == []
    assert audit.to_dict()["features"]["value"] is None


def test_the_margin_is_what_it_says():
    """A pair at the threshold falls below it with probability MISS at the most."""
    from neardup.analysis.binomial import head

    for n, chance in ((140, 1 / 256), (200, 1 / 16)):
        changes = {} if n == 140 else {"sketch_sampled": n, "sketch_bits": 4}
        recipe = neardup.load_recipe("default").changed(verify_method="exact", **changes)
        share = search.margin(recipe).least * (1 - chance) + chance
        agreed = round((share + 1e-9) * n)
        assert head(n, agreed, 0.8) <= search.MISS < head(n, agreed + 1, 0.8)
    by = search.margin(neardup.load_recipe("mod-n").changed(verify_method="exact")).by
    assert by is not None
    assert by[0] == np.inf
    enough = search.margin(neardup.load_recipe("mod-n").changed(verify_method="exact")).enough
    assert 0.2**enough <= search.MISS < 0.2 ** (enough - 1)
    for n in (enough, 64, 100, 1000, 4000):
        assert head(n, int(np.ceil(by[n] * n)), 0.8) <= search.MISS


def test_too_few_samples_hide_more_and_it_is_told():
    recipe = Recipe(sketch=MinHashSettings(k=2, s=2), verify=VerifySettings("exact", 0.7))
    assert search.margin(recipe).miss == pytest.approx(0.3**4)
    assert search.margin(neardup.load_recipe("default")).miss <= search.MISS
    assert search.margin(neardup.load_recipe("alg-c")).miss == 0.0


def test_ranges():
    assert score_ranges(Truth("resemblance", True, 0.8, 1.0)) == [(0.8, 0.85), (0.85, 0.9), (0.9, 0.95), (0.95, 1.0)]
    assert score_ranges(Truth("b-similarity", False, 2, 6)) == [(2, 3), (3, 4), (4, 5), (5, 6)]
    assert score_ranges(Truth("c-similarity", False, 372, 384)) == [(372, 375), (375, 378), (378, 381), (381, 384)]
    assert score_ranges(Truth("lists", False, 1, 1)) == [(1, 1)]
    assert score_ranges(Truth("lists", False, 1, 2)) == [(1, 2)]


@pytest.mark.parametrize(
    "wrong", [{"sample": 0}, {"removed": 0}, {"confidence": 1.0}, {"confidence": 0.0}, {"seed": -1}]
)
def test_what_cannot_work_is_refused(run, rows, wrong):
    with pytest.raises(UsageError, match=next(iter(wrong))):
        measure_recall(run(rows[:5]), **wrong)


def test_in_crowds_all_that_is_left_is_seen(run):
    """Hundreds of neighbours just below the threshold: the few above it are found among them."""
    made = made_crowd(Parameters(400, 0.78, 0.85, "shuffled"))
    recipe = choose_recipe("default").changed(sketch_k=1, sketch_s=20)
    result = run(made.documents.to_pylist(), recipe=recipe)
    audit = measure_recall(result)
    left = 400 - result.counts["removed"]
    assert left > 300
    assert audit.partly == 0
    assert audit.missed_removals == (left, left, left)


def test_where_not_all_neighbours_are_judged_nothing_is_certain(run, monkeypatch):
    monkeypatch.setattr("neardup.audit.recall.MOST", 10)
    monkeypatch.setattr("neardup.audit.recall._NEAREST", 10)
    made = made_crowd(Parameters(100, 0.78, 0.85, "shuffled"))
    recipe = choose_recipe("default").changed(sketch_k=1, sketch_s=20)
    audit = measure_recall(run(made.documents.to_pylist(), recipe=recipe))
    assert audit.partly > 100
    assert audit.removals.low < audit.removals.value < audit.removals.high
    assert audit.features.low < audit.features.high
