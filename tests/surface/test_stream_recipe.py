"""The recipe for documents as they arrive: what it keeps, and what another threshold makes of it."""

import pytest

import neardup
from neardup.analysis.estimators import odd_error
from neardup.index.rows import Layout
from neardup.recipes import choose_recipe, name_of, published, stream_recipe
from tests.corpus import documents
from tests.surface.conftest import run

THRESHOLDS = [0.4, 0.5, 0.65, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99, 1.0]


def test_48_bytes_to_find_and_96_to_judge():
    recipe = published("stream").recipe
    made = neardup.sketch([d["text"] for d in documents(50, seed=2)], recipe)
    assert recipe.sketch.k * 8 == 48
    assert recipe.sketcher.signatures(made.words, made.ragged, [None] * 50).values.nbytes == 50 * 96
    assert made.samples.shape == (50, 0)
    assert Layout(recipe).fixed == 21 + 96


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_another_threshold_keeps_the_recall(threshold):
    made = stream_recipe(threshold)
    assert made.filter.probability(threshold) >= 0.95
    longer = (made.sketch.s + 1) * 6
    assert longer > 96 or neardup.Filter(6, made.sketch.s + 1).probability(threshold) < 0.95
    same = made.changed(sketch_s=4, sketch_bins=768, verify_threshold=0.8)
    assert same == stream_recipe() == published("stream").recipe


@pytest.mark.parametrize("given", ["stream", published("stream").recipe], ids=["by name", "itself"])
def test_a_threshold_for_it_chooses_its_features_too(given):
    assert choose_recipe(given, threshold=0.7) == stream_recipe(0.7)
    assert choose_recipe(given, threshold=0.8) == choose_recipe(given) == published("stream").recipe
    other = choose_recipe(given, threshold=0.9, keep="longest", verify="exact", seed=7, width=3)
    assert (other.sketch.s, other.verify.threshold, other.verify.recall) == (8, 0.9, 0.95)
    assert (other.clusters.keep, other.verify.method, other.sketch.seed, other.shingles.width) == (
        "longest", "exact", 7, 3,
    )  # fmt: skip
    kept = choose_recipe(published("stream").recipe.changed(clusters_keep="longest"), threshold=0.9)
    assert (kept.sketch.s, kept.clusters.keep) == (8, "longest")


def test_features_that_somebody_chose_stay():
    own = published("stream").recipe.changed(sketch_s=3)
    assert name_of(own) is None
    assert choose_recipe(own, threshold=0.9).sketch.s == 3
    assert choose_recipe("default", threshold=0.9).sketch.s == 7


@pytest.mark.parametrize(
    ("threshold", "said"),
    [(0.3, "threshold 0.3 needs at least 9 features, and there are k = 6"), (1.5, "threshold = 1.5"), (0.0, "= 0.0")],
)
def test_a_threshold_that_it_cannot_have_is_refused(threshold, said):
    with pytest.raises(neardup.RecipeError, match=said):
        stream_recipe(threshold)
    with pytest.raises(neardup.RecipeError, match=said):
        neardup.dedup(documents(3, seed=1), recipe="stream", threshold=threshold)


def test_a_longer_odd_sketch_leaves_the_features_as_they_are():
    texts = [d["text"] for d in documents(40, seed=5)]
    recipe = published("stream").recipe
    made = [neardup.sketch(texts, recipe.changed(sketch_odd=n, sketch_bins=b)) for n, b in ((12, 768), (32, 2048))]
    assert (made[0].words[:, :30] == made[1].words[:, :30]).all()


def test_pairs_tell_the_error_of_the_estimate():
    found = neardup.pairs(documents(200, seed=4), recipe="stream", threshold=0.5).table().to_pylist()
    estimated = [row for row in found if row["measured"] == "estimate"]
    assert len(estimated) >= 3
    bins = stream_recipe(0.5).sketch.bins
    for row in estimated:
        assert row["error"] == pytest.approx(odd_error(row["score"], 64 * 12 - 16, bins))


def test_the_command_says_what_it_estimates_from(tmp_path):
    (tmp_path / "in.txt").write_text("\n".join(d["text"].replace("\n", " ") for d in documents(60, seed=6)))
    done = run("dedup", tmp_path / "in.txt", "-o", tmp_path / "out", "--recipe", "stream", "--threshold", "0.9")
    assert done.returncode == 0, done.stderr
    assert "threshold 0.9 · resemblance estimated from 752 bits" in " ".join(done.stderr.split())
