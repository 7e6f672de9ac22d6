"""Pages of one template in an index that keeps no text: different ones are passed on, near-duplicates are found."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import neardup
from neardup import Index, Recipe
from neardup.analysis import drops
from neardup.errors import RecipeError
from neardup.index.crowds import FILED, RARE_MINIMUM
from neardup.recipes import load_recipe

BEFORE = """
[text]
extract = "main"
[sketch]
k = 6
s = 4
sampled = 96
bits = 4
[verify]
method = "sketch"
recall = 0.95
"""
"""Recipe `stream` as it was in version 0.1."""


def crowd(n: int, between: float, near: float = 0.85, shingles: int = 270, seed: int = 1) -> tuple[list, list]:
    """n pages of one template, any two of which resemble by `between`, and of each a near-duplicate by `near`."""
    rng = random.Random(seed)
    own, changed = (round(shingles * (1 - r) / (1 + r)) - 4 for r in (between, near))
    template = [f"t{i}" for i in range(shingles + 4 - own)]
    middle = len(template) // 2
    pages, copies = [], []
    for i in range(n):
        words = [f"w{rng.getrandbits(40):x}" for _ in range(own)]
        start = rng.randrange(own - changed + 1)
        other = [*words[:start], *(f"w{rng.getrandbits(40):x}" for _ in range(changed)), *words[start + changed :]]
        for made, name, block in ((pages, f"page{i}", words), (copies, f"copy{i}", other)):
            made.append({"id": name, "text": " ".join([*template[:middle], *block, *template[middle:]])})
    return pages, copies


def batches(documents: list, size: int) -> list[list]:
    return [documents[at : at + size] for at in range(0, len(documents), size)]


def offered(index: Index, documents: list, size: int = 500) -> dict[str, str | None]:
    verdicts = (verdict for told in index.check_and_add_batches(batches(documents, size)) for verdict in told)
    return {verdict.id: verdict.match.id if verdict.match else None for verdict in verdicts}


def rates(recipe: Recipe | str, folder: Path, between: float, n: int = 1000, **more: Any) -> tuple[float, float]:
    """The share of pages that were dropped; of the copies of others, the share that was found."""
    pages, copies = crowd(n, between, **more)
    with Index.open(folder / "seen.ndx", recipe) as index:
        dropped = [id for id, match in offered(index, pages).items() if match]
        found = offered(index, copies)
    stored = [i for i in range(n) if f"page{i}" not in dropped]
    return len(dropped) / n, sum(found[f"copy{i}"] == f"page{i}" for i in stored) / max(1, len(stored))


def test_the_crowds_are_what_they_are_called():
    pages, copies = crowd(3, 0.75)
    for one, other, expected in ((pages[0], pages[1], 0.75), (pages[2], copies[2], 0.85)):
        assert neardup.resemblance(one["text"], other["text"]).resemblance == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize("between", [0.6, 0.7, 0.75])
def test_different_pages_are_passed_on_and_copies_found(between, tmp_path):
    dropped, found = rates("stream", tmp_path, between)
    assert dropped <= 0.01
    assert found >= 0.95


@pytest.mark.parametrize(("shingles", "enough"), [(120, 0.9), (2000, 0.9)])
def test_short_and_long_pages_too(shingles, enough, tmp_path):
    dropped, found = rates("stream", tmp_path, 0.75, n=400, shingles=shingles)
    assert dropped <= 0.01
    assert found >= enough


def test_the_recipe_of_before_lost_many_of_them(tmp_path):
    dropped, _ = rates(Recipe.from_toml(BEFORE), tmp_path, 0.75)
    assert dropped > 0.3


def test_an_index_of_before_opens_and_another_recipe_is_refused(tmp_path):
    before = Recipe.from_toml(BEFORE)
    pages, copies = crowd(3, 0.75, near=0.95)
    with Index.open(tmp_path / "seen.ndx", before) as index:
        index.add_many(pages)
    with Index.open(tmp_path / "seen.ndx") as index:
        assert [verdict.match.id for verdict in index.check_many(copies)] == ["page0", "page1", "page2"]
    with pytest.raises(RecipeError, match=rf"made by recipe {before.id}, and stream .* is asked for"):
        Index.open(tmp_path / "seen.ndx", "stream")


def test_a_copy_of_what_came_a_thousand_pages_before_is_found_one_by_one(tmp_path):
    """A feature leads to the latest 1,024 documents alone."""
    pages, copies = crowd(1600, 0.75)
    with Index.open(tmp_path / "seen.ndx") as index:
        offered(index, pages)
        found = [index.check(copy["text"]).match for copy in copies[20:120]]
    assert sum(match is not None and match.id == f"page{i}" for i, match in enumerate(found, 20)) >= 92


@pytest.mark.parametrize("way", ["add", "update", "run", "export"])
def test_however_they_were_stored(way, tmp_path):
    pages, copies = crowd(1300, 0.75)
    with Index.open(tmp_path / "seen.ndx") as index:
        for some in batches(pages, 650):
            if way == "update":
                index.update_many(some)
            elif way == "run":
                index.add_run(neardup.dedup(some, recipe="stream"))
            else:
                index.add_many(some)
        if way == "export":
            index.export(tmp_path / "out.parquet")
    if way == "export":
        with Index.open(tmp_path / "other.ndx") as index:
            index.add_export(tmp_path / "out.parquet")
    with Index.open(tmp_path / ("other.ndx" if way == "export" else "seen.ndx")) as index:
        stored = {i for i in range(1300) if f"page{i}" in index}
        found = [verdict.match for verdict in index.check_many(copies)]
    assert len(stored) >= 1287
    right = sum(match is not None and match.id == f"page{i}" for i, match in enumerate(found) if i in stored)
    assert right >= 0.94 * len(stored)


def test_a_store_on_a_server_answers_the_same(address, tmp_path):
    pages, copies = crowd(150, 0.75)
    answers = []
    for place in (tmp_path / "seen.ndx", address):
        with Index.open(place, "stream") as index:
            answers.append(offered(index, pages + copies, size=60))
    assert answers[0] == answers[1]
    assert sum(bool(match) for match in answers[0].values()) >= 140


def postings(index: Index) -> dict[int, np.ndarray]:
    return dict(index.store.postings())


def test_documents_outside_of_crowds_are_filed_under_identity_and_features_alone(tmp_path):
    rng = random.Random(3)
    texts = [" ".join(f"w{rng.getrandbits(40):x}" for _ in range(100)) for _ in range(200)]
    with Index.open(tmp_path / "seen.ndx") as index:
        index.check_and_add_many([{"id": f"{i}", "text": text} for i, text in enumerate(texts)])
        assert len(postings(index)) == 200 * 7


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_documents_of_crowds_are_filed_under_few_more_keys(size, tmp_path):
    """Whatever the batches are: a minimum of the template has a short list."""
    pages, _ = crowd(120, 0.75)
    recipe = load_recipe("stream")
    with Index.open(tmp_path / "seen.ndx") as index:
        offered(index, pages, size)
        standing = postings(index)
        rare = {int(key) for page in pages for key in index._layout.sketcher.rare_keys(words(recipe, page["text"]))[0]}
        filed = [numbers for key, numbers in standing.items() if key in rare]
        per_document = np.bincount(np.concatenate(filed), minlength=120)
    assert per_document.max() <= FILED
    assert per_document[8:].mean() >= 4
    assert max(map(len, filed)) <= RARE_MINIMUM + 1


def words(recipe: Recipe, text: str) -> np.ndarray:
    return neardup.sketch([text], recipe).words


def test_a_crowd_changes_nothing_for_others(tmp_path):
    pages, _ = crowd(300, 0.75)
    rng = random.Random(5)
    others = [" ".join(f"w{rng.getrandbits(40):x}" for _ in range(200)) for _ in range(50)]
    near = [text.rpartition(" ")[0] + " other" for text in others]
    with Index.open(tmp_path / "seen.ndx") as index:
        offered(index, [x for i, page in enumerate(pages) for x in (page, *alone(others, i))], 40)
        found = [index.check(text).match for text in near]
    assert [match.id for match in found if match] == [f"other{i}" for i in range(50)]


def alone(others: list[str], i: int) -> list[dict[str, str]]:
    return [{"id": f"other{i}", "text": others[i]}] if i < len(others) else []


@pytest.mark.parametrize("keys", [1, 6])
@pytest.mark.parametrize("others", [1, 10, 256])
def test_estimates_are_asked_for_more_the_more_others_there_are(keys, others):
    """By simulation: the best of all estimates at 0.75 reaches the bar in a hundredth of the cases."""

    def error(resemblance: float) -> float:
        return 0.02

    rng = np.random.default_rng(7)
    least = drops.bar(0.8, error, 0.01, keys, others)
    best = rng.normal(0.75, 0.02, (4000, keys * others)).max(axis=1)
    share = (best >= least).mean()
    assert share <= 0.01 + 4 * (0.01 / 4000) ** 0.5
    assert drops.dropped(0.75, 0.8, error, 0.01, keys, others) == pytest.approx(min(0.01, share), abs=0.007)
    assert drops.bar(0.8, error, 0.0, keys, others) == 0.8
